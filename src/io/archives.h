#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redoubt/io.h"
#include "support/file.h"

namespace redoubt::internal::io {

// The text in bytes that gzip or xz may have packed; others are returned as they are. What would
// unpack to more than 32 megabytes plus 100 times its size is an Error.
std::string unpacked(std::string bytes);

// Packed by "gzip" or "xz"; the same text gives the same bytes.
std::string packed(std::string_view text, const char* filter);

// The files of a tar archive, plain or packed by gzip or xz, of which any piece can be read.
// Nothing is written to disk. Of a plain archive a piece costs what it has, and nothing is kept in
// memory. A packed one is unpacked once and kept, if that takes at most `most_kept` bytes; a larger
// one is unpacked again up to each piece, from its beginning when the piece lies before the last
// one. An archive that would unpack to more than 32 megabytes plus 100 times its size is an Error.
class TarReader {
 public:
  static constexpr std::int64_t kMostKept = std::int64_t{1} << 30;
  explicit TarReader(const std::filesystem::path& path, std::int64_t most_kept = kMostKept);
  explicit TarReader(std::string_view archive);  // which must outlive this
  ~TarReader();

  struct Member {
    std::int64_t size = 0;
    std::int64_t place = 0;   // in the order of the archive
    std::int64_t offset = 0;  // of its content, in a plain archive
  };
  const std::map<std::string, Member>& members() const { return members_; }
  bool is_plain() const { return plain_; }

  // Bytes at..at+size-1 of a member, which has them.
  void read(const std::string& name, std::int64_t at, std::span<char> into);

 private:
  struct Stream;  // a place in the unpacked archive
  void list();
  void open();
  void keep(const std::string& name, const Member& member, std::int64_t total);
  void read_plain(std::int64_t at, std::span<char> into) const;
  void read_stream(const std::string& name, const Member& member, std::int64_t at,
                   std::span<char> into);

  std::string_view bytes_;  // the archive, or
  OpenFile file_;           // the file that it is
  std::int64_t size_ = 0;
  std::int64_t most_kept_ = kMostKept;
  bool plain_ = true;
  std::map<std::string, Member> members_;
  std::map<std::string, std::unique_ptr<char[]>> kept_;  // of a packed archive: all, or none
  std::unique_ptr<Stream> stream_;
};

// A tar archive with these files, in this order; the same files give the same bytes.
std::string write_tar(const std::vector<std::pair<std::string, std::string>>& files,
                      Packing packing = Packing::gzip);

}  // namespace redoubt::internal::io
