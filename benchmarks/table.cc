#include "table.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

#include "numerics/isa.h"

namespace redoubt::bench {
using namespace internal;

namespace {

bool reaches(const Bar& bar, double value, double goal) {
  return bar.better == Better::lower ? value <= goal : value >= goal;
}

}  // namespace

double by_set(double baseline, double avx2, double avx512) {
  switch (best_instruction_set()) {
    case InstructionSet::baseline:
      return baseline;
    case InstructionSet::avx2:
      return avx2;
    case InstructionSet::avx512:
      return avx512;
  }
  return baseline;
}

std::string lacks_two_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  return known && CPU_COUNT(&cores) < 2 ? "this process has one core" : "";
}

bool Line::holds() const { return !bar.not_here.empty() || reaches(bar, value, bar.floor); }
bool Line::stretches() const { return bar.not_here.empty() && reaches(bar, value, bar.stretch); }

void Table::add(const Bar& bar, const std::function<double()>& measure) {
  if (bar.name.find(filter_) == std::string::npos) return;
  if (lines_.empty()) fmt::print("{:<58} {:>10} {:>10} {:>10}\n", "", "value", "floor", "stretch");
  if (!bar.not_here.empty()) {
    fmt::print("{:<58} {:>10}  {}\n", bar.name, "not here:", bar.not_here);
    lines_.push_back({bar, std::numeric_limits<double>::quiet_NaN()});
    return;
  }
  Line line{bar, 0};
  try {
    line.value = measure();
  } catch (const NotHere& not_here) {
    Bar told = bar;
    told.not_here = not_here.reason;
    return add(told, measure);
  }
  // A busy machine can spoil a line; a line that is too slow stays so.
  for (int again = 0; again < 2 && !line.holds(); ++again) {
    const double value = measure();
    if (reaches(bar, value, line.value)) line.value = value;
  }
  const std::string_view sign = bar.better == Better::lower ? "<=" : ">=";
  const std::string_view verdict = line.stretches() ? "stretch" : line.holds() ? "holds" : "FAILS";
  fmt::print("{:<58} {:>10.3g} {:>2} {:>7.3g} {:>2} {:>7.3g}  {}\n", bar.name, line.value, sign,
             bar.floor, sign, bar.stretch, verdict);
  std::fflush(stdout);
  lines_.push_back(std::move(line));
}

bool Table::holds() const {
  return std::all_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.holds(); });
}

std::string Table::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Line& line : lines_)
    list.push_back({{"name", line.bar.name},
                    {"value", line.value},
                    {"floor", line.bar.floor},
                    {"stretch", line.bar.stretch},
                    {"better", line.bar.better == Better::lower ? "lower" : "higher"},
                    {"holds", line.holds()},
                    {"not_here", line.bar.not_here}});
  return list.dump(2) + "\n";
}

std::vector<double> seconds(const std::vector<std::function<void()>>& bodies) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWindows = 300;
  std::vector<double> best(bodies.size(), std::numeric_limits<double>::infinity());
  for (int window = 0; window < kWindows; ++window)
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto start = Clock::now();
      bodies[i]();
      best[i] = std::min(best[i], std::chrono::duration<double>(Clock::now() - start).count());
    }
  return best;
}

double ratio(const std::function<void()>& slow, const std::function<void()>& fast) {
  const std::vector<double> time = seconds({slow, fast});
  return time[0] / time[1];
}

}  // namespace redoubt::bench
