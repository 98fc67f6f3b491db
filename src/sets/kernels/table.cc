#include "sets/kernels/block.h"
#include "sets/kernels/kernels.h"

namespace redoubt::internal::REDOUBT_TARGET {

const SetKernels set_kernels = {{nominal, nominal}, {tv, tv},     {chi2, chi2},
                                {kl, kl},           {tilt, tilt}, {interval, interval},
                                expected_values};

}  // namespace redoubt::internal::REDOUBT_TARGET
