#include "evaluation/small_chain.h"

#include <iterator>
#include <numeric>

#include "model/submodel.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

struct Try {
  std::int64_t steps;  // after so many
  double additions;    // for each state
};
constexpr Try kTries[] = {{2000, 4000}, {200, 400}};  // the last one first
constexpr std::int64_t kFewSteps = 16;                // which chains that are no trouble need
constexpr std::int64_t kMostGiven = 25;               // entries of the chain, for each state
constexpr std::int64_t kMostEntries = 200;            // and of what it becomes

}  // namespace

SmallChain::SmallChain(const Problem& problem, Communicator& ranks)
    : problem_(&problem),
      ranks_(&ranks),
      tries_left_(problem.infinite() && problem.discount() < 1 &&
                          problem.model().all_states() <= kMostStates
                      ? static_cast<int>(std::size(kTries))
                      : 0) {}

bool SmallChain::solve_after(std::int64_t steps, const Chain& chain, std::vector<double>& values) {
  if (tries_left_ == 0) return false;
  const Try& next = kTries[tries_left_ - 1];
  if (steps != (helped_ ? kFewSteps : next.steps)) return false;
  const Model& model = problem_->model();
  const bool whole = !model.arrays().submodel;
  helped_ =
      whole ? eliminate(chain, next.additions) : eliminate(whole_chain(chain), next.additions);
  if (!helped_) {
    --tries_left_;
    return false;
  }
  for (State s = 0; s < model.states(); ++s) values[s] = elimination_[whole_number(model, s)];
  return true;
}

// An episode leaves every state with what the discount takes away, and for terminal states, which
// are worth nothing.
bool SmallChain::eliminate(const Chain& chain, double additions) {
  const auto states = static_cast<State>(chain.earned.size());
  if (chain.begin.back() > kMostGiven * states) return false;
  const double discount = problem_->discount();
  const auto is_terminal = [&](State s) { return chain.begin[s] == chain.begin[s + 1]; };
  elimination_.begin(states);
  for (State s = 0; s < states; ++s) {
    double leaves = is_terminal(s) ? 1 : 1 - discount;
    for (auto k = chain.begin[s]; k < chain.begin[s + 1]; ++k) {
      const double probability = discount * chain.probability[k];
      if (is_terminal(chain.next[k]))
        leaves += probability;
      else if (chain.next[k] != s)
        elimination_.lead(s, chain.next[k], probability);
    }
    elimination_.set(s, leaves, chain.earned[s]);
  }
  return elimination_.solve(additions * states, kMostEntries * states);
}

// In the order of the whole model's states, whoever owns them.
Chain SmallChain::whole_chain(const Chain& chain) const {
  const Model& model = problem_->model();
  std::vector<State> number, next;
  std::vector<std::int64_t> length;
  for (State place = 0; place < model.own_states(); ++place) {
    number.push_back(whole_number(model, model.own(place)));
    length.push_back(chain.begin[place + 1] - chain.begin[place]);
  }
  for (const State s : chain.next) next.push_back(whole_number(model, s));
  number = all_gather_lists(*ranks_, std::move(number));
  length = all_gather_lists(*ranks_, std::move(length));
  next = all_gather_lists(*ranks_, std::move(next));
  const auto probability = all_gather_lists(*ranks_, chain.probability);
  const auto earned = all_gather_lists(*ranks_, chain.earned);
  std::vector<std::int64_t> from(number.size() + 1, 0), place_of(number.size());
  std::partial_sum(length.begin(), length.end(), from.begin() + 1);
  for (std::size_t i = 0; i < number.size(); ++i)
    place_of[number[i]] = static_cast<std::int64_t>(i);
  Chain whole;
  whole.begin.push_back(0);
  for (const std::int64_t i : place_of) {
    whole.next.insert(whole.next.end(), next.begin() + from[i], next.begin() + from[i + 1]);
    whole.probability.insert(whole.probability.end(), probability.begin() + from[i],
                             probability.begin() + from[i + 1]);
    whole.earned.push_back(earned[i]);
    whole.begin.push_back(static_cast<std::int64_t>(whole.next.size()));
  }
  return whole;
}

}  // namespace redoubt::internal
