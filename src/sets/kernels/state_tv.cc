#include "sets/kernels/state_best.h"
#include "sets/kernels/take_from_top.h"

// Total variation, shared by the rows of a state: moving mass from an outcome to the lowest landing
// place of its action gains nature the difference of their values. It takes the largest gains
// first, of all actions together, until the radius is spent.
namespace redoubt::internal::REDOUBT_TARGET {
namespace {

using Take = Taking<Lanes>;

// What moving mass gains in the states of a block. An action whose largest gain is below what a
// sweep looks for has nothing to add to it, and its outcomes are not read.
struct Gains {
  StateBlock s;
  Column low, largest;  // of each action: its lowest landing place, and the gain from its top
  Lanes lows = 0.0;     // their sum

  Gains(const StateBlock& block, double* room)
      : s(block), low{room, kLanes}, largest{room + s.actions * kLanes, kLanes} {}

  [[gnu::always_inline]] Take measure() {
    Lanes total = 0.0, mean = 0.0, high = 0.0;
    for (int a = 0; a < s.actions; ++a) {
      Lanes bottom = s.v(a, 0), top = bottom;
      for (int i = 1; i < s.outcomes; ++i) {
        const Lanes x = s.v(a, i);
        bottom = min(x, bottom);
        top = max(x, top);
      }
      if (s.has_floor) bottom = min(s.floor.get(a), bottom);
      // Sums by action: the next one's do not wait for them.
      Lanes mass = 0.0, gained = 0.0;
      for (int i = 0; i < s.outcomes; ++i) {
        mass += s.p(a, i);
        gained += s.p(a, i) * (s.v(a, i) - bottom);
      }
      low.set(a, bottom);
      largest.set(a, top - bottom);
      high = max(top - bottom, high);
      lows += bottom;
      total += mass;
      mean += gained;
    }
    Take t;
    t.v = {nullptr, s.actions * s.outcomes, 0};
    t.total = total;
    t.amount = min(s.radius, total);
    begin(t, 0.0, high, mean);
    return t;
  }

  [[gnu::always_inline]] Reached reach(const Take& t, Mask these) const {
    Reached r{0.0, 0.0};
    for (int a = 0; a < s.actions; ++a) {
      const Lanes most = largest.get(a);
      if (!any(these & (most >= t.eta))) {
        r.next = max(most, r.next);
        continue;
      }
      const Lanes bottom = low.get(a);
      Lanes mass = 0.0;
      for (int i = 0; i < s.outcomes; ++i) {
        const Lanes gain = s.v(a, i) - bottom;
        const Mask reached = gain >= t.eta;
        mass = add_where(reached, mass, s.p(a, i));
        r.next = max_unless(reached, r.next, gain);
      }
      r.mass += mass;
    }
    return r;
  }

