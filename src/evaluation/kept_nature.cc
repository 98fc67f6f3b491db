#include "evaluation/kept_nature.h"

#include <algorithm>
#include <numeric>

#include "evaluation/anderson.h"
#include "evaluation/stage_evaluation.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/memory_update.h"
#include "sets/worst_case.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// How far a sweep moved the values of our own nodes, in each channel.
std::vector<Residual> residuals_of(const StageEvaluation& nodes, const Policy& policy,
                                   const Model& model, int stage, Communicator& ranks,
                                   const std::vector<double>& before,
                                   const std::vector<double>& after) {
  std::vector<Residual> residuals(nodes.channels());
  const auto all = static_cast<std::int64_t>(before.size()) / nodes.channels();
  for (std::size_t c = 0; c < residuals.size(); ++c) {
    for (State place = 0; place < model.own_states(); ++place) {
      const auto count = policy.at(stage).end(place) - policy.at(stage).begin(place);
      const auto first =
          static_cast<std::int64_t>(c) * all + nodes.first_node(stage, model.own(place));
      for (auto at = first; at < first + count; ++at) residuals[c].add(before[at], after[at]);
    }
    add_over_ranks(ranks, residuals[c]);
  }
  return residuals;
}

// Makes steps along the kept chain count for more: after every third one, each channel goes to the
// best combination of the last few. Plain steps between them cost less, and as many do in all.
class ChainAcceleration {
 public:
  ChainAcceleration(StageEvaluation& nodes, const Policy& policy, const Model& model, int stage)
      : nodes_(nodes), stage_(stage), channels_(nodes.channels()) {
    for (State place = 0; place < model.own_states(); ++place) {
      const auto first = nodes.first_node(stage, model.own(place));
      for (auto n = policy.at(stage).begin(place); n < policy.at(stage).end(place); ++n)
        own_.push_back(first + n - policy.at(stage).begin(place));
    }
  }

  void begin() {  // another chain
    steps_ = 0;
    for (OfChannel& channel : channels_) {
      channel.steps.forget();
      channel.least = Residual::kNone;
    }
  }

  // A step led from the values to the next ones, and moved them so far.
  void after(const std::vector<Residual>& residuals, const std::vector<double>& values,
             std::vector<double>& next) {
    constexpr int kEvery = 3;
    constexpr double kWorse = 2;  // a combination that spreads changes so much more has led astray
    ++steps_;
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      OfChannel& channel = channels_[c];
      const double spread = residuals[c].high - residuals[c].low;
      if (spread > kWorse * channel.least) channel.steps.forget();
      channel.least = std::min(channel.least, spread);
      if (steps_ % kEvery == 0)
        combine(channel.steps, c * values.size() / channels_.size(), values, next);
    }
    if (steps_ % kEvery == 0) nodes_.exchange().update(nodes_.layer(stage_, next));
  }

 private:
  struct OfChannel {
    Anderson steps;
    double least = Residual::kNone;  // spread of a step
  };

  void combine(Anderson& steps, std::size_t first, const std::vector<double>& values,
               std::vector<double>& next) {
    before_.clear(), after_.clear();
    for (const std::int64_t n : own_) {
      before_.push_back(values[first + n]);
      after_.push_back(next[first + n]);
    }
    steps.combine(before_, after_, nodes_.exchange().ranks());
    for (std::size_t i = 0; i < own_.size(); ++i) next[first + own_[i]] = after_[i];
  }

  StageEvaluation& nodes_;
  int stage_;
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> own_;  // nodes of ours among all that are known here
  std::vector<OfChannel> channels_;
  std::vector<double> before_, after_;
};

}  // namespace

bool moves_are_listed(const Policy& policy) {
  return policy.budget.empty() && !policy.stages.empty() &&
         !policy.stages.back().choice_begin.empty();
}

double KeptNature::bytes(const Problem& problem, const Policy& policy, std::size_t channels) {
  if (!problem.infinite() || !moves_are_listed(policy)) return 0;
  const Policy::Stage& last = policy.stages.back();
  const double entries =
      last.outcome_slot.empty()
          ? static_cast<double>(last.choice_action.size()) * problem.model().most_outcomes()
          : static_cast<double>(last.moves.size());
  return entries * (16 + 8.0 * static_cast<double>(channels));
}

