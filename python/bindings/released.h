#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "redoubt/execution.h"

// Looks at the Python side of running work, at most ten times a second: calls `report`, and asks
// whether Ctrl-C was pressed, which is an exception like any other unless it `stops` the work.
class Watch {
 public:
  Watch(nanobind::object report, bool stops) : report_(std::move(report)), stops_(stops) {}

  bool go_on(double done) {
    const auto now = Clock::now();
    if (stopped_ || now - last_ < std::chrono::milliseconds(100)) return !stopped_;
    last_ = now;
    nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      if (!stops_ || !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        throw nanobind::python_error();
      PyErr_Clear();
      stopped_ = true;
      return false;
    }
    if (!report_.is_none()) report_(done);
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  nanobind::object report_;
  bool stops_;
  Clock::time_point last_ = Clock::now();
  bool stopped_ = false;
};

template <class Work>
auto released(redoubt::Execution execution, Watch watch, Work work) {
  execution.progress = [&watch](double done) { return watch.go_on(done); };
  nanobind::gil_scoped_release release;
  return work(execution);
}

// Runs work(execution) with the lock released; Ctrl-C is an exception.
template <class Work>
auto released(const redoubt::Execution& execution, Work work) {
  return released(execution, Watch(nanobind::none(), false), work);
}

// Runs solve(execution) with the lock released; Ctrl-C ends it with the best so far.
template <class Solve>
auto solve_released(const redoubt::Execution& execution, nanobind::object report, Solve solve) {
  return released(execution, Watch(std::move(report), true), solve);
}
