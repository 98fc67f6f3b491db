#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "redoubt/error.h"

namespace redoubt::io {

std::string read_file(const std::filesystem::path& path);

// A file that is written beside its final name and renamed when it is whole and on disk: readers
// see the old file or the new one, and nothing is left behind when writing fails.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  const std::filesystem::path& path() const { return path_; }  // where it is until it is kept
  void write(std::string_view content);                        // at the end
  void keep();

 private:
  void check(bool done) const;
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

void write_file(const std::filesystem::path& path, std::string_view content);

// Runs a reader and puts the name of the file before the text of its errors.
template <class Read>
auto naming(std::string_view file, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(std::string(file) + ": " + error.what());
  }
}

// A count in a header is a promise of memory. A file may ask for a million of a thing, and for 32
// more with each of its bytes: real models are far below that, and a small file stays small.
void require_plausible(std::int64_t count, std::string_view what, std::size_t bytes);

}  // namespace redoubt::io
