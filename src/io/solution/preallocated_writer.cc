#include "io/solution/preallocated_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "support/require.h"

namespace redoubt::internal::io {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

PreallocatedWriter::PreallocatedWriter(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) failure_ = errno;
}

PreallocatedWriter::~PreallocatedWriter() {
  if (file_ >= 0) ::close(file_);
}

void PreallocatedWriter::write_bytes(const void* data, std::size_t bytes, std::uint64_t at) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0 && failure_ == 0) {
    const auto done = ::pwrite(file_, from, bytes, static_cast<off_t>(at));
    if (done < 0) {
      if (errno != EINTR) failure_ = errno;
      continue;
    }
    from += done, at += static_cast<std::uint64_t>(done), bytes -= static_cast<std::size_t>(done);
  }
}

void PreallocatedWriter::close() {
  if (failure_ == 0 && ::fdatasync(file_) != 0) failure_ = errno;
  require(failure_ == 0, "{}: cannot be written ({})", path_.string(), std::strerror(failure_));
}

}  // namespace redoubt::internal::io
