#include <fmt/format.h>

#include <array>

#include "numerics/kernels.h"
#include "rows.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

namespace {

// Seconds of one vector exp, and of the exact backup per successor value.
double exponentials_per_successor(int outcomes, double radius) {
  alignas(64) static std::array<double, 512> x, y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -30.0 * i / x.size();
  const auto exp = vector_functions(best_instruction_set()).exp;
  Rows rows(outcomes, radius);
  const auto time = seconds({[&] {
                               for (int repeat = 0; repeat < 20; ++repeat)
                                 exp(x.data(), y.data(), x.size());
                             },
                             rows.backup(KL{})});
  return (time[1] / rows.values()) / (time[0] / (20.0 * x.size()));
}

double evaluations_per_block(int outcomes, double radius) {
  Rows rows(outcomes, radius);
  rows.backup(KL{})();
  return static_cast<double>(rows.work().evaluations) / rows.work().blocks;
}

}  // namespace

void kl(Table& table) {
  struct Case {
    int outcomes;
    double radius, floor, stretch;
  };
  for (const auto& [outcomes, radius, floor, stretch] :
       {Case{20, .05, 3.5, 2}, Case{10, .05, 4, 2.5}, Case{10, .5, 7, 3.5}})
    table.add(
        {fmt::format("kl / tilt, {} successors, radius {}", outcomes, radius), floor, stretch},
        [=] {
          Rows exact(outcomes, radius), fixed(outcomes, 1.0);
          return ratio(exact.backup(KL{}), fixed.backup(Tilt{}));
        });
  table.add({"kl in vector exps per successor, 20 successors, radius 0.05", 4.5, 2.5},
            [] { return exponentials_per_successor(20, .05); });
  for (const int outcomes : {10, 20})
    table.add(
        {fmt::format("kl evaluations per block, {} successors, radius 0.05", outcomes), 1.1, 1},
        [=] { return evaluations_per_block(outcomes, .05); });
}

}  // namespace redoubt::bench
