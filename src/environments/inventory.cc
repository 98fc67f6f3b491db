#include <algorithm>
#include <numeric>

#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

// Poisson weights of demand 0..most, cut there and normalised.
std::vector<double> demand_probabilities(double mean, State most) {
  std::vector<double> probability = {1};
  for (State d = 1; d <= most; ++d) probability.push_back(probability.back() * mean / d);
  const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
  for (double& p : probability) p /= sum;
  return probability;
}

struct Prices {
  double sale, unit, delivery, holding;
};

// The order arrives before the demand; what is not served is lost. What a period earns and serves
// depends on the demand, so it belongs to the outcomes.
ModelBuilder::RowData period(State stock, State order, const Prices& prices,
                             const std::vector<double>& demand) {
  const State available = stock + order;
  ModelBuilder::RowData row;
  row.reward = -prices.unit * order - (order > 0 ? prices.delivery : 0);
  for (State wanted = 0; wanted < static_cast<State>(demand.size()); ++wanted) {
    const State sold = std::min(available, wanted), left = available - sold;
    const double served = wanted == 0 ? 1 : static_cast<double>(sold) / wanted;
    row.outcomes.push_back(
        {left, demand[wanted], prices.sale * sold - prices.holding * left, {served}});
  }
  return row;
}

Model shop(const Parameters& parameters) {
  const auto capacity = static_cast<State>(parameters.integer("capacity", 1, 500));
  const auto demand = demand_probabilities(parameters.number("demand", 0, 500), capacity);
  const Prices prices{parameters.number("price"), parameters.number("unit_cost"),
                      parameters.number("delivery_cost"), parameters.number("holding_cost")};
  ModelBuilder builder(capacity + 1, {"service"});
  for (State stock = 0; stock <= capacity; ++stock) {
    for (State order = 0; order <= capacity - stock; ++order)
      builder.add(0, stock, order, period(stock, order, prices, demand));
  }
  builder.label("empty", {0});
  return builder.build();
}

}  // namespace

Environment inventory() {
  return {.name = "inventory",
          .description = "Order stock for uncertain demand, with a service level to keep",
          .parameters = {{"capacity", "10", "most items in stock, and the largest demand"},
                         {"demand", "4", "mean of the Poisson demand, before the cut at capacity"},
                         {"price", "4", "earned for each item sold"},
                         {"unit_cost", "2", "paid for each item ordered"},
                         {"delivery_cost", "3", "paid for each order, whatever its size"},
                         {"holding_cost", "0.2", "paid for each item left at the end of a period"}},
          .defaults = {.discount = "0.95", .start = "0", .bound = "19"},
          .sense = Sense::at_least,
          .model = shop};
}

}  // namespace redoubt::internal::builtin
