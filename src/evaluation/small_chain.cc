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
    : SmallChain(problem, ranks, problem.model().all_states()) {}

SmallChain::SmallChain(const Problem& problem, Communicator& ranks, std::int64_t nodes)
    : problem_(&problem),
      ranks_(&ranks),
      tries_left_(problem.infinite() && problem.discount() < 1 && nodes <= kMostStates
                      ? static_cast<int>(std::size(kTries))
                      : 0) {}

bool SmallChain::solve_after(std::int64_t steps, const Chain& chain, std::vector<double>& values) {
  if (!wants(steps)) return false;
  const Model& model = problem_->model();
  if (!(model.arrays().submodel ? solve(whole_chain(chain)) : solve(chain))) return false;
  for (State s = 0; s < model.states(); ++s) values[s] = elimination_[whole_number(model, s)];
  return true;
}

bool SmallChain::wants(std::int64_t steps) const {
  return tries_left_ > 0 && steps == (helped_ ? kFewSteps : kTries[tries_left_ - 1].steps);
}

bool SmallChain::solve(const Chain& whole) {
  helped_ = eliminate(whole, kTries[tries_left_ - 1].additions);
  if (!helped_) --tries_left_;
  return helped_;
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

Chain SmallChain::whole_chain(const Chain& chain) const {
  const Model& model = problem_->model();
  std::vector<State> number;
  for (State place = 0; place < model.own_states(); ++place)
    number.push_back(whole_number(model, model.own(place)));
  Chain own = chain;
  for (State& next : own.next) next = whole_number(model, next);
  return gather_chain(*ranks_, std::move(number), std::move(own));
}

Chain gather_chain(Communicator& ranks, std::vector<State> number, Chain own) {
  std::vector<std::int64_t> length;
  for (std::size_t i = 0; i < number.size(); ++i) length.push_back(own.begin[i + 1] - own.begin[i]);
  number = all_gather_lists(ranks, std::move(number));
  length = all_gather_lists(ranks, std::move(length));
  const auto next = all_gather_lists(ranks, std::move(own.next));
  const auto probability = all_gather_lists(ranks, std::move(own.probability));
  const auto earned = all_gather_lists(ranks, std::move(own.earned));
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
