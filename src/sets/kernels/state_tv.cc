#include "sets/kernels/state_best.h"
#include "sets/kernels/take_from_top.h"

// Total variation, shared by the rows of a state: moving mass from an outcome to the lowest landing
// place of its action gains nature the difference of their values. It takes the largest gains
// first, of all actions together, until the radius is spent.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// What nature moved lands on the first outcome of the lowest value of its action, or on the floor.
void land(const StateBlock& s, int action, Lanes low, const ConstColumn& gain,
          const Column& minimiser) {
  Lanes homeless = 0.0;
  for (int i = 0; i < s.outcomes; ++i) {
    const int place = action * s.outcomes + i;
    // From the lowest value nothing is to be gained, whatever is left of the radius.
    const Lanes taken = select(gain.get(place) > 0.0, minimiser.get(place), 0.0);
    homeless += taken;
    minimiser.set(place, s.p(action, i) - taken);
  }
  for (int i = 0; i < s.outcomes; ++i) {
    const int place = action * s.outcomes + i;
    const Lanes landed = select(s.v(action, i) == low, homeless, 0.0);
    minimiser.set(place, minimiser.get(place) + landed);
    homeless -= landed;
  }
  minimiser.set(s.actions * s.outcomes + action, homeless);
}

}  // namespace

void state_tv(const LaneStates& states, const StateValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  using Take = Taking<Lanes>;
  const int places = states.actions * states.outcomes, stride = padded_lanes(values.lanes);
  double* numbers = scratch.doubles(static_cast<std::size_t>(places + states.actions) * stride);
  double* lows = numbers + static_cast<std::size_t>(places) * stride;
  const auto gains = [&](int lane) { return Column{numbers + lane, stride}; };
  const auto low_of = [&](int lane) { return Column{lows + lane, stride}; };
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const StateBlock s(states, values, lane);
    for (int a = 0; a < s.actions; ++a) {
      const Lanes low = s.low(a);
      low_of(lane).set(a, low);
      for (int i = 0; i < s.outcomes; ++i) gains(lane).set(a * s.outcomes + i, s.v(a, i) - low);
    }
  }
  const LaneNumbers mass{states.probability, stride}, gain{numbers, stride};
  const auto certain = [&](const Take& t) { return load(states.radius + t.v.lane) == 0.0; };
  solve_together<Take>(
      places, {values.lanes, nullptr, nullptr}, worst, minimiser,
      [&](Take* blocks, int count) {
        for (int n = 0; n < count; ++n) {
          Lanes total = 0.0;
          for (int i = 0; i < places; ++i) total += mass(blocks[n].v, i);
          blocks[n].total = total;
          blocks[n].amount = min(load(states.radius + blocks[n].v.lane), total);
        }
        take_from_top(blocks, count, mass, gain);
      },
      [&](const Take& t) {
        const StateBlock s(states, values, t.v.lane);
        Lanes low = 0.0;
        for (int a = 0; a < s.actions; ++a) low += low_of(t.v.lane).get(a);
        const Lanes worst_of = low + max(t.mean - t.taken(), 0.0);
        return any(certain(t)) ? select(certain(t), s.expectation(), worst_of) : worst_of;
      },
      [&](const Take& t, const Minimiser& place) {
        const StateBlock s(states, values, t.v.lane);
        const Column to{place.first, place.stride};
        write_taken(t, mass, gain, place);
        for (int a = 0; a < s.actions; ++a)
          land(s, a, low_of(t.v.lane).get(a), {numbers + t.v.lane, stride}, to);
        keep_nominal_states(certain(t), s, to);
      });
}

// The weights of the actions are b / sum b, where nature must move mass sum_a kappa_a(x) to bring
// every action down to x, and b_a is the slope of kappa_a there: the rate at which the outcome from
// which it takes last, of gain g, costs mass, 1 / g. As a function of what is taken off the mean,
// kappa is that of taking mass p g in the order of the gains, at the price 1 / g each. It is convex
// and piecewise linear, and Newton's method comes to sum kappa = radius from below in finitely many
// steps.
void best_tv(const LaneStates& states, const StateValues& values, const double* alone,
             Scratch& scratch, double* best, double* weight) {
  using Take = Taking<Lanes>;
  const int places = states.actions * states.outcomes, stride = padded_lanes(values.lanes);
  double* numbers = scratch.doubles(static_cast<std::size_t>(2 * places) * kLanes);
  const Column mass{numbers, kLanes},
      price{numbers + static_cast<std::size_t>(places) * kLanes, kLanes};
  constexpr int kMost = 200;
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const StateBlock s(states, values, lane);
    const ConstColumn single{alone + lane, stride};
    const Column slope{weight + lane, stride};
    Lanes start = single.get(0);
    for (int a = 1; a < s.actions; ++a) start = max(single.get(a), start);
    for (int a = 0; a < s.actions; ++a) {
      const Lanes low = s.low(a);
      for (int i = 0; i < s.outcomes; ++i) {
        const Lanes gain = s.v(a, i) - low;
        const Mask gains = gain > 0.0;
        mass.set(a * s.outcomes + i, select(gains, s.p(a, i) * gain, 0.0));
        price.set(a * s.outcomes + i, select(gains, -1.0 / gain, -1e300));
      }
    }
    Lanes x = start;
    Mask todo = s.radius > 0.0;
    for (int round = 0; round < kMost && any(todo); ++round) {
      Lanes moved = 0.0, slopes = 0.0;
      for (int a = 0; a < s.actions; ++a) {
        Take take;
        take.v = {nullptr, s.outcomes, 0};
        Lanes above = 0.0, total = 0.0;
        for (int i = 0; i < s.outcomes; ++i) {
          above += s.p(a, i) * (s.v(a, i) - x);
          total += mass.get(a * s.outcomes + i);
        }
        const Mask active = (above > 0.0) & (total > 0.0);
        take.total = select(active, total, 1.0);
        take.amount = min(select(active, above, 0.0), take.total);
        const auto of = [&](const Column& column) {
          return [&column, a, &s ](const Block&, int i) __attribute__((always_inline)) {
            return column.get(a * s.outcomes + i);
          };
        };
        take_from_top(&take, 1, of(mass), of(price));
        const Lanes b = select(active, -take.eta, 0.0);
        moved += select(active, -take.taken(), 0.0);
        slopes += b;
        slope.set(a, select(todo, b, slope.get(a)));
      }
      const Lanes next = x + select(slopes > 0.0, (moved - s.radius) / slopes, 0.0);
      todo = todo & (next > x);
      x = select(todo, next, x);
    }
    finish_best(s, single, start, x, slope);
    store(best + lane, x);
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