  [[gnu::always_inline]] Above add_above(const Take& t, Mask these) const {
    Above r{0.0, 0.0};
    for (int a = 0; a < s.actions; ++a) {
      if (!any(these & (largest.get(a) > t.eta))) continue;
      const Lanes bottom = low.get(a);
      Above here{0.0, 0.0};
      for (int i = 0; i < s.outcomes; ++i) {
        const Lanes gain = s.v(a, i) - bottom;
        const Mask above = gain > t.eta;
        here.mass = add_where(above, here.mass, s.p(a, i));
        here.sum = add_where(above, here.sum, s.p(a, i) * gain);
      }
      r.mass += here.mass;
      r.sum += here.sum;
    }
    return r;
  }
};

// What nature moved lands on the first outcome of the lowest value of its action, or on the floor.
void land(const StateBlock& s, int action, Lanes low, const Column& minimiser) {
  Lanes homeless = 0.0;
  for (int i = 0; i < s.outcomes; ++i) {
    const int place = action * s.outcomes + i;
    // From the lowest value nothing is to be gained, whatever is left of the radius.
    const Lanes taken = select(s.v(action, i) > low, minimiser.get(place), 0.0);
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

// `room`: for a gain of each outcome.
void write_minimiser(const Gains& gains, const Take& t, double* room, const Column& minimiser) {
  const StateBlock& s = gains.s;
  const Column gain{room, kLanes};
  for (int a = 0; a < s.actions; ++a)
    for (int i = 0; i < s.outcomes; ++i) gain.set(a * s.outcomes + i, s.v(a, i) - gains.low.get(a));
  write_taken(
      t, [&](const Block&, int place) { return s.probability.get(place); },
      [&](const Block&, int place) { return gain.get(place); },
      {minimiser.first, minimiser.stride});
  for (int a = 0; a < s.actions; ++a) land(s, a, gains.low.get(a), minimiser);
}

}  // namespace

void state_tv(const LaneStates& states, const StateValues& values, Scratch& scratch, double* worst,
              double* minimiser) {
  const int places = minimiser != nullptr ? states.actions * states.outcomes : 0;
  double* room = scratch.doubles(static_cast<std::size_t>(2 * states.actions + places) * kLanes);
  for_each_state_block(
      states, values, worst, minimiser, [&](const StateBlock& s, const Column* place) {
        Gains gains(s, room);
        Take t = gains.measure();
        search(
            &t, 1,
            [&](const Take& now, Mask these)
                __attribute__((always_inline)) { return gains.reach(now, these); },
            [&](const Take& now, Mask these)
                __attribute__((always_inline)) { return gains.add_above(now, these); });
        const Mask certain = s.radius == 0.0;
        if (place != nullptr) {
          write_minimiser(gains, t, room + std::size_t{2} * s.actions * kLanes, *place);
          keep_nominal_states(certain, s, *place);
        }
        const Lanes worst_of = gains.lows + max(t.mean - t.taken(), 0.0);
        return any(certain) ? select(certain, s.expectation(), worst_of) : worst_of;
      });
}

namespace {

// What bringing an action down costs: as a function of what is taken off its mean, mass p g is
// taken in the order of the gains g, at the price 1 / g each. Prices are negated: the cheapest is
// at the top.
struct Prices {
  StateBlock s;
  Column mass, price;             // of each outcome
  Column total, low, high, mean;  // of each action: its mass, and of its prices
  Column eta, all_mass, all_sum;  // where the last taking ended: see Taking, right end

  static std::size_t room(const LaneStates& states) {
    return std::size_t{2} * states.actions * (states.outcomes + 4) * kLanes;
  }
  Prices(const StateBlock& block, double* room) : s(block) {
    const auto column = [&](int numbers) {
      const Column made{room, kLanes};
      room += static_cast<std::size_t>(numbers) * kLanes;
      return made;
    };
    mass = column(s.actions * s.outcomes);
    price = column(s.actions * s.outcomes);
    total = column(s.actions);
    low = column(s.actions);
    high = column(s.actions);
    mean = column(s.actions);
    eta = column(s.actions);
    all_mass = column(s.actions);
    all_sum = column(s.actions);
    for (int a = 0; a < s.actions; ++a) fill(a);
  }

  [[gnu::always_inline]] void fill(int a) {
    const Lanes bottom = s.low(a);
    Lanes sum = 0.0, least = 0.0, most = -1e300, paid = 0.0;
    for (int i = 0; i < s.outcomes; ++i) {
      const Lanes gain = s.v(a, i) - bottom;
      const Mask gains = gain > 0.0;
      const Lanes here = select(gains, s.p(a, i) * gain, 0.0);
      const Lanes cost = select(gains, -1.0 / gain, -1e300);
      mass.set(a * s.outcomes + i, here);
      price.set(a * s.outcomes + i, cost);
      sum += here;
      least = min(cost, least);
      most = max(cost, most);
      paid += here * cost;
    }
    total.set(a, sum);
    low.set(a, least);
    high.set(a, most);
    mean.set(a, paid);
    // At first, everything: what comes then is higher.
    eta.set(a, least);
    all_mass.set(a, sum);
    all_sum.set(a, paid);
  }

  // How far the action is above x.
  [[gnu::always_inline]] Lanes above(int a, Lanes x) const {
    Lanes sum = 0.0;
    for (int i = 0; i < s.outcomes; ++i) sum += s.p(a, i) * (s.v(a, i) - x);
    return sum;
  }

  // Takes `amount` off its mean, in the lanes that are active: never more than the last time. So it
  // ends where it ended then, or higher.
  [[gnu::always_inline]] Take take(int a, Mask active, Lanes amount) {
    const auto of = [&](const Column& column) {
      return [&column, first = a * s.outcomes ](const Block&, int i)
          __attribute__((always_inline)) {
        return column.get(first + i);
      };
    };
    Take t;
    t.v = {nullptr, s.outcomes, 0};
    t.total = select(active, total.get(a), 1.0);
    t.amount = min(select(active, amount, 0.0), t.total);
    begin(t, low.get(a), high.get(a), mean.get(a));
    const Lanes before_mass = all_mass.get(a), before_sum = all_sum.get(a);
    const Mask as_before = (before_mass <= t.amount) & (before_mass < t.total);
    t.left_mass = before_mass;
    t.left_sum = before_sum;
    t.right_mass = select(as_before, before_mass, 0.0);
    t.right_sum = select(as_before, before_sum, 0.0);
    t.eta =
        select(as_before, eta.get(a), select(t.descends, high.get(a), before_sum / before_mass));
    t.todo = t.todo & active & !as_before;
    search_row(&t, 1, of(mass), of(price));
    eta.set(a, select(active, t.eta, eta.get(a)));
    all_mass.set(a, select(active, t.right_mass, before_mass));
    all_sum.set(a, select(active, t.right_sum, before_sum));
    return t;
  }
};

}  // namespace

// The weights of the actions are b / sum b, where nature must move mass sum_a kappa_a(x) to bring
// every action down to x, and b_a is the slope of kappa_a there: the rate at which the outcome from
// which it takes last, of gain g, costs mass, 1 / g. kappa is convex and piecewise linear, and
// Newton's method comes to sum kappa = radius from below in finitely many steps.
void best_tv(const LaneStates& states, const StateValues& values, const double* alone,
             Scratch& scratch, double* best, double* weight) {
  const int stride = padded_lanes(values.lanes);
  double* room = scratch.doubles(Prices::room(states));
  constexpr int kMost = 200;
  for (int lane = 0; lane < values.lanes; lane += kLanes) {
    const StateBlock s(states, values, lane);
    const ConstColumn single{alone + lane, stride};
    const Column slope{weight + lane, stride};
    Lanes start = single.get(0);
    for (int a = 1; a < s.actions; ++a) start = max(single.get(a), start);
    Prices prices(s, room);
    Lanes x = start;
    Mask todo = s.radius > 0.0;
    for (int round = 0; round < kMost && any(todo); ++round) {
      Lanes moved = 0.0, slopes = 0.0;
      for (int a = 0; a < s.actions; ++a) {
        const Lanes above = prices.above(a, x);
        const Mask active = todo & (above > 0.0) & (prices.total.get(a) > 0.0);
        Lanes b = 0.0;
        if (any(active)) {
          const Take t = prices.take(a, active, above);
          b = select(active, -t.eta, 0.0);
          moved += select(active, -t.taken(), 0.0);
          slopes += b;
        }
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
