#include "redoubt/given_policy.h"

#include <algorithm>
#include <map>

#include "bellman/row_evaluator.h"
#include "policy/memory_update.h"
#include "policy/stage_builder.h"
#include "redoubt/advanced/merged_states.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Anything that has this model will do: what is asked of it stays with the problem.
Problem with_given_model(const Problem& problem) {
  const Draft given = problem.given();
  Terms terms;
  terms.horizon = given.terms.horizon;
  terms.discount = problem.undiscounted() ? 0.5 : given.terms.discount;  // so that no end is sought
  terms.start = given.terms.start;
  terms.uncertainty = given.terms.uncertainty;
  return {given.model, std::move(terms)};
}

// The states between the given ones and those of the problem: pairs of a state and of which goals
// are decided, before end components have become one state.
class States {
 public:
  explicit States(const Problem& problem)
      : problem_(problem),
        merged_(problem.merged()),
        given_(merged_ != nullptr ? merged_->given_state : problem.given_state()) {
    of_given_.resize(problem.given().model.states());
    members_.resize(problem.model().states());
    for (State s = 0; s < model().states(); ++s) {
      if (state_of(s) < 0) continue;
      of_given_[given_of(s)].push_back(s);
      members_[state_of(s)].push_back(s);
    }
    if (merged_ == nullptr) return;
    for (State s = 0; s < model().states(); ++s)
      for (Row row = model().row_begin(0, s); row < model().row_end(0, s); ++row)
        owner_.push_back(s);
    for (State s = 0; s < model().states(); ++s)
      merges_ |= state_of(s) >= 0 && merged_->in_component(s);
  }

  const Model& model() const { return merged_ != nullptr ? merged_->model : problem_.model(); }
  bool same_as_given() const { return given_.empty(); }
  State given_of(State s) const { return given_.empty() ? s : given_[s]; }
  State state_of(State s) const { return merged_ != nullptr ? merged_->state[s] : s; }
  const std::vector<State>& of_given(State given) const { return of_given_[given]; }
  const std::vector<State>& members(State of_problem) const { return members_[of_problem]; }
  bool merges() const { return merges_; }
  bool in_component(State s) const { return merges_ && merged_->in_component(s); }

  // Row of the problem to row here; -1: it stays for ever.
  Row row_of(Row of_problem) const {
    return merged_ != nullptr ? merged_->row[of_problem] : of_problem;
  }

  // The row that brings an episode within its component closer to the state that a row leaves, or
  // that row itself in this state; a row that stays where there is none.
  Row towards(Row leaving, State from) {
    if (leaving < 0) return first_inner(from);
    const State to = owner_[leaving];
    if (to == from) return leaving;
    auto& found = ways_[to];
    if (found.empty()) find_ways(to, found);
    return found.at(from);
  }

 private:
  Row first_inner(State s) const {
    Row row = model().row_begin(0, s);
    while (!merged_->inner[row]) ++row;
    return row;
  }

  // Backwards from there. Outcomes of rows that stay are the same under every kernel.
  void find_ways(State to, std::map<State, Row>& found) const {
    std::map<State, std::vector<Row>> leading;
    for (const State s : members(state_of(to))) {
      for (Row row = model().row_begin(0, s); row < model().row_end(0, s); ++row) {
        if (!merged_->inner[row]) continue;
        for (auto i = model().outcome_begin(row); i < model().outcome_end(row); ++i)
          leading[model().arrays().next[i]].push_back(row);
      }
    }
    std::vector<State> open = {to};
    found.emplace(to, -1);
    for (std::size_t n = 0; n < open.size(); ++n) {
      const State reached = open[n];
      for (const Row row : leading[reached])
        if (found.emplace(owner_[row], row).second) open.push_back(owner_[row]);
    }
  }

  const Problem& problem_;
  const MergedStates* merged_;
  const std::vector<State>& given_;
  std::vector<std::vector<State>> of_given_, members_;
  std::vector<State> owner_;  // of each row
  bool merges_ = false;
  std::map<State, std::map<State, Row>> ways_;
};

