#include <algorithm>

#include "io/prism/prism_parts.h"
#include "support/file.h"
#include "support/require.h"

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
