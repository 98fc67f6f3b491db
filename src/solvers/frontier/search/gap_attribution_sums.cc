#include "solvers/frontier/search/gap_attribution_sums.h"

#include <algorithm>
#include <bit>

#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

using Near = GapAttribution::Near;
constexpr std::int64_t kNumbers = sizeof(Near) / sizeof(double);
using Numbers = std::array<double, kNumbers>;
Near near_of(const double* numbers) {
  Numbers all;
  std::copy_n(numbers, kNumbers, all.begin());
  return std::bit_cast<Near>(all);
}

constexpr double kRounding = 1e-3;  // of what is lost in a place: not worth a look

// The gap at the start is measured in the direction there: the largest that can be meant.
double size_of(std::span<const double> weights, std::span<const double> scales) {
  double size = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) size += weights[j] * scales[j];
  return size;
}

}  // namespace

GapAttributionSums::GapAttributionSums(const std::vector<const FrontierStage*>& stages,
                                       std::vector<double> weights, std::span<const double> scales)
    : unit_(ExactSum::unit_for(size_of(weights, scales))), loss_grid_(size_of(weights, scales)) {
  for (const double weight : weights) weight_grids_.emplace_back(weight);
  if (scales.size() != 2) return;
  price_unit_ = ExactSum::unit_for(size_of(weights, scales) * scales[0] / scales[1]);
  for (const FrontierStage* stage : stages)
    intervals_.emplace_back(stage->table.directions().prices().size());
}

template <class Visit>
void GapAttributionSums::for_each_sum(Visit visit) {
  visit(games_);
  visit(lost_);
  for (auto& stage : intervals_) {
    for (Interval& interval : stage) visit(interval.loss), visit(interval.weighted_price);
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
  gaps.games = games_.value(unit_);
  gaps.between_prices = lost_.value(unit_);
  for (const auto& stage : intervals_) {
    auto& intervals = gaps.intervals.emplace_back();
    for (const Interval& interval : stage) {
      const double loss = interval.loss.value(unit_);
      intervals.push_back({loss, interval.weighted_price.value(price_unit_)});
      gaps.between_prices += loss;
    }
  }
}

void make_whole(double share, GapAttribution& gaps) {
  for (auto& stage : gaps.intervals) {
    for (GapAttribution::Interval& interval : stage) {
      interval.loss /= share;
      interval.weighted_price /= share;
    }
  }
  for (auto& stage : gaps.near) {
    for (GapAttribution::Near& near : stage) near.loss /= share;
  }
  for (auto* values : {&gaps.state_loss, &gaps.visits}) {
    for (std::vector<double>& stage : *values) {
      for (double& value : stage) value /= share;
    }
  }
  gaps.between_prices /= share;
  gaps.games /= share;
}

void GapAttribution::Near::add(const Near& other) {
  loss += other.loss;
  if (other.most < most || (other.most == most && other.which <= which)) return;
  most = other.most;
  which = other.which;
}

void take_larger(const GapAttribution& finer, GapAttribution& gaps) {
  for (std::size_t h = 0; h < gaps.near.size(); ++h) {
    for (std::size_t n = 0; n < gaps.near[h].size(); ++n) {
      GapAttribution::Near& near = gaps.near[h][n];
      const double loss = std::max(near.loss, finer.near[h][n].loss);
      if (finer.near[h][n].loss > kRounding * near.loss) near = finer.near[h][n];
      near.loss = loss;
    }
  }
  for (std::size_t h = 0; h < gaps.intervals.size(); ++h) {
    for (std::size_t n = 0; n < gaps.intervals[h].size(); ++n) {
      GapAttribution::Interval& interval = gaps.intervals[h][n];
      const GapAttribution::Interval& other = finer.intervals[h][n];
      const double loss = std::max(interval.loss, other.loss);
      // The price that a finer grid would need, unless all that is lost there is rounding.
      if (other.loss > kRounding * interval.loss) interval = other;
      if (interval.loss > 0) interval.weighted_price *= loss / interval.loss;
      interval.loss = loss;
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

int side_of(const double* q, const double* direction, std::span<const double> scales) {
  double of_q = 0, of_direction = 0;
  for (std::size_t j = 0; j < scales.size(); ++j)
    of_q += q[j] * scales[j], of_direction += direction[j] * scales[j];
  const auto more = [&](std::size_t j) {
    return scales[j] * (q[j] / of_q - direction[j] / of_direction);
  };
  std::size_t side = 0;
  for (std::size_t j = 1; j < scales.size(); ++j)
    if (more(j) > more(side)) side = j;
  return static_cast<int>(side);
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

void send_to_owners(const Model& model, Exchange& exchange,
                    std::vector<GapAttribution::Near>& values) {
  if (!model.arrays().submodel || values.empty()) return;
  const auto each = static_cast<std::int64_t>(values.size()) / model.states();
  const auto stride = each * kNumbers;
  std::vector<double> numbers;
  for (const Near& value : values) {
    const Numbers all = std::bit_cast<Numbers>(value);
    numbers.insert(numbers.end(), all.begin(), all.end());
  }
  exchange.collect({numbers.data(), stride, 1, 0, stride}, [&](double* into, const double* from) {
    for (std::int64_t n = 0; n < each; ++n) {
      Near sum = near_of(into + n * kNumbers);
      sum.add(near_of(from + n * kNumbers));
      const Numbers numbers_of_sum = std::bit_cast<Numbers>(sum);
      std::copy(numbers_of_sum.begin(), numbers_of_sum.end(), into + n * kNumbers);
    }
  });
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = near_of(numbers.data() + n * kNumbers);
  for (State s = 0; s < model.states(); ++s) {
    if (!model.owns(s)) std::fill_n(values.begin() + s * each, each, Near{});
  }
}

}  // namespace redoubt::internal