// Memory of a given state: which of its states it is and, for each of them, the memory of the
// policy there. In an end component the policy has drawn which way out it takes: a memory state for
// each choice of a node, which goes with the episode until that way is reached. Going round takes
// decisions that the problem does not count: where the policy depends on the stage, that is part of
// the memory, too, and there is one stage for all.
class Lift {
 public:
  Lift(const Problem& problem, const Policy& policy)
      : problem_(problem),
        policy_(policy),
        carrier_(with_given_model(problem)),
        given_(carrier_.model()),
        states_(problem),
        anywhere_(lands_anywhere(carrier_)) {
    std::vector<std::int32_t> count(given_.states(), 0);  // of memory states
    for (int h = 0; h < stages(); ++h) {
      if (!states_.merges()) count.assign(given_.states(), 0);
      number_memory(h, count);
    }
  }

  GivenPolicy run() {
    Policy lifted;
    lifted.states = given_.states();
    lifted.repeats_last = policy_.repeats_last;
    if (states_.merges())
      lifted.stages.push_back(stage(0, stages()));
    else
      for (int h = 0; h < stages(); ++h) lifted.stages.push_back(stage(h, h + 1));
    add_start(lifted);
    check_policy(carrier_, lifted);
    return {std::move(carrier_), std::move(lifted)};
  }

 private:
  using Moves = std::vector<MemoryMove>;
  struct Choice {
    std::int32_t action = -1;  // of the problem's state; -1: nothing is done any more
    double weight = 1;
  };

  int stages() const { return static_cast<int>(policy_.stages.size()); }
  std::int32_t memory(int h, State of_problem) const {
    return static_cast<std::int32_t>(memory_of(policy_, h, of_problem));
  }
  std::vector<Choice> choices(int h, State of_problem, std::int32_t memory) const {
    const Model& model = problem_.model();
    if (model.row_begin(h, of_problem) == model.row_end(h, of_problem)) return {Choice{}};
    std::vector<Choice> found;
    const Policy::Stage& here = policy_.at(h);
    for_each_choice(here, here.begin(of_problem) + memory, [&](std::int32_t action, double weight) {
      if (weight > 0) found.push_back({action, weight});
    });
    return found;
  }

  // The first memory state of each state here, among those of its given state.
  void number_memory(int h, std::vector<std::int32_t>& count) {
    std::vector<std::int32_t>& first = first_.emplace_back(states_.model().states(), 0);
    for (State g = 0; g < given_.states(); ++g) {
      for (const State s : states_.of_given(g)) {
        first[s] = count[g];
        const State of_problem = states_.state_of(s);
        for (std::int32_t m = 0; m < memory(h, of_problem); ++m)
          count[g] += states_.in_component(s)
                          ? static_cast<std::int32_t>(choices(h, of_problem, m).size())
                          : 1;
      }
    }
  }

  // What a memory state of the problem's policy is here, once it is drawn which way out is taken.
  void place(int h, State s, const MemoryMove& move, Moves& out) const {
    std::int32_t at = first_[h][s];
    if (!states_.in_component(s)) {
      out.push_back({at + move.memory, move.weight});
      return;
    }
    const State of_problem = states_.state_of(s);
    for (std::int32_t m = 0; m < move.memory; ++m)
      at += static_cast<std::int32_t>(choices(h, of_problem, m).size());
    for (const Choice& choice : choices(h, of_problem, move.memory))
      out.push_back({at++, move.weight * choice.weight});
  }

