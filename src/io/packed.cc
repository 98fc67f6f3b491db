#include "io/packed.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <vector>

#include "support/require.h"

namespace redoubt::internal::io {
namespace {

void check_archive(archive* a, int code, const char* what) {
  if (code == ARCHIVE_OK) return;
  const char* text = archive_error_string(a);
  throw Error(fmt::format("{} ({})", what, text == nullptr ? "unknown reason" : text));
}

la_ssize_t append_packed(archive*, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string unpacked(std::string bytes) {
  if (!bytes.starts_with("\x1F\x8B") && !bytes.starts_with("\xFD"
                                                           "7zXZ"))
    return bytes;
  const std::unique_ptr<archive, decltype(&archive_read_free)> a(archive_read_new(),
                                                                 archive_read_free);
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_xz(a.get());
  archive_read_support_format_raw(a.get());
  check_archive(a.get(), archive_read_open_memory(a.get(), bytes.data(), bytes.size()),
                "cannot be unpacked");
  archive_entry* entry = nullptr;
  check_archive(a.get(), archive_read_next_header(a.get(), &entry), "cannot be unpacked");
  const std::size_t most = 32'000'000 + 100 * bytes.size();
  std::string text;
  std::vector<char> block(1 << 20);
  for (;;) {
    const auto got = archive_read_data(a.get(), block.data(), block.size());
    if (got == 0) return text;
    if (got < 0) check_archive(a.get(), static_cast<int>(got), "cannot be unpacked");
    require(text.size() + got <= most, "unpacks to more than {} bytes, must be at most that", most);
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

std::string packed(std::string_view text, const char* filter) {
  std::string out;
  const std::unique_ptr<archive, decltype(&archive_write_free)> a(archive_write_new(),
                                                                  archive_write_free);
  check_archive(a.get(), archive_write_set_format_raw(a.get()), "cannot be packed");
  check_archive(a.get(), archive_write_add_filter_by_name(a.get(), filter), "cannot be packed");
  if (std::string_view(filter) == "gzip")
    check_archive(a.get(), archive_write_set_options(a.get(), "gzip:!timestamp"),
                  "cannot be packed");
  archive_write_set_bytes_in_last_block(a.get(), 1);
  check_archive(a.get(), archive_write_open(a.get(), &out, nullptr, append_packed, nullptr),
                "cannot be packed");
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  check_archive(a.get(), archive_write_header(a.get(), entry.get()), "cannot be packed");
  const auto written = archive_write_data(a.get(), text.data(), text.size());
  require(written == static_cast<la_ssize_t>(text.size()), "cannot be packed");
  check_archive(a.get(), archive_write_close(a.get()), "cannot be packed");
  return out;
}

}  // namespace redoubt::internal::io
