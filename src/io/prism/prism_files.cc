#include "io/prism/prism_parts.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "io/explicit/text.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

// Files with rewards, by number; 0: without one.
std::vector<std::filesystem::path> reward_files(const std::filesystem::path& tra) {
  const std::string stem = tra.stem().string();
  const auto folder = tra.has_parent_path() ? tra.parent_path() : std::filesystem::path(".");
  std::vector<std::tuple<std::int64_t, std::string>> found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const auto file = entry.path().filename();
    const std::string ending = file.extension().string(), name = file.stem().string();
    if ((ending != ".srew" && ending != ".trew") || !name.starts_with(stem)) continue;
    const std::string digits = name.substr(stem.size());
    const auto number = digits.empty() ? std::optional<std::int64_t>(0) : count_of(digits);
    if (!number) continue;
    auto other = tra;  // NAME2.srew may belong to NAME2.tra
    if (!digits.empty() && std::filesystem::exists(other.replace_filename(name + ".tra"))) continue;
    found.emplace_back(*number, file.string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::filesystem::path> paths;
  for (const auto& [number, file] : found) {
    auto path = tra;
    paths.push_back(path.replace_filename(file));
  }
  return paths;
}

std::vector<std::filesystem::path> paths_beside(const std::filesystem::path& tra) {
  std::vector<std::filesystem::path> paths = {tra};
  for (const char* ending : {".sta", ".lab"}) {
    auto path = tra;
    if (std::filesystem::exists(path.replace_extension(ending))) paths.push_back(path);
  }
  for (auto& path : reward_files(tra)) paths.push_back(std::move(path));
  return paths;
}

}  // namespace

std::vector<TextFile> files_beside(const std::filesystem::path& tra) {
  std::vector<TextFile> files;
  for (const auto& path : paths_beside(tra)) files.push_back({path.string(), read_file(path)});
  return files;
}

void require_no_others(const std::filesystem::path& tra, const std::vector<TextFile>& written) {
  for (const auto& path : paths_beside(tra)) {
    const auto same = [&](const TextFile& file) { return file.name == path.string(); };
    require(!std::filesystem::exists(path) || std::any_of(written.begin(), written.end(), same),
            "{}: is of another model and would be read with {}, must be removed first",
            path.string(), tra.string());
  }
}

}  // namespace redoubt::internal::io
