#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {

void building(Table& table) {
  const auto ratio = [](const char* successors) {
    return run_python("building.py", successors)["ratio"].get<double>();
  };
  table.add({"Problem from 1,000,000 transitions by scipy's copy of them, 20 a row", 2, 1.5},
            [=] { return ratio("20"); });
  table.add({"Problem from 1,000,000 transitions by scipy's copy of them, 10 a row", 2, 1.5},
            [=] { return ratio("10"); });
}

}  // namespace redoubt::bench
