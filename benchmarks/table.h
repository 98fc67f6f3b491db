#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The benchmark is one table of ratios. A ratio of two things measured side by side in one process
// survives a busy machine and another clock; nanoseconds do not.
namespace redoubt::bench {

enum class Better { lower, higher };

struct Bar {
  std::string name;
  double floor;    // must hold
  double stretch;  // would be good
  Better better = Better::lower;
  std::string not_here = "";  // why this machine cannot show it; empty when it can
};

// A goal that is another one with each instruction set: the one of the set that runs.
double by_set(double baseline, double avx2, double avx512);

// Why two threads cannot be faster than one here; empty when they can.
std::string lacks_two_cores();

struct Line {
  Bar bar;
  double value;  // not a number where this machine cannot show it

  bool holds() const;  // or cannot be shown here
  bool stretches() const;
};

// Thrown by a measurement that turns out to be impossible on this machine.
struct NotHere {
  std::string reason;
};

class Table {
 public:
  explicit Table(std::string filter) : filter_(std::move(filter)) {}

  // Measures and prints one line, unless the filter leaves it out. A line that this machine cannot
  // show says so instead.
  void add(const Bar& bar, const std::function<double()>& measure);

  const std::vector<Line>& lines() const { return lines_; }
  bool holds() const;
  std::string json() const;

 private:
  std::string filter_;  // lines whose name contains this
  std::vector<Line> lines_;
};

// Seconds for one call of each body: the least over many short windows, taken in turn so that all
// see the same machine.
std::vector<double> seconds(const std::vector<std::function<void()>>& bodies);

// seconds(slow) / seconds(fast)
double ratio(const std::function<void()>& slow, const std::function<void()>& fast);

}  // namespace redoubt::bench
