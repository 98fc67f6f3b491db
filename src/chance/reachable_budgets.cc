#include "chance/reachable_budgets.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "bellman/row_evaluator.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "parallel/memory_limit.h"
#include "policy/budget.h"
#include "policy/budget_axes.h"
#include "support/require.h"

namespace redoubt::internal {

ChanceBudgets::ChanceBudgets(const Problem& problem, Workers& workers) {
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    if (!problem.constraints()[c].probability) continue;
    chance_.push_back(c);
    axes_.push_back(chance_axis(problem, c, workers));
  }
  stationary_ = problem.model().stages() == 1 && problem.discount() == 1;
  for (BudgetAxis& axis : axes_) {
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

std::int64_t ChanceBudgets::place(std::size_t c, std::int64_t budgets) const {
  for (std::size_t i = chance_.size(); --i > c;) budgets /= width_[i];
  return lowest_[c] + budgets % width_[c];
}

std::int64_t ChanceBudgets::start() const {
  std::int64_t budgets = 0;
  for (std::size_t c = 0; c < chance_.size(); ++c)
    budgets = budgets * width_[c] + axes_[c].low[0] + axes_[c].start() - lowest_[c];
  return budgets;
}

std::int64_t ChanceBudgets::moved(const Model& model, int stage, std::int64_t budgets, Row row,
                                  std::int64_t outcome, State landed) const {
  std::int64_t next = 0;
  for (std::size_t c = 0; c < chance_.size(); ++c) {
    double earned = 0;
    earned_on_axes(model, {&axes_[c], 1}, row, outcome, {&earned, 1}, landed);
    const auto cell = static_cast<std::int32_t>(place(c, budgets) - axes_[c].low[stage]);
    const auto to = move_budget(axes_[c], stage, cell, earned).cell;
    next = next * width_[c] + axes_[c].low[stage + 1] + to - lowest_[c];
  }
  return next;
}

double ChanceBudgets::kept(std::size_t c, std::int64_t budgets) const {
  const BudgetAxis& axis = axes_[c];
  const double required = axis.bound + static_cast<double>(place(c, budgets)) * axis.step;
  return required <= kCellNoise * axis.step ? 1 : 0;
}

std::vector<Successor> successors(const Problem& problem, const ChanceBudgets& budgets, int stage,
                                  const Pair& pair, Row row) {
  const Model& model = problem.model();
  std::vector<Successor> list;
  const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
  for (auto i = begin; i < end; ++i)
    list.push_back({{whole_number(model, model.arrays().next[i]),
                     budgets.moved(model, stage, pair.budgets, row, i - begin)},
                    i - begin});
  if (!lands_anywhere(problem)) return list;
  const bool apart = arrivals_move_budgets(model, budgets.axes());  // on one rank only
  std::int64_t landed = budgets.moved(model, stage, pair.budgets, row, -1);
  std::vector<State> listed;
  listed_states(model, row, listed);
  auto skip = listed.begin();
  for (State s = 0; s < model.all_states(); ++s) {
    if (skip != listed.end() && *skip == s) {
      ++skip;
      continue;
    }
    if (apart) landed = budgets.moved(model, stage, pair.budgets, row, -1, s);
    list.push_back({{s, landed}, end - begin});
  }
  return list;
}

namespace {

void sort_unique(std::vector<Pair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

// Both sorted.
void merge_into(std::vector<Pair>& all, const std::vector<Pair>& more) {
  std::vector<Pair> merged;
  merged.reserve(all.size() + more.size());
  std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(merged));
  all = std::move(merged);
}

class Search {
 public:
  Search(const Problem& problem, const ChanceBudgets& budgets, Workers& workers,
         double bytes_for_each)
      : problem_(problem),
        model_(problem.model()),
        budgets_(budgets),
        workers_(workers),
        ranks_(workers.ranks()),
        bytes_for_each_(bytes_for_each),
        room_(memory_room()) {
    if (model_.arrays().submodel && lands_anywhere(problem)) owner_ = owners_of_all(ranks_, model_);
  }

  ReachedPairs run() {
    const int horizon = problem_.horizon();
    found_.at_stage.resize(horizon + 1);
    for (const State s : problem_.start().states) {
      const Pair pair{whole_number(model_, s), budgets_.start()};
      found_.known.push_back(pair);
      if (model_.owns(s)) found_.at_stage[0].push_back(pair);
    }
    for (int h = 0; h < horizon; ++h) {
      workers_.check_together();
      std::vector<Pair> next;
      all_or_none(ranks_, [&] { next = follow(h); });
      for (const Pair& pair : next) {
        if (owner(pair) != ranks_.rank()) found_.known.push_back(pair);
      }
      sort_unique(found_.known);
      auto& reached = found_.at_stage[h + 1];
      reached = send_to_owners(ranks_, next, [&](const Pair& pair) { return owner(pair); });
      sort_unique(reached);
      add(h);
      if (budgets_.stationary()) drop_known(reached);
      check_memory();
    }
    add(horizon);
    check_memory();
    found_.known.insert(found_.known.end(), found_.own.begin(), found_.own.end());
    sort_unique(found_.known);
    number();
    return std::move(found_);
  }

 private:
  int owner(const Pair& pair) const {
    if (!model_.arrays().submodel) return 0;
    if (!owner_.empty()) return owner_[pair.state];
    return model_.arrays()
        .submodel->owner[number_in_submodel(*model_.arrays().submodel, pair.state)];
  }

  // What follows our own pairs of a stage, whoever owns it.
  std::vector<Pair> follow(int h) {
    constexpr std::size_t kSorted = std::size_t{1} << 18;  // at a time, in a fraction of a second
    std::vector<Pair> next, found;
    const auto sort_in = [&] {
      sort_unique(found);
      merge_into(next, found);
      found.clear();
    };
    for (const Pair& pair : found_.at_stage[h]) {
      workers_.check();
      const State s = number_here(model_, pair.state);
      for (Row row = model_.row_begin(h, s); row < model_.row_end(h, s); ++row) {
        for (const Successor& successor : successors(problem_, budgets_, h, pair, row)) {
          found.push_back(successor.pair);
          ++outcomes_;
        }
      }
      if (found.size() > std::max(kSorted, next.size())) sort_in();
      require_memory(bytes(), static_cast<double>(found_.own.size()));
    }
    sort_in();
    return next;
  }

  void add(int h) {
    pairs_at_once_ = std::max(pairs_at_once_, static_cast<double>(found_.at_stage[h].size()));
    merge_into(found_.own, found_.at_stage[h]);
  }
  // Where every stage has the same rows, what follows a pair is known once it was followed.
  void drop_known(std::vector<Pair>& pairs) const {
    std::vector<Pair> fresh;
    std::set_difference(pairs.begin(), pairs.end(), found_.own.begin(), found_.own.end(),
                        std::back_inserter(fresh));
    pairs = std::move(fresh);
  }
  // That there are at least.
  double pairs() const {
    return budgets_.stationary() ? static_cast<double>(found_.own.size()) : pairs_at_once_;
  }

  // Of the outcomes that were counted: of every stage, or of one for all.
  double bytes() const {
    const auto chance = static_cast<double>(budgets_.chance().size());
    const double arrays = 8.0 * (4 + model_.signals() + chance) * outcomes_;
    return arrays + bytes_for_each_ * pairs();
  }
  void require_memory(double bytes, double pairs) const {
    require(bytes <= room_ && pairs < std::numeric_limits<State>::max(),
            "the chance constraint on '{}' makes more than {} pairs of a state and a budget, which "
            "need {:.3g} GB of RAM, there is room for {:.3g} GB: give the signal coarser values",
            problem_.constraints()[budgets_.chance().front()].signal, pairs, bytes / 1e9,
            room_ / 1e9);
  }
  void check_memory() const {
    require_memory(bytes_on_one_machine({.model = bytes()}, ranks_),
                   sum_over_ranks(ranks_, static_cast<double>(found_.own.size())));
  }

  // Pairs are counted in the order of their states, and the rank that owns one knows its number.
  void number() {
    const std::vector<Pair>& own = found_.own;
    found_.all = static_cast<State>(sum_over_ranks(ranks_, static_cast<double>(own.size())));
    if (!model_.arrays().submodel) return;
    std::vector<State> states;
    std::vector<std::int64_t> count, begin;  // of each of these states: its pairs, and the first
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i == 0 || own[i].state != own[i - 1].state) {
        states.push_back(own[i].state);
        count.push_back(0);
        begin.push_back(static_cast<std::int64_t>(i));
      }
      ++count.back();
    }
    const auto first = first_numbers(ranks_, states, count, model_.all_states());
    const auto number_of = [&](const Pair& pair) {
      const auto at = std::lower_bound(own.begin(), own.end(), pair) - own.begin();
      const auto s = std::lower_bound(states.begin(), states.end(), pair.state) - states.begin();
      return static_cast<State>(first[s] + at - begin[s]);
    };
    for (const Pair& pair : found_.known) found_.owner.push_back(owner(pair));
    found_.number = ask_owners(
        ranks_, found_.known, [&](const Pair& pair) { return owner(pair); }, number_of);
  }

  const Problem& problem_;
  const Model& model_;
  const ChanceBudgets& budgets_;
  Workers& workers_;
  Communicator& ranks_;
  std::vector<std::int32_t> owner_;  // of all states, where rows may lead to any
  ReachedPairs found_;
  double outcomes_ = 0;
  double pairs_at_once_ = 0;  // at one stage, at most
  double bytes_for_each_, room_;
};

}  // namespace

ReachedPairs reached_pairs(const Problem& problem, const ChanceBudgets& budgets, Workers& workers,
                           double bytes_for_each) {
  return Search(problem, budgets, workers, bytes_for_each).run();
}

}  // namespace redoubt::internal
