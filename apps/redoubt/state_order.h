#pragma once

#include <optional>

#include "json.h"
#include "problem_options.h"
#include "redoubt/execution.h"

namespace redoubt::app {

// In which order the work has the states in memory, and why. It is told on standard error when it
// is not the given one, and whenever somebody asked for it.
class StateOrder {
 public:
  StateOrder(const ProblemOptions& options, bool silent)
      : given_(options.order == "given"), asked_(options.order == "near"), silent_(silent) {}

  void ask(Execution& run);  // which must not outlive this
  void add_to(Json& object) const;

 private:
  void hear(const FarOutcomes& far);

  bool given_, asked_, silent_;
  std::optional<FarOutcomes> far_;
};

}  // namespace redoubt::app
