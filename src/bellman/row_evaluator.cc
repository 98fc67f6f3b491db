#include "bellman/row_evaluator.h"

namespace redoubt::internal {

Channel reward_channel(const Problem& problem) {
  return {-1, problem.terms().helpful_nature ? -1.0 : 1.0};
}

Channel channel_of(const Problem& problem, int constraint) {
  const bool utility = problem.constraints()[constraint].sense == Sense::at_least;
  return {problem.signal_of(constraint), utility != problem.terms().helpful_nature ? 1.0 : -1.0};
}

std::vector<Channel> channels_of(const Problem& problem) {
  std::vector<Channel> channels = {reward_channel(problem)};
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c)
    channels.push_back(channel_of(problem, c));
  return channels;
}

NatureOfRows nature_of_rows(const Problem& problem) {
  const Uncertainty& set = problem.uncertainty();
  NatureOfRows nature;
  nature.floor = lands_anywhere(problem);
  nature.bounds = needs_bounds(set);
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.radius; }) nature.radius = &kind.radius;
        if constexpr (requires { kind.temperature; }) nature.strength = kind.temperature;
      },
      set);
  return nature;
}

RowEvaluator::RowEvaluator(const Problem& problem)
    : problem_(&problem),
      kernel_(worst_case_kernel(problem.uncertainty())),
      nature_(nature_of_rows(problem)) {
  const Model& model = problem.model();
  for (int signal = -1; signal < model.signals(); ++signal)
    outcome_values_ |= !model.outcome_values(signal).empty();
  buffers_.resize(model.most_outcomes());
  sums_.resize(model.most_outcomes());
  pointers_.resize(model.most_outcomes());
}

double* RowEvaluator::buffer(int outcome, int lanes) {
  auto& block = buffers_[outcome];
  if (block.size() < static_cast<std::size_t>(padded_lanes(lanes)))
    block.resize(padded_lanes(lanes));
  return block.data();
}

const double* RowEvaluator::with_outcome_values(Row row, std::span<const Channel> channels,
                                                int lanes, int outcome, const double* next) {
  const Model& model = problem_->model();
  auto& block = sums_[outcome];
  if (block.size() < static_cast<std::size_t>(padded_lanes(lanes)))
    block.resize(padded_lanes(lanes));
  const int share = lanes / static_cast<int>(channels.size());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const double extra =
        channels[c].sign *
        model.outcome_value(channels[c].signal, model.outcome_begin(row) + outcome) /
        problem_->discount();
    for (int lane = 0; lane < share; ++lane)
      block[c * share + lane] = next[c * share + lane] + extra;
  }
  return block.data();
}

void RowEvaluator::worst(Row row, std::span<const Channel> channels, int lanes,
                         const double* const* next, const double* floor, double* result,
                         double* minimiser) {
  const Model& model = problem_->model();
  const ModelArrays& arrays = model.arrays();
  const auto begin = model.outcome_begin(row);
  NominalRow nominal;
  nominal.outcomes = static_cast<int>(model.outcome_end(row) - begin);
  nominal.probability = arrays.probability.data() + begin;
  nominal.radius = nature_.radius_of(row);
  if (!arrays.lower.empty())
    nominal.lower = arrays.lower.data() + begin, nominal.upper = arrays.upper.data() + begin;

  LaneValues values{lanes, next, floor};
  if (outcome_values_) {
    for (int i = 0; i < nominal.outcomes; ++i)
      pointers_[i] = with_outcome_values(row, channels, lanes, i, next[i]);
    values.values = pointers_.data();
  }
  kernel_(nominal, values, scratch_, result, minimiser);
  evaluations_ += lanes;

  const int share = lanes / static_cast<int>(channels.size());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const double own = channels[c].sign * model.value(channels[c].signal, row);
    for (int lane = 0; lane < share; ++lane) {
      result[c * share + lane] = own + problem_->discount() * result[c * share + lane];
    }
  }
}

}  // namespace redoubt::internal
