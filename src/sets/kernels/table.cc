#include "sets/kernels/block.h"
#include "sets/kernels/check.h"
#include "sets/kernels/kernels.h"
#include "sets/kernels/state_block.h"

namespace redoubt::internal::REDOUBT_TARGET {

const SetKernels set_kernels = {{nominal, nominal},
                                {tv, tv},
                                {chi2, chi2},
                                {kl, kl},
                                {tilt, tilt},
                                {interval, interval},
                                {state_tv, best_tv},
                                {state_chi2, best_chi2},
                                {state_kl, best_kl},
                                expected_values,
                                best_expected,
                                best_alike,
                                {lay_out, lay_out_values},
                                {are_below, are_finite, are_distributions, spread}};

}  // namespace redoubt::internal::REDOUBT_TARGET
