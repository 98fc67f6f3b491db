#include <fmt/format.h>

#include <string>

#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {

void building(Table& table) {
  // On two threads, which scipy's copy does not have.
  const auto add = [&](int successors, const std::string& form, double floor, double stretch) {
    table.add(
        {fmt::format("Problem from 10,000,000 transitions by scipy's copy of them, {} a row{}",
                     successors, form == "sorted" ? "" : ", " + form),
         floor, stretch, Better::lower, lacks_two_cores()},
        [=] {
          const auto arguments = fmt::format("{} {}", successors, form);
          return run_python("building.py", arguments)["ratio"].get<double>();
        });
  };
  add(20, "sorted", 2, 1.5);
  add(10, "sorted", 2, 1.5);
  // Short rows: a model keeps 28 bytes for each row beside the 12 of a transition, which scipy does
  // not have. Moving them alone takes 1.4 and 2.2 times as long as scipy's copy.
  add(5, "sorted", 2, 1.5);
  add(2, "sorted", 3, 2);
  add(10, "shuffled", 15, 8);
}

}  // namespace redoubt::bench
