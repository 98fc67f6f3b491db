#include "sampling/line_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "support/require.h"

namespace redoubt::internal {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    require(::pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe ({})", std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    for (const int end : {read, write}) {
      if (end >= 0) ::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

int release(int& descriptor) { return std::exchange(descriptor, -1); }

// Writing to a program that has ended raises a signal that would end ours. It is held back for this
// thread while we write, and taken away if it came.
ssize_t write_without_signal(int descriptor, const std::string& bytes) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now = {0, 0};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

LineProcess::LineProcess(const std::string& command) {
  Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string shell = "sh", flag = "-c", text = command;
  char* arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  const int failed = ::posix_spawn(&process_, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  require(failed == 0, "command '{}' cannot be started ({})", command, std::strerror(failed));
  input_ = release(in.write);
  output_ = release(out.read);
  for (const int end : {input_, output_}) ::fcntl(end, F_SETFL, O_NONBLOCK);
}

LineProcess::~LineProcess() {
  if (input_ >= 0) ::close(release(input_));
  unsent_.clear();
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  while (!at_end_ && Clock::now() < deadline) {
    pump(100);
    received_.clear();  // nobody listens any more, but it may end in its own way
  }
  ::close(output_);
  if (!wait_for_exit(at_end_ ? 2 : 0)) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

LineProcess::Read LineProcess::read_line(std::string& line, double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!take_line(line)) {
    if (at_end_) return Read::end;
    const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
    if (left.count() <= 0) return Read::timeout;
    pump(static_cast<int>(std::min(1e6, left.count() + 1)));
  }
  return Read::line;
}

bool LineProcess::take_line(std::string& line) {
  const auto end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    return false;
  }
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

// Waits until something can be written or read, and does it.
void LineProcess::pump(int milliseconds) {
  pollfd ends[] = {{output_, POLLIN, 0}, {unsent_.empty() ? -1 : input_, POLLOUT, 0}};
  if (::poll(ends, 2, milliseconds) <= 0) return;  // time is up, or a signal: the caller looks
  if (ends[1].revents != 0) {
    const ssize_t written = write_without_signal(input_, unsent_);
    if (written > 0) {
      unsent_.erase(0, static_cast<std::size_t>(written));
    } else if (errno != EAGAIN && errno != EINTR) {
      unsent_.clear();  // it reads no more; what it has written is still to be read
      ::close(release(input_));
    }
  }
  if (ends[0].revents != 0) {
    char bytes[1 << 16];
    const ssize_t read = ::read(output_, bytes, sizeof bytes);
    if (read > 0) received_.append(bytes, static_cast<std::size_t>(read));
    if (read == 0) at_end_ = true;
  }
}

bool LineProcess::wait_for_exit(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (!exited_) {
    exited_ = ::waitpid(process_, &status_, WNOHANG) == process_;
    if (exited_ || Clock::now() > deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return exited_;
}

std::string LineProcess::how_it_ended() {
  if (!wait_for_exit(2)) return "closed its output";
  if (WIFSIGNALED(status_)) return fmt::format("was killed by signal {}", WTERMSIG(status_));
  return fmt::format("ended with status {}", WEXITSTATUS(status_));
}

}  // namespace redoubt::internal