KeptNature::KeptNature(const StageEvaluation& nodes, const Problem& problem, const Policy& policy,
                       int stage, std::span<const Channel> channels)
    : nodes_(&nodes),
      problem_(&problem),
      decisions_(&policy.at(stage)),
      stage_(stage),
      channels_(channels) {
  const Model& model = problem.model();
  const Policy::Stage& decisions = *decisions_;
  require(nodes.nodes(stage) <= kMostKeptNodes, "a policy of {} nodes, must be at most {}",
          nodes.nodes(stage), kMostKeptNodes);
  begin_.push_back(0);
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    const bool terminal = model.row_begin(stage, state) == model.row_end(stage, state);
    for (auto node = decisions.begin(place); node < decisions.end(place); ++node) {
      const auto memory = static_cast<std::int32_t>(node - decisions.begin(place));
      for (auto c = decisions.choice_begin[node]; c < decisions.choice_begin[node + 1]; ++c) {
        choice_entries_.push_back(static_cast<std::int64_t>(column_.size()));
        if (terminal) continue;  // what is written there is never done
        const Row row = model.row_begin(stage, state) + decisions.choice_action[c];
        const auto first = model.outcome_begin(row);
        const auto outcomes = static_cast<std::int32_t>(model.outcome_end(row) - first);
        const auto add = [&](std::int32_t i, const MemoryMove& move) {
          const auto to = nodes.first_node(stage + 1, model.arrays().next[first + i]);
          column_.push_back(static_cast<std::int32_t>(to + move.memory));
          outcome_.push_back(i);
          share_.push_back(move.weight);
        };
        for (std::int32_t i = 0; i < outcomes; ++i) {
          if (decisions.outcome_slot.empty()) {
            add(i, {kept_memory(policy, stage, memory), 1.0});
            continue;
          }
          const auto slot = decisions.outcome_slot[c] + i;
          for (auto m = decisions.move_begin[slot]; m < decisions.move_begin[slot + 1]; ++m)
            add(i, decisions.moves[m]);
        }
      }
      begin_.push_back(static_cast<std::int64_t>(column_.size()));
    }
  }
  choice_entries_.push_back(static_cast<std::int64_t>(column_.size()));
  probability_.assign(column_.size() * channels_.size(), 0.0);
  choice_earned_.assign(decisions.choice_action.size() * channels_.size(), 0.0);
  earned_.resize((begin_.size() - 1) * channels_.size());
}

void KeptNature::keep(Row row, std::span<const std::int64_t> choices,
                      std::span<const double> weight, const double* minimiser,
                      const double* floor) {
  const Model& model = problem_->model();
  const auto first = model.outcome_begin(row), outcomes = model.outcome_end(row) - first;
  const auto lanes = static_cast<std::int64_t>(choices.size() * channels_.size());
  const auto padded = padded_lanes(static_cast<int>(lanes));
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    const std::vector<double>& extra = model.outcome_values(channel.signal);
    for (std::size_t n = 0; n < choices.size(); ++n) {
      const double* mass = minimiser + c * choices.size() + n;
      double* probability = probability_.data() + c * column_.size();
      for (auto e = choice_entries_[choices[n]]; e < choice_entries_[choices[n] + 1]; ++e)
        probability[e] = weight[n] * share_[e] * mass[outcome_[e] * padded];
      double earned = channel.sign * model.value(channel.signal, row);
      for (std::int64_t i = 0; !extra.empty() && i < outcomes; ++i)
        earned += mass[i * padded] * channel.sign * extra[first + i];
      if (floor != nullptr)
        earned += problem_->discount() * mass[outcomes * padded] * floor[c * choices.size() + n];
      choice_earned_[c * decisions_->choice_action.size() + choices[n]] = weight[n] * earned;
    }
  }
}

void KeptNature::add_up_earned() {
  const std::size_t nodes = begin_.size() - 1, choices = decisions_->choice_action.size();
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    for (std::size_t node = 0; node < nodes; ++node) {
      double sum = 0;
      for (auto n = decisions_->choice_begin[node]; n < decisions_->choice_begin[node + 1]; ++n)
        sum += choice_earned_[c * choices + n];
      earned_[c * nodes + node] = sum;
    }
  }
}

std::vector<Residual> KeptNature::step(Workers& workers, Exchange& exchange,
                                       const std::vector<double>& next,
                                       std::vector<double>& values) const {
  const Model& model = problem_->model();
  const std::size_t nodes = begin_.size() - 1, count = channels_.size();
  const auto all = static_cast<std::int64_t>(next.size() / count);
  const ExpectedValues expected = expected_values_kernel();
  std::vector<std::vector<Residual>> found(workers.count(), std::vector<Residual>(count));
  const auto run = [&](State begin, State end, int worker) {
    for (State place = begin; place < end; ++place) {
      const auto first = decisions_->begin(place), last = decisions_->end(place);
      const auto own = nodes_->first_node(stage_, model.own(place));
      for (std::size_t c = 0; c < count; ++c) {
        const SparseRows chain{begin_.data(), column_.data(),
                               probability_.data() + c * column_.size()};
        const auto at = static_cast<std::int64_t>(c) * all + own;
        expected(chain, {.count = last - first, .first = first}, earned_.data() + c * nodes + first,
                 problem_->discount(), next.data() + c * all, values.data() + at);
        for (auto n = at; n < at + last - first; ++n) found[worker][c].add(next[n], values[n]);
      }
    }
  };
  const double work = static_cast<double>(column_.size() * count);
  exchange.sweep_ranges(workers, work, nodes_->layer(stage_, values), run);
  std::vector<Residual> residuals(count);
  for (std::size_t c = 0; c < count; ++c) {
    for (const auto& each : found) residuals[c].add(each[c]);
    add_over_ranks(workers.ranks(), residuals[c]);
  }
  return residuals;
}

