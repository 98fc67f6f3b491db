#include "numerics/kernels/kernels.h"

namespace redoubt::internal::REDOUBT_TARGET {

extern const VectorFunctions vector_functions;
extern const MixFunctions mix_functions;
extern const CurveFunctions curve_functions;
void answer_levels(const LevelLanes& to);
void weigh_levels(const LevelRows& rows, const LevelMoments& to);
void weigh_ball(const LevelRows& rows, const LevelMoments& to);
LargestSum largest_sum(const double* vectors, std::int64_t blocks, int coordinates,
                       const double* factor);
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);

const LevelFunctions level_functions{answer_levels, weigh_levels, weigh_ball};

const NumericKernels numeric_kernels = {&vector_functions, &mix_functions, &curve_functions,
                                        &level_functions,  largest_sum,    tilt_rows};

}  // namespace redoubt::internal::REDOUBT_TARGET
