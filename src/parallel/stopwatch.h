#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

#include "parallel/collectives.h"
#include "redoubt/error.h"
#include "redoubt/execution.h"

namespace redoubt::internal {

// Time since work began, and whether it should end. Belongs to the thread that does the asking.
class Stopwatch {
 public:
  explicit Stopwatch(const Execution& execution) : execution_(&execution), begin_(now()) {}

  // Spent on the work, in this run and in those that it continues.
  double seconds() const { return before_ + elapsed(); }
  void go_on_from(double seconds) { before_ = seconds - elapsed(); }

  // For a part of the work: the same execution, with what is left of its time.
  Execution rest() const {
    Execution rest = *execution_;
    rest.time_limit = std::max(0.0, rest.time_limit - elapsed());
    return rest;
  }

  // Between two steps that all ranks take together: reports progress; true when the time is up or
  // the caller asked to stop, on any rank.
  bool stop(double done) {
    done_ = done;
    return stop();
  }

  // The same within a step, twenty times a second at most: throws Stopped. Of several ranks each
  // asks for itself, so that only work which no other rank waits for may ask.
  void check() {
    const double time = elapsed();
    if (time > answer_by_) throw Stopped("stopped while the answer was made");
    if (answering() || time - last_asked_ < kPatience) return;
    if (stop(done_)) throw Stopped("stopped before there was an answer");
  }

  // The same between two steps that all ranks take together: throws Stopped on every one.
  void check_together() {
    const double time = elapsed();
    const bool over = time > answer_by_, due = !answering() && time - last_asked_ >= kPatience;
    if (!any_rank(ranks(), over || due)) return;
    if (any_rank(ranks(), over)) throw Stopped("stopped while the answer was made");
    if (stop()) throw Stopped("stopped before there was an answer");
  }

  // After a stop: this many seconds to make an answer of what there is. Nobody is asked again, and
  // time that was allowed before is not extended.
  void allow(double more) { answer_by_ = std::min(answer_by_, elapsed() + more); }

 private:
  static constexpr double kPatience = 0.05;

  bool stop() {
    last_asked_ = elapsed();
    const bool late = last_asked_ > execution_->time_limit;
    return any_rank(ranks(), late || (execution_->progress && !execution_->progress(done_)));
  }
  double now() const {
    using Seconds = std::chrono::duration<double>;
    if (execution_->clock) return execution_->clock();
    return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double elapsed() const { return now() - begin_; }
  Communicator& ranks() const { return execution_->ranks ? *execution_->ranks : one_process(); }
  bool answering() const { return answer_by_ < std::numeric_limits<double>::infinity(); }

  const Execution* execution_;
  double begin_;
  double before_ = 0;
  double done_ = 0, last_asked_ = 0;
  double answer_by_ = std::numeric_limits<double>::infinity();
};

}  // namespace redoubt::internal
