#include "io/tar.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "model/require.h"

namespace redoubt::io {
namespace {

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

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

std::string read_member(archive* a, const std::string& name, std::size_t size) {
  std::string content(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const auto got = archive_read_data(a, content.data() + done, size - done);
    require(got > 0, "member '{}' ends after {} of {} bytes, must be complete", name, done, size);
    done += static_cast<std::size_t>(got);
  }
  return content;
}

la_ssize_t append(archive*, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

std::map<std::string, std::string> read_tar(std::string_view bytes) {
  const Reader a(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_xz(a.get());
  archive_read_support_format_tar(a.get());
  check(a.get(), archive_read_open_memory(a.get(), bytes.data(), bytes.size()),
        "is not a tar archive, must be one, plain or packed by gzip or xz");
  const std::int64_t most = 32'000'000 + 100 * static_cast<std::int64_t>(bytes.size());
  std::int64_t total = 0;
  std::map<std::string, std::string> files;
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a.get(), &entry);
    if (code == ARCHIVE_EOF) return files;
    check(a.get(), code, "is not a complete tar archive, plain or packed by gzip or xz");
    const std::string name = member_name(entry);
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    require(archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr,
            "member '{}' is not a file, must be one", name);
    const std::int64_t size = archive_entry_size(entry);
    require(size >= 0 && size <= most - total - 512,
            "member '{}' of {} bytes, must unpack to at most {} bytes with all before it", name,
            size, most);
    total += size + 512;
    require(files.emplace(name, read_member(a.get(), name, size)).second,
            "member '{}' is given twice, must be given once", name);
  }
}

std::string write_tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out;
  const Writer a(archive_write_new(), archive_write_free);
  archive_write_set_format_pax_restricted(a.get());
  archive_write_add_filter_gzip(a.get());
  // Models are large and numbers compress badly: speed before size. No time stamp: the same problem
  // gives the same file.
  check(a.get(), archive_write_set_options(a.get(), "gzip:compression-level=1,gzip:!timestamp"),
        "cannot set up compression");
  archive_write_set_bytes_in_last_block(a.get(), 1);  // no padding to the size of a tape block
  check(a.get(), archive_write_open(a.get(), &out, nullptr, append, nullptr),
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

}  // namespace redoubt::io
