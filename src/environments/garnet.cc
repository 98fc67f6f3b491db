#include <algorithm>
#include <cmath>
#include <numeric>

#include "environments/environment.h"
#include "numerics/philox.h"
#include "support/require.h"

namespace redoubt::internal::builtin {
namespace {

// Every row draws from a stream of its own for each purpose, so that a row does not depend on how
// many numbers the rows before it took.
enum Purpose : std::uint32_t { for_transitions, for_reward, for_cost };

constexpr std::int64_t kMostOutcomes = 1'000'000'000;

struct Size {
  State states;
  std::int32_t actions;
  std::int64_t rows() const { return static_cast<std::int64_t>(states) * actions; }
};

void normalise(double* weights, std::int64_t count) {
  const double sum = std::accumulate(weights, weights + count, 0.0);
  for (std::int64_t i = 0; i < count; ++i) weights[i] /= sum;
}

// Softmax of normal logits whose standard deviation is itself uniform in [0, spread). The
// literature also draws their mean, which cancels.
void dense_row(RandomStream random, double spread, std::int64_t states, double* probability) {
  const double deviation = spread * random.uniform();
  for (State next = 0; next < states; ++next) probability[next] = deviation * random.normal();
  const double largest = *std::max_element(probability, probability + states);
  for (State next = 0; next < states; ++next)
    probability[next] = std::exp(probability[next] - largest);
  normalise(probability, states);
}

// Distinct next states, every set of them equally likely (Floyd's sampling), kept in increasing
// order, and weights uniform on the simplex: normalised exponentials, that is Dirichlet(1, ..., 1).
void sparse_row(RandomStream random, State states, State successors, State* next,
                double* probability) {
  State* end = next;
  for (State last = states - successors; last < states; ++last) {
    const auto pick = static_cast<State>(random.below(static_cast<std::uint64_t>(last) + 1));
    State* place = std::lower_bound(next, end, pick);
    if (place != end && *place == pick) {
      *end++ = last;  // larger than all before
    } else {
      std::copy_backward(place, end, end + 1);
      *place = pick;
      ++end;
    }
  }
  for (State i = 0; i < successors; ++i) probability[i] = -std::log(1 - random.uniform());
  normalise(probability, successors);
}

// A normal value whose mean and standard deviation are uniform in [0, 10): any sign, any scale.
std::vector<double> draw_values(Size size, std::uint64_t seed, Purpose purpose) {
  std::vector<double> values(size.rows());
  for (std::int64_t row = 0; row < size.rows(); ++row) {
    RandomStream random(seed, row, purpose);
    const double mean = 10 * random.uniform(), deviation = 10 * random.uniform();
    values[row] = mean + deviation * random.normal();
  }
  return values;
}

Model random_model(const Parameters& parameters) {
  const Size size{static_cast<State>(parameters.integer("states", 1, 10'000'000)),
                  static_cast<std::int32_t>(parameters.integer("actions", 1, 10'000))};
  const std::uint64_t seed = parameters.seed("seed");
  const double spread = parameters.number("spread", 0, 1e6);
  const auto few = parameters.integer_or("all", "successors", 1, size.states);
  const bool dense = !few;
  const auto successors = static_cast<State>(few.value_or(size.states));
  if (!dense && parameters.given("spread"))
    parameters.refuse("spread", "has a meaning for successors=all only");
  require(size.rows() <= kMostOutcomes / successors,
          "garnet: {} states, {} actions and {} successors make more than {} outcomes, use fewer",
          size.states, size.actions, successors, kMostOutcomes);

  ModelArrays arrays;
  arrays.states = size.states;
  for (State state = 0; state <= size.states; ++state)
    arrays.state_rows.push_back(static_cast<Row>(state) * size.actions);
  arrays.action.resize(size.rows());
  arrays.next.resize(size.rows() * successors);
  arrays.probability.resize(size.rows() * successors);
  arrays.row_outcomes.push_back(0);
  for (std::int64_t row = 0; row < size.rows(); ++row) {
    RandomStream random(seed, row, for_transitions);
    State* next = &arrays.next[row * successors];
    double* probability = &arrays.probability[row * successors];
    arrays.action[row] = static_cast<std::int32_t>(row % size.actions);
    arrays.row_outcomes.push_back((row + 1) * successors);
    if (dense) {
      std::iota(next, next + successors, 0);
      dense_row(random, spread, size.states, probability);
    } else {
      sparse_row(random, size.states, successors, next, probability);
    }
  }
  arrays.reward = draw_values(size, seed, for_reward);
  arrays.signals = {{"cost", draw_values(size, seed, for_cost), {}}};
  return Model(std::move(arrays));
}

}  // namespace

Environment garnet() {
  return {.name = "garnet",
          .description = "Random transitions, rewards and costs; dense or with few successors",
          .parameters = {{"states", "10", "number of states"},
                         {"actions", "5", "number of actions of every state"},
                         {"seed", "0", "of the generator; equal seeds give equal models"},
                         {"successors", "all", "next states of a row: all, or a number of them"},
                         {"spread", "100", "largest deviation of the logits; small: even rows"}},
          .defaults = {.bound = "15"},
          .sense = Sense::at_most,
          .model = random_model};
}

}  // namespace redoubt::internal::builtin
