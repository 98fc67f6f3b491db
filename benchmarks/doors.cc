#include <array>
#include <chrono>
#include <filesystem>

#include "redoubt/explore.h"
#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {
namespace {

// Two queues of up to 999 customers: a million states.
struct TwoQueues {
  using State = std::array<std::int32_t, 2>;
  static constexpr std::int32_t side = 1000;

  State initial() const { return {0, 0}; }
  std::size_t hash(const State& s) const {
    return static_cast<std::size_t>(s[0]) * side + static_cast<std::size_t>(s[1]);
  }
  std::array<int, 2> actions(const State&) const { return {0, 1}; }
  void step(const State& s, int action, auto&& outcome) const {
    State served = s;
    served[action] = std::max(served[action] - 1, 0);
    outcome(0.5, served, 1.0);
    for (const int queue : {0, 1}) {
      State next = s;
      next[queue] = std::min(next[queue] + 1, side - 1);
      outcome(queue == 0 ? 0.3 : 0.2, next);
    }
  }
};

std::string lacks_stormpy() {
  const auto packages = std::filesystem::path(REDOUBT_SOURCE_DIR) / ".venv/lib";
  for (const auto& python : std::filesystem::directory_iterator(packages)) {
    if (std::filesystem::exists(python.path() / "site-packages/stormpy")) return "";
  }
  return "needs stormpy";
}

}  // namespace

void doors(Table& table) {
  for (const bool packed : {false, true})
    table.add(
        {packed ? "loading a packed UMB of 1,000,000 states by Storm's time"
                : "loading a UMB of 1,000,000 states by Storm's time",
         packed ? 1.0 : 0.6, packed ? 0.7 : 0.4, Better::lower, lacks_stormpy()},
        [=] { return run_python("doors.py", packed ? "gzip" : "plain")["ratio"].get<double>(); });
  for (const std::string model : {"consensus", "consensus_steps", "board_reached", "board_steps",
                                  "back_reached", "back_steps", "intervals"})
    table.add({"solving without a horizon by Storm's time, " + model, 3, 1, Better::lower,
               lacks_stormpy()},
              [&] { return run_python("reachability.py", model)["ratio"].get<double>(); });
  table.add({"seconds to explore 1,000,000 states of Python code", 60, 15},
            [] { return run_python("doors.py", "explore")["seconds"].get<double>(); });
  table.add({"seconds to explore 1,000,000 states of C++ code", 3, 1}, [] {
    const auto begin = std::chrono::steady_clock::now();
    const auto found = explore(TwoQueues{});
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return found.model.states() == 1'000'000 ? spent.count() : 1e9;
  });
}

}  // namespace redoubt::bench
