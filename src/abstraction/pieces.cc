#include "abstraction/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace redoubt::internal {
namespace {

// How far from zero noise is looked at, in standard deviations: what is beyond has less than
// rounding in the probabilities of the others.
constexpr double kFarthest = 9;

// A piece of noise that another axis follows is at most this wide, in its scale: the other axis
// then knows little less than it could.
constexpr double kWidest = 0.5;

// The probability that the noise is at most x.
double at_most(const AxisNoise& noise, double x) {
  if (noise.law == AxisNoise::Law::gaussian)
    return 0.5 * std::erfc(-x / (noise.scale * std::numbers::sqrt2));
  return std::clamp((x + noise.scale) / (2 * noise.scale), 0.0, 1.0);
}

// The probability between two points, from the side on which it is small: no digits are lost.
double between(const AxisNoise& noise, double from, double to) {
  if (from > 0) return at_most(noise, -from) - at_most(noise, -to);  // both laws are symmetric
  return at_most(noise, to) - at_most(noise, from);
}

// Between two points at which an end of the box crosses a line, it touches the same cells.
void cut_at_lines(const std::vector<double>& lines, const AxisNoise& noise, double low, double high,
                  std::vector<NoisePiece>& pieces) {
  const double most = farthest(noise), never = std::numeric_limits<double>::infinity();
  const auto crossed = [&](double end) {  // how many lines it is on or above
    return static_cast<std::int32_t>(std::upper_bound(lines.begin(), lines.end(), end) -
                                     lines.begin());
  };
  pieces.clear();
  if (noise.law == AxisNoise::Law::none)
    return pieces.push_back({0, 0, 1.0, crossed(low), crossed(high)});
  double from = -most;
  auto first = crossed(low + from), last = crossed(high + from);
  const auto count = static_cast<std::int32_t>(lines.size());
  while (from < most) {
    const double low_crosses = first < count ? lines[first] - low : never;
    const double high_crosses = last < count ? lines[last] - high : never;
    const double to = std::clamp(std::min(low_crosses, high_crosses), from, most);
    const double probability = between(noise, from, to);
    if (probability > 0) pieces.push_back({from, to, probability, first, last});
    if (low_crosses <= to) ++first;
    if (high_crosses <= to) ++last;
    from = to;
  }
}

// The pieces of an end are one as long as they have less than this together: it may touch the cells
// of all of them.
void join_ends(double least, std::vector<NoisePiece>& pieces) {
  const auto join = [](NoisePiece& into, const NoisePiece& other) {
    into.probability += other.probability;
    into.first = std::min(into.first, other.first);
    into.last = std::max(into.last, other.last);
    into.begin = std::min(into.begin, other.begin);
    into.end = std::max(into.end, other.end);
  };
  std::size_t begin = 0, end = pieces.size();
  const auto rare = [&](std::size_t i) {
    return end - begin > 1 && pieces[i].probability + pieces[i + 1].probability < least;
  };
  for (; rare(begin); ++begin) join(pieces[begin + 1], pieces[begin]);
  for (; rare(end - 2); --end) join(pieces[end - 2], pieces[end - 1]);
  pieces.resize(end);
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

double farthest(const AxisNoise& noise) {
  return noise.law == AxisNoise::Law::gaussian ? kFarthest * noise.scale : noise.scale;
}

void cut_noise(const std::vector<double>& lines, const AxisNoise& noise, double low, double high,
               double least, std::vector<NoisePiece>& pieces) {
  cut_at_lines(lines, noise, low, high, pieces);
  join_ends(least, pieces);
}

void cut_wide_pieces(const AxisNoise& noise, double least, std::vector<NoisePiece>& pieces) {
  if (noise.law == AxisNoise::Law::none) return;
  std::vector<NoisePiece> narrow;
  for (const NoisePiece& piece : pieces) {
    const double width = piece.end - piece.begin;
    const bool rare = piece.probability < 2 * least;
    const int parts = rare ? 1 : std::max(static_cast<int>(width / (kWidest * noise.scale)) + 1, 1);
    for (int i = 0; i < parts; ++i) {
      NoisePiece part = piece;
      if (i > 0) part.begin = piece.begin + width * i / parts;
      if (i + 1 < parts) part.end = piece.begin + width * (i + 1) / parts;
      if (parts > 1) part.probability = between(noise, part.begin, part.end);
      if (part.probability > 0) narrow.push_back(part);
    }
  }
  pieces = std::move(narrow);
}

}  // namespace redoubt::internal
