#pragma once

namespace redoubt::testing {

// Sanitizers keep memory of their own, and make work slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// How many times longer than in a release build work may take before a test calls it late.
inline constexpr double kPatience = kSanitized ? 30 : 1;

// Of many random cases, how many are tried: a sanitizer looks for another kind of mistake, which
// the first ones show as well as the rest.
constexpr int cases(int many) { return kSanitized ? many / 20 : many; }

}  // namespace redoubt::testing
