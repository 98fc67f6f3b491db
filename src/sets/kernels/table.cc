#include "sets/kernels/block.h"
#include "sets/kernels/kernels.h"

namespace redoubt::REDOUBT_TARGET {

const SetKernels set_kernels = {nominal, tv, chi2, kl, tilt, interval};

}  // namespace redoubt::REDOUBT_TARGET
