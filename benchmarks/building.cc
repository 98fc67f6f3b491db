#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {

void building(Table& table) {
  table.add({"Problem from 1,000,000 transitions by scipy's copy of them", 2, 1.5},
            [] { return run_python("building.py")["ratio"].get<double>(); });
}

}  // namespace redoubt::bench
