#include "io/solution/preallocated_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "support/require.h"

namespace redoubt::internal::io {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

PreallocatedWriter::PreallocatedWriter(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (file_ < 0) failure_ = errno;
}

void PreallocatedWriter::write_bytes(const void* data, std::size_t bytes, std::uint64_t at) {
  if (failure_ == 0 && file_.write(data, bytes, static_cast<std::int64_t>(at)) < bytes)
    failure_ = errno;
}

void PreallocatedWriter::close() {
  if (failure_ == 0 && ::fdatasync(file_) != 0) failure_ = errno;
  require(failure_ == 0, "{}: cannot be written ({})", path_.string(), std::strerror(failure_));
}

}  // namespace redoubt::internal::io
