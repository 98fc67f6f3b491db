#include "chance/augment.h"

#include <fmt/format.h>

#include <algorithm>

#include "bellman/row_evaluator.h"
#include "chance/reachable_budgets.h"
#include "model/bytes.h"
#include "model/model_writer.h"
#include "model/select_rows.h"
#include "model/set_traits.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Builds the model of the pairs that episodes can come to.
class Augmentation {
 public:
  Augmentation(const Problem& problem, Workers& workers, double bytes_for_each)
      : original_(problem),
        model_(problem.model()),
        workers_(workers),
        budgets_(problem, workers),
        pairs_(reached_pairs(problem, budgets_, workers, bytes_for_each)),
        // Outcomes of probability zero stay in a model only where bounds say that they are
        // possible.
        writer_(model_.arrays().signals,
                lands_anywhere(problem) || !model_.arrays().lower.empty()) {}

  AugmentedProblem run() {
    const std::vector<int>& chance = budgets_.chance();
    Terms terms{.horizon = original_.horizon(), .start = start(), .constraints = {}};
    terms.constraints = original_.constraints();
    for (std::size_t c = 0; c < chance.size(); ++c) {
      Constraint& constraint = terms.constraints[chance[c]];
      constraint =
          at_least(signal_name(c), *constraint.probability - budgets_.kept(c, budgets_.start()));
    }
    Model model = build();
    terms.uncertainty = original_.uncertainty();
    select_radii(terms, rows_);
    keep_to_support(terms.uncertainty);  // landings are outcomes now
    AugmentedProblem augmented{original_,
                               Problem(std::move(model), std::move(terms)),
                               chance,
                               budgets_.axes(),
                               {},
                               {},
                               std::move(origin_)};
    augmented.kept.resize(chance.size());
    for (const Pair& pair : pairs_.known) {
      augmented.state.push_back(pair.state);
      for (std::size_t c = 0; c < chance.size(); ++c)
        augmented.kept[c].push_back(budgets_.kept(c, pair.budgets));
    }
    return augmented;
  }

 private:
  State number(const Pair& pair) const {
    return static_cast<State>(std::lower_bound(pairs_.known.begin(), pairs_.known.end(), pair) -
                              pairs_.known.begin());
  }
  Start start() const {
    Start start = original_.start();
    for (State& s : start.states) s = number({whole_number(model_, s), budgets_.start()});
    return start;
  }

  std::string signal_name(std::size_t c) const {
    const Constraint& constraint = original_.constraints()[budgets_.chance()[c]];
    return fmt::format("{}: {} {} {}", budgets_.chance()[c], constraint.signal,
                       constraint.sense == Sense::at_least ? "at least" : "at most",
                       constraint.bound);
  }

  Model build() {
    arrays_.states = static_cast<State>(pairs_.known.size());
    arrays_.stages = budgets_.stationary() ? 1 : original_.horizon();
    for (std::size_t c = 0; c < budgets_.chance().size(); ++c)
      arrays_.signals.push_back({signal_name(c), {}, {}});
    std::vector<Pair> leading;  // pairs from which something follows
    if (budgets_.stationary()) {
      for (std::size_t h = 0; h + 1 < pairs_.at_stage.size(); ++h)
        leading.insert(leading.end(), pairs_.at_stage[h].begin(), pairs_.at_stage[h].end());
      std::sort(leading.begin(), leading.end());
      leading.erase(std::unique(leading.begin(), leading.end()), leading.end());
    }
    const auto leading_at = [&](int h) -> const std::vector<Pair>& {
      return budgets_.stationary() ? leading : pairs_.at_stage[h];
    };
    double outcomes = 0;
    for (int h = 0; h < arrays_.stages; ++h) outcomes += outcomes_of(h, leading_at(h));
    make_room(static_cast<std::size_t>(outcomes));
    double worth = 1;  // of what is earned at the stage
    for (int h = 0; h < arrays_.stages; ++h, worth *= original_.discount()) {
      const auto& at_stage = leading_at(h);
      workers_.check_together();
      for (const Pair& pair : pairs_.known) {
        workers_.check();
        if (std::binary_search(at_stage.begin(), at_stage.end(), pair)) {
          const State s = number_here(model_, pair.state);
          for (Row row = model_.row_begin(h, s); row < model_.row_end(h, s); ++row)
            add_row(h, pair, row, worth);
        }
        writer_.end_state();
      }
    }
    if (arrays_.stages == 0) arrays_.stages = 1, arrays_.state_rows.assign(arrays_.states + 1, 0);
    if (model_.arrays().submodel) arrays_.submodel = part();
    return Model(std::move(arrays_));
  }

