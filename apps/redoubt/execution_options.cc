#include "execution_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "checks.h"
#include "processes.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "text.h"

namespace redoubt::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // the one thing that a signal handler may touch

void listen_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second Ctrl-C is the usual one
  sigaction(SIGINT, &action, nullptr);
}

// One line on standard error, redrawn ten times a second at most and wiped at the end.
class Bar {
 public:
  ~Bar() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
  }

  void draw(double done) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const int filled = static_cast<int>(kWidth * std::clamp(done, 0.0, 1.0));
    const std::string left =
        done > 0 ? ", " + duration_text(seconds * (1 - done) / done) + " left" : "";
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f} %{}", "", filled, "", kWidth - filled,
               100 * done, left);
    std::fflush(stderr);
    drawn_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kWidth = 40;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool drawn_ = false;
};

}  // namespace

void add_execution(CommandLine& verb, ExecutionOptions& options) {
  verb.add_option("--threads", options.threads, "Threads; one for each core unless given")
      .check(is_whole_number())
      .type_name("NUMBER")
      .group("Execution");
  verb.add_option("--time-limit", options.time_limit, "Stop after this many seconds")
      .check(is_number())
      .type_name("SECONDS")
      .group("Execution");
  verb.add_flag_function(
          "--progress,!--no-progress", [&](bool given) { options.progress = given; },
          "Show a progress bar (unless given: when standard error is a terminal)")
      .group("Execution");
}

void add_checkpoint(CommandLine& verb, ExecutionOptions& options) {
  verb.add_option("--checkpoint", options.checkpoint,
                  "Keep the state here every few seconds, and go on from it when it is there")
      .type_name("FILE")
      .group("Execution");
  verb.add_option("--checkpoint-interval", options.checkpoint_interval,
                  "Seconds from one checkpoint to the next (5)")
      .check(is_number())
      .type_name("SECONDS")
      .group("Execution");
}

void end_interrupts() { std::signal(SIGINT, SIG_DFL); }

Execution execution(const ExecutionOptions& options) {
  if (options.threads < 0)
    throw Error(fmt::format("--threads {}, must be at least 1, or 0 for one for each core",
                            options.threads));
  if (options.time_limit && !(*options.time_limit >= 0))
    throw Error(fmt::format("--time-limit {}, must be at least 0", *options.time_limit));
  listen_for_interrupt();
  Execution execution;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  execution.threads = options.threads > 0 ? options.threads : cores;
  if (options.time_limit) execution.time_limit = *options.time_limit;
  if (processes().size() > 1) execution.ranks = &processes();
  const bool visible =
      processes().rank() == 0 && options.progress.value_or(isatty(STDERR_FILENO) != 0);
  execution.progress = [bar = visible ? std::make_shared<Bar>() : nullptr](double done) {
    if (bar) bar->draw(done);
    return interrupted == 0;
  };
  if (!options.checkpoint.empty())
    execution.checkpoint = checkpoint_file(options.checkpoint, options.checkpoint_interval);
  return execution;
}

}  // namespace redoubt::app
