#include "redoubt/reorder.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "model/select_rows.h"
#include "support/grouped.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Calls visit(next state) for what the rows of a state lead to at any stage.
template <class Visit>
void for_each_next(const ModelArrays& a, State state, Visit visit) {
  for (std::int64_t h = 0; h < a.stages; ++h) {
    const auto slot = h * a.states + state;
    const auto end = a.row_outcomes[a.state_rows[slot + 1]];
    for (auto i = a.row_outcomes[a.state_rows[slot]]; i < end; ++i) visit(a.next[i]);
  }
}

// The states whose rows lead to each state, as often as they do.
using Origins = Grouped<State>;
Origins origins_of(const ModelArrays& a) {
  return grouped<State>(a.states, [&](auto visit) {
    for (State s = 0; s < a.states; ++s) for_each_next(a, s, [&](State to) { visit(to, s); });
  });
}

struct Search {
  std::vector<State> order;
  std::vector<State> ends;  // the last state of each search
};

// From each of the seeds that no search before it has come to.
Search breadth_first(const ModelArrays& a, const Origins& origins, std::span<const State> seeds) {
  Search search;
  search.order.reserve(a.states);
  std::vector<char> seen(a.states, 0);
  const auto reach = [&](State s) {
    if (seen[s]) return;
    seen[s] = 1;
    search.order.push_back(s);
  };
  std::size_t next = 0;
  for (const State seed : seeds) {
    reach(seed);
    if (next == search.order.size()) continue;
    for (; next < search.order.size(); ++next) {
      const State s = search.order[next];
      for_each_next(a, s, reach);
      for (const State from : origins[s]) reach(from);
    }
    search.ends.push_back(search.order.back());
  }
  return search;
}

// The states breadth first, along and against the way that rows lead: those that rows lead to from
// one to another are never further apart than two layers of that search.
std::vector<State> near_order(const ModelArrays& a) {
  const Origins origins = origins_of(a);
  std::vector<State> all(a.states);
  std::iota(all.begin(), all.end(), 0);
  // A search that begins at an end of the graph has narrower layers than one that begins within.
  const Search first = breadth_first(a, origins, all);
  return breadth_first(a, origins, first.ends).order;
}

// The new number of each state.
std::vector<State> numbers_of(const std::vector<State>& order, State states) {
  require(order.size() == static_cast<std::size_t>(states),
          "a numbering of {} states, must have each of {} once", order.size(), states);
  std::vector<State> number(states, -1);
  for (State i = 0; i < states; ++i) {
    require(order[i] >= 0 && order[i] < states && number[order[i]] < 0,
            "state {} of a numbering, must be in 0..{} and come once", order[i], states - 1);
    number[order[i]] = i;
  }
  return number;
}

}  // namespace

Problem reorder(const Problem& problem, const std::vector<State>& order) {
  const Model& model = problem.model();
  require(!model.arrays().submodel, "a subproblem, must be reordered before ranks divide it");
  const std::vector<State> number = numbers_of(order, model.states());
  const Ranges rows = rows_of(model.arrays(), order);
  ModelArrays moved = select_rows(model.arrays(), rows, model.states());
  for (State& s : moved.next) s = number[s];
  select_arrivals(moved, order);
  renumber_labels(moved, order);
  moved.state_names.clear();
  for (const State s : order) moved.state_names.push_back(model.state_name(s));
  Terms terms = problem.terms();
  for (State& s : terms.start.states) s = number[s];
  select_radii(terms, rows);
  return Problem(Model(std::move(moved)), std::move(terms));
}

Problem reorder(const Problem& problem) {
  return reorder(problem, near_order(problem.model().arrays()));
}

}  // namespace redoubt
