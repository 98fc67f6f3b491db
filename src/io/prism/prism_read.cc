#include "io/prism/prism_parts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <tuple>

#include "io/explicit/text.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

struct Ending {
  std::string_view text;
  PrismKind kind;
};
constexpr std::array kEndings = {
    Ending{".tra", PrismKind::transitions}, Ending{".sta", PrismKind::states},
    Ending{".lab", PrismKind::labels}, Ending{".srew", PrismKind::state_rewards},
    Ending{".trew", PrismKind::transition_rewards}};

// What a comment at the head of a part says; false where it says nothing of the kind.
bool read_heading(std::string_view line, PrismPart& part) {
  line = trimmed(line.substr(1));
  if (line.starts_with("Transitions (") && line.ends_with(')')) {
    part.kind = PrismKind::transitions;
    part.type = line.substr(13, line.size() - 14);
  } else if (line == "States") {
    part.kind = PrismKind::states;
  } else if (line == "Labels") {
    part.kind = PrismKind::labels;
  } else if (line == "State rewards") {
    part.kind = PrismKind::state_rewards;
  } else if (line == "Transition rewards") {
    part.kind = PrismKind::transition_rewards;
  } else if (line.starts_with("Reward structure")) {
    const auto begin = line.find('"'), end = line.rfind('"');
    if (end > begin && end != std::string_view::npos)
      part.reward = line.substr(begin + 1, end - begin - 1);
    part.structure = "name " + part.reward;
  } else {
    return false;
  }
  return true;
}

// Comments of Storm's labels are words of their format.
bool is_comment(std::string_view line) {
  return line.starts_with('#') && line != "#DECLARATION" && line != "#END";
}

// The parts of one text, each of which begins with comments; without any there is one part.
void split(const TextFile& file, const PrismPart& like, bool several,
           std::vector<PrismPart>& parts) {
  TextLines lines(file.text);
  const char* begin = file.text.data();
  bool in_head = true, known = !several;
  PrismPart part = like;
  const auto finish = [&](const char* end) {
    part.text = std::string_view(begin, static_cast<std::size_t>(end - begin));
    if (trimmed(part.text).empty() && several) return;
    require(known, "line {}: a part without a heading, must have one, such as # States", part.line);
    parts.push_back(part);
  };
  const char* const end_of_text = file.text.data() + file.text.size();
  while (lines.next()) {
    const auto line = trimmed(lines.line());
    if (is_comment(line)) {
      if (!in_head && several) {
        finish(lines.line().data());
        part = like;
        known = false;
      }
      if (in_head || several) known = read_heading(line, part) || known;
      in_head = in_head || several;
    } else if (in_head && !line.empty()) {
      begin = lines.line().data();
      part.line = lines.number();
      in_head = false;
    }
  }
  if (in_head) begin = end_of_text;
  finish(end_of_text);
}

// NAME1.srew and NAME1.trew are of one structure, as are NAME.srew and NAME.trew.
std::string number_before_ending(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  return stem.substr(stem.find_last_not_of("0123456789") + 1);
}

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

std::vector<PrismPart> prism_parts(const std::vector<TextFile>& files) {
  std::vector<PrismPart> parts;
  for (const TextFile& file : files) {
    const std::filesystem::path path(file.name);
    PrismPart like;
    like.file = file.name;
    const std::string ending = path.extension().string();
    for (const Ending& known : kEndings) {
      if (known.text == ending) like.kind = known.kind;
    }
    const bool rewards = ending == ".srew" || ending == ".trew";
    const auto count = parts.size();
    naming(file.name, [&] { split(file, like, ending == ".pexp", parts); });
    for (auto i = count; rewards && i < parts.size(); ++i) {
      if (!parts[i].reward.empty()) continue;
      parts[i].structure = "number " + number_before_ending(path);
    }
  }
  return parts;
}

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

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

const PrismPart* find_part(const std::vector<PrismPart>& parts, PrismKind kind) {
  const PrismPart* found = nullptr;
  for (const PrismPart& part : parts) {
    if (part.kind != kind) continue;
    require(found == nullptr, "{}: two parts of the same kind, must be one", part.file);
    found = &part;
  }
  return found;
}

// Structures without names: one is the reward, several are told apart by their numbers.
void name_structures(std::vector<ExplicitReward>& rewards) {
  const auto nameless =
      std::count_if(rewards.begin(), rewards.end(), [](auto& r) { return r.name.empty(); });
  int number = 0;
  for (ExplicitReward& reward : rewards) {
    ++number;
    if (reward.name.empty() && nameless > 1) reward.name = fmt::format("reward{}", number);
  }
}

}  // namespace
}  // namespace internal::io

Draft read_prism(const std::vector<TextFile>& files, std::string_view terms,
                 std::string_view terms_name) {
  using namespace io;
  require(!files.empty(), "no files, must be at least one with transitions");
  const std::string& name = files.front().name;
  const auto parts = prism_parts(files);
  const PrismPart* transitions = find_part(parts, PrismKind::transitions);
  require(transitions != nullptr, "{}: has no transitions, must have them", name);
  PrismTransitions model =
      naming(transitions->file, [&] { return PrismTransitions(*transitions); });
  ExplicitFile& file = model.file();
  if (const PrismPart* states = find_part(parts, PrismKind::states))
    naming(states->file, [&] { read_prism_states(*states, file); });
  if (const PrismPart* labels = find_part(parts, PrismKind::labels))
    naming(labels->file, [&] { read_prism_labels(*labels, file); });
  auto rewards = read_prism_rewards(parts, file, model.nondeterministic());
  name_structures(rewards);
  naming(name, [&] {
    ModelArrays& a = file.arrays;
    a.probability = a.upper;  // which outcomes there can be
    for (ExplicitReward& reward : rewards) {
      if (!reward.branches.empty()) reward.choices = take_row_values(reward.branches, a);
    }
    add_rewards(std::move(rewards), a);
  });
  return complete(std::move(file), name, terms, terms_name);
}

}  // namespace redoubt
