#include "io/solution/seal.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "support/checksum.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

constexpr std::string_view mark = "redoubt1";
constexpr std::size_t seal_bytes = 24;
constexpr std::uint64_t kFileBytes = 1 << 16;  // of a file without arrays, and more

std::string seal_of(const std::filesystem::path& path, std::uint64_t bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string block(1 << 20, '\0');
  Checksum sum;
  for (std::uint64_t left = bytes; left > 0;) {
    const auto size = std::min<std::uint64_t>(left, block.size());
    in.read(block.data(), static_cast<std::streamsize>(size));
    require(in.good(), "cannot be read");
    sum.add(std::string_view(block).substr(0, size));
    left -= size;
  }
  std::string seal(mark);
  for (const std::uint64_t word : {bytes, sum.value()})
    seal.append(reinterpret_cast<const char*>(&word), sizeof word);
  return seal;
}

}  // namespace

std::string seal_of(const std::filesystem::path& path) {
  return seal_of(path, std::filesystem::file_size(path));
}

void check_seal(const std::filesystem::path& path) {
  require(std::filesystem::is_regular_file(path), "is not there or not a file, must be a file");
  const auto bytes = std::filesystem::file_size(path);
  std::string seal(seal_bytes, '\0');
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "cannot be opened");
  in.seekg(-static_cast<std::streamoff>(seal_bytes), std::ios::end);
  in.read(seal.data(), seal_bytes);
  require(in.good() && seal.starts_with(mark),
          "has no seal at its end: not a solution of redoubt, or cut off");
  require(seal == seal_of(path, bytes - seal_bytes),
          "does not match the seal at its end: damaged since it was written");
}

void write_sealed(const std::filesystem::path& path,
                  const std::function<void(hdf5::Output&)>& write,
                  const std::function<void(const std::filesystem::path&)>& fill) {
  const hdf5::QuietErrors quiet;
  NewFile file(path);
  hdf5::Output count;
  write(count);
  file.reserve(count.bytes() + kFileBytes);
  naming(path.string(), [&] {
    hdf5::Output out(file.path());
    write(out);
    out.close();
    if (fill) fill(file.path());
    file.write(seal_of(file.path()));
  });
  file.keep();
}

}  // namespace redoubt::internal::io
