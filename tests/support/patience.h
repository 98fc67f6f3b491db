#pragma once

namespace redoubt::testing {

// Sanitizers keep memory of their own, and make work slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How many times longer than in a release build work may take before a test calls it late.
inline constexpr double kPatience = kSanitized ? 30 : 1;

}  // namespace redoubt::testing
