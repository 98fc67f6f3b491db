#pragma once

#include "redoubt/solve.h"

namespace redoubt::testing {

// The values of the k-step problem at the start are those of the literal algorithm, the reported
// numbers those of the returned policy, and the slow verification agrees.
void expect_literal_rcvi(const Problem& problem, const RcviOptions& options);

}  // namespace redoubt::testing
