#include "solvers/frontier/search/gap_attribution_sums.h"

#include <algorithm>

#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

// The gap at the start is measured in the direction there: the largest that can be meant.
double size_of(std::span<const double> weights, std::span<const double> scales) {
  double size = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) size += weights[j] * scales[j];
  return size;
}

}  // namespace

GapAttributionSums::GapAttributionSums(const std::vector<const FrontierStage*>& stages,
                                       std::vector<double> weights, std::span<const double> scales)
    : unit_(ExactSum::unit_for(size_of(weights, scales))),
      unit_of_mass_(ExactSum::unit_for(1)),
      loss_grid_(size_of(weights, scales)),
      mass_(stages.size()) {
  for (const double weight : weights) weight_grids_.emplace_back(weight);
  for (std::size_t lead = 0; lead < scales.size(); ++lead) {
    for (std::size_t j = lead + 1; j < scales.size(); ++j)
      price_units_.push_back(
          ExactSum::unit_for(size_of(weights, scales) * scales[lead] / scales[j]));
  }
  for (const FrontierStage* stage : stages) {
    auto& lists = intervals_.emplace_back();
    const Directions& directions = stage->table.directions();
    for (int list = 0; list < directions.lists(); ++list)
      lists.emplace_back(directions.prices(list).size());
  }
}

template <class Visit>
void GapAttributionSums::for_each_sum(Visit visit) {
  for (ExactSum& sum : mass_) visit(sum);
  visit(games_);
  for (auto& stage : intervals_) {
    for (auto& list : stage) {
      for (Interval& interval : list) visit(interval.loss), visit(interval.weighted_price);
    }
  }
}

void GapAttributionSums::finish(Communicator& ranks, GapAttribution& gaps) {
  std::vector<ExactSum> own;
  for_each_sum([&](const ExactSum& sum) { own.push_back(sum); });
  const auto all = all_gather<ExactSum>(ranks, own);
  auto at = all.begin();
  for_each_sum([&](ExactSum& sum) {
    sum = {};
    for (int r = 0; r < ranks.size(); ++r) sum.add(at[r * static_cast<std::ptrdiff_t>(own.size())]);
    ++at;
  });
  for (const ExactSum& mass : mass_) gaps.mass.push_back(mass.value(unit_of_mass_));
  gaps.games = games_.value(unit_);
  for (const auto& stage : intervals_) {
    auto& lists = gaps.intervals.emplace_back(stage.size());
    for (std::size_t c = 0; c < stage.size(); ++c) {
      for (const Interval& interval : stage[c]) {
        const double loss = interval.loss.value(unit_);
        lists[c].push_back({loss, interval.weighted_price.value(price_units_[c])});
        if (c == 0) gaps.between_prices += loss;
      }
    }
  }
}

void make_whole(double share, GapAttribution& gaps) {
  for (auto& stage : gaps.intervals) {
    for (auto& list : stage) {
      for (GapAttribution::Interval& interval : list) {
        interval.loss /= share;
        interval.weighted_price /= share;
      }
    }
  }
  for (auto* values : {&gaps.state_loss, &gaps.visits}) {
    for (std::vector<double>& stage : *values) {
      for (double& value : stage) value /= share;
    }
  }
  for (double& mass : gaps.mass) mass /= share;
  gaps.between_prices /= share;
  gaps.games /= share;
}

void take_larger(const GapAttribution& finer, GapAttribution& gaps) {
  for (std::size_t h = 0; h < gaps.intervals.size(); ++h) {
    for (std::size_t c = 0; c < gaps.intervals[h].size(); ++c) {
      for (std::size_t n = 0; n < gaps.intervals[h][c].size(); ++n) {
        GapAttribution::Interval& interval = gaps.intervals[h][c][n];
        const GapAttribution::Interval& other = finer.intervals[h][c][n];
        const double loss = std::max(interval.loss, other.loss);
        // The price that a finer grid would need, unless all that is lost there is rounding.
        if (other.loss > 1e-3 * interval.loss) interval = other;
        if (interval.loss > 0) interval.weighted_price *= loss / interval.loss;
        interval.loss = loss;
      }
    }
    for (std::size_t n = 0; n < gaps.state_loss[h].size(); ++n) {
      gaps.state_loss[h][n] = std::max(gaps.state_loss[h][n], finer.state_loss[h][n]);
    }
  }
}

std::vector<double> weights_of(const Root& root) {
  std::vector<double> weights = {1};
  weights.insert(weights.end(), root.prices.begin(), root.prices.end());
  return weights;
}

void send_to_owners(const Model& model, Exchange& exchange, std::vector<double>& values) {
  if (!model.arrays().submodel || values.empty()) return;
  const auto each = static_cast<std::int64_t>(values.size()) / model.states();
  exchange.collect({values.data(), each, 1, 0, each}, [each](double* into, const double* from) {
    for (std::int64_t i = 0; i < each; ++i) into[i] += from[i];
  });
  for (State s = 0; s < model.states(); ++s) {
    if (!model.owns(s)) std::fill_n(values.begin() + s * each, each, 0.0);
  }
}

}  // namespace redoubt::internal
