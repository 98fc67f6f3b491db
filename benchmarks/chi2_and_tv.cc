#include <fmt/format.h>

#include "rows.h"
#include "topics.h"

namespace redoubt::bench {

namespace {

double over_expectation(const Uncertainty& set, double radius) {
  Rows rows(20, radius);
  return ratio(rows.backup(set), rows.backup(Nominal{}));
}

}  // namespace

void chi2_and_tv(Table& table) {
  // An expectation is one instruction for each successor value, and without blends and masks
  // everything else is several: the baseline is further from it.
  table.add({"chi2 / expectation, 20 successors, radius 0.05", by_set(7, 6, 6), 3.5},
            [] { return over_expectation(Chi2{}, .05); });
  table.add({"chi2 / expectation, 20 successors, radius 0.5", by_set(35, 25, 25), 10},
            [] { return over_expectation(Chi2{}, .5); });
  table.add({"tv / expectation, 20 successors, radius 0.05", by_set(20, 9, 9), 5},
            [] { return over_expectation(TV{}, .05); });
  for (const double radius : {.05, .5})
    table.add({fmt::format("tv, times faster than std::sort, 20 successors, radius {}", radius),
               by_set(2.5, 7, 8), 20, Better::higher},
              [=] {
                Rows rows(20, radius);
                return ratio(rows.sort_backup(), rows.backup(TV{}));
              });
}

}  // namespace redoubt::bench
