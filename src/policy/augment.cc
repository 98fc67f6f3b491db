#include <algorithm>
#include <cmath>

#include "model/machine.h"
#include "model/require.h"
#include "policy/budget.h"
#include "policy/budget_axes.h"
#include "redoubt/chance.h"
#include "sweep/row_evaluator.h"

namespace redoubt {
namespace {

// A state and its budgets: the place of each on its lattice, counted from the lowest one of any
// stage, as one number.
struct Pair {
  State state = 0;
  std::int64_t budgets = 0;
  auto operator<=>(const Pair&) const = default;
};

// What follows a pair, a row and one of its outcomes.
struct Successor {
  Pair pair;
  std::int64_t outcome = 0;  // of the original row; its number of outcomes: a landing outside
};

class Augmentation {
 public:
  explicit Augmentation(const Problem& problem) : original_(problem), model_(problem.model()) {
    for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
      if (!problem.constraints()[c].probability) continue;
      require(!model_.arrays().part,
              "the chance constraint on '{}' of a problem in parts, the problem must be whole",
              problem.constraints()[c].signal);
      chance_.push_back(c);
      budget_.push_back(chance_axis(problem, c));
    }
    stationary_ = model_.stages() == 1 && problem.discount() == 1;
    for (BudgetAxis& axis : budget_) {
      std::int64_t low = axis.low[0], end = axis.low[0] + axis.cells[0];
      for (std::size_t h = 0; h < axis.low.size(); ++h) {
        low = std::min(low, axis.low[h]);
        end = std::max(end, axis.low[h] + axis.cells[h]);
      }
      if (stationary_) {  // the same rows at every stage take the same window at every stage
        std::fill(axis.low.begin(), axis.low.end(), low);
        std::fill(axis.cells.begin(), axis.cells.end(), static_cast<std::int32_t>(end - low));
      }
      lowest_.push_back(low);
      width_.push_back(end - low);
    }
  }

  AugmentedProblem run() {
    find_pairs();
    Terms terms{.horizon = original_.horizon(), .start = start(), .constraints = {}};
    terms.constraints = original_.constraints();
    for (std::size_t c = 0; c < chance_.size(); ++c) {
      Constraint& constraint = terms.constraints[chance_[c]];
      constraint = at_least(signal_name(c), *constraint.probability - kept(c, start_budgets()));
    }
    Model model = build();
    terms.uncertainty = std::move(set_);
    AugmentedProblem augmented{
        original_,         Problem(std::move(model), std::move(terms)), chance_, budget_, {}, {},
        std::move(origin_)};
    augmented.kept.resize(chance_.size());
    for (const Pair& pair : pairs_) {
      augmented.state.push_back(pair.state);
      for (std::size_t c = 0; c < chance_.size(); ++c)
        augmented.kept[c].push_back(kept(c, pair.budgets));
    }
    return augmented;
  }

 private:
  // ---- budgets as one number ----

  std::int64_t place(std::size_t c, std::int64_t budgets) const {  // on the lattice of constraint c
    for (std::size_t i = chance_.size(); --i > c;) budgets /= width_[i];
    return lowest_[c] + budgets % width_[c];
  }
  std::int64_t start_budgets() const {
    std::int64_t budgets = 0;
    for (std::size_t c = 0; c < chance_.size(); ++c)
      budgets = budgets * width_[c] + budget_[c].low[0] + budget_[c].start() - lowest_[c];
    return budgets;
  }
  std::int64_t moved(int stage, std::int64_t budgets, Row row, std::int64_t outcome) const {
    std::int64_t next = 0;
    for (std::size_t c = 0; c < chance_.size(); ++c) {
      double earned = 0;
      earned_on_axes(model_, {&budget_[c], 1}, row, outcome, {&earned, 1});
      const auto cell = static_cast<std::int32_t>(place(c, budgets) - budget_[c].low[stage]);
      const auto to = move_budget(budget_[c], stage, cell, earned).cell;
      next = next * width_[c] + budget_[c].low[stage + 1] + to - lowest_[c];
    }
    return next;
  }
  // 1 when nothing more is to be earned for constraint c.
  double kept(std::size_t c, std::int64_t budgets) const {
    const BudgetAxis& axis = budget_[c];
    const double required = axis.bound + static_cast<double>(place(c, budgets)) * axis.step;
    return required <= kCellNoise * axis.step ? 1 : 0;
  }

