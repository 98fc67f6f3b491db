#include "evaluation/node_problem.h"

#include "evaluation/memoryless_evaluation.h"
#include "model/set_traits.h"
#include "policy/memory_update.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

class Nodes {
 public:
  Nodes(const Problem& problem, const Policy& policy)
      : problem_(problem),
        model_(problem.model()),
        from_(model_.arrays()),
        policy_(policy),
        stage_(static_cast<int>(policy.stages.size()) - 1),
        count_(policy.at(stage_).end(model_.states() - 1)) {}

  NodeProblem build() {
    require(!lands_anywhere(problem_.uncertainty()),
            "a policy with memory where nature can keep an episode for ever and may land anywhere, "
            "must have no memory or a set with reach support");
    arrays_.state_rows = arrays_.row_outcomes = {0};
    for (const Signal& signal : from_.signals) arrays_.signals.push_back({signal.name, {}, {}});
    made_.begin = {0};
    for (State s = 0; s < model_.states(); ++s)
      for (std::int64_t m = 0; m < memory_of(policy_, stage_, s); ++m)
        add_node(s, static_cast<std::int32_t>(m));
    for (const std::vector<MemoryMove>& moves : draws_) add_draw(moves);
    arrays_.states = static_cast<State>(arrays_.state_rows.size()) - 1;
    Terms terms = problem_.terms();
    terms.constraints.clear();
    terms.start = {{0}, {1.0}};
    std::visit(
        [&](auto& set) {
          if constexpr (requires { set.radius; }) set.radius = Radius(radii_);
        },
        terms.uncertainty);
    return {problem_.earning(Model(std::move(arrays_)), std::move(terms)), std::move(made_)};
  }

 private:
  void begin_row(double weight, double radius) {
    made_.rows.push_back(static_cast<Row>(arrays_.action.size()));
    made_.weight.push_back(weight);
    const Row first = arrays_.state_rows.back();
    arrays_.action.push_back(static_cast<std::int32_t>(made_.rows.back() - first));
    radii_.push_back(radius);
  }
  template <class Value>
  void add_outcome(State next, double probability, double lower, double upper, Value value) {
    arrays_.next.push_back(next);
    arrays_.probability.push_back(probability);
    arrays_.outcome_reward.push_back(value(-1));
    for (int k = 0; k < model_.signals(); ++k) arrays_.signals[k].outcome.push_back(value(k));
    if (from_.lower.empty()) return;
    arrays_.lower.push_back(lower);
    arrays_.upper.push_back(upper);
  }
  template <class Value>
  void end_row(Value value) {
    arrays_.reward.push_back(value(-1));
    for (int k = 0; k < model_.signals(); ++k) arrays_.signals[k].row.push_back(value(k));
    arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size()));
  }
  void end_state() {
    arrays_.state_rows.push_back(static_cast<Row>(arrays_.action.size()));
    made_.begin.push_back(static_cast<std::int64_t>(made_.rows.size()));
  }

  void add_node(State s, std::int32_t memory) {
    const Row first = model_.row_begin(0, s);
    const Policy::Stage& here = policy_.at(stage_);
    if (first < model_.row_end(0, s))
      for_each_choice(here, here.begin(s) + memory, [&](std::int32_t action, double weight) {
        if (weight > 0) add_row(decision(policy_, stage_, s, memory, action), weight);
      });
    end_state();
  }
  void add_row(const Decision& taken, double weight) {
    const Row row = model_.row_begin(0, taken.state) + taken.action;
    const auto first = model_.outcome_begin(row);
    begin_row(weight, radius_of(problem_.uncertainty(), row));
    for (auto i = first; i < model_.outcome_end(row); ++i) {
      const bool bounded = !from_.lower.empty();
      add_outcome(node_after(taken, i - first, from_.next[i]), from_.probability[i],
                  bounded ? from_.lower[i] : 0, bounded ? from_.upper[i] : 1,
                  [&](int k) { return model_.outcome_value(k, i); });
    }
    end_row([&](int k) { return model_.value(k, row); });
  }
  State node_after(const Decision& taken, std::int64_t outcome, State to) {
    memory_moves(problem_, policy_, taken, outcome, to, moves_);
    for (MemoryMove& move : moves_)  // by its node from here on
      move.memory = static_cast<std::int32_t>(node_of(policy_, stage_, to, move.memory));
    if (moves_.size() == 1) return moves_.front().memory;
    draws_.push_back(moves_);
    return static_cast<State>(count_ + static_cast<std::int64_t>(draws_.size()) - 1);
  }
  void add_draw(const std::vector<MemoryMove>& moves) {
    begin_row(1, 0);
    for (const MemoryMove& move : moves)
      if (move.weight > 0)
        add_outcome(move.memory, move.weight, move.weight, move.weight, [](int) { return 0.0; });
    end_row([](int) { return 0.0; });
    end_state();
  }

  const Problem& problem_;
  const Model& model_;
  const ModelArrays& from_;
  const Policy& policy_;
  int stage_;
  std::int64_t count_;
  std::vector<MemoryMove> moves_;
  std::vector<std::vector<MemoryMove>> draws_;  // of nodes
  ModelArrays arrays_;
  TakenRows made_;
  std::vector<double> radii_;
};

}  // namespace

NodeProblem node_problem(const Problem& problem, const Policy& policy) {
  if (is_memoryless(policy)) {
    TakenRows taken;
    find_taken_rows(problem.model(), 0, policy.stages.back(), taken);
    return {problem, std::move(taken)};
  }
  return Nodes(problem, policy).build();
}

}  // namespace redoubt::internal