  // Of these stages of the policy.
  Policy::Stage stage(int begin, int end) {
    StageBuilder builder(
        {.nodes_by_state = true, .moves_by_table = true, .landing_plans = anywhere_});
    landings_.clear();
    for (State g = 0; g < given_.states(); ++g) {
      for (int h = begin; h < end; ++h)
        for (const State s : states_.of_given(g)) add_nodes(h, g, s, builder);
      if (states_.of_given(g).empty()) {  // never come to
        add_any(begin, g, builder);
        builder.end_node();
      }
      builder.end_state();
    }
    for (const Moves& moves : landings_) {
      for (const MemoryMove& move : moves) builder.land(move);
      builder.end_landing();
    }
    return builder.take();
  }

  void add_nodes(int h, State g, State s, StageBuilder& builder) {
    const State of_problem = states_.state_of(s);
    std::int32_t number = 0;  // of the memory state, in a component
    for (std::int32_t m = 0; m < memory(h, of_problem); ++m) {
      for (const Choice& choice : choices(h, of_problem, m)) {
        if (choice.action < 0 || given_.row_begin(h, g) == given_.row_end(h, g)) {
          add_any(h, g, builder);
        } else if (!states_.in_component(s)) {
          add_choice(h, g, s, m, choice, builder);
          continue;
        } else {
          add_way(h, g, s, m, choice.action, number, builder);
        }
        ++number;
        builder.end_node();
      }
      const bool decides =
          problem_.model().row_begin(h, of_problem) < problem_.model().row_end(h, of_problem) &&
          given_.row_begin(h, g) < given_.row_end(h, g);
      if (decides && !states_.in_component(s)) builder.end_node();
    }
  }

  // Whatever is done does not matter: the first action, after which memory is anything.
  void add_any(int h, State g, StageBuilder& builder) {
    if (given_.row_begin(h, g) == given_.row_end(h, g)) return;
    const Row row = given_.row_begin(h, g);
    builder.choose(0, 1);
    follow(row, builder, [&](std::int64_t, State, Moves& moves) { moves.push_back({0, 1.0}); });
  }

  // The choice of a node of the problem's policy.
  void add_choice(int h, State g, State s, std::int32_t m, const Choice& choice,
                  StageBuilder& builder) {
    const State of_problem = states_.state_of(s);
    const Row solved = problem_.model().row_begin(h, of_problem) + choice.action;
    const Row here = states_.row_of(solved), row = given_row(h, g, here);
    const Decision taken = decision(policy_, h, of_problem, m, choice.action);
    builder.choose(static_cast<std::int32_t>(row - given_.row_begin(h, g)), choice.weight);
    follow(row, builder, [&](std::int64_t outcome, State next, Moves& moves) {
      if (ends_after(h)) return moves.push_back({0, 1.0});
      const State to = next_here(here, next);
      if (states_.state_of(to) < 0) return moves.push_back({0, 1.0});  // no policy comes there
      Moves of_problem_moves;
      memory_moves(problem_, policy_, taken, outcome_of(solved, row, outcome, states_.state_of(to)),
                   states_.state_of(to), of_problem_moves);
      for (const MemoryMove& move : of_problem_moves)
        place(policy_.stage_index(h + 1), to, move, moves);
    });
  }

  // On the way through a component to the row that was chosen.
  void add_way(int h, State g, State s, std::int32_t m, std::int32_t action, std::int32_t number,
               StageBuilder& builder) {
    const Row solved = problem_.model().row_begin(h, states_.state_of(s)) + action;
    const Row leaving = states_.row_of(solved), taken = states_.towards(leaving, s);
    if (taken == leaving) return add_choice(h, g, s, m, {action, 1.0}, builder);
    const Row row = given_row(h, g, taken);
    builder.choose(static_cast<std::int32_t>(row - given_.row_begin(h, g)), 1);
    follow(row, builder, [&](std::int64_t, State next, Moves& moves) {
      moves.push_back({first_[h][next_here(taken, next)] + number, 1.0});
    });
  }

