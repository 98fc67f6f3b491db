#include "support/rcvi_windows.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/set_traits.h"

namespace redoubt::testing {
namespace {

using Real = long double;

constexpr Real kNoise = 1e-7L;  // of a cell

struct Result {  // of taking an action
  State next;
  Real earned;
};

class Windows {
 public:
  Windows(const Problem& problem, int constraint, const RcviOptions& options)
      : problem_(problem),
        options_(options),
        sign_(problem.constraints()[constraint].sense == Sense::at_most ? -1 : 1),
        signal_(problem.signal_of(constraint)),
        bound_(sign_ * Real{problem.constraints()[constraint].bound}),
        least_(extremes(1)),
        most_(extremes(-1)) {}

  std::vector<CellWindow> all() const {
    const int stages = problem_.horizon();
    std::vector<CellWindow> windows(stages + 1);
    std::vector<std::set<std::int64_t>> cells(states());
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i)
      if (problem_.start().probability[i] > 0) cells[problem_.start().states[i]].insert(0);
    for (int h = 0; h <= stages; ++h) {
      std::set<std::int64_t> reached = {0};
      for (const auto& here : cells) reached.insert(here.begin(), here.end());
      windows[h] =
          window(h, static_cast<Real>(*reached.begin()), static_cast<Real>(*reached.rbegin()));
      if (h < stages) cells = after(h, cells);
    }
    return windows;
  }

 private:
  State states() const { return problem_.model().states(); }

  std::vector<Result> results(Row row) const {
    const Model& model = problem_.model();
    const Real own = sign_ * Real{model.value(signal_, row)};
    std::vector<Result> list;
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      list.push_back({model.arrays().next[i], own + sign_ * model.outcome_value(signal_, i)});
    const bool anywhere = internal::lands_anywhere(problem_.uncertainty());
    for (State s = 0; anywhere && s < states(); ++s)
      list.push_back({s, own + sign_ * model.arrival_value(signal_, s)});
    return list;
  }

  // The least (sign 1) or largest (sign -1) total of a path from each state of each stage.
  std::vector<std::vector<Real>> extremes(int sign) const {
    const Model& model = problem_.model();
    std::vector<std::vector<Real>> best(problem_.horizon() + 1, std::vector<Real>(states(), 0));
    for (int h = problem_.horizon(); h-- > 0;)
      for (State s = 0; s < states(); ++s) {
        std::vector<Real> totals;
        for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row)
          for (const Result& r : results(row))
            totals.push_back(sign * (r.earned + problem_.discount() * best[h + 1][r.next]));
        if (!totals.empty()) best[h][s] = sign * *std::min_element(totals.begin(), totals.end());
      }
    return best;
  }

  std::vector<std::set<std::int64_t>> after(
      int h, const std::vector<std::set<std::int64_t>>& cells) const {
    const Model& model = problem_.model();
    std::vector<std::set<std::int64_t>> next(states());
    for (State s = 0; s < states(); ++s)
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row)
        for (const Result& r : results(row))
          for (const auto k : cells[s]) {
            const Real required =
                (bound_ + static_cast<Real>(k) * options_.budget_step - r.earned) /
                problem_.discount();
            const Real place = (required - bound_) / options_.budget_step;
            next[r.next].insert(std::llround(std::ceil(place - kNoise)));
            if (options_.rounding == Rounding::mixed)
              next[r.next].insert(std::llround(std::floor(place + kNoise)));
          }
    return next;
  }

  bool exact() const {
    bool multiples = problem_.discount() == 1;
    for (Row row = 0; row < problem_.model().rows(); ++row)
      for (const Result& r : results(row)) {
        const Real cells = r.earned / options_.budget_step;
        multiples = multiples && std::abs(cells - std::round(cells)) <= kNoise;
      }
    return multiples;
  }

  CellWindow window(int h, Real lowest, Real highest) const {
    const Real least = *std::min_element(least_[h].begin(), least_[h].end());
    const Real most = *std::max_element(most_[h].begin(), most_[h].end());
    Real rounded = 0;  // cells that rounding up may still add
    for (int left = problem_.horizon() - h;
         left > 0 && options_.rounding == Rounding::up && !exact(); --left)
      rounded = problem_.discount() * (rounded + 1);
    const Real slack = Real{options_.slack} * (problem_.horizon() - h);
    const Real met = (least - bound_) / options_.budget_step - rounded;
    const Real beyond = (most - bound_ + slack) / options_.budget_step + 1;
    Real low = std::max(met, lowest), high = std::min(beyond, highest);
    if (low > high) (met > high ? low : high) = met > high ? high : low;
    return {std::llround(std::floor(low + kNoise)), std::llround(std::ceil(high - kNoise))};
  }

  const Problem& problem_;
  const RcviOptions& options_;
  int sign_, signal_;
  Real bound_;
  std::vector<std::vector<Real>> least_, most_;  // total of a path, by stage and state
};

}  // namespace

std::vector<CellWindow> rcvi_windows(const Problem& problem, int constraint,
                                     const RcviOptions& options) {
  return Windows(problem, constraint, options).all();
}

}  // namespace redoubt::testing
