#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "redoubt/execution.h"

// Looks at the Python side of a running solve, at most ten times a second: calls `report`, and asks
// whether Ctrl-C was pressed.
class Watch {
 public:
  explicit Watch(nanobind::object report) : report_(std::move(report)) {}

  bool go_on(double done) {
    const auto now = Clock::now();
    if (interrupted_ || (now - last_ < std::chrono::milliseconds(100) && done < 1))
      return !interrupted_;
    last_ = now;
    nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nanobind::python_error();
      PyErr_Clear();
      interrupted_ = true;
      return false;
    }
    if (!report_.is_none()) report_(done);
    return true;
  }
  bool interrupted() const { return interrupted_; }

 private:
  using Clock = std::chrono::steady_clock;
  nanobind::object report_;
  Clock::time_point last_ = Clock::now();
  bool interrupted_ = false;
};

// Runs work(execution) with the lock released. Ctrl-C ends it through the progress callback: a
// solve then returns the best so far.
template <class Work>
auto released(redoubt::Execution execution, nanobind::object report, Work work) {
  Watch watch(std::move(report));
  execution.progress = [&watch](double done) { return watch.go_on(done); };
  nanobind::gil_scoped_release release;
  return work(execution);
}
