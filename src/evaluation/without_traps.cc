#include "evaluation/without_traps.h"

#include <cmath>
#include <set>

#include "evaluation/stationary.h"
#include "evaluation/taken_model.h"
#include "evaluation/until_end.h"
#include "model/end_components.h"
#include "model/ends.h"
#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// With which any distribution over equally likely outcomes is in the set.
double free_radius(const Uncertainty& set, std::size_t outcomes) {
  const auto count = static_cast<double>(outcomes);
  const auto* composed = std::get_if<Composed>(&set);
  const bool chi2 = std::holds_alternative<Chi2>(set) ||
                    (composed != nullptr && composed->ball == Composed::Ball::chi2);
  const bool kl = std::holds_alternative<KL>(set) ||
                  (composed != nullptr && composed->ball == Composed::Ball::kl);
  return chi2 ? count : kl ? 1 + std::log(count) : 1;
}

class Untrap {
 public:
  Untrap(const Problem& problem, const TakenRows& rows, WhoPicks who)
      : problem_(problem),
        model_(problem.model()),
        from_(model_.arrays()),
        support_(model_, problem.uncertainty()),
        listed_(rows),
        anywhere_(lands_anywhere(problem.uncertainty())),
        kept_(model_.rows(), 0),
        made_(model_, !from_.lower.empty() || anywhere_) {
    require(!anywhere_ || !needs_bounds(problem.uncertainty()),
            "set {} with reach anywhere where nature can keep an episode for ever, must have reach "
            "support",
            name(problem.uncertainty()));
    std::vector<char> use(model_.rows(), 0);
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
      use[rows.rows[i]] = who == WhoPicks::nature || rows.weight[i] > 0;
    traps_ = end_components(
        model_, support_,
        who == WhoPicks::policy ? Keep::each_by_some_kernel : Keep::by_some_kernel, use);
    for (const auto& list : traps_.rows)
      for (const Row row : list) kept_[row] = 1;
  }

  TakenProblem build() {
    const State end = model_.states();
    for (State s = 0; s < end; ++s) add_state(s);
    if (!traps_.states.empty()) made_.end_state();
    Terms terms = made_.terms_like(problem_);
    if (anywhere_) keep_to_support(terms.uncertainty);
    return {Problem::with_known_ends(made_.take_model(), std::move(terms)), made_.take_rows()};
  }

 private:
  using Pays = std::vector<double>;  // the reward and each signal

  void add_state(State s) {
    const int c = traps_.of_state[s];
    if (c < 0)
      for (auto i = listed_.begin[s]; i < listed_.begin[s + 1]; ++i) copy_row(i);
    else if (s == traps_.states[c].front())
      add_trap(c);
    else
      add_way_to(traps_.states[c].front());
    made_.end_state();
  }
  static double nothing(int) { return 0; }
  // Of an outcome, with what the row itself earns.
  template <class Beyond>
  Pays pays(Row row, const Beyond& beyond) const {
    Pays sum;
    for (int k = -1; k < model_.signals(); ++k) sum.push_back(model_.value(k, row) + beyond(k));
    return sum;
  }
  // Calls visit(outcome, next state, what is earned beyond the row); -1: it lands there.
  template <class Visit>
  void for_each_outcome(Row row, const Visit& visit) const {
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
      visit(i, from_.next[i], [&, i](int k) { return model_.outcome_value(k, i); });
    for (State s = 0; support_.lands_anywhere(row) && s < model_.states(); ++s)
      if (!model_.lists(row, s)) visit(-1, s, [&, s](int k) { return model_.arrival_value(k, s); });
  }

  void copy_row(std::int64_t listed) {
    const Row row = listed_.rows[listed];
    made_.begin_row(listed_.weight.empty() ? 1 : listed_.weight[listed],
                    radius_of(problem_.uncertainty(), row),
                    [&](int k) { return model_.value(k, row); });
    for_each_outcome(row, [&](std::int64_t i, State next, const auto& beyond) {
      if (i < 0)
        made_.add_outcome(next, 0, 0, 1, beyond);
      else
        made_.copy_outcome(next, model_, i, beyond);
    });
    made_.end_row();
  }
  void add_way_to(State next) {
    made_.begin_row(1, 0, nothing);
    made_.add_outcome(next, 1, 1, 1, nothing);
    made_.end_row();
  }

  // One row over all that nature may leave by. Rows of its states that must leave are their own.
  void add_trap(int c) {
    std::set<std::pair<State, Pays>> ways = {{model_.states(), Pays(model_.signals() + 1, 0.0)}};
    for (const Row row : traps_.rows[c])
      for_each_outcome(row, [&](std::int64_t i, State next, const auto& beyond) {
        if (traps_.of_state[next] != c && (i < 0 || support_.possible(row, i)))
          ways.emplace(next, pays(row, beyond));
      });
    made_.begin_row(1, free_radius(problem_.uncertainty(), ways.size()), nothing);
    for (const auto& [next, paid] : ways)
      made_.add_outcome(next, 1.0 / static_cast<double>(ways.size()), 0, 1,
                        [&, &paid = paid](int k) { return paid[k + 1]; });
    made_.end_row();
    for (const State s : traps_.states[c])
      for (auto i = listed_.begin[s]; i < listed_.begin[s + 1]; ++i)
        if (!kept_[listed_.rows[i]]) copy_row(i);
  }

  const Problem& problem_;
  const Model& model_;
  const ModelArrays& from_;
  Support support_;
  const TakenRows& listed_;
  bool anywhere_;  // landings become outcomes
  EndComponents traps_;
  std::vector<char> kept_;  // of each row: it is of a trap
  TakenModel made_;
};

std::vector<double> totals_until_end(const Problem& problem, const TakenRows& rows,
                                     const Channel& channel, Workers& workers,
                                     double& evaluations) {
  UntilEnd totals(problem, channel, rows, UntilEnd::Choice::mixed, workers);
  std::vector<double> found(problem.model().all_states(), 0.0);
  std::vector<std::int32_t> actions(found.size(), 0);
  totals.find(found, actions);
  found = totals.below(found);
  evaluations += totals.evaluations();
  return found;
}

}  // namespace

TakenProblem without_traps(const Problem& problem, const TakenRows& rows, WhoPicks who) {
  return Untrap(problem, rows, who).build();
}

std::vector<double> totals_of(const Problem& problem, const TakenRows& rows, const Channel& channel,
                              Workers& workers, double& evaluations) {
  const Model& model = problem.model();
  const Support support(model, problem.uncertainty());
  if (problem.traps() && only_adds(model, support, {"", channel.signal, channel.sign})) {
    // What is kept earns nothing, and nobody would leave for more.
    const std::vector<char> kept = trapped_states(problem, channel, rows);
    return totals_until_end(problem, without_rows(rows, kept), channel, workers, evaluations);
  }
  if (problem.traps()) {
    const TakenProblem made = without_traps(problem, rows, WhoPicks::policy);
    std::vector<double> found =
        totals_until_end(made.problem, made.rows, channel, workers, evaluations);
    found.resize(model.states());
    return found;
  }
  return totals_until_end(problem, rows, channel, workers, evaluations);
}

}  // namespace redoubt::internal
