#include "model/part.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "model/require.h"
#include "model/start.h"
#include "redoubt/ranks.h"

namespace redoubt {
namespace {

// A set of states that knows the place of each of its members, in one and a half bits a state.
class StateSet {
 public:
  explicit StateSet(State states) : words_((static_cast<std::size_t>(states) + 63) / 64) {}

  void add(State state) { words_[state / 64] |= std::uint64_t{1} << (state % 64); }
  void number() {
    State count = 0;
    for (const std::uint64_t word : words_) {
      before_.push_back(count);
      count += std::popcount(word);
    }
    count_ = count;
  }
  State count() const { return count_; }
  State place(State state) const {
    const std::uint64_t below = (std::uint64_t{1} << (state % 64)) - 1;
    return before_[state / 64] + std::popcount(words_[state / 64] & below);
  }
  std::vector<State> members() const {
    std::vector<State> list;
    list.reserve(count_);
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        list.push_back(static_cast<State>(64 * w + std::countr_zero(word)));
    }
    return list;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<State> before_;
  State count_ = 0;
};

// Entries of an array that lie in some ranges, one after the other; of nothing, nothing.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
template <class Value>
std::vector<Value> pick(const std::vector<Value>& values, const Ranges& ranges) {
  std::vector<Value> picked;
  if (values.empty()) return picked;
  std::int64_t count = 0;
  for (const auto& [begin, end] : ranges) count += end - begin;
  picked.reserve(count);
  for (const auto& [begin, end] : ranges)
    picked.insert(picked.end(), values.begin() + begin, values.begin() + end);
  return picked;
}

// The rows of some states: one range for each stage and state.
Ranges rows_of(const ModelArrays& a, const std::vector<State>& states) {
  Ranges rows;
  for (std::int64_t h = 0; h < a.stages; ++h) {
    for (const State s : states)
      rows.emplace_back(a.state_rows[h * a.states + s], a.state_rows[h * a.states + s + 1]);
  }
  return rows;
}

ModelArrays only_rows(const ModelArrays& a, const Ranges& rows, State states) {
  ModelArrays some;
  some.states = states;
  some.stages = a.stages;
  some.state_rows.push_back(0);
  some.row_outcomes.push_back(0);
  Ranges outcomes;
  for (const auto& [begin, end] : rows) {
    some.state_rows.push_back(some.state_rows.back() + end - begin);
    for (Row row = begin; row < end; ++row)
      some.row_outcomes.push_back(some.row_outcomes.back() + a.row_outcomes[row + 1] -
                                  a.row_outcomes[row]);
    outcomes.emplace_back(a.row_outcomes[begin], a.row_outcomes[end]);
  }
  some.action = pick(a.action, rows);
  some.reward = pick(a.reward, rows);
  some.next = pick(a.next, outcomes);
  some.probability = pick(a.probability, outcomes);
  some.outcome_reward = pick(a.outcome_reward, outcomes);
  some.lower = pick(a.lower, outcomes);
  some.upper = pick(a.upper, outcomes);
  for (const Signal& s : a.signals)
    some.signals.push_back({s.name, pick(s.row, rows), pick(s.outcome, outcomes)});
  some.state_names = a.state_names;
  some.action_names = a.action_names;
  return some;
}

void pick_radii(Terms& terms, const Ranges& rows) {
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; }) set.radius.rows = pick(set.radius.rows, rows);
      },
      terms.uncertainty);
}

// When each state comes in an order.
std::vector<State> turns_of(const std::vector<State>& order, State states) {
  require(order.size() == static_cast<std::size_t>(states),
          "an order of {} states, must have each of {} once", order.size(), states);
  std::vector<State> turn(states, -1);
  for (State i = 0; i < states; ++i) {
    require(order[i] >= 0 && order[i] < states && turn[order[i]] < 0,
            "state {} of an order, must be in 0..{} and come once", order[i], states - 1);
    turn[order[i]] = i;
  }
  return turn;
}

int owner_of(const Division& division, State state) {
  if (!division.owner.empty()) return division.owner[state];
  const auto& blocks = division.blocks;
  return static_cast<int>(std::upper_bound(blocks.begin(), blocks.end(), state) - blocks.begin()) -
         1;
}

// The states whose rows lead to the same share of all outcomes, in order.
State state_at(const ModelArrays& a, std::int64_t outcome) {
  const auto row = std::lower_bound(a.row_outcomes.begin(), a.row_outcomes.end(), outcome) -
                   a.row_outcomes.begin();
  return static_cast<State>(
      std::lower_bound(a.state_rows.begin(), a.state_rows.begin() + a.states, row) -
      a.state_rows.begin());
}

}  // namespace

std::vector<State> Division::states_of(int rank) const {
  std::vector<State> own;
  if (owner.empty()) {
    own.resize(blocks[rank + 1] - blocks[rank]);
    std::iota(own.begin(), own.end(), blocks[rank]);
  }
  for (std::size_t s = 0; s < owner.size(); ++s) {
    if (owner[s] == rank) own.push_back(static_cast<State>(s));
  }
  return own;
}

void check_division(const Division& division, State states) {
  const auto& owner = division.owner;
  require(
      division.states() == states &&
          (owner.empty() || owner.size() == static_cast<std::size_t>(states)),
      "a division of {} states with {} owners, must be of {} states, with one owner for each or "
      "none",
      division.states(), owner.size(), states);
  for (const std::int32_t rank : owner)
    require(rank >= 0 && rank < division.ranks(), "rank {} owns a state, must be in 0..{}", rank,
            division.ranks() - 1);
}

