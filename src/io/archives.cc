#include "io/archives.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "support/array_memory.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

constexpr std::size_t kBlock = 1 << 16;  // bytes that are read from a file, or skipped, at once

void check(archive* a, int code, const char* what) {
  if (code == ARCHIVE_OK) return;
  const char* text = archive_error_string(a);
  throw Error(fmt::format("{} ({})", what, text == nullptr ? "unknown reason" : text));
}

// The name inside the archive, without a leading "./".
std::string member_name(archive_entry* entry) {
  const char* text = archive_entry_pathname(entry);
  require(text != nullptr, "a member has no readable name, must have one");
  std::string name = text;
  if (name.starts_with("./")) name.erase(0, 2);
  require(!name.starts_with('/') && ("/" + name + "/").find("/../") == std::string::npos,
          "member '{}', must have a path inside the archive", name);
  return name;
}

// The next member that is not a folder; null after the last.
archive_entry* next_member(archive* a) {
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a, &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    check(a, code, "is not a complete tar archive, plain or packed by gzip or xz");
    member_name(entry);  // folders keep the rules for names, too
    if (archive_entry_filetype(entry) != AE_IFDIR) return entry;
  }
}

void require_complete(bool complete, const std::string& name, std::int64_t done,
                      std::int64_t size) {
  require(complete, "member '{}' ends after {} of {} bytes, must be complete", name, done, size);
}

