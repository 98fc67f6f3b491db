#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/objective.h"
#include "redoubt/simulator.h"

namespace redoubt {

// What to do about rows without a single sample.
enum class Unvisited {
  error,    // an Error that lists them
  simplex,  // nature may do anything there: go to every state, and pay the least and the most of
            // every value that was seen anywhere
  ignore,   // they mean nothing, which estimate_factors() knows
};

struct EstimateOptions {
  std::int64_t samples = 1000;  // of each row
  std::uint64_t seed = 0;
  // Where samples are kept as they arrive; empty: nowhere. A run that finds some of its samples
  // here asks only for the others, and gives the bits of a run that was never disturbed.
  std::filesystem::path store = {};
};

// An empirical model. Values of rows and arrivals are those that the simulator knows, if it does.
// Otherwise those that all samples of a row share are the row's own. Others belong to the outcomes,
// of which there is one for each distinct (next state, reward, signals).
struct Estimate {
  Model model;
  Terms terms;                       // the simulator's
  std::vector<std::int64_t> visits;  // samples of each row
  std::vector<std::int64_t> counts;  // samples of each outcome of the model
  std::vector<Row> unvisited;        // rows without samples: here the model is the whole simplex
  std::int64_t queries = 0;          // asked in this call
  std::int64_t reused = 0;           // taken from the store instead
};

// Asks for `samples` answers of every row. The result depends on the simulator and the seed, not on
// threads. Stopped by its progress callback or the time limit, it is an Error; samples stay in the
// store.
Estimate estimate(Simulator& simulator, const EstimateOptions& options = {},
                  const Execution& execution = {});

struct RecordedOptions {
  std::optional<State> states = {};          // otherwise one more than the largest seen
  std::optional<std::int32_t> actions = {};  // likewise
  std::vector<State> terminal = {};          // states in which episodes end
  Unvisited unvisited = Unvisited::error;
  Objective objective = {};  // the column that is the reward, where none has that name
};

// The same from recorded transitions: CSV with the columns state, action, next, reward and, where
// there is one, stage; every other column is a signal. Without a reward, the objective chooses one.
// `name` stands for the file in errors.
Estimate read_recorded(std::string_view text, std::string_view name,
                       const RecordedOptions& options = {});

// The same samples where rows are mixtures of factors that they share (docs/factors.md): of
// `features`, a model with factors, the weights of rows count and what is earned, and nothing of
// what its factors lead to. These are estimated: the ones under which the samples are most likely.
// Rows without samples are no matter as long as the others tell all factors apart; an Error
// otherwise. Visits and counts of a factor are those of the rows that take it alone.
Estimate estimate_factors(const Estimate& rows, const Model& features);

// The estimated model under these terms. Rows without samples get a radius that holds every
// distribution, which `none`, `tilt` and `interval` cannot: an Error.
Problem estimated_problem(const Estimate& estimate, Terms terms);

// The same, with radii from the data instead of those of the terms: with probability 1 - delta the
// sets hold all true rows at once (docs/sampling.md has the formulas). `tv` is centred at the
// empirical rows; `chi2` and `kl` at add-one smoothed ones, because a ball of theirs holds no row
// with an outcome that its centre lacks. Needs rewards and signals that do not vary within a row,
// but by what is known of arrivals.
Problem confident_problem(const Estimate& estimate, Terms terms, double delta);

}  // namespace redoubt
