#include "evaluation/stationary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "bellman/nominal_rows.h"
#include "model/end_components.h"
#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr double kShareOfFixed = 0.05;  // what sweeps with fixed distributions leave of a bracket
// Nature's policy iteration takes a few rounds. Whatever happens in it, plain sweeps converge.
constexpr int kMostRounds = 200;

}  // namespace

bool as_narrow_as_rounding(double discount, double width, double last, double scale) {
  // What an error of every sweep adds up to. Rounding is there in any case; what a worst case of kl
  // is proved to have at most, it rarely has.
  const double per_error = 2 * scale * discount / (1 - discount);
  constexpr double kRounding = 4e-15, kProved = 1e-12;
  return width <= kRounding * per_error || (width <= kProved * per_error && width > last / 2);
}

void require_ends(const Problem& problem, const TakenRows& taken) {
  const Model& model = problem.model();
  std::vector<char> use(model.rows(), 0);
  for (std::size_t i = 0; i < taken.rows.size(); ++i) use[taken.rows[i]] = taken.weight[i] > 0;
  const std::vector<State> kept = never_left(model, Support(model, problem.uncertainty()), use);
  require(kept.empty(),
          "the policy may stay in state {} for ever, must come to an end with certainty",
          kept.empty() ? "" : model.state_name(kept.front()));
}

void shift_states(const Model& model, Exchange& exchange, double by, std::vector<double>& values) {
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    if (model.row_begin(0, state) < model.row_end(0, state)) values[state] += by;
  }
  exchange.update({values.data()});
}

Bracket StationaryValues::improve(const TakenRows& taken, const Channel& channel,
                                  std::vector<double>& values, const Width& width) {
  if (is_nominal(sweep_->problem())) return improve_nominal(taken, channel, values, width);
  const double discount = sweep_->problem().discount();
  double last = Residual::kNone;
  make_room(taken);
  better_.resize(values.size());
  const RowBatch::Distributions to{begin_.data(), chain_.probability.data()};
  for (int round = 0;; ++round) {
    sweep_->workers().check_together();
    const bool fixes = round < kMostRounds;
    const Residual residual =
        sweep_->step(taken, channel, values.data(), better_.data(), fixes ? &to : nullptr);
    values.swap(better_);
    const Bracket found = bracket(residual, discount);
    const double size = scale(residual, found);
    if (found.width() <= width(size) || as_narrow_as_rounding(discount, found.width(), last, size))
      return found;
    last = found.width();
    if (!fixes) continue;
    fix_distributions(taken, channel);
    sweep_fixed(channel, values);
  }
}

// Nature has no choice: the chain is the same for ever. A single sweep may do little, so that
// whether sweeps still help is asked after as many of them as must leave a twentieth of a bracket.
Bracket StationaryValues::improve_nominal(const TakenRows& taken, const Channel& channel,
                                          std::vector<double>& values, const Width& width) {
  const double discount = sweep_->problem().discount();
  const auto most = 1 + static_cast<std::int64_t>(std::log(kShareOfFixed) / std::log(discount));
  double last = Residual::kNone;
  find_nominal_chain(sweep_->problem().model(), channel, taken, chain_);
  better_.resize(values.size());
  for (std::int64_t sweeps = 1;; ++sweeps) {
    sweep_->workers().check_together();
    const Residual residual = step_along(chain_, sweep_->problem(), sweep_->workers(),
                                         sweep_->exchange(), values, better_);
    values.swap(better_);
    const Bracket found = bracket(residual, discount);
    const double size = scale(residual, found);
    const bool round = sweeps % most == 0;
    if (found.width() <= width(size) ||
        as_narrow_as_rounding(discount, found.width(), round ? last : Residual::kNone, size))
      return found;
    if (round) last = found.width();
  }
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

// Each sweep leaves at most `discount` of the spread between the largest and the least change.
void StationaryValues::sweep_fixed(const Channel& channel, std::vector<double>& values) {
  const Problem& problem = sweep_->problem();
  const double discount = sweep_->problem().discount();
  const State states = problem.model().states();
  const auto most = 1 + static_cast<std::int64_t>(std::log(kShareOfFixed) / std::log(discount));
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  here_.assign(values.begin(), values.end());
  Communicator& ranks = sweep_->workers().ranks();
  here_.push_back(sweep_->needs_floor() ? worst_landing(problem, channel, ranks, values) : 0);
  const bool arrivals = sweep_->needs_floor() &&
                        any_rank(ranks, !problem.model().arrival_values(channel.signal).empty());
  better_.resize(states + 1);
  double first = 0;
  for (std::int64_t sweeps = 0; sweeps < most; ++sweeps) {
    sweep_->workers().check_together();
    const Residual residual =
        step_along(chain_, problem, sweep_->workers(), sweep_->exchange(), here_, better_);
    here_.swap(better_);
    here_[states] = arrivals
                        ? worst_landing(problem, channel, ranks,
                                        std::span(here_).first(static_cast<std::size_t>(states)))
                        : residual.least + 0.0;  // no -0
    const double spread = residual.high - residual.low;
    if (sweeps == 0) first = spread;
    const double size = std::max(std::abs(residual.least), std::abs(residual.most));
    if (spread <= std::max(kShareOfFixed * first, kRounding * size)) break;
  }
  values.assign(here_.begin(), here_.end() - 1);
  better_.resize(states);
}

}  // namespace redoubt::internal
