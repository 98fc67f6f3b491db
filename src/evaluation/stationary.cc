#include "evaluation/stationary.h"

#include <algorithm>
#include <span>

#include "bellman/nominal_rows.h"
#include "model/end_components.h"
#include "model/ends.h"
#include "parallel/collectives.h"
#include "support/array_memory.h"
#include "support/require.h"

namespace redoubt::internal {

void require_ends(const Problem& problem, const TakenRows& taken) {
  const Model& model = problem.model();
  const std::vector<State> kept =
      never_left(model, Support(model, problem.uncertainty()), is_taken(model, taken));
  require(kept.empty(),
          "the policy may stay in state {} for ever, must come to an end with certainty",
          kept.empty() ? "" : model.state_name(kept.front()));
}

std::vector<char> trapped_states(const Problem& problem, const Channel& channel,
                                 const TakenRows& taken) {
  const Model& model = problem.model();
  return kept_for_nothing(model, Support(model, problem.uncertainty()),
                          {"", channel.signal, channel.sign}, is_taken(model, taken));
}

TakenRows without_rows(const TakenRows& taken, const std::vector<char>& of_states) {
  TakenRows left{.begin = {0}, .rows = {}, .weight = {}};
  for (std::size_t place = 0; place < of_states.size(); ++place) {
    for (auto i = taken.begin[place]; !of_states[place] && i < taken.begin[place + 1]; ++i) {
      left.rows.push_back(taken.rows[i]);
      left.weight.push_back(taken.weight[i]);
    }
    left.begin.push_back(static_cast<std::int64_t>(left.rows.size()));
  }
  return left;
}

void shift_states(const Model& model, Exchange& exchange, double by, std::vector<double>& values) {
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    if (model.row_begin(0, state) < model.row_end(0, state)) values[state] += by;
  }
  exchange.update({values.data()});
}

// Mass that lands outside of a row leads to a state of its own, behind all others.
Bracket StationaryValues::improve(const TakenRows& taken, const Channel& channel,
                                  std::vector<double>& values, const Width& width) {
  const Problem& problem = sweep_->problem();
  // It learns from policy to policy nothing that a solve from a checkpoint would not know.
  small_ = SmallChain(problem, sweep_->workers().ranks());
  if (is_nominal(problem)) {  // nature has no choice: the chain is the same for ever
    find_nominal_chain(problem.model(), channel, taken, chain_);
    return follow_chain(
        chain_, problem, problem.discount(), sweep_->workers(), sweep_->exchange(),
        [&](double scale) { return width(0, scale); }, small_, values);
  }
  const auto states = static_cast<std::size_t>(problem.model().states());
  Communicator& ranks = sweep_->workers().ranks();
  const bool lands = sweep_->needs_floor();
  const bool arrivals =
      lands && any_rank(ranks, !problem.model().arrival_values(channel.signal).empty());
  const auto landing = [&] {
    return worst_landing(problem, channel, ranks, std::span(values).first(states));
  };
  make_room(taken);
  values.push_back(0);
  resize_with_large_pages(better_, values.size());
  const RowBatch::Distributions to{begin_.data(), chain_.probability.data()};
  const NatureSweeps sweeps{
      .robust =
          [&](bool keep) {
            const Residual residual =
                sweep_->step(taken, channel, values.data(), better_.data(), keep ? &to : nullptr);
            values.swap(better_);
            if (keep) fix_distributions(taken, channel);
            return std::vector{residual};
          },
      .shift =
          [&](std::span<const double> by) {
            shift_states(problem.model(), sweep_->exchange(), by[0], values);
            if (lands) values[states] = landing();
          },
      .reset = [&] { std::fill(values.begin(), values.end(), 0.0); },
      .kept =
          [&] {
            const Residual residual =
                step_along(chain_, problem, sweep_->workers(), sweep_->exchange(), values, better_);
            values.swap(better_);
            if (lands) values[states] = arrivals ? landing() : residual.least + 0.0;  // no -0
            return std::vector{residual};
          },
      .solve = [&](std::int64_t steps) {  // where mass lands depends on the values
        return !lands && small_.solve_after(steps, chain_, values);
      }};
  const std::vector<Bracket> found =
      iterate_nature(sweeps, problem.discount(), width, sweep_->workers());
  values.pop_back();
  return found.front();
}

double StationaryValues::bytes(const Problem& problem, std::int64_t rows) {
  const Model& model = problem.model();
  const double outcomes =
      static_cast<double>(model.outcomes()) / std::max(1.0, static_cast<double>(model.rows())) +
      (lands_anywhere(problem) ? 1 : 0);  // of a row
  const double of_row = sizeof(std::int64_t) + outcomes * (sizeof(double) + sizeof(State));
  const double of_own_state = sizeof(std::int64_t) + sizeof(double);
  return of_row * static_cast<double>(rows) + of_own_state * model.own_states() +
         3.0 * sizeof(double) * model.states();
}

void StationaryValues::make_room(const TakenRows& taken) {
  const Model& model = sweep_->problem().model();
  const int outside = sweep_->needs_floor() ? 1 : 0;
  begin_.reserve(taken.rows.size() + 1);
  begin_.assign(1, 0);
  for (const Row row : taken.rows)
    begin_.push_back(begin_.back() + model.outcome_end(row) - model.outcome_begin(row) + outside);
  chain_.probability.resize(begin_.back());
  chain_.rows.clear();
  chain_.next.clear();
  chain_.next.reserve(begin_.back());
  chain_.begin.reserve(model.own_states() + 1);
  chain_.begin.assign(1, 0);
  for (State place = 0; place < model.own_states(); ++place) {
    for (auto i = taken.begin[place]; i < taken.begin[place + 1]; ++i) {
      const State* first = model.arrays().next.data();
      chain_.next.insert(chain_.next.end(), first + model.outcome_begin(taken.rows[i]),
                         first + model.outcome_end(taken.rows[i]));
      if (outside > 0) chain_.next.push_back(model.states());
    }
    chain_.begin.push_back(static_cast<std::int64_t>(chain_.next.size()));
  }
  chain_.earned.resize(model.own_states());
}

void StationaryValues::fix_distributions(const TakenRows& taken, const Channel& channel) {
  const Model& model = sweep_->problem().model();
  const std::vector<double>& extra = model.outcome_values(channel.signal);
  const bool pure = taken.rows.size() <= static_cast<std::size_t>(model.own_states()) &&
                    std::all_of(taken.weight.begin(), taken.weight.end(),
                                [](double weight) { return weight == 1; });
  for (State place = 0; place < model.own_states(); ++place) {
    chain_.earned[place] = 0;
    for (auto i = taken.begin[place]; i < taken.begin[place + 1]; ++i) {
      const Row row = taken.rows[i];
      double* mass = chain_.probability.data() + begin_[i];
      double earned = channel.sign * model.value(channel.signal, row);
      for (auto o = model.outcome_begin(row); !extra.empty() && o < model.outcome_end(row); ++o)
        earned += mass[o - model.outcome_begin(row)] * channel.sign * extra[o];
      chain_.earned[place] += taken.weight[i] * earned;
      const auto count = begin_[i + 1] - begin_[i];
      for (std::int64_t n = 0; !pure && n < count; ++n) mass[n] *= taken.weight[i];
    }
  }
}

}  // namespace redoubt::internal