// Of every node that we have values of, its number among the nodes of all ranks, which are in the
// order of the whole model; -1 for room that is no node.
std::vector<State> KeptNature::whole_numbers(Communicator& ranks) const {
  const Model& model = problem_->model();
  std::vector<State> state, count;
  for (State place = 0; place < model.own_states(); ++place) {
    state.push_back(whole_number(model, model.own(place)));
    count.push_back(static_cast<State>(decisions_->end(place) - decisions_->begin(place)));
  }
  state = all_gather_lists(ranks, std::move(state));
  count = all_gather_lists(ranks, std::move(count));
  std::vector<State> first(state.size() + 1, 0);
  for (std::size_t i = 0; i < state.size(); ++i) first[state[i] + 1] = count[i];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<State> number(nodes_->nodes(stage_), -1);
  for (State s = 0; s < model.states(); ++s) {
    const State whole = whole_number(model, s);
    std::iota(number.begin() + nodes_->first_node(stage_, s),
              number.begin() + nodes_->first_node(stage_, s) + first[whole + 1] - first[whole],
              first[whole]);
  }
  return number;
}

bool KeptNature::solve_after(std::int64_t steps, Communicator& ranks, SmallChain& small,
                             std::vector<double>& values) const {
  if (!small.wants(steps)) return false;
  const Model& model = problem_->model();
  const std::vector<State> number = whole_numbers(ranks);
  std::vector<State> own;
  for (State place = 0; place < model.own_states(); ++place) {
    const auto first = nodes_->first_node(stage_, model.own(place));
    const auto count = decisions_->end(place) - decisions_->begin(place);
    own.insert(own.end(), number.begin() + first, number.begin() + first + count);
  }
  Chain chain;  // channels differ in its probabilities and in what is earned
  chain.begin = begin_;
  for (const std::int32_t to : column_) chain.next.push_back(number[to]);
  const std::size_t nodes = begin_.size() - 1;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const double* probability = probability_.data() + c * column_.size();
    const double* earned = earned_.data() + c * nodes;
    chain.probability.assign(probability, probability + column_.size());
    chain.earned.assign(earned, earned + nodes);
    if (!small.solve(gather_chain(ranks, own, chain))) return false;
    double* to = values.data() + c * number.size();
    for (std::size_t node = 0; node < number.size(); ++node)
      if (number[node] >= 0) to[node] = small[number[node]];
  }
  return true;
}

std::vector<Bracket> improve_values(StageEvaluation& nodes, const Problem& problem,
                                    const Policy& policy, int stage,
                                    std::span<const Channel> channels, Workers& workers,
                                    const Width& width, std::vector<double>& values) {
  KeptNature kept(nodes, problem, policy, stage, channels);
  const double all_nodes = sum_over_ranks(workers.ranks(), static_cast<double>(kept.own_nodes()));
  SmallChain small(problem, workers.ranks(), static_cast<std::int64_t>(all_nodes));
  const bool lands = lands_anywhere(problem);
  ChainAcceleration acceleration(nodes, policy, problem.model(), stage);
  std::vector<double> better;
  const NatureSweeps sweeps{
      .robust =
          [&](bool keep) {
            nodes.run(
                stage, values, better, [](State) {}, keep ? &kept : nullptr);
            if (keep) kept.add_up_earned();
            acceleration.begin();
            auto residuals = residuals_of(nodes, policy, problem.model(), stage, workers.ranks(),
                                          values, better);
            values.swap(better);
            return residuals;
          },
      .shift =
          [&](std::span<const double> by) {
            shift_values(nodes, problem, policy, stage, by, nodes.exchange(), values);
          },
      .reset = [&] { std::fill(values.begin(), values.end(), 0.0); },
      .kept =
          [&] {
            auto residuals = kept.step(workers, nodes.exchange(), values, better);
            acceleration.after(residuals, values, better);
            values.swap(better);
            return residuals;
          },
      .solve = [&](std::int64_t steps) {  // what landings are worth depends on the values
        return !lands && kept.solve_after(steps, workers.ranks(), small, values);
      }};
  return iterate_nature(sweeps, contraction_of(problem, policy, stage, workers), width, workers);
}

void shift_values(const StageEvaluation& nodes, const Problem& problem, const Policy& policy,
                  int stage, std::span<const double> by, Exchange& exchange,
                  std::vector<double>& values) {
  const Model& model = problem.model();
  const Policy::Stage& decisions = policy.at(stage);
  const auto all = static_cast<std::int64_t>(values.size() / by.size());
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    if (model.row_begin(stage, state) == model.row_end(stage, state)) continue;
    const auto first = nodes.first_node(stage, state);
    const auto count = decisions.end(place) - decisions.begin(place);
    for (std::size_t c = 0; c < by.size(); ++c) {
      for (auto n = first; n < first + count; ++n)
        values[static_cast<std::int64_t>(c) * all + n] += by[c];
    }
  }
  exchange.update(nodes.layer(stage, values));
}

}  // namespace redoubt::internal
