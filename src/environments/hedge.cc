#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

// x cannot reach the utility of one half on its own, y can do more than its share: the constraint
// holds only on average over the two.
Model two_branches(const Parameters&) {
  enum : State { start, x, y, end };
  enum : std::int32_t { a, b };
  ModelBuilder builder(4, {"utility"});
  builder.add(0, start, a, {0, {0}, {{x, 0.5}, {y, 0.5}}});
  builder.add(0, x, a, {0, {0.4}, {{end, 1}}});
  builder.add(0, x, b, {1, {0}, {{end, 1}}});
  builder.add(0, y, a, {0, {1}, {{end, 1}}});
  builder.add(0, y, b, {0.5, {0.5}, {{end, 1}}});
  builder.name_states({"start", "x", "y", "end"});
  builder.name_actions({"a", "b"});
  return builder.build();
}

}  // namespace

Environment hedge() {
  return {
      .name = "hedge",
      .description = "Two branches that meet the constraint together but not each on its own",
      .defaults = {.horizon = "2", .discount = "1", .start = "0", .bound = "0.5", .set = "none"},
      .sense = Sense::at_least,
      .model = two_branches};
}

}  // namespace redoubt::internal::builtin
