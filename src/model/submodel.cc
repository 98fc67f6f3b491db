#include "model/submodel.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "model/canonicalize.h"
#include "model/select_rows.h"
#include "redoubt/advanced/ranks.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
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

int owner_of(const Partition& partition, State state) {
  if (!partition.owner.empty()) return partition.owner[state];
  const auto& blocks = partition.blocks;
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

std::vector<State> Partition::states_of(int rank) const {
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

void internal::check_partition(const Partition& partition, State states) {
  const auto& owner = partition.owner;
  require(
      partition.states() == states &&
          (owner.empty() || owner.size() == static_cast<std::size_t>(states)),
      "a partition of {} states with {} owners, must be of {} states, with one owner for each or "
      "none",
      partition.states(), owner.size(), states);
  for (const std::int32_t rank : owner)
    require(rank >= 0 && rank < partition.ranks(), "rank {} owns a state, must be in 0..{}", rank,
            partition.ranks() - 1);
}

ModelArrays internal::make_submodel(ModelArrays rows, const Partition& partition, int rank,
                                    const std::vector<State>& known, int actions) {
  const State all = partition.states();
  const std::vector<State> own = partition.states_of(rank);
  StateSet set(all);
  for (const State s : own) set.add(s);
  for (const State s : known) set.add(s);
  for (const State s : rows.next) {
    require(s >= 0 && s < all, "next state {}, must be in 0..{}", s, all - 1);
    set.add(s);
  }
  set.number();
  for (State& s : rows.next) s = set.place(s);
  Submodel part{rank, partition.ranks(), all, set.members(), {}, actions};
  for (const State s : part.number) part.owner.push_back(owner_of(partition, s));
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
  select_arrivals(rows, part.number);
  renumber_labels(rows, part.number);
  rows.submodel = std::move(part);
  return rows;
}

Problem internal::make_submodel(ModelArrays rows, const Partition& partition, int rank, int actions,
                                Terms terms, bool ends_are_known) {
  terms.start = canonical_start(terms.start, partition.states());
  Model model(make_submodel(std::move(rows), partition, rank, terms.start.states, actions));
  for (State& s : terms.start.states) s = number_in_submodel(*model.arrays().submodel, s);
  if (ends_are_known) return Problem::with_known_ends(std::move(model), std::move(terms));
  return {std::move(model), std::move(terms)};
}

State internal::find_in_submodel(const Submodel& part, State whole) {
  const std::vector<State>& number = part.number;
  const auto found = std::lower_bound(number.begin(), number.end(), whole);
  return found != number.end() && *found == whole ? static_cast<State>(found - number.begin()) : -1;
}

State internal::number_in_submodel(const Submodel& part, State whole) {
  const State found = find_in_submodel(part, whole);
  require(found >= 0, "state {} is not in this submodel", whole);
  return found;
}

bool internal::row_lists(const Model& model, Row row, State whole) {
  if (!model.arrays().submodel) return model.lists(row, whole);
  const State here = find_in_submodel(*model.arrays().submodel, whole);
  return here >= 0 && model.lists(row, here);
}

void internal::listed_states(const Model& model, Row row, std::vector<State>& listed) {
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

Problem subproblem(const Problem& whole, const Partition& partition, int rank) {
  const Model& model = whole.model();
  check_partition(partition, model.states());
  require(!whole.improper(),
          "some policies never come to an end: {} ranks, such a problem must be solved by one",
          partition.ranks());
  const std::vector<State> own = partition.states_of(rank);
  const Ranges rows = rows_of(model.arrays(), own);
  Terms terms = whole.terms();
  select_radii(terms, rows);
  return make_submodel(select_rows(model.arrays(), rows, static_cast<State>(own.size())), partition,
                       rank, model.actions(), std::move(terms), true);
}

}  // namespace redoubt
