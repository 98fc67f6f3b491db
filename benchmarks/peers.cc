#include <fmt/format.h>

#include <string>

#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {
namespace {

double ask(const std::string& question) {
  const nlohmann::json answer = run_peers(question);
  if (answer.contains("not_here")) throw NotHere{answer["not_here"].get<std::string>()};
  return answer["ratio"].get<double>();
}

}  // namespace

// Ours by theirs, in processor time of one thread.
void peers(Table& table) {
  const auto add = [&](const std::string& name, double floor, double stretch,
                       const std::string& question) {
    table.add({"peers: " + name, floor, stretch}, [=] { return ask(question); });
  };
  for (const int states : {10'000, 100'000, 1'000'000})
    add(fmt::format("nominal sweep by Storm, {} states", states), 1.0, .6,
        fmt::format("sweep {}", states));
  for (const int states : {10'000, 100'000})
    add(fmt::format("interval sweep by Storm, {} states", states), .5, .2,
        fmt::format("interval {}", states));
  add("step-bounded query by Storm, slowest of 10 programs", 2, 1, "programs");
  for (const char* discount : {"0.95", "0.999"}) {
    add(fmt::format("nominal, discount {}, by Storm, 10000 states", discount), 1.0, .5,
        fmt::format("discounted {} 10000", discount));
    add(fmt::format("nominal, discount {}, by mdpsolver, 10000 states", discount), 1.5, .8,
        fmt::format("mdpsolver {} 10000", discount));
  }
  add("reading a packed UMB file by Storm, 100000 states", 1.0, .5, "gzip 100000");
}

}  // namespace redoubt::bench
