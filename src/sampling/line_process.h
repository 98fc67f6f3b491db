#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace redoubt::internal {

// A program that we talk to in lines, through its standard input and output. Lines to write are
// queued and leave while we wait for lines to read, so that neither side ever blocks the other.
class LineProcess {
 public:
  // Run by the shell, in a process group of its own.
  explicit LineProcess(const std::string& command);
  // Closes the program's input, gives it two seconds to end, then kills it.
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  void write_line(const std::string& line) { unsent_ += line + '\n'; }

  enum class Read { line, timeout, end };
  Read read_line(std::string& line, double seconds);

  // "ended with status 3", "was killed by signal 9" or "closed its output".
  std::string how_it_ended();

 private:
  using Clock = std::chrono::steady_clock;

  bool take_line(std::string& line);
  void pump(int milliseconds);
  bool wait_for_exit(double seconds);

  pid_t process_ = -1;
  int input_ = -1, output_ = -1;  // our ends of its standard input and output
  int status_ = 0;
  bool exited_ = false, at_end_ = false;
  std::string unsent_, received_;
  std::size_t searched_ = 0;  // this much of `received_` holds no end of line
};

}  // namespace redoubt::internal
