#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "redoubt/error.h"

namespace redoubt::internal {

std::string read_file(const std::filesystem::path& path);

// The descriptor of a file, closed at the end; negative: none.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile();
  operator int() const { return descriptor_; }  // NOLINT: stands for it

  // How many of these bytes could be read or written from a place on: fewer than all at the end of
  // the file or after a failure, whose reason is in `errno`.
  std::size_t read(void* data, std::size_t bytes, std::int64_t at) const;
  std::size_t write(const void* data, std::size_t bytes, std::int64_t at) const;

 private:
  int descriptor_;
};

// The one way in which files are written: beside the final name, and renamed when whole and on
// disk. Readers see the old file or the new one, whatever happens, and nothing is left behind when
// writing fails. What a killed process left behind is removed by the next one that writes the same
// file: a lock tells it from what is still being written.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target);
  ~NewFile();

  const std::filesystem::path& path() const { return path_; }  // where it is until it is kept
  // An Error unless the disk has room for this many bytes: for writers that do not survive a full
  // one. Does nothing where the file system cannot say.
  void reserve(std::uint64_t bytes);
  void write(std::string_view content);  // at the end
  void keep();
  // Throws an Error with the reason in `errno` unless a step of writing was done.
  void check(bool done) const;

 private:
  void open();
  void sync_folder() const;
  std::filesystem::path target_, path_;
  OpenFile file_;
  bool kept_ = false;
};

// Runs a reader and puts the name of the file before the text of its errors.
template <class Read>
auto naming(std::string_view file, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(std::string(file) + ": " + error.what());
  }
}

// A count in a header asks for RAM. A file may ask for a million of a thing, and for 32
// more with each of its bytes: real models are far below that, and a small file stays small.
void require_plausible(std::int64_t count, std::string_view what, std::size_t bytes);

}  // namespace redoubt::internal
