#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt {

// What can be asked of a simulator: its rows, stored as those of a model are, and the names of the
// signals that come with every answer.
struct SimulatorShape {
  State states = 0;
  int stages = 1;  // 1: rows answer the same at every stage
  std::vector<Row> state_rows;
  std::vector<std::int32_t> action;  // the action number of each row
  std::vector<std::string> signals;
  std::vector<std::string> state_names, action_names;  // empty: numbers are the names
  Terms terms;  // what the simulator knows of the problem; the rest are defaults
  // Tells simulators of the same shape apart, so that their samples are never mixed; 0: unknown.
  std::uint64_t identity = 0;
  // What is known of values without asking: those of rows, and what any arrival in a state adds to
  // them, also one that no sample shows (see Signal). Samples have both in their values.
  struct Known {
    std::vector<double> row, arrival;  // empty: zero
  };
  std::vector<Known> known;  // of the reward, then of each signal; empty: nothing is known
  // What a row can lead to, where the simulator says so, for `learn`. An answer that is not among
  // its row's outcomes is then an Error.
  struct Outcome {
    State next = 0;
    std::vector<double> values;  // reward, then signals; empty: whatever the samples say
    bool operator==(const Outcome&) const = default;
  };
  std::vector<std::vector<Outcome>> outcomes;  // of each row; empty: any state
  // Between which numbers the values of samples lie, also for `learn`.
  struct Range {
    double least = 0, most = 0;
  };
  std::vector<std::optional<Range>> ranges;  // of the reward, then of each signal; empty: of none
  // What all samples of a row share, outcomes that were never seen earn, too.
  bool shared_values = false;
  // The last `factors` of the states are factors, as in ModelArrays: only they are asked for. All
  // else is known: what is earned, and the weights of the rows that mix them.
  State factors = 0;
  std::vector<std::vector<double>> weights;  // of the outcomes of each row; none where unknown

  Row rows() const { return static_cast<Row>(action.size()); }
  bool asks(Row row) const { return weights.empty() || weights[row].empty(); }
  // An Error that names the broken rule, unless sizes, offsets and actions agree.
  void check() const;
};

// Actions 0..actions-1 in every state but the terminal ones.
SimulatorShape regular_shape(State states, std::int32_t actions, std::vector<std::string> signals,
                             int stages = 1, const std::vector<State>& terminal = {});

// One question. Draws of a row are numbered from 0.
struct Query {
  Row row = 0;
  std::int64_t draw = 0;
  int stage = 0;
  State state = 0;
  std::int32_t action = 0;
  // Below 2^53 and uniform there; depends on the run's seed, the row and the draw only. A simulator
  // that takes its randomness from it answers the same in every order, and after every restart.
  std::uint64_t seed = 0;
};

struct Sample {
  State next = 0;
  double reward = 0;
  std::vector<double> signals;  // one for each signal of the shape
};

// A generative model: answers any (stage, state, action), as often as one likes. Derive from it, or
// wrap a function with `function_simulator`.
class Simulator {
 public:
  using Next = std::function<bool(Query& query)>;  // fills in the next query; false: no more
  using Receive = std::function<void(const Query& query, const Sample& sample)>;

  virtual ~Simulator() = default;
  virtual const SimulatorShape& shape() const = 0;

  // Takes queries until there are no more and hands over each answer as soon as it is there, in any
  // order, from the calling thread. An exception ends the run; what was handed over stays.
  virtual void answer(const Next& next, const Receive& receive) = 0;

  // Whether several threads may call `answer` at once.
  virtual bool is_concurrent() const { return false; }
};

// Samples of a problem's nominal model. Reward and signals are those of the outcome drawn.
std::unique_ptr<Simulator> problem_simulator(const Problem& problem);

std::unique_ptr<Simulator> function_simulator(SimulatorShape shape,
                                              std::function<Sample(const Query&)> function);

// What can be asked where rows are mixtures of factors that they share (docs/factors.md):
// `features` is a model with factors, of which the weights count and what is earned, and nothing of
// what its factors lead to. A query for factor k is one for state ordinary() + k, action 0.
SimulatorShape factored_shape(const Model& features, Terms terms = {});

// Asks for a factor by asking for rows that take it alone, each in its turn, or for itself where
// the simulator has a factored_shape(). Of the answers the next states count. An Error that names a
// factor without such a row: draws of a mixture do not say which factor they are of.
std::unique_ptr<Simulator> factor_simulator(std::unique_ptr<Simulator> rows, const Model& features);

struct ExternalOptions {
  int window = 256;     // queries that may wait for their answers at a time
  double timeout = 60;  // seconds without an answer after which the program counts as hung
};

// A program that reads queries as lines of JSON and writes answers as lines of JSON;
// docs/sampling.md describes them. The command is run by the shell, once, and is told to end by the
// end of its input. A program that crashes, hangs or writes something else is an Error that names
// the query.
std::unique_ptr<Simulator> external_simulator(const std::string& command,
                                              const ExternalOptions& options = {});

}  // namespace redoubt