  // Writes where memory goes after each outcome of a given row, and after a landing by a plan of
  // its own: move_to(outcome, next, moves).
  template <class MoveTo>
  void follow(Row row, StageBuilder& builder, MoveTo move_to) {
    const auto begin = given_.outcome_begin(row), end = given_.outcome_end(row);
    Moves moves;
    for (auto i = begin; i < end; ++i) {
      moves.clear();
      move_to(i - begin, given_.arrays().next[i], moves);
      for (const MemoryMove& move : moves) builder.move(move);
      builder.end_outcome();
    }
    if (!anywhere_) return;
    builder.move({static_cast<std::int32_t>(landings_.size() / given_.states()), 1.0});
    builder.end_outcome();
    for (State next = 0; next < given_.states(); ++next) {
      moves.clear();
      if (given_.lists(row, next))
        moves.push_back({0, 1.0});  // never asked for
      else
        move_to(end - begin, next, moves);
      landings_.push_back(moves);
    }
  }

  bool ends_after(int h) const { return !policy_.repeats_last && h + 1 >= stages(); }
  Row given_row(int h, State g, Row here) const {
    const std::int32_t action = states_.model().arrays().action[here];
    Row row = given_.row_begin(h, g);
    while (given_.arrays().action[row] != action) ++row;
    return row;
  }
  // The state here in which a row arrives when the given one is known: what is decided by then
  // depends on nothing else.
  State next_here(Row here, State given) const {
    const Model& model = states_.model();
    for (auto i = model.outcome_begin(here); i < model.outcome_end(here); ++i) {
      const State next = model.arrays().next[i];
      if (states_.given_of(next) == given) return next;
    }
    return given;  // a landing where states are the same
  }
  // Of the outcomes of the problem's row that lead to a state, the one that earns what the given
  // one does.
  std::int64_t outcome_of(Row solved, Row row, std::int64_t outcome, State next) const {
    const Model& model = problem_.model();
    const auto begin = model.outcome_begin(solved), end = model.outcome_end(solved);
    const auto given = given_.outcome_begin(row) + outcome;
    const auto same = [&](std::int64_t i) {
      if (given >= given_.outcome_end(row)) return true;
      for (int signal = 0; signal < model.signals(); ++signal) {
        const int own = given_.signal_index(model.arrays().signals[signal].name);
        if (own >= 0 && model.value(signal, solved) + model.outcome_value(signal, i) !=
                            given_.value(own, row) + given_.outcome_value(own, given))
          return false;
      }
      return true;
    };
    std::int64_t found = end;  // a landing
    for (auto i = begin; i < end; ++i)
      if (model.arrays().next[i] == next && (found == end || same(i))) found = i;
    return found - begin;
  }

  void add_start(Policy& lifted) const {
    if (policy_.start_states.empty() && lifted.memory_states() == 1) return;  // begins anywhere
    lifted.start_begin.push_back(0);
    for (const State of_problem : problem_.start().states) {
      for (const State s : states_.members(of_problem)) {
        const State g = states_.given_of(s);
        const std::vector<State>& begins = carrier_.start().states;
        if (std::find(begins.begin(), begins.end(), g) == begins.end()) continue;
        lifted.start_states.push_back(g);
        for (const MemoryMove& move : start_memory(policy_, of_problem))
          place(0, s, move, lifted.start_moves);
        lifted.start_begin.push_back(static_cast<std::int64_t>(lifted.start_moves.size()));
      }
    }
  }

  const Problem& problem_;
  const Policy& policy_;
  Problem carrier_;
  const Model& given_;
  States states_;
  bool anywhere_;
  std::vector<std::vector<std::int32_t>> first_;  // of each stage and state here
  std::vector<Moves> landings_;                   // of each plan and given state
};

}  // namespace

GivenPolicy given_policy(const Problem& problem, const Policy& policy) {
  check_policy(problem, policy);
  require(!problem.model().arrays().submodel, "a subproblem, must be the whole problem");
  if (!has_given_policy(problem)) return {problem, policy};
  return Lift(problem, policy).run();
}

bool has_given_policy(const Problem& problem) {
  return !problem.given_state().empty() && !problem.two_stages();
}

}  // namespace redoubt
