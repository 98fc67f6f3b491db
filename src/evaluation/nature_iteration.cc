#include "evaluation/nature_iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace redoubt::internal {
namespace {

// Nature's policy iteration takes a few rounds. Whatever happens in it, plain sweeps converge.
constexpr int kMostRounds = 200;

// Until a sweep spreads the changes of the values of each channel no more than `enough`, or than a
// twentieth of what the first one did. Each leaves at most `discount` of the spread. False when
// values have become what is not a number.
bool sweep_kept(const NatureSweeps& sweeps, std::int64_t most, std::span<const double> enough,
                Workers& workers) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  std::vector<double> first(enough.size());
  for (std::int64_t n = 0; n < most; ++n) {
    workers.check_together();
    if (sweeps.solve && sweeps.solve(n)) return true;
    const std::vector<Residual> residuals = sweeps.kept();
    bool settled = true;
    for (std::size_t c = 0; c < residuals.size(); ++c) {
      const Residual& found = residuals[c];
      if (!found.numbers) return false;
      const double spread = found.high - found.low;
      const double size = std::max(std::abs(found.least), std::abs(found.most));
      if (n == 0) first[c] = spread;
      settled &= spread <= std::max({enough[c], kShareOfFixed * first[c], kRounding * size});
    }
    if (settled) return true;
  }
  return true;
}

}  // namespace

bool as_narrow_as_rounding(double discount, double width, double last, double scale) {
  // What an error of every sweep adds up to. Rounding is there in any case; what a worst case of kl
  // is proved to have at most, it rarely has.
  const double per_error = 2 * scale * discount / (1 - discount);
  constexpr double kRounding = 4e-15, kProved = 1e-12;
  return width <= kRounding * per_error || (width <= kProved * per_error && width > last / 2);
}

std::int64_t sweeps_to_share(double discount) {
  return 1 + static_cast<std::int64_t>(std::log(kShareOfFixed) / std::log(discount));
}

std::vector<Bracket> iterate_nature(const NatureSweeps& sweeps, double discount, const Width& width,
                                    Workers& workers) {
  const std::int64_t most = sweeps_to_share(discount);
  // Of a bracket's width, what sweeps with kept answers may leave.
  const double share = 0.25 * (1 - discount) / discount;
  std::vector<double> last, nearest, enough;
  bool keeps = true;
  for (int round = 0;; ++round) {
    workers.check_together();
    keeps &= round < kMostRounds;
    const std::vector<Residual> residuals = sweeps.robust(keeps);
    last.resize(residuals.size(), Residual::kNone);
    nearest.resize(residuals.size());
    enough.resize(residuals.size());
    std::vector<Bracket> brackets;
    bool settled = true;
    for (std::size_t c = 0; c < residuals.size(); ++c) {
      const Bracket& found = brackets.emplace_back(bracket(residuals[c], discount));
      const double size = scale(residuals[c], found);
      const double wanted = width(static_cast<int>(c), size);
      enough[c] = share * wanted;
      settled &=
          found.width() <= wanted || as_narrow_as_rounding(discount, found.width(), last[c], size);
      last[c] = found.width();
      nearest[c] = std::clamp(0.0, found.low, found.high);  // all values are that far off, or more
    }
    const bool numbers = std::all_of(residuals.begin(), residuals.end(),
                                     [](const Residual& found) { return found.numbers; });
    if (settled || !(numbers || keeps)) return brackets;
    if (!keeps) continue;
    if (numbers) {
      sweeps.shift(nearest);
      if (sweep_kept(sweeps, most, enough, workers)) continue;
    }
    sweeps.reset();
    keeps = false;
  }
}

}  // namespace redoubt::internal
