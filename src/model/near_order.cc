#include "model/near_order.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/agree.h"
#include "model/bytes.h"
#include "model/machine.h"
#include "model/part.h"

namespace redoubt {
namespace {

constexpr double kLine = 64;  // bytes that a cache gets at a time

// To look for an order and to move the model takes up to 180 ns for an outcome, as long as about
// seven lines from afar; docs/scale.md has the measurement. There must be more than twice as many
// to save.
constexpr double kLinesWorthMoving = 20;
constexpr double kLeastSaved = 0.1;  // of what is far: less is not worth a second model

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
struct Origins {
  std::vector<std::int64_t> begin;
  std::vector<State> list;
};

Origins origins_of(const ModelArrays& a) {
  Origins origins;
  origins.begin.assign(static_cast<std::size_t>(a.states) + 2, 0);
  for (const State to : a.next) ++origins.begin[to + 2];
  for (State s = 0; s < a.states; ++s) origins.begin[s + 2] += origins.begin[s + 1];
  origins.list.resize(a.next.size());
  // The entry after that of a state is where its next origin goes, and in the end where they end.
  for (State s = 0; s < a.states; ++s)
    for_each_next(a, s, [&](State to) { origins.list[origins.begin[to + 1]++] = s; });
  return origins;
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
      std::for_each(origins.list.begin() + origins.begin[s],
                    origins.list.begin() + origins.begin[s + 1], reach);
    }
    search.ends.push_back(search.order.back());
  }
  return search;
}

// The share of outcomes that lead further than `distance` where state s has turn[s].
double far_share(Communicator& ranks, const ModelArrays& a, std::span<const State> turn,
                 double distance) {
  std::int64_t far = 0;
  for (State s = 0; s < a.states; ++s)
    for_each_next(a, s, [&](State to) { far += std::abs(turn[to] - turn[s]) > distance; });
  const double outcomes = agree_on_sum(ranks, static_cast<double>(a.next.size()));
  return agree_on_sum(ranks, static_cast<double>(far)) / std::max(1.0, outcomes);
}

}  // namespace

std::vector<State> near_order(const Model& model) {
  const ModelArrays& a = model.arrays();
  const Origins origins = origins_of(a);
  std::vector<State> all(a.states);
  for (State s = 0; s < a.states; ++s) all[s] = s;
  // A search that begins at an end of the graph has narrower layers than one that begins within.
  const Search first = breadth_first(a, origins, all);
  return breadth_first(a, origins, first.ends).order;
}

Problem in_near_order(const Problem& problem, const ValueReads& reads, double room,
                      const Execution& execution) {
  if (execution.order == Order::given) return problem;
  Communicator& ranks = execution.ranks ? *execution.ranks : one_process();
  const Model& model = problem.model();
  const ModelArrays& a = model.arrays();
  // What is between two states is on one side of the state at hand; as much is on the other.
  const double distance = nearest_cache() / 2 / reads.bytes;
  const double lines = std::max(1.0, reads.bytes / kLine) * reads.times;
  std::vector<State> order(a.states), turn(a.states);
  for (State s = 0; s < a.states; ++s) turn[s] = s;
  FarOutcomes far;
  far.given = far.near = far_share(ranks, a, turn, distance);
  const bool fits = all_ranks(ranks, agree_on_sum(ranks, bytes_of(model)) <= room);
  if (fits && far.given * lines > kLinesWorthMoving) {
    order = near_order(model);
    for (State i = 0; i < a.states; ++i) turn[order[i]] = i;
    far.near = far_share(ranks, a, turn, distance);
    const double saved = far.given - far.near;
    if (saved * lines > kLinesWorthMoving && saved > kLeastSaved * far.given)
      far.taken = Order::near;
  }
  if (execution.ordered) execution.ordered(far);
  return far.taken == Order::near ? renumbered(problem, order) : problem;
}

double bytes_of_both(const Problem& given, const Problem& ordered) {
  const bool same = &given.model().arrays() == &ordered.model().arrays();
  return bytes_of(given.model()) + (same ? 0 : bytes_of(ordered.model()));
}

}  // namespace redoubt
