#include "state_order.h"

#include <fmt/format.h>

#include "processes.h"

namespace redoubt::app {

void StateOrder::ask(Execution& run) {
  run.order = given_ ? Order::given : Order::near;
  run.ordered = [this](const FarOutcomes& far) { hear(far); };
}

void StateOrder::hear(const FarOutcomes& far) {
  far_ = far;
  const bool near = far.taken == Order::near;
  if (silent_ || processes().rank() > 0 || !(near || asked_)) return;
  fmt::print(stderr,
             "{}: {:.0f} % of next states are far away in the given order, {:.0f} % in {}\n",
             near ? "States are renumbered for this work" : "The given order of states is kept",
             100 * far.given, 100 * far.near, near ? "the new one" : "another");
}

void StateOrder::add_to(Json& object) const {
  if (!far_) return;
  object["far"] = {{"given", far_->given},
                   {"near", far_->near},
                   {"order", far_->taken == Order::near ? "near" : "given"}};
}

}  // namespace redoubt::app
