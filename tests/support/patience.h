#pragma once

namespace redoubt::testing {

// How many times longer than in a release build work may take before a test calls it late.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kPatience = 30;
#else
inline constexpr double kPatience = 1;
#endif

}  // namespace redoubt::testing
