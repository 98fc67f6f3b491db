// A continuous system on a grid, beside numpy's intervals for the same cells and actions.
#include <fmt/format.h>

#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {

void abstraction(Table& table) {
  const auto add = [&](const char* what, const char* seconds, double floor, double stretch) {
    table.add({fmt::format("numpy's intervals by {}: a robot, 40,000 cells x 10 actions", what),
               floor, stretch, Better::higher},
              [=] {
                const auto found = run_python("abstraction.py");
                return found["numpy"].get<double>() / found[seconds].get<double>();
              });
  };
  add("abstraction", "abstraction", 20, 40);
  add("a sweep over its rows", "sweep", 10, 20);
}

}  // namespace redoubt::bench
