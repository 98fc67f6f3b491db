#pragma once

#include <functional>
#include <limits>

namespace redoubt {

// How work is carried out; nothing here changes an answer, except that a stopped solve returns the
// best so far.
struct Execution {
  int threads = 1;
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  // Called now and then with the share of the work done, in [0, 1]; returning false stops the work.
  std::function<bool(double done)> progress = {};
};

}  // namespace redoubt