  // ---- which pairs there are ----

  std::vector<Successor> successors(int stage, const Pair& pair, Row row) const {
    std::vector<Successor> list;
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    for (auto i = begin; i < end; ++i)
      list.push_back(
          {{model_.arrays().next[i], moved(stage, pair.budgets, row, i - begin)}, i - begin});
    if (!lands_anywhere(original_)) return list;
    const std::int64_t landed = moved(stage, pair.budgets, row, -1);
    for (State s = 0; s < model_.states(); ++s)
      if (!model_.lists(row, s)) list.push_back({{s, landed}, end - begin});
    return list;
  }

  void find_pairs() {
    const int horizon = original_.horizon();
    reached_.resize(horizon + 1);
    for (const State s : original_.start().states) reached_[0].push_back({s, start_budgets()});
    for (int h = 0; h < horizon; ++h) {
      for (const Pair& pair : reached_[h]) {
        for (Row row = model_.row_begin(h, pair.state); row < model_.row_end(h, pair.state);
             ++row) {
          for (const Successor& next : successors(h, pair, row)) {
            reached_[h + 1].push_back(next.pair);
            ++outcomes_;
          }
        }
        check_memory();
      }
      tidy(reached_[h + 1]);
      pairs_.insert(pairs_.end(), reached_[h].begin(), reached_[h].end());
      if (stationary_) tidy(pairs_);
    }
    pairs_.insert(pairs_.end(), reached_[horizon].begin(), reached_[horizon].end());
    tidy(pairs_);
  }
  static void tidy(std::vector<Pair>& pairs) {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  // The outcomes that were counted are stored once for each stage, or once for all.
  void check_memory() const {
    const double each = 8.0 * (4 + model_.signals() + static_cast<double>(chance_.size()));
    const double bytes = each * outcomes_ / (stationary_ ? original_.horizon() : 1);
    require(
        bytes <= 0.75 * machine_memory() && pairs_.size() < std::size_t{1} << 31,
        "the chance constraint on '{}' makes more than {} pairs of a state and a budget, {:.3g} "
        "GB, the limit is {:.3g} GB: give the signal coarser values",
        original_.constraints()[chance_.front()].signal, pairs_.size(), bytes / 1e9,
        0.75 * machine_memory() / 1e9);
  }
  State number(const Pair& pair) const {
    return static_cast<State>(std::lower_bound(pairs_.begin(), pairs_.end(), pair) -
                              pairs_.begin());
  }
  Start start() const {
    Start start = original_.start();
    for (State& s : start.states) s = number({s, start_budgets()});
    return start;
  }

  // ---- their model ----

  std::string signal_name(std::size_t c) const {
    const Constraint& constraint = original_.constraints()[chance_[c]];
    return fmt::format("{}: {} {} {}", chance_[c], constraint.signal,
                       constraint.sense == Sense::at_least ? "at least" : "at most",
                       constraint.bound);
  }

  Model build() {
    arrays_.states = static_cast<State>(pairs_.size());
    arrays_.stages = stationary_ ? 1 : original_.horizon();
    for (const Signal& signal : model_.arrays().signals)
      arrays_.signals.push_back({signal.name, {}, {}});
    for (std::size_t c = 0; c < chance_.size(); ++c)
      arrays_.signals.push_back({signal_name(c), {}, {}});
    arrays_.state_rows.push_back(0);
    arrays_.row_outcomes.push_back(0);
    std::vector<Pair> leading;  // pairs from which something follows
    if (stationary_) {
      for (std::size_t h = 0; h + 1 < reached_.size(); ++h)
        leading.insert(leading.end(), reached_[h].begin(), reached_[h].end());
      tidy(leading);
    }
    double worth = 1;  // of what is earned at the stage
    for (int h = 0; h < arrays_.stages; ++h, worth *= original_.discount()) {
      const auto& at_stage = stationary_ ? leading : reached_[h];
      for (const Pair& pair : pairs_) {
        if (std::binary_search(at_stage.begin(), at_stage.end(), pair)) {
          for (Row row = model_.row_begin(h, pair.state); row < model_.row_end(h, pair.state);
               ++row)
            add_row(h, pair, row, worth);
        }
        arrays_.state_rows.push_back(static_cast<Row>(arrays_.action.size()));
      }
    }
    if (arrays_.stages == 0) arrays_.stages = 1, arrays_.state_rows.assign(pairs_.size() + 1, 0);
    set_ = uncertainty();
    return Model(std::move(arrays_));
  }

  void add_row(int stage, const Pair& pair, Row row, double worth) {
    const auto signals = static_cast<std::size_t>(model_.signals());
    arrays_.action.push_back(model_.arrays().action[row]);
    arrays_.reward.push_back(worth * model_.value(-1, row));
    for (std::size_t s = 0; s < signals; ++s)
      arrays_.signals[s].row.push_back(worth * model_.value(static_cast<int>(s), row));
    for (std::size_t c = 0; c < chance_.size(); ++c) arrays_.signals[signals + c].row.push_back(0);
    rows_.push_back(row);
    auto list = successors(stage, pair, row);
    sort_as_models_do(row, list);
    for (const Successor& next : list) add_outcome(pair, row, next, worth);
    arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size()));
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
               ? 0.0
               : model_.outcome_value(signal, model_.outcome_begin(row) + next.outcome);
  }

