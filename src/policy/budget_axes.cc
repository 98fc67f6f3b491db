#include "policy/budget_axes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_set>

#include "bellman/row_evaluator.h"
#include "numerics/infinity.h"
#include "parallel/collectives.h"
#include "parallel/exchange.h"
#include "policy/budget.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr int kMostLatticeCells = 4096;  // beyond this a rounded grid is the better trade
constexpr std::size_t kMostSizes = 16 * kMostLatticeCells;  // of what a step may earn

struct Range {
  double low = kInfinity, high = -kInfinity;
  void include(double value) { low = std::min(low, value), high = std::max(high, value); }
  void include(const Range& other) {
    low = std::min(low, other.low), high = std::max(high, other.high);
  }
  bool empty() const { return low > high; }
};

// Calls visit(next state, earned) for everything that a row can lead to.
template <class Visit>
void for_each_result(const Model& model, Channel channel, Row row, Visit visit) {
  const double own = channel.sign * model.value(channel.signal, row);
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    visit(model.arrays().next[i], own + channel.sign * model.outcome_value(channel.signal, i));
  }
}

// Ranges of states as a layer of values; ranges of all ranks, joined.
LayerView layer_of(std::vector<Range>& ranges) {
  static_assert(sizeof(Range) == 2 * sizeof(double));
  return {&ranges.front().low, 2, 1, 0, 2};
}
Range join(Communicator& ranks, const Range& mine) {
  return {min_over_ranks(ranks, mine.low), max_over_ranks(ranks, mine.high)};
}

// For each stage, the least and the largest total that a path from any state can still earn, in the
// units of that stage.
std::vector<Range> path_ranges(const Problem& problem, Channel channel, int stages,
                               Workers& workers) {
  const Model& model = problem.model();
  Exchange exchange(model, workers.ranks());
  const Range nothing{0, 0};
  std::vector<Range> ranges(stages + 1, nothing), next(model.states(), nothing),
      here(model.states());
  for (int h = stages; h-- > 0;) {
    workers.check_together();
    Range landing;  // what follows an arrival outside of a row
    for (State s = 0; s < model.states() && lands_anywhere(problem); ++s) {
      const double arrival = channel.sign * model.arrival_value(channel.signal, s);
      landing.include({arrival + problem.discount() * next[s].low,
                       arrival + problem.discount() * next[s].high});
    }
    if (lands_anywhere(problem)) landing = join(workers.ranks(), landing);
    for (State s = 0; s < model.states(); ++s) {
      workers.check();
      Range range;
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        const auto add = [&](const Range& later, double earned) {
          range.include(
              {earned + problem.discount() * later.low, earned + problem.discount() * later.high});
        };
        for_each_result(model, channel, row,
                        [&](State to, double earned) { add(next[to], earned); });
        if (!lands_anywhere(problem)) continue;
        const double own = channel.sign * model.value(channel.signal, row);
        range.include({own + landing.low, own + landing.high});
      }
      here[s] = range.empty() ? nothing : range;
    }
    next.swap(here);
    exchange.update(layer_of(next));
    Range all;
    for (const Range& range : next) all.include(range);
    ranges[h] = join(workers.ranks(), all);
  }
  return ranges;
}