  // At most: where mass may land anywhere, some states may be among the row's outcomes.
  double outcomes_of(int h, const std::vector<Pair>& pairs) const {
    double outcomes = 0;
    for (const Pair& pair : pairs) {
      const State s = number_here(model_, pair.state);
      const Row begin = model_.row_begin(h, s), end = model_.row_end(h, s);
      outcomes += static_cast<double>(model_.outcome_begin(end) - model_.outcome_begin(begin));
      if (lands_anywhere(original_))
        outcomes += static_cast<double>(end - begin) * model_.all_states();
    }
    return outcomes;
  }
  // Arrays that grow as they are filled would take up to twice the memory, for good.
  void make_room(std::size_t outcomes) {
    arrays_.next.reserve(outcomes);
    arrays_.probability.reserve(outcomes);
    arrays_.outcome_reward.reserve(outcomes);
    for (Signal& signal : arrays_.signals) signal.outcome.reserve(outcomes);
    origin_.reserve(outcomes);
    if (lands_anywhere(original_) || !model_.arrays().lower.empty()) {
      arrays_.lower.reserve(outcomes);
      arrays_.upper.reserve(outcomes);
    }
  }

  Submodel part() {
    std::int32_t last = -1;
    for (const std::int32_t action : arrays_.action) last = std::max(last, action);
    const int actions = static_cast<int>(max_over_ranks(workers_.ranks(), last)) + 1;
    return {workers_.ranks().rank(),
            workers_.ranks().size(),
            pairs_.all,
            pairs_.number,
            pairs_.owner,
            actions};
  }

  void add_row(int stage, const Pair& pair, Row row, double worth) {
    writer_.begin_row(model_.arrays().action[row], [&](int k) {
      return k < model_.signals() ? worth * model_.value(k, row) : 0.0;
    });
    rows_.push_back(row);
    auto list = successors(original_, budgets_, stage, pair, row);
    sort_as_models_do(row, list);
    for (const Successor& next : list) add_outcome(pair, row, next, worth);
    writer_.end_row();
  }

  // By next state, then reward, then signals; what the row itself has in equal measure for all its
  // outcomes plays no part.
  void sort_as_models_do(Row row, std::vector<Successor>& list) const {
    const auto key = [&](const Successor& next, int signal) { return value(row, next, signal); };
    std::stable_sort(list.begin(), list.end(), [&](const Successor& a, const Successor& b) {
      if (a.pair != b.pair) return a.pair < b.pair;
      for (int signal = -1; signal < model_.signals(); ++signal)
        if (key(a, signal) != key(b, signal)) return key(a, signal) < key(b, signal);
      return false;
    });
  }

  bool lands(Row row, const Successor& next) const {
    return next.outcome == model_.outcome_end(row) - model_.outcome_begin(row);
  }
  double value(Row row, const Successor& next, int signal) const {
    return lands(row, next)
               ? model_.arrival_value(signal, next.pair.state)
               : model_.outcome_value(signal, model_.outcome_begin(row) + next.outcome);
  }

  void add_outcome(const Pair& pair, Row row, const Successor& next, double worth) {
    const auto i = model_.outcome_begin(row) + next.outcome;
    const ModelArrays& from = model_.arrays();
    const bool any = lands_anywhere(original_) || from.lower.empty();
    writer_.add_outcome(number(next.pair), lands(row, next) ? 0 : from.probability[i],
                        any ? 0 : from.lower[i], any ? 1 : from.upper[i], [&](int k) {
                          const int c = k - model_.signals();
                          if (c < 0) return worth * value(row, next, k);
                          return budgets_.kept(c, next.pair.budgets) -
                                 budgets_.kept(c, pair.budgets);
                        });
    origin_.push_back(static_cast<std::int32_t>(next.outcome));
  }

  const Problem& original_;
  const Model& model_;
  Workers& workers_;
  ChanceBudgets budgets_;
  ReachedPairs pairs_;  // the augmented states, in order
  ModelWriter writer_;
  ModelArrays& arrays_ = writer_.arrays;
  std::vector<Row> rows_;  // the original row of each
  std::vector<std::int32_t> origin_;
};

}  // namespace

Constraint with_probability(Constraint constraint, double probability) {
  constraint.probability = probability;
  return constraint;
}

bool has_chance_constraints(const Problem& problem) {
  return std::any_of(problem.constraints().begin(), problem.constraints().end(),
                     [](const Constraint& c) { return c.probability.has_value(); });
}

bool AugmentedProblem::exact() const {
  return std::all_of(budget.begin(), budget.end(), [](const BudgetAxis& a) { return a.exact; });
}

double internal::bytes_beyond_model(const AugmentedProblem& augmented) {
  const double each = sizeof(State) + sizeof(double) * static_cast<double>(augmented.kept.size());
  return each * static_cast<double>(augmented.state.size()) +
         sizeof(std::int32_t) * static_cast<double>(augmented.outcome.size()) +
         bytes_of(augmented.original.model());
}

AugmentedProblem internal::augment(const Problem& problem, Workers& workers,
                                   double bytes_for_each) {
  bool arrivals = false;
  for (int signal = -1; signal < problem.model().signals(); ++signal)
    arrivals = arrivals || !problem.model().arrival_values(signal).empty();
  // A rank knows arrivals in the states that its rows lead to, not in all.
  require(!any_rank(workers.ranks(), arrivals) || !problem.model().arrays().submodel ||
              !lands_anywhere(problem),
          "a chance constraint and signals of arrivals, under total variation with reach anywhere, "
          "on {} ranks, must run on one",
          workers.ranks().size());
  return Augmentation(problem, workers, bytes_for_each).run();
}
AugmentedProblem augment(const Problem& problem) {
  Workers alone(1);
  return augment(problem, alone);
}

}  // namespace redoubt
