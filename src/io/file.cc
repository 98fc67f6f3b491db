#include "io/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "model/require.h"

namespace redoubt::io {
NewFile::NewFile(const std::filesystem::path& target) : target_(target), path_(target) {
  static std::atomic<int> count{0};
  path_ += fmt::format(".{}-{}.tmp", ::getpid(), count++);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  check(descriptor_ >= 0);
}

NewFile::~NewFile() {
  ::close(descriptor_);
  if (!kept_) ::unlink(path_.c_str());
}

void NewFile::write(std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    check(written >= 0);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void NewFile::keep() {
  check(::fsync(descriptor_) == 0);
  check(::rename(path_.c_str(), target_.c_str()) == 0);
  kept_ = true;
}

void NewFile::check(bool done) const {
  require(done, "{}: cannot be written ({})", target_.string(), std::strerror(errno));
}

std::string read_file(const std::filesystem::path& path) {
  require(!std::filesystem::is_directory(path), "{}: is a directory, must be a file",
          path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be opened ({})", path.string(), std::strerror(errno));
  std::ostringstream content;
  content << in.rdbuf();
  require(!in.bad(), "{}: cannot be read", path.string());
  return std::move(content).str();
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  NewFile file(path);
  file.write(content);
  file.keep();
}

void require_plausible(std::int64_t count, std::string_view what, std::size_t bytes) {
  const auto most = 1'000'000 + 32 * static_cast<std::int64_t>(bytes);
  require(count <= most, "{} {} in a file of {} bytes, must be at most {}", count, what, bytes,
          most);
}

}  // namespace redoubt::io
