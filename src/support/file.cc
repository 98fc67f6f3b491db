#include "support/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "redoubt/advanced/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal {
namespace {

constexpr std::string_view kUnfinished = ".unfinished";

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// Unfinished files for this target that nobody holds a lock on: their writers are dead.
void remove_leftovers(const std::filesystem::path& target) {
  const std::string prefix = target.filename().string() + ".";
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(kUnfinished)) continue;
    const OpenFile file(::open(entry.path().c_str(), O_WRONLY | O_CLOEXEC));
    if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

// Goes on with step(done so far) until all bytes are done, it does nothing more, or fails.
template <class Step>
std::size_t all_of(std::size_t bytes, Step step) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t more = step(done);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    done += static_cast<std::size_t>(more);
  }
  return done;
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t OpenFile::read(void* data, std::size_t bytes, std::int64_t at) const {
  return all_of(bytes, [&](std::size_t done) {
    return ::pread(descriptor_, static_cast<char*>(data) + done, bytes - done,
                   at + static_cast<off_t>(done));
  });
}

std::size_t OpenFile::write(const void* data, std::size_t bytes, std::int64_t at) const {
  return all_of(bytes, [&](std::size_t done) {
    return ::pwrite(descriptor_, static_cast<const char*>(data) + done, bytes - done,
                    at + static_cast<off_t>(done));
  });
}

NewFile::NewFile(const std::filesystem::path& target) : target_(target) {
  remove_leftovers(target);
  struct stat status = {};
  do {  // until it is ours: between its making and its lock it looks like a leftover to others
    open();
    check(::flock(file_, LOCK_EX) == 0 && ::fstat(file_, &status) == 0);
  } while (status.st_nlink == 0);
}

void NewFile::open() {
  static std::atomic<int> count{0};
  path_ = target_;
  path_ += fmt::format(".{}-{}{}", ::getpid(), count++, kUnfinished);
  file_ = OpenFile(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  check(file_ >= 0);
}

NewFile::~NewFile() {
  if (!kept_) ::unlink(path_.c_str());
}

void NewFile::reserve(std::uint64_t bytes) {
  const int done = ::fallocate(file_, 0, 0, static_cast<off_t>(bytes));
  check(done == 0 || errno == EOPNOTSUPP || errno == ENOSYS);
  check(::ftruncate(file_, 0) == 0);
}

void NewFile::write(std::string_view content) {
  check(all_of(content.size(), [&](std::size_t done) {
          return ::write(file_, content.data() + done, content.size() - done);
        }) == content.size());
}

void NewFile::keep() {
  check(::fsync(file_) == 0);
  check(::rename(path_.c_str(), target_.c_str()) == 0);
  kept_ = true;
  sync_folder();
}

// The new name must be on disk, too. Some file systems cannot sync a folder; there is nothing to do
// about those.
void NewFile::sync_folder() const {
  const OpenFile folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder >= 0) ::fsync(folder);
}

void NewFile::check(bool done) const {
  require(done, "{}: cannot be written ({})", target_.string(), std::strerror(errno));
}

std::string read_file(const std::filesystem::path& path) {
  require(!std::filesystem::is_directory(path), "{}: is a directory, must be a file",
          path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be opened ({})", path.string(), std::strerror(errno));
  // All at once where the size is known: a buffer that grows takes twice the memory.
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  std::string content(unknown ? 0 : size, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  if (in.good()) content.append(std::istreambuf_iterator<char>(in), {});  // of a pipe, everything
  require(!in.bad(), "{}: cannot be read", path.string());
  return content;
}

void require_plausible(std::int64_t count, std::string_view what, std::size_t bytes) {
  const auto most = 1'000'000 + 32 * static_cast<std::int64_t>(bytes);
  require(count <= most, "{} {} in a file of {} bytes, must be at most {}", count, what, bytes,
          most);
}

}  // namespace internal

void write_file(const std::filesystem::path& path, std::string_view content) {
  NewFile file(path);
  file.write(content);
  file.keep();
}

}  // namespace redoubt
