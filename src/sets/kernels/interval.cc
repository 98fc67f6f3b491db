#include "sets/kernels/take_from_top.h"

// lower <= P <= upper. Nature starts from the lower bounds and gives the mass that is left to the
// lowest values first, each up to its upper bound. Seen upside down, it takes that mass from the
// top of what fits between the bounds.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

[[gnu::always_inline]] inline Lanes negated_value(const Block& v, int outcome) {
  return -v[outcome];
}

template <class Number>
struct Room {
  Number free, total;  // the mass that is left, and what fits between the bounds
};

// Writes what fits between the bounds of each outcome to room[0], room[step], and so on.
[[gnu::always_inline]] inline Room<double> find_room(const double* lower, const double* upper,
                                                     int outcomes, double* room) {
  double free = 1, total = 0;
  for (int i = 0; i < outcomes; ++i) {
    room[i] = upper[i] - lower[i];
    free -= lower[i];
    total += room[i];
  }
  return {free < 0 ? 0 : free > total ? total : free, total};
}

[[gnu::always_inline]] inline Room<Lanes> find_room(const RowOfLane& rows, const Block& v,
                                                    double* room) {
  Lanes free = 1.0, total = 0.0;
  for (int i = 0; i < rows.outcomes; ++i) {
    const Lanes fits = rows.upper(v, i) - rows.lower(v, i);
    store(room + static_cast<std::size_t>(i) * rows.lower.stride + v.lane, fits);
    free -= rows.lower(v, i);
    total += fits;
  }
  return {min(max(free, 0.0), total), total};
}

template <class Rows, class Find>
[[gnu::always_inline]] inline void solve(const Rows& rows, typename Rows::Numbers room, Find find,
                                         const LaneValues& values, double* worst,
                                         double* minimiser) {
  using Take = Taking<typename Rows::Number>;
  solve_together<Take>(
      rows.outcomes, values, worst, minimiser,
      [&](Take* blocks, int count) {
        for (int n = 0; n < count; ++n) {
          const auto found = find(blocks[n].v);
          blocks[n].total = found.total;
          blocks[n].amount = found.free;
        }
        take_from_top(blocks, count, room, negated_value);
      },
      [&](const Take& t) { return max(expectation(rows.lower, t.v) - t.taken(), -t.high); },
      [&](const Take& t, const Minimiser& place) {
        write_taken(t, room, negated_value, place);
        for (int i = 0; i < rows.outcomes; ++i) place.set(i, rows.lower(t.v, i) + place.get(i));
        place.set(rows.outcomes, 0.0);
      });
}

}  // namespace

void interval(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  double* room = scratch.doubles(row.outcomes);
  const Room<double> found = find_room(row.lower, row.upper, row.outcomes, room);
  solve(
      SharedRow(row), {room}, [&](const Block&) { return found; }, values, worst, minimiser);
}

void interval(const LaneRows& given, const LaneValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  const RowOfLane rows(given, values.lanes);
  const int stride = padded_lanes(values.lanes);
  double* room = scratch.doubles(static_cast<std::size_t>(rows.outcomes) * stride);
  const auto find = [&](const Block& v) { return find_room(rows, v, room); };
  solve(rows, {room, stride}, find, values, worst, minimiser);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