  void add_outcome(const Pair& pair, Row row, const Successor& next, double worth) {
    const auto i = model_.outcome_begin(row) + next.outcome;
    const bool landing = lands(row, next);
    const ModelArrays& from = model_.arrays();
    arrays_.next.push_back(number(next.pair));
    arrays_.probability.push_back(landing ? 0.0 : from.probability[i]);
    arrays_.outcome_reward.push_back(worth * value(row, next, -1));
    for (int s = 0; s < model_.signals(); ++s)
      arrays_.signals[s].outcome.push_back(worth * value(row, next, s));
    for (std::size_t c = 0; c < chance_.size(); ++c) {
      const double change = kept(c, next.pair.budgets) - kept(c, pair.budgets);
      arrays_.signals[model_.signals() + c].outcome.push_back(change);
    }
    // Outcomes of probability zero stay in a model only where bounds say that they are possible.
    if (lands_anywhere(original_)) {
      arrays_.lower.push_back(0);
      arrays_.upper.push_back(1);
    } else if (!from.lower.empty()) {
      arrays_.lower.push_back(from.lower[i]);
      arrays_.upper.push_back(from.upper[i]);
    }
    origin_.push_back(static_cast<std::int32_t>(next.outcome));
  }

  Uncertainty uncertainty() const {
    Uncertainty set = original_.uncertainty();
    std::visit(
        [&](auto& one) {
          if constexpr (requires { one.radius; }) {
            if (one.radius.rows.empty()) return;
            std::vector<double> radii;
            for (const Row row : rows_) radii.push_back(one.radius.of(row));
            one.radius = std::move(radii);
          }
        },
        set);
    if (auto* tv = std::get_if<TV>(&set)) tv->reach = Reach::support;  // landings are outcomes now
    return set;
  }

  const Problem& original_;
  const Model& model_;
  std::vector<int> chance_;
  std::vector<BudgetAxis> budget_;
  bool stationary_ = false;
  std::vector<std::int64_t> lowest_, width_;  // of each lattice, over all stages
  std::vector<std::vector<Pair>> reached_;    // at each stage, sorted
  std::vector<Pair> pairs_;                   // at any stage, sorted: the augmented states
  double outcomes_ = 0;
  ModelArrays arrays_;
  std::vector<Row> rows_;  // the original row of each
  std::vector<std::int32_t> origin_;
  Uncertainty set_;
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

AugmentedProblem augment(const Problem& problem) { return Augmentation(problem).run(); }

}  // namespace redoubt
