#include "numerics/tilted_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "sets/row.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::pick;
using testing::uniform;

// One outcome of one lane, and how its exponents move with both temperatures and the exchange.
struct Outcome {
  double probability, exponent[2], share[2];

  // The same after a small step, to first order as the header says.
  Outcome moved(const std::array<double, 3>& step) const {
    Outcome next = *this;
    for (int j = 0; j < 2; ++j) {
      const double sign = j == 0 ? -1 : 1;
      next.exponent[j] += exponent[j] * (1 - share[j]) * step[j] +
                          share[j] * (exponent[1 - j] * step[1 - j] + sign * step[2]);
    }
    return next;
  }
};
using Lane = std::vector<Outcome>;

struct Reference {
  long double log_sum = 0, divergence = 0;
  std::vector<long double> tilted;
};

Reference reference(const Lane& lane, int j) {
  Reference r;
  long double top = -1e300L, sum = 0;
  for (const Outcome& o : lane) top = std::max<long double>(top, o.exponent[j]);
  for (const Outcome& o : lane) {
    r.tilted.push_back(o.probability * std::exp(o.exponent[j] - top));
    sum += r.tilted.back();
  }
  r.log_sum = top + std::log(sum);
  for (std::size_t i = 0; i < lane.size(); ++i) {
    r.tilted[i] /= sum;
    if (r.tilted[i] > 0) r.divergence += r.tilted[i] * std::log(r.tilted[i] / lane[i].probability);
  }
  return r;
}

Lane random_lane(std::mt19937_64& random, const std::vector<double>& probability) {
  const double spread = std::pow(10.0, uniform(random, -3, 2));
  Lane lane;
  for (const double p : probability) {
    Outcome o{p, {spread * uniform(random, -1, 1), spread * uniform(random, -1, 1)}, {0, 0}};
    if (pick(random, 3) > 0) o.share[1] = uniform(random), o.share[0] = 1 - o.share[1];
    lane.push_back(o);
  }
  return lane;
}

struct Result {
  std::vector<double> moments[2], tilted[2];
  double moment(int j, int which, int lane, int stride) const {
    return moments[j][which * stride + lane];
  }
};

Result run(TiltFunction function, const std::vector<Lane>& lanes) {
  const int places = static_cast<int>(lanes[0].size());
  const int count = static_cast<int>(lanes.size()), stride = padded_lanes(count);
  std::vector<double> probability, exponent[2], share[2];
  Result result;
  TiltMoments moments[2];
  for (int i = 0; i < places; ++i) probability.push_back(lanes[0][i].probability);
  for (int j = 0; j < 2; ++j) {
    exponent[j].assign(places * stride, 0.0);
    share[j].assign(places * stride, 0.0);
    for (int i = 0; i < places; ++i) {
      for (int n = 0; n < count; ++n) {
        exponent[j][i * stride + n] = lanes[n][i].exponent[j];
        share[j][i * stride + n] = lanes[n][i].share[j];
      }
    }
    result.moments[j].resize(8 * stride);
    result.tilted[j].resize(places * stride);
    const auto part = [&](int which) { return result.moments[j].data() + which * stride; };
    moments[j] = {part(0),
                  part(1),
                  {part(2), part(3), part(4)},
                  {part(5), part(6), part(7)},
                  result.tilted[j].data()};
  }
  function({places,
            count,
            stride,
            probability.data(),
            {exponent[0].data(), exponent[1].data()},
            {share[0].data(), share[1].data()}},
           moments);
  return result;
}

void check(InstructionSet instructions) {
  std::mt19937_64 random(7);
  for (int instance = 0; instance < 500; ++instance) {
    std::vector<double> probability(1 + pick(random, 12));
    double all = 0;
    for (double& p : probability) all += p = uniform(random, 0.01, 1);
    for (double& p : probability) p /= all;
    std::vector<Lane> lanes(1 + pick(random, 20));
    for (Lane& lane : lanes) lane = random_lane(random, probability);
    const int stride = padded_lanes(static_cast<int>(lanes.size()));
    const Result result = run(tilt_function(instructions), lanes);
    for (int n = 0; n < static_cast<int>(lanes.size()); ++n) {
      for (int j = 0; j < 2; ++j) {
        const Reference expected = reference(lanes[n], j);
        const auto scale = static_cast<double>(1 + std::abs(expected.log_sum));
        EXPECT_NEAR(result.moment(j, 0, n, stride), expected.log_sum, 1e-13 * scale);
        EXPECT_NEAR(result.moment(j, 1, n, stride), expected.divergence, 1e-12 * scale);
        for (std::size_t i = 0; i < probability.size(); ++i)
          EXPECT_NEAR(result.tilted[j][i * stride + n], expected.tilted[i], 1e-12);
        for (int by = 0; by < 3; ++by) {  // after the own temperature, the other's, the exchange
          const double h = 1e-5;
          std::array<double, 3> step{};
          step[by == 0 ? j : by == 1 ? 1 - j : 2] = h;
          Lane up, down;
          for (const Outcome& o : lanes[n]) up.push_back(o.moved(step));
          for (double& part : step) part = -part;
          for (const Outcome& o : lanes[n]) down.push_back(o.moved(step));
          const Reference high = reference(up, j), low = reference(down, j);
          const double accuracy = 1e-6 * scale * scale * scale;  // of the differences
          EXPECT_NEAR(result.moment(j, 2 + by, n, stride), (high.log_sum - low.log_sum) / (2 * h),
                      accuracy);
          EXPECT_NEAR(result.moment(j, 5 + by, n, stride),
                      (high.divergence - low.divergence) / (2 * h), accuracy);
        }
      }
    }
  }
}

TEST(TiltedRows, AgreeWithLongDoubleAndWithDifferences) {
  for (const InstructionSet instructions : instruction_sets()) check(instructions);
}
}  // namespace
}  // namespace redoubt
