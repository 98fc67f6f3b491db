#include "sets/kernels/take_from_top.h"

// Total variation: nature takes mass `radius` from the highest outcomes and puts it on the lowest
// landing place.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

[[gnu::always_inline]] inline Lanes value_of(const Block& v, int outcome) { return v[outcome]; }

// What is taken lands on the first outcome of the lowest value, or on the floor.
template <class Rows>
void write_minimiser(const Rows& rows, const Taking<typename Rows::Number>& t, Lanes low,
                     const Minimiser& minimiser) {
  const Block& v = t.v;
  write_taken(t, rows.probability, value_of, minimiser);
  Lanes homeless = 0.0;
  for (int i = 0; i < v.outcomes; ++i) {
    homeless += minimiser.get(i);
    minimiser.set(i, rows.probability(v, i) - minimiser.get(i));
  }
  for (int i = 0; i < v.outcomes; ++i) {
    const Lanes landed = select(v[i] == low, homeless, 0.0);
    minimiser.set(i, minimiser.get(i) + landed);
    homeless -= landed;
  }
  minimiser.set(v.outcomes, homeless);
}

// Total: the mass of a block's rows.
template <class Rows, class Total>
[[gnu::always_inline]] inline void solve(const Rows& rows, Total total, const LaneValues& values,
                                         double* worst, double* minimiser) {
  using Take = Taking<typename Rows::Number>;
  const auto landing = [&](const Take& t) {
    return values.floor != nullptr ? min(load(values.floor + t.v.lane), t.low) : t.low;
  };
  const auto certain = [&](const Take& t) { return Lanes(rows.radius(t.v)) == 0.0; };
  solve_together<Take>(
      rows.outcomes, values, worst, minimiser,
      [&](Take* blocks, int count) {
        for (int n = 0; n < count; ++n) {
          blocks[n].total = total(blocks[n].v);
          blocks[n].amount = lesser(rows.radius(blocks[n].v), blocks[n].total);
        }
        take_from_top(blocks, count, rows.probability, value_of);
      },
      [&](const Take& t) __attribute__((always_inline)) {
        const Lanes low = landing(t);
        return mean_where(certain(t), rows, t.v, max(t.mean - (t.taken() - t.amount * low), low));
      },
      [&](const Take& t, const Minimiser& place) {
        write_minimiser(rows, t, landing(t), place);
        keep_nominal_where(certain(t), rows, t.v, place);
      });
}

}  // namespace

void tv(const NominalRow& row, const LaneValues& values, Scratch& scratch, double* worst,
        double* minimiser) {
  if (row.radius == 0) return nominal(row, values, scratch, worst, minimiser);
  double total = 0;
  for (int i = 0; i < row.outcomes; ++i) total += row.probability[i];
  solve(
      SharedRow(row), [&](const Block&) { return total; }, values, worst, minimiser);
}

void tv(const LaneRows& given, const LaneValues& values, Scratch&, double* worst,
        double* minimiser) {
  const RowOfLane rows(given, values.lanes);
  const auto total = [&](const Block& v) {
    Lanes sum = 0.0;
    for (int i = 0; i < v.outcomes; ++i) sum += rows.probability(v, i);
    return sum;
  };
  solve(rows, total, values, worst, minimiser);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
