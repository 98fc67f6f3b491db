#include "redoubt/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "evaluation/satisfied.h"
#include "evaluation/verified_budget.h"
#include "evaluation/verified_traps.h"
#include "model/set_traits.h"
#include "parallel/stopwatch.h"
#include "policy/budget_axes.h"
#include "sets/reference.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

using verified::kInputNoise, verified::Mixture, verified::Real;
// A state, the policy's memory and, for a chance constraint, how many steps of its grid above the
// bound its total must still earn.
struct Node {
  State state = 0;
  std::int32_t memory = 0;
  std::int64_t owed = 0;
  auto operator<=>(const Node&) const = default;
};
using Values = std::map<Node, std::vector<Real>>;  // of each total, in nature's sign, and one more
using Kept = verified::KeptNodes<Node>;

// A total that nature minimises.
struct Total {
  int signal = -1;  // -1: the reward
  Real sign = 1;    // -1 for a cost
};

// Of all worst-case totals at once or, given a chance constraint, of the probability to keep it:
// then there are no totals, and what the horizon ends with is worth 1 or 0.
class Verification {
 public:
  Verification(const Problem& problem, const Policy& policy, int chance, Stopwatch& watch)
      : Verification(problem, policy, watch) {
    Workers alone(1, one_process(), &watch);
    chance_ = chance_axis(problem, chance, alone);
    totals_.clear();
  }
  Verification(const Problem& problem, const Policy& policy, Stopwatch& watch)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        watch_(watch),
        totals_{Total{-1, nature()}} {
    for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
      const bool cost = problem.constraints()[c].sense == Sense::at_most;
      totals_.push_back({problem.signal_of(c), cost ? -nature() : nature()});
    }
    lands_anywhere_ = lands_anywhere(problem.uncertainty());
  }

  // At the start: each total and, after them, minus the probability of hopeless states, or else the
  // probability to keep the chance constraint.
  std::vector<Real> run() {
    const std::vector<std::set<Node>> reached = reachable();
    const int last = static_cast<int>(reached.size()) - 1;
    Values values;
    for (const Node& node : reached[last]) values[node] = ending(node);
    if (problem_.infinite()) values = fixed_point(last, std::move(values));
    for (int h = last; h-- > 0;) {
      if (watch_.stop(1 - (h + 1.0) / last))
        throw Stopped("the verification was stopped before its end");
      Values here;
      for (const Node& node : reached[h]) here[node] = worth(h, node, values);
      values = std::move(here);
    }
    return at_start(values);
  }

  Evaluation report() {
    const std::vector<Real> sum = run();
    const std::vector<double> misses = allowed_misses(problem_);
    Evaluation evaluation;
    evaluation.reward.worst = static_cast<double>(nature() * sum[0] + 0);  // no -0
    for (std::size_t c = 0; c < problem_.constraints().size(); ++c) {
      const Constraint& constraint = problem_.constraints()[c];
      const Real worst =
          constraint.probability
              ? Verification(problem_, policy_, static_cast<int>(c), watch_).run().back()
              : totals_[c + 1].sign * sum[c + 1] + 0;
      evaluation.constraints.push_back(
          {constraint.signal, constraint.sense, constraint.bound, constraint.probability,
           static_cast<double>(worst), satisfied(constraint, static_cast<double>(worst), misses[c]),
           std::nullopt});
    }
    if (!policy_.budget.empty()) evaluation.hopeless = static_cast<double>(-sum.back() + 0);
    return evaluation;
  }

 private:
  Real nature() const { return problem_.terms().helpful_nature ? -1 : 1; }  // its sign
  // ---- what can follow a decision ----

  struct Choice {
    std::int32_t action;
    Real weight;
    std::int64_t position;  // in the policy's list of choices
  };
  std::vector<Choice> choices(int h, const Node& node) const {
    std::vector<Choice> list;
    if (model_.row_begin(h, node.state) == model_.row_end(h, node.state)) return list;
    const Policy::Stage& stage = policy_.at(h);
    const auto index = stage.begin(node.state) + node.memory;
    auto position = stage.mixed.empty() ? stage.choice_begin[index] : index;
    for_each_choice(stage, index, [&](std::int32_t action, double weight) {
      if (weight > 0) list.push_back({action, weight, position});
      ++position;
    });
    return list;
  }

  // Without a table of moves memory keeps its number, where the next stage has it.
  std::int32_t unmoved(int h, std::int32_t memory) const {
    const auto stages = static_cast<int>(policy_.stages.size());
    if (h + 1 >= stages && !policy_.repeats_last) return 0;
    const Policy::Stage& next = policy_.stages[std::min(h + 1, stages - 1)];
    return next.node_begin.empty() && memory < next.memory ? memory : 0;
  }

  // The memory after a step. `outcome` is a place in the model's list; -1 is a landing in `next`
  // outside of the row.
  Mixture remembered(int h, const Node& node, const Choice& choice, Row row, std::int64_t outcome,
                     State next) const {
    if (!policy_.budget.empty())
      return verified::remaining_budget(policy_, h, node.memory, [&](int signal) {
        return model_.value(signal, row) + beyond_row(signal, outcome, next);
      });
    const Policy::Stage& stage = policy_.at(h);
    if (stage.outcome_slot.empty()) return {{unmoved(h, node.memory), 1}};
    const auto count = model_.outcome_end(row) - model_.outcome_begin(row);
    const auto slot = stage.outcome_slot[choice.position] +
                      (outcome < 0 ? count : outcome - model_.outcome_begin(row));
    Mixture mixture;
    for (auto m = stage.move_begin[slot]; m < stage.move_begin[slot + 1]; ++m) {
      const MemoryMove& move = stage.moves[m];
      if (outcome >= 0) {
        mixture.push_back({move.memory, move.weight});
        continue;
      }
      const auto plan = std::int64_t{move.memory} * policy_.states + next;
      for (auto l = stage.landing_begin[plan]; l < stage.landing_begin[plan + 1]; ++l) {
        mixture.push_back(
            {stage.landing_moves[l].memory, Real{move.weight} * stage.landing_moves[l].weight});
      }
    }
    return mixture;
  }

  // What an outcome earns beyond its row, or (-1) a landing in `next`.
  Real beyond_row(int signal, std::int64_t outcome, State next) const {
    return outcome >= 0 ? model_.outcome_value(signal, outcome)
                        : model_.arrival_value(signal, next);
  }

  // What a chance constraint still asks for after a step: as above, rounded against the policy.
  std::int64_t owed(const Node& node, Row row, std::int64_t outcome, State next) const {
    if (!chance_) return 0;
    const Real earned =
        model_.value(chance_->signal, row) + beyond_row(chance_->signal, outcome, next);
    return verified::still_owed(*chance_, node.owed, earned, problem_.discount());
  }

  // ---- where episodes can come to ----

  // For each stage and the end of the horizon; the last one of an infinite horizon leads to itself.
  std::vector<std::set<Node>> reachable() const {
    const int stages =
        problem_.infinite() ? static_cast<int>(policy_.stages.size()) - 1 : problem_.horizon();
    std::vector<std::set<Node>> reached(stages + 1);
    for (const State state : problem_.start().states) {
      for (const MemoryMove& move : start_memory(policy_, state))
        reached[0].insert({state, move.memory});
    }
    for (int h = 0; h < stages; ++h)
      for (const Node& node : reached[h]) add_successors(h, node, reached[h + 1]);
    if (!problem_.infinite()) return reached;
    for (std::set<Node> news = reached[stages]; !news.empty();) {
      std::set<Node> next;
      for (const Node& node : news) add_successors(stages, node, next);
      std::erase_if(next, [&](const Node& node) { return !reached[stages].insert(node).second; });
      news = std::move(next);
    }
    return reached;
  }

  void add_successors(int h, const Node& node, std::set<Node>& next) const {
    watch_.check();
    for (const Choice& choice : choices(h, node)) {
      const Row row = model_.row_begin(h, node.state) + choice.action;
      for_each_outcome(row, [&](std::int64_t outcome, State state) {
        for (const auto& [memory, weight] : remembered(h, node, choice, row, outcome, state))
          next.insert({state, memory, owed(node, row, outcome, state)});
      });
    }
  }
  // With -1 for a landing outside of the row.
  template <class Visit>
  void for_each_outcome(Row row, const Visit& visit) const {
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
      visit(i, model_.arrays().next[i]);
    for (State s = 0; lands_anywhere_ && s < model_.states(); ++s)
      if (!model_.lists(row, s)) visit(-1, s);
  }

  // ---- what it is worth ----

  // Of a node after which nothing follows.
  std::vector<Real> ending(const Node& node) const {
    std::vector<Real> worth(totals_.size() + 1, 0);
    if (chance_)
      worth[0] = chance_->bound + Real(node.owed) * chance_->step <= kInputNoise * chance_->step;
    return worth;
  }

  std::vector<Real> worth(int h, const Node& node, const Values& next) const {
    watch_.check();
    const std::vector<Choice> list = choices(h, node);
    std::vector<Real> sum = list.empty() ? ending(node) : std::vector<Real>(totals_.size() + 1, 0);
    for (std::size_t t = 0; t < sum.size() && !list.empty(); ++t)
      sum[t] = worst(h, node, list, t, next);
    if (!chance_ && !problem_.is_factor(node.state) &&
        verified::misses_budget(policy_, h, node.memory, sum))
      sum.back() = -1;
    return sum;
  }

  // Of a total; the entry after the last one is a probability (or minus one), which is not
  // discounted.
  Real discount(std::size_t t) const { return t == totals_.size() ? 1 : Real{problem_.discount()}; }
  int signal(std::size_t t) const { return t == totals_.size() ? -1 : totals_[t].signal; }
  Real earned(std::size_t t, double value) const {
    return t == totals_.size() ? 0 : totals_[t].sign * value;
  }

  // Sum over the choices of weight * (row value + discount * min over P of sum P_i (next value_i +
  // outcome value_i / discount)): a minimum for each row or, where rows share their radius, of the
  // whole sum.
  Real worst(int h, const Node& node, const std::vector<Choice>& list, std::size_t t,
             const Values& next) const {
    Real sum = 0;
    ReferenceState state;
    for (const Choice& choice : list) {
      const Row row = model_.row_begin(h, node.state) + choice.action;
      ReferenceRow r = reference_row(h, node, choice, row, t, next);
      sum += choice.weight * earned(t, model_.value(signal(t), row));
      state.radius = r.radius;
      if (!shares_radius(problem_)) {
        sum += choice.weight * discount(t) * reference_worst_case(problem_.uncertainty(), r);
        continue;
      }
      for (Real& value : r.value) value *= choice.weight;
      if (r.floor) *r.floor *= choice.weight;
      state.rows.push_back(std::move(r));
    }
    if (shares_radius(problem_))
      sum += discount(t) * reference_worst_case(problem_.uncertainty(), state);
    return sum;
  }

  ReferenceRow reference_row(int h, const Node& node, const Choice& choice, Row row, std::size_t t,
                             const Values& next) const {
    const auto after = [&](std::int64_t outcome, State state) {
      Real mean = 0;
      for (const auto& [memory, weight] : remembered(h, node, choice, row, outcome, state))
        mean += weight * next.at({state, memory, owed(node, row, outcome, state)})[t];
      return mean;
    };
    ReferenceRow r;
    const ModelArrays& arrays = model_.arrays();
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      r.probability.push_back(arrays.probability[i]);
      r.value.push_back(earned(t, model_.outcome_value(signal(t), i)) / discount(t) +
                        after(i, arrays.next[i]));
      if (arrays.lower.empty()) continue;
      r.lower.push_back(arrays.lower[i]);
      r.upper.push_back(arrays.upper[i]);
    }
    for (State s = 0; lands_anywhere_ && s < model_.states(); ++s) {
      if (model_.lists(row, s)) continue;
      const Real landed =
          earned(t, model_.arrival_value(signal(t), s)) / discount(t) + after(-1, s);
      r.floor = r.floor ? std::min(*r.floor, landed) : landed;
    }
    r.radius = reference_radius(problem_.uncertainty(), row);
    return r;
  }

  Kept find_kept(int h, const Values& values) const {
    if (!problem_.traps()) return {};
    return Kept(problem_, values, [&](const Node& node, const auto& number) {
      std::vector<verified::TakenRow> rows;
      for (const Choice& choice : choices(h, node)) {
        const Row row = model_.row_begin(h, node.state) + choice.action;
        rows.push_back({row, {}});
        for_each_outcome(row, [&](std::int64_t outcome, State to) {
          auto& here = rows.back().outcomes.emplace_back(outcome, to);
          for (const auto& [memory, weight] : remembered(h, node, choice, row, outcome, to))
            here.nodes.push_back({number.at({to, memory}), weight});
          for (const auto& [signal, sign] : totals_)
            here.pays.push_back(sign *
                                (model_.value(signal, row) + beyond_row(signal, outcome, to)));
        });
      }
      return rows;
    });
  }

  Values fixed_point(int h, Values values) {
    const Kept kept = find_kept(h, values);
    // Without a discount: one that has as many decisions as this policy has in expectation.
    const bool none = problem_.undiscounted();
    const Real discount = none ? 1 - 1 / most_steps(h, values, kept) : Real{problem_.discount()};
    const Real rest = discount / (1 - discount);
    const auto most = static_cast<std::int64_t>(
        std::ceil(50 + 2 * std::log(Real{1e-19L} / rest) / std::log(discount)));
    for (std::int64_t step = 0; step < most; ++step) {
      Values better;
      Real change = 0, scale = 1;
      for (const auto& [node, before] : values) {
        better[node] = kept.contains(node) ? kept.least(node, values) : worth(h, node, values);
        for (std::size_t t = 0; t < before.size(); ++t) {
          change = std::max(change, std::abs(better[node][t] - before[t]));
          scale = std::max(scale, std::abs(better[node][t]));
        }
      }
      values = std::move(better);
      if (change * rest <= 1e-13L * scale) break;
    }
    return values;
  }

  // A bound on the expected number of decisions from any node, whatever nature does: it is at least
  // one more than after the decision. Costs that are one for each decision lead there from below.
  Real most_steps(int h, const Values& nodes, const Kept& kept) const {
    Values steps;
    const std::vector<Real> zeros(totals_.size() + 1, 0);
    for (const auto& [node, unused] : nodes) steps[node] = zeros;
    for (int sweep = 0;; ++sweep) {
      require(sweep < 100000, "the policy takes more than 100000 decisions, must come to an end");
      Values longer;
      Real change = 0, most = 2;
      for (const auto& [node, before] : steps) {
        watch_.check();
        Real& here = (longer[node] = zeros).back();
        const std::vector<Choice> list = choices(h, node);
        if (kept.contains(node))
          here = kept.least(node, steps).back() - 1;
        else if (!list.empty())
          here = worst(h, node, list, totals_.size(), steps) - 1;
        change = std::max(change, before.back() - here);
        most = std::max(most, -here);
      }
      steps = std::move(longer);
      if (change <= 0.05L) return most / (1 - change);
    }
  }

  std::vector<Real> at_start(const Values& values) const {
    std::vector<Real> sum(totals_.size() + 1, 0);
    const Start& start = problem_.start();
    for (std::size_t i = 0; i < start.states.size(); ++i) {
      for (const MemoryMove& move : start_memory(policy_, start.states[i])) {
        const auto& worth = values.at({start.states[i], move.memory});
        for (std::size_t t = 0; t < sum.size(); ++t)
          sum[t] += Real{start.probability[i]} * move.weight * worth[t];
      }
    }
    return sum;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  Stopwatch& watch_;
  std::vector<Total> totals_;
  std::optional<BudgetAxis> chance_;  // of which only the grid is used, not its windows
  bool lands_anywhere_ = false;
};

}  // namespace

Evaluation verify(const Problem& problem, const Policy& policy, const Execution& execution) {
  check_policy(problem, policy);
  Stopwatch watch(execution);
  return Verification(problem, policy, watch).report();
}

}  // namespace redoubt