la_ssize_t append_to(archive*, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string unpacked(std::string bytes) {
  if (!bytes.starts_with("\x1F\x8B") && !bytes.starts_with("\xFD"
                                                           "7zXZ"))
    return bytes;
  const Reader a(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_xz(a.get());
  archive_read_support_format_raw(a.get());
  check(a.get(), archive_read_open_memory(a.get(), bytes.data(), bytes.size()),
        "cannot be unpacked");
  archive_entry* entry = nullptr;
  check(a.get(), archive_read_next_header(a.get(), &entry), "cannot be unpacked");
  const std::size_t most = 32'000'000 + 100 * bytes.size();
  std::string text;
  std::vector<char> block(1 << 20);
  for (;;) {
    const auto got = archive_read_data(a.get(), block.data(), block.size());
    if (got == 0) return text;
    if (got < 0) check(a.get(), static_cast<int>(got), "cannot be unpacked");
    require(text.size() + got <= most, "unpacks to more than {} bytes, must be at most that", most);
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

std::string packed(std::string_view text, const char* filter) {
  std::string out;
  const Writer a(archive_write_new(), archive_write_free);
  check(a.get(), archive_write_set_format_raw(a.get()), "cannot be packed");
  check(a.get(), archive_write_add_filter_by_name(a.get(), filter), "cannot be packed");
  if (std::string_view(filter) == "gzip")
    check(a.get(), archive_write_set_options(a.get(), "gzip:!timestamp"), "cannot be packed");
  archive_write_set_bytes_in_last_block(a.get(), 1);
  check(a.get(), archive_write_open(a.get(), &out, nullptr, append_to, nullptr),
        "cannot be packed");
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  check(a.get(), archive_write_header(a.get(), entry.get()), "cannot be packed");
  const auto written = archive_write_data(a.get(), text.data(), text.size());
  require(written == static_cast<la_ssize_t>(text.size()), "cannot be packed");
  check(a.get(), archive_write_close(a.get()), "cannot be packed");
  return out;
}

struct TarReader::Stream {
  Reader archive{archive_read_new(), archive_read_free};
  std::int64_t place = -1;  // of the member that is being read
  std::int64_t at = 0;      // bytes of it that were read
};

TarReader::TarReader(std::string_view archive)
    : bytes_(archive), size_(static_cast<std::int64_t>(archive.size())) {
  list();
}

TarReader::TarReader(const std::filesystem::path& path, std::int64_t most_kept)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), most_kept_(most_kept) {
  require(file_ >= 0, "cannot be opened ({})", std::strerror(errno));
  struct stat status = {};
  require(::fstat(file_, &status) == 0, "cannot be read ({})", std::strerror(errno));
  require(!S_ISDIR(status.st_mode), "is a directory, must be a file");
  size_ = status.st_size;
  list();
}

TarReader::~TarReader() = default;

void TarReader::open() {
  stream_ = std::make_unique<Stream>();
  archive* const a = stream_->archive.get();
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_xz(a);
  archive_read_support_format_tar(a);
  int code = ARCHIVE_OK;
  if (file_ < 0) {
    code = archive_read_open_memory(a, bytes_.data(), bytes_.size());
  } else {
    require(::lseek(file_, 0, SEEK_SET) == 0, "cannot be read ({})", std::strerror(errno));
    code = archive_read_open_fd(a, file_, kBlock);
  }
  check(a, code, "is not a tar archive, must be one, plain or packed by gzip or xz");
}

// Goes through the whole archive: what is wrong with it shows before any of it is used.
void TarReader::list() {
  open();
  archive* const a = stream_->archive.get();
  const std::int64_t most = 32'000'000 + 100 * size_;
  std::int64_t total = 0;
  while (archive_entry* const entry = next_member(a)) {
    const std::string name = member_name(entry);
    require(archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr,
            "member '{}' is not a file, must be one", name);
    const Member member{archive_entry_size(entry), static_cast<std::int64_t>(members_.size()),
                        archive_filter_bytes(a, 0)};
    require(member.size >= 0 && member.size <= most - total - 512,
            "member '{}' of {} bytes, must unpack to at most {} bytes with all before it", name,
            member.size, most);
    total += member.size + 512;
    require(members_.emplace(name, member).second, "member '{}' is given twice, must be given once",
            name);
    // Sparse members do not lie in one piece.
    plain_ = plain_ && archive_filter_count(a) == 1 && archive_entry_sparse_count(entry) == 0;
    require_complete(!plain_ || member.size <= size_ - member.offset, name, size_ - member.offset,
                     member.size);
    if (!plain_) keep(name, member, total);
  }
  if (kept_.size() < members_.size()) kept_.clear();
  stream_.reset();
}

// Unpacking takes far longer than anything else that is done to a file.
void TarReader::keep(const std::string& name, const Member& member, std::int64_t total) {
  if (total > most_kept_) return kept_.clear();
  const auto size = static_cast<std::size_t>(member.size);
  const auto& content = kept_[name] = std::make_unique_for_overwrite<char[]>(size);
  advise_large_pages(content.get(), size);
  for (std::int64_t done = 0; done < member.size;) {
    const auto got = archive_read_data(stream_->archive.get(), content.get() + done,
                                       static_cast<std::size_t>(member.size - done));
    require_complete(got > 0, name, done, member.size);
    done += got;
  }
}

void TarReader::read(const std::string& name, std::int64_t at, std::span<char> into) {
  const Member& member = members_.at(name);
  if (plain_)
    read_plain(member.offset + at, into);
  else if (const auto kept = kept_.find(name); kept != kept_.end())
    std::copy_n(kept->second.get() + at, into.size(), into.data());
  else
    read_stream(name, member, at, into);
}

void TarReader::read_plain(std::int64_t at, std::span<char> into) const {
  if (file_ < 0) {
    std::copy_n(bytes_.data() + at, into.size(), into.data());
    return;
  }
  errno = 0;
  const std::size_t got = file_.read(into.data(), into.size(), at);
  require(got == into.size(), "cannot be read at byte {} ({})", at + static_cast<std::int64_t>(got),
          errno == 0 ? "it has become shorter" : std::strerror(errno));
}

void TarReader::read_stream(const std::string& name, const Member& member, std::int64_t at,
                            std::span<char> into) {
  if (!stream_ || stream_->place > member.place ||
      (stream_->place == member.place && stream_->at > at))
    open();
  Stream& stream = *stream_;
  archive* const a = stream.archive.get();
  while (stream.place < member.place) {
    archive_entry* const entry = next_member(a);
    require(entry != nullptr, "member '{}' is gone: the file has changed", name);
    ++stream.place;
    stream.at = 0;
    require(stream.place < member.place ||
                (member_name(entry) == name && archive_entry_size(entry) == member.size),
            "member '{}' is not where it was: the file has changed", name);
  }
  const auto read_some = [&](std::span<char> to) {
    const auto got = archive_read_data(a, to.data(), to.size());
    require_complete(got > 0, name, stream.at, member.size);
    stream.at += got;
    return static_cast<std::size_t>(got);
  };
  std::array<char, kBlock> skipped;
  while (stream.at < at) {
    const auto size = std::min<std::int64_t>(at - stream.at, kBlock);
    read_some(std::span(skipped).first(static_cast<std::size_t>(size)));
  }
  while (!into.empty()) into = into.subspan(read_some(into));
}

std::string write_tar(const std::vector<std::pair<std::string, std::string>>& files,
                      Packing packing) {
  std::string out;
  const Writer a(archive_write_new(), archive_write_free);
  archive_write_set_format_pax_restricted(a.get());
  if (packing == Packing::gzip) {
    archive_write_add_filter_gzip(a.get());
    // Models are large and numbers compress badly: speed before size. No time stamp: the same
    // problem gives the same file.
    check(a.get(), archive_write_set_options(a.get(), "gzip:compression-level=1,gzip:!timestamp"),
          "cannot set up compression");
  }
  archive_write_set_bytes_in_last_block(a.get(), 1);  // no padding to the size of a tape block
  check(a.get(), archive_write_open(a.get(), &out, nullptr, append_to, nullptr),
        "cannot begin an archive");
  for (const auto& [name, content] : files) {
    const Entry entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    check(a.get(), archive_write_header(a.get(), entry.get()), "cannot write to the archive");
    const auto written = archive_write_data(a.get(), content.data(), content.size());
    require(written == static_cast<la_ssize_t>(content.size()), "cannot write '{}' to the archive",
            name);
  }
  check(a.get(), archive_write_close(a.get()), "cannot finish the archive");
  return out;
}

}  // namespace redoubt::internal::io
