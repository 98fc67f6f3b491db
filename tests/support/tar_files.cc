#include "support/tar_files.h"

#include "io/archives.h"

namespace redoubt::testing {
using namespace internal;

std::map<std::string, std::string> tar_files(std::string_view archive) {
  io::TarReader reader(archive);
  std::map<std::string, std::string> files;
  for (const auto& [name, member] : reader.members()) {
    files[name].resize(member.size);
    reader.read(name, 0, files[name]);
  }
  return files;
}

}  // namespace redoubt::testing
