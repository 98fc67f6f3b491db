#include "model/part.h"

#include <algorithm>
#include <bit>
#include <type_traits>

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

// Entries begin..end-1 of each stage's share of an array, or of nothing.
template <class Value>
std::vector<Value> pick(const std::vector<Value>& values,
                        const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  std::vector<Value> picked;
  if (values.empty()) return picked;
  for (const auto& [begin, end] : ranges)
    picked.insert(picked.end(), values.begin() + begin, values.begin() + end);
  return picked;
}

struct Ranges {  // of a block, one for each stage
  std::vector<std::pair<std::int64_t, std::int64_t>> rows, outcomes;
};

Ranges ranges_of(const ModelArrays& a, State begin, State end) {
  Ranges ranges;
  for (std::int64_t h = 0; h < a.stages; ++h) {
    const Row first = a.state_rows[h * a.states + begin], last = a.state_rows[h * a.states + end];
    ranges.rows.emplace_back(first, last);
    ranges.outcomes.emplace_back(a.row_outcomes[first], a.row_outcomes[last]);
  }
  return ranges;
}

ModelArrays rows_of_block(const ModelArrays& a, State begin, State end) {
  const Ranges ranges = ranges_of(a, begin, end);
  ModelArrays block;
  block.states = end - begin;
  block.stages = a.stages;
  block.state_rows.push_back(0);
  block.row_outcomes.push_back(0);
  for (std::int64_t h = 0; h < a.stages; ++h) {
    for (State s = begin; s < end; ++s) {
      const auto slot = h * a.states + s;
      block.state_rows.push_back(block.state_rows.back() + a.state_rows[slot + 1] -
                                 a.state_rows[slot]);
      for (Row row = a.state_rows[slot]; row < a.state_rows[slot + 1]; ++row)
        block.row_outcomes.push_back(block.row_outcomes.back() + a.row_outcomes[row + 1] -
                                     a.row_outcomes[row]);
    }
  }
  block.action = pick(a.action, ranges.rows);
  block.reward = pick(a.reward, ranges.rows);
  block.next = pick(a.next, ranges.outcomes);
  block.probability = pick(a.probability, ranges.outcomes);
  block.outcome_reward = pick(a.outcome_reward, ranges.outcomes);
  block.lower = pick(a.lower, ranges.outcomes);
  block.upper = pick(a.upper, ranges.outcomes);
  for (const Signal& s : a.signals)
    block.signals.push_back({s.name, pick(s.row, ranges.rows), pick(s.outcome, ranges.outcomes)});
  block.state_names = a.state_names;
  block.action_names = a.action_names;
  return block;
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

ModelArrays make_part(ModelArrays a, std::vector<State> blocks, int rank,
                      const std::vector<State>& known, int actions) {
  const State begin = blocks[rank], end = blocks[rank + 1], all = blocks.back();
  StateSet set(all);
  for (State s = begin; s < end; ++s) set.add(s);
  for (const State s : known) set.add(s);
  for (const State s : a.next) {
    require(s >= 0 && s < all, "next state {}, must be in 0..{}", s, all - 1);
    set.add(s);
  }
  set.number();
  for (State& s : a.next) s = set.place(s);
  const State before = set.place(begin), own = end - begin;
  std::vector<Row> state_rows;
  state_rows.reserve(static_cast<std::size_t>(set.count()) * a.stages + 1);
  for (std::int64_t h = 0; h < a.stages; ++h) {  // states that others own have no rows
    const Row* rows = a.state_rows.data() + h * own;
    state_rows.insert(state_rows.end(), before, rows[0]);
    state_rows.insert(state_rows.end(), rows, rows + own);
    state_rows.insert(state_rows.end(), set.count() - before - own, rows[own]);
  }
  state_rows.push_back(a.state_rows.back());
  a.state_rows = std::move(state_rows);
  a.states = set.count();
  Part part{std::move(blocks), rank, set.members(), actions};
  if (!a.state_names.empty()) {
    std::vector<std::string> names;
    for (const State s : part.number) names.push_back(std::move(a.state_names[s]));
    a.state_names = std::move(names);
  }
  a.part = std::move(part);
  return a;
}

Problem make_part(ModelArrays block, std::vector<State> blocks, int rank, int actions,
                  Terms terms) {
  terms.start = tidy_start(terms.start, blocks.back());
  Model model(make_part(std::move(block), std::move(blocks), rank, terms.start.states, actions));
  for (State& s : terms.start.states) s = number_in_part(*model.arrays().part, s);
  return Problem(std::move(model), std::move(terms));
}

State number_in_part(const Part& part, State state) {
  const auto found = std::lower_bound(part.number.begin(), part.number.end(), state);
  require(found != part.number.end() && *found == state, "state {} is not in this part", state);
  return static_cast<State>(found - part.number.begin());
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

Problem part_of(const Problem& whole, std::vector<State> blocks, int rank) {
  const ModelArrays& a = whole.model().arrays();
  const State begin = blocks[rank], end = blocks[rank + 1];
  Terms terms = whole.terms();
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; })
          set.radius.rows = pick(set.radius.rows, ranges_of(a, begin, end).rows);
      },
      terms.uncertainty);
  ModelArrays block = rows_of_block(a, begin, end);
  return make_part(std::move(block), std::move(blocks), rank, whole.model().actions(),
                   std::move(terms));
}

}  // namespace redoubt
