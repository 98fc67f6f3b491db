#pragma once

#include "numerics/best_mix.h"
#include "numerics/curves.h"
#include "numerics/largest_sum.h"
#include "numerics/tilted_rows.h"
#include "numerics/vector_functions.h"

// The lane kernels of this folder, once for each instruction set.
namespace redoubt::internal {

namespace baseline {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
extern const CurveFunctions curve_functions;
LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor);
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);
}  // namespace baseline
namespace avx2 {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
extern const CurveFunctions curve_functions;
LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor);
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);
}  // namespace avx2
namespace avx512 {
extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
extern const CurveFunctions curve_functions;
LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor);
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);
}  // namespace avx512

}  // namespace redoubt::internal
