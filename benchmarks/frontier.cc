#include "redoubt/frontier.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "redoubt/environments.h"
#include "redoubt/solve.h"
#include "topics.h"

namespace redoubt::bench {
namespace {

// Processor time, because a solve takes seconds and other programs come and go meanwhile.
double processor_seconds(const std::function<void()>& body) {
  const std::clock_t begin = std::clock();
  body();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

Problem garnet(int states, int horizon, const char* discount = ".9") {
  return make("garnet(actions=5,successors=10,seed=1,discount=" + std::string(discount) +
              ",states=" + std::to_string(states) + ",horizon=" + std::to_string(horizon) + ")");
}

// The least of several times: short runs are the ones that other programs disturb most.
double least_seconds(int times, const std::function<void()>& body) {
  double least = processor_seconds(body);
  while (--times > 0) least = std::min(least, processor_seconds(body));
  return least;
}

// Processor time of the exact solver by that of RCVI with 64 budgets.
double by_rcvi(const Problem& problem) {
  const double exact = least_seconds(3, [&] { redoubt::frontier(problem); });
  return exact / least_seconds(15, [&] { rcvi(problem, {.budget_cells = 63}); });
}

// By which power the time of one pass grows when its size doubles three times. The first pass looks
// at the same directions everywhere, so it shows the cost of the method, not of the instance. (Over
// more than 20 stages there are more of them, by the root of the stages.)
double growth(const std::function<Problem(int)>& problem) {
  const auto seconds = [&](int size) {
    const Problem sized = problem(size);
    return processor_seconds([&] { redoubt::frontier(sized, {.tolerance = .9}); });
  };
  return std::log2(seconds(8) / seconds(1)) / 3;
}

}  // namespace

void frontier(Table& table) {
  table.add({"frontier to 1e-3 by rcvi with 64 budgets, garnet 100x5x10, discount .9", 25, 8},
            [] { return by_rcvi(garnet(100, 50)); });
  table.add({"the same without discount", 25, 8}, [] { return by_rcvi(garnet(100, 50, "1")); });
  table.add({"frontier, growth exponent in states", 1.1, 1.0},
            [] { return growth([](int size) { return garnet(25 * size, 10); }); });
  table.add({"frontier, growth exponent in stages", 1.1, 1.0},
            [] { return growth([](int size) { return garnet(25, 10 * size); }); });
}

}  // namespace redoubt::bench