// For each stage, the requirements that can be reached from zero (the bound itself), as distances
// from the bound at stage 0. `round` is what the grid does to a requirement on the way.
template <class Round>
std::vector<Range> reached_ranges(const Problem& problem, Channel channel, double bound, int stages,
                                  Workers& workers, Round round) {
  const Model& model = problem.model();
  Exchange exchange(model, workers.ranks());
  std::vector<Range> ranges(stages + 1), here(model.states()), next;
  for (std::size_t i = 0; i < problem.start().states.size(); ++i) {
    if (problem.start().probability[i] > 0) here[problem.start().states[i]] = {0, 0};
  }
  for (int h = 0;; ++h) {
    workers.check_together();
    for (const Range& range : here) ranges[h].include(range);
    ranges[h] = join(workers.ranks(), ranges[h]);
    ranges[h].include(0);  // the trace follows the whole bound through every stage
    if (h == stages) return ranges;
    next.assign(model.states(), {});
    Range anywhere;  // before an arrival outside of a row, in the units of this stage
    for (State s = 0; s < model.states(); ++s) {
      workers.check();
      if (here[s].empty()) continue;
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        const auto after = [&](double earned) {
          const auto change = [&](double from) {
            return (bound + from - earned) / problem.discount() - bound;
          };
          return round(Range{change(here[s].low), change(here[s].high)});
        };
        Range moved;  // most rows earn the same whatever happens
        double by = std::numeric_limits<double>::quiet_NaN();
        for_each_result(model, channel, row, [&](State to, double earned) {
          if (earned != by) moved = after(earned), by = earned;
          next[to].include(moved);
        });
        if (!lands_anywhere(problem)) continue;
        const double own = channel.sign * model.value(channel.signal, row);
        anywhere.include({bound + here[s].low - own, bound + here[s].high - own});
      }
    }
    exchange.collect(layer_of(next), [](double* into, const double* from) {
      into[0] = std::min(into[0], from[0]), into[1] = std::max(into[1], from[1]);
    });
    anywhere = join(workers.ranks(), anywhere);
    for (State s = 0; s < model.states() && !anywhere.empty(); ++s) {
      const double arrival = channel.sign * model.arrival_value(channel.signal, s);
      const auto change = [&](double left) {
        return (left - arrival) / problem.discount() - bound;
      };
      next[s].include(round(Range{change(anywhere.low), change(anywhere.high)}));
    }
    here.swap(next);
  }
}

// Calls visit(value) for everything that a step of our own states may earn, or is a sum of, until
// it says no.
template <class Visit>
bool for_each_value(const Problem& problem, Channel channel, Workers& workers, Visit visit) {
  const Model& model = problem.model();
  bool more = true;
  for (State s = 0; more && lands_anywhere(problem) && s < model.states(); ++s)
    more = visit(model.arrival_value(channel.signal, s));
  for (Row row = 0; more && row < model.rows(); ++row) {
    workers.check();
    if (lands_anywhere(problem)) more = visit(model.value(channel.signal, row));
    for_each_result(model, channel, row,
                    [&](State, double earned) { more = more && visit(earned); });
  }
  return more;
}

// The different sizes of those values on all ranks, zero apart, the largest first; nothing when
// there are too many for a common step to make a small grid. The order does not depend on how the
// states are divided.
std::optional<std::vector<double>> sizes_of_values(const Problem& problem, Channel channel,
                                                   Workers& workers) {
  Communicator& ranks = workers.ranks();
  std::unordered_set<double> seen;
  double last = -1;
  const auto collect = [&](double value) {
    const double size = std::abs(value);
    if (size != last && size > 0) seen.insert(size);
    last = size;
    return seen.size() <= kMostSizes;
  };
  const bool few = for_each_value(problem, channel, workers, collect);
  if (!all_ranks(ranks, few)) return {};
  std::vector<double> all = all_gather_lists(ranks, std::vector<double>(seen.begin(), seen.end()));
  std::sort(all.begin(), all.end(), std::greater<>());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > kMostSizes) return {};
  return all;
}

// The widest stage; where nothing is undecided at any stage, a millionth of what a path may earn.
double widest(const std::vector<Range>& paths, const std::vector<Range>& reached, double bound) {
  double width = 0;
  for (std::size_t h = 0; h < paths.size(); ++h) {
    const double low = std::max(paths[h].low - bound, reached[h].low),
                 high = std::min(paths[h].high - bound, reached[h].high);
    const double earned = std::max(std::abs(paths[h].low), std::abs(paths[h].high));
    width = std::max({width, high - low, 1e-6 * earned});
  }
  return width;
}

// The common step of these values; 0 when there is none above `smallest`.
double common_step(const std::vector<double>& values, double smallest) {
  double step = 0;
  for (const double value : values) {
    double a = std::max(step, value), b = std::min(step, value);
    while (b > 1e-9 * a) {  // Euclid's algorithm; remainders that are rounding errors count as zero
      double rest = a - b * std::floor(a / b);
      if (rest > b * (1 - kCellNoise)) rest = 0;
      a = b;
      b = rest <= kCellNoise * a ? 0 : rest;
    }
    step = a;
    if (step > 0 && step < smallest) return 0;
  }
  return step;
}

