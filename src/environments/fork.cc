#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

// The example of the paper's Lemma 1. Whichever way the fork goes pays either reward or utility;
// at the end, `a` pays reward and `b` utility. Only a policy that remembers the way can have one of
// each for certain.
Model lemma_one(const Parameters&) {
  enum : State { start, earning, serving, end };
  enum : std::int32_t { a, b };
  ModelBuilder builder(4, {"utility"});
  builder.add(0, start, a, {0, {0}, {{earning, 0.5}, {serving, 0.5}}});
  builder.add(0, earning, a, {1, {0}, {{end, 1}}});
  builder.add(0, serving, a, {0, {1}, {{end, 1}}});
  builder.add(0, end, a, {1, {0}, {{end, 1}}});
  builder.add(0, end, b, {0, {1}, {{end, 1}}});
  builder.name_states({"s1", "s2", "s2'", "s3"});
  builder.name_actions({"a", "b"});
  return builder.build();
}

}  // namespace

Environment fork() {
  return {.name = "fork",
          .description = "Four states in which a policy must remember the way it came (Lemma 1)",
          .defaults = {.horizon = "3",
                       .discount = "1",
                       .start = "0",
                       .bound = "1",
                       .set = "tv",
                       .radius = "0.1",
                       .reach = "support"},
          .sense = Sense::at_least,
          .model = lemma_one};
}

}  // namespace redoubt::internal::builtin
