#include "numerics/kernels/kernels.h"

namespace redoubt::internal::REDOUBT_TARGET {

extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
extern const CurveFunctions curve_functions;
LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor);
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);

const NumericKernels numeric_kernels = {&vector_functions, &mix_functions, &curve_functions,
                                        largest_sum, tilt_rows};

}  // namespace redoubt::internal::REDOUBT_TARGET