void choose_step(BudgetAxis& axis, const Problem& problem, const BudgetGrid& grid, double width,
                 Workers& workers) {
  const Channel channel{axis.signal, axis.sign};
  axis.step = grid.step;
  if (grid.step <= 0) {
    const auto sizes = sizes_of_values(problem, channel, workers);
    if (sizes && axis.discount == 1) axis.step = common_step(*sizes, width / kMostLatticeCells);
    if (axis.step <= 0) axis.step = width / grid.cells;
    if (axis.step <= 0) axis.step = 1;
  }
  const bool whole = for_each_value(problem, channel, workers, [&](double value) {
    const double cells = value / axis.step;
    return std::abs(cells - std::round(cells)) <= kCellNoise;
  });
  axis.exact = axis.discount == 1 && all_ranks(workers.ranks(), whole);
}

}  // namespace

BudgetAxis budget_axis(const Problem& problem, int constraint, int stages, const BudgetGrid& grid,
                       Workers& workers) {
  const Channel channel = channel_of(problem, constraint);
  BudgetAxis axis;
  axis.constraint = constraint;
  axis.signal = channel.signal;
  axis.sign = channel.sign;
  axis.bound = channel.sign * problem.constraints()[constraint].bound;
  axis.discount = problem.discount();
  axis.rounding = grid.rounding;

  const std::vector<Range> paths = path_ranges(problem, channel, stages, workers);
  double width = 0;
  if (grid.step == 0) {
    const auto keep = [](const Range& range) { return range; };
    width = widest(paths, reached_ranges(problem, channel, axis.bound, stages, workers, keep),
                   axis.bound);
  }
  choose_step(axis, problem, grid, width, workers);
  const auto to_cells = [&](const Range& range) {
    const double low = range.low / axis.step, high = range.high / axis.step;
    const double bottom = axis.exact                      ? std::round(low)
                          : axis.rounding == Rounding::up ? std::ceil(low - kCellNoise)
                                                          : std::floor(low + kCellNoise);
    const double top = axis.exact ? std::round(high) : std::ceil(high - kCellNoise);
    return Range{bottom * axis.step, top * axis.step};
  };
  const std::vector<Range> reached =
      reached_ranges(problem, channel, axis.bound, stages, workers, to_cells);
  const bool loses = !axis.exact && axis.rounding == Rounding::up;
  double rounded = 0;  // cells that rounding up may still add
  axis.low.resize(stages + 1);
  axis.cells.resize(stages + 1);
  axis.slack.resize(stages + 1);
  for (int h = stages; h >= 0; --h) {
    axis.slack[h] = grid.slack * (stages - h);
    // Below, every policy meets the requirement, whatever rounding adds to it. One cell above the
    // best path stands for everything that is beyond reach.
    const double met = (paths[h].low - axis.bound) / axis.step - rounded;
    const double beyond = (paths[h].high - axis.bound + axis.slack[h]) / axis.step + 1;
    double low = std::max(met, reached[h].low / axis.step);
    double high = std::min(beyond, reached[h].high / axis.step);
    if (low > high) {  // nothing is undecided here: one cell
      if (met > high)
        low = high;
      else
        high = low;
    }
    const double first = std::floor(low + kCellNoise), last = std::ceil(high - kCellNoise);
    require(last - first < 1e9,
            "budget step {} makes {:.3g} cells at stage {}, must make fewer than 1e9", axis.step,
            last - first, h);
    axis.low[h] = static_cast<std::int64_t>(first);
    axis.cells[h] = static_cast<std::int32_t>(last - first) + 1;
    if (loses) rounded = problem.discount() * (rounded + 1);
  }
  return axis;
}

BudgetAxis chance_axis(const Problem& problem, int constraint, Workers& workers) {
  constexpr int kRoundedCells = 1000;
  require(!problem.infinite(),
          "the chance constraint on '{}' has an infinite horizon, must have a finite one",
          problem.constraints()[constraint].signal);
  return budget_axis(problem, constraint, problem.horizon(), {.cells = kRoundedCells}, workers);
}

}  // namespace redoubt::internal
