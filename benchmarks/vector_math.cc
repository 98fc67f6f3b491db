#include <benchmark/benchmark.h>

#include <array>
#include <cmath>

#include "numerics/kernels.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

void vector_math(Table& table) {
  table.add({"vector exp, times faster than std::exp", by_set(1.8, 5, 5), by_set(2.5, 6.5, 6.5),
             Better::higher},
            [] {
              alignas(64) static std::array<double, 512> x, y;
              for (std::size_t i = 0; i < x.size(); ++i) x[i] = -30.0 * i / x.size();
              const auto exp = vector_functions(best_instruction_set()).exp;
              return ratio(
                  [] {
                    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i]);
                    benchmark::ClobberMemory();
                  },
                  [exp] {
                    exp(x.data(), y.data(), x.size());
                    benchmark::ClobberMemory();
                  });
            });
}

}  // namespace redoubt::bench
