#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

#include "model/agree.h"
#include "redoubt/error.h"
#include "redoubt/execution.h"

namespace redoubt {

// Time since work began, and whether it should end. Belongs to the thread that does the asking.
class Stopwatch {
 public:
  explicit Stopwatch(const Execution& execution) : execution_(&execution) {}

  // Spent on the work, in this run and in those that it continues.
  double seconds() const { return before_ + elapsed(); }
  void go_on_from(double seconds) { before_ = seconds - elapsed(); }

  // Between two steps: reports progress; true when the time is up or the caller asked to stop, on
  // any rank.
  bool stop(double done) {
    done_ = done;
    last_asked_ = elapsed();
    const bool late = last_asked_ > execution_->time_limit;
    const bool stop = late || (execution_->progress && !execution_->progress(done));
    return any_rank(execution_->ranks ? *execution_->ranks : one_process(), stop);
  }

  // Within a step: asks the same, twenty times a second at most, and throws Stopped.
  void check() {
    const double now = elapsed();
    if (now > answer_by_) throw Stopped("stopped while the answer was made");
    if (answering() || now - last_asked_ < kPatience) return;
    if (stop(done_)) throw Stopped("stopped before there was an answer");
  }

  // After a stop: this many seconds to make an answer of what there is. Nobody is asked again.
  void allow(double more) { answer_by_ = elapsed() + more; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kPatience = 0.05;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool answering() const { return answer_by_ < std::numeric_limits<double>::infinity(); }

  const Execution* execution_;
  Clock::time_point begin_ = Clock::now();
  double before_ = 0;
  double done_ = 0, last_asked_ = 0;
  double answer_by_ = std::numeric_limits<double>::infinity();
};

}  // namespace redoubt