ModelArrays make_part(ModelArrays rows, const Division& division, int rank,
                      const std::vector<State>& known, int actions) {
  const State all = division.states();
  const std::vector<State> own = division.states_of(rank);
  StateSet set(all);
  for (const State s : own) set.add(s);
  for (const State s : known) set.add(s);
  for (const State s : rows.next) {
    require(s >= 0 && s < all, "next state {}, must be in 0..{}", s, all - 1);
    set.add(s);
  }
  set.number();
  for (State& s : rows.next) s = set.place(s);
  Part part{rank, division.ranks(), all, set.members(), {}, actions};
  for (const State s : part.number) part.owner.push_back(owner_of(division, s));
  std::vector<Row> state_rows = {0};
  state_rows.reserve(static_cast<std::size_t>(set.count()) * rows.stages + 1);
  const Row* row = rows.state_rows.data();
  for (int h = 0; h < rows.stages; ++h) {  // states that others own have no rows
    for (const std::int32_t owner : part.owner) state_rows.push_back(owner == rank ? *++row : *row);
  }
  rows.state_rows = std::move(state_rows);
  rows.states = set.count();
  if (!rows.state_names.empty()) {
    std::vector<std::string> names;
    for (const State s : part.number) names.push_back(std::move(rows.state_names[s]));
    rows.state_names = std::move(names);
  }
  rows.part = std::move(part);
  return rows;
}

Problem make_part(ModelArrays rows, const Division& division, int rank, int actions, Terms terms) {
  terms.start = tidy_start(terms.start, division.states());
  Model model(make_part(std::move(rows), division, rank, terms.start.states, actions));
  for (State& s : terms.start.states) s = number_in_part(*model.arrays().part, s);
  return Problem(std::move(model), std::move(terms));
}

State find_in_part(const Part& part, State whole) {
  const std::vector<State>& number = part.number;
  if (part.by_number.empty()) {
    const auto found = std::lower_bound(number.begin(), number.end(), whole);
    return found != number.end() && *found == whole ? static_cast<State>(found - number.begin())
                                                    : -1;
  }
  const auto found =
      std::lower_bound(part.by_number.begin(), part.by_number.end(), whole,
                       [&](State state, State other) { return number[state] < other; });
  return found != part.by_number.end() && number[*found] == whole ? *found : -1;
}

State number_in_part(const Part& part, State whole) {
  const State found = find_in_part(part, whole);
  require(found >= 0, "state {} is not in this part", whole);
  return found;
}

bool row_lists(const Model& model, Row row, State whole) {
  if (!model.arrays().part) return model.lists(row, whole);
  const State here = find_in_part(*model.arrays().part, whole);
  return here >= 0 && model.lists(row, here);
}

void listed_states(const Model& model, Row row, std::vector<State>& listed) {
  listed.clear();
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    const State s = model.arrays().next[i], whole = whole_number(model, s);
    if (model.lists(row, s) && (listed.empty() || listed.back() != whole)) listed.push_back(whole);
  }
}

std::vector<State> balanced_blocks(const Model& model, int ranks) {
  require(ranks >= 1, "{} ranks, must be at least 1", ranks);
  std::vector<State> blocks(ranks + 1, model.states());
  blocks[0] = 0;
  const auto outcomes =
      model.stages() == 1 ? model.outcomes() : model.outcome_begin(model.row_begin(1, 0));
  for (int r = 1; r < ranks; ++r) blocks[r] = state_at(model.arrays(), outcomes * r / ranks);
  return blocks;
}

Problem part_of(const Problem& whole, const Division& division, int rank) {
  const Model& model = whole.model();
  check_division(division, model.states());
  const std::vector<State> own = division.states_of(rank);
  const Ranges rows = rows_of(model.arrays(), own);
  Terms terms = whole.terms();
  pick_radii(terms, rows);
  return make_part(only_rows(model.arrays(), rows, static_cast<State>(own.size())), division, rank,
                   model.actions(), std::move(terms));
}

ModelArrays in_order(const ModelArrays& a, const std::vector<State>& order, int actions) {
  const std::vector<State> turn = turns_of(order, a.states);
  ModelArrays moved = only_rows(a, rows_of(a, order), a.states);
  for (State& s : moved.next) s = turn[s];
  for (std::size_t i = 0; i < moved.state_names.size(); ++i)
    moved.state_names[i] = a.state_names[order[i]];
  Part part;
  part.states = a.states;
  part.actions = actions;
  if (a.part) part.rank = a.part->rank, part.ranks = a.part->ranks, part.states = a.part->states;
  const bool increases = !a.part || a.part->by_number.empty();
  for (State i = 0; i < a.states; ++i) {
    part.number.push_back(a.part ? a.part->number[order[i]] : order[i]);
    part.owner.push_back(a.part ? a.part->owner[order[i]] : 0);
    part.by_number.push_back(turn[increases ? i : a.part->by_number[i]]);
  }
  moved.part = std::move(part);
  return moved;
}

Problem renumbered(const Problem& problem, const std::vector<State>& order) {
  const Model& model = problem.model();
  const std::vector<State> turn = turns_of(order, model.states());
  Terms terms = problem.terms();
  for (State& s : terms.start.states) s = turn[s];
  pick_radii(terms, rows_of(model.arrays(), order));
  return Problem(model.renumbered(order), std::move(terms));
}

}  // namespace redoubt
