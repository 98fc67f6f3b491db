#include "numerics/kernels/kernels.h"
#include "numerics/vector_math.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

template <class Function>
[[gnu::always_inline]] inline void map(const double* x, double* y, int count, Function f) {
  for (int i = 0; i < count; i += kLanes) store(y + i, f(load(x + i)));
}

void exp_of(const double* x, double* y, int count) {
  map(
      x, y, count, [](Lanes a) __attribute__((always_inline)) { return exp(a); });
}
void expm1_of(const double* x, double* y, int count) {
  map(
      x, y, count, [](Lanes a) __attribute__((always_inline)) { return expm1(a); });
}
void log_of(const double* x, double* y, int count) {
  map(
      x, y, count, [](Lanes a) __attribute__((always_inline)) { return log(a); });
}
void log1p_of(const double* x, double* y, int count) {
  map(
      x, y, count, [](Lanes a) __attribute__((always_inline)) { return log1p(a); });
}

}  // namespace

extern const VectorFunctions vector_functions = {exp_of, expm1_of, log_of, log1p_of};

}  // namespace redoubt::internal::REDOUBT_TARGET
