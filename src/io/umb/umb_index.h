#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

// Names and layout of Unified Markov Binary, version 1: a tar archive with index.json and arrays.
namespace redoubt::internal::io::umb {

static_assert(std::endian::native == std::endian::little,
              "UMB arrays are little-endian; a big-endian machine needs byte swaps here");

inline constexpr const char* index = "index.json";
inline constexpr const char* state_is_initial = "state-is-initial.bin";
inline constexpr const char* state_to_choices = "state-to-choices.bin";
inline constexpr const char* choice_to_branches = "choice-to-branches.bin";
inline constexpr const char* branch_to_target = "branch-to-target.bin";
inline constexpr const char* branch_to_probability = "branch-to-probability.bin";
inline constexpr const char* action_values = "actions/choices/values.bin";
inline constexpr const char* action_string_mapping = "actions/choices/string-mapping.bin";
inline constexpr const char* action_strings = "actions/choices/strings.bin";

inline std::string annotation(const std::string& group, const std::string& id,
                              const std::string& applies_to) {
  return "annotations/" + group + "/" + id + "/" + applies_to + "/values.bin";
}

// Atomic propositions: sets of states.
inline constexpr const char* labels_group = "aps";

// What UMB has no place for: radii of choices, nominal probabilities of interval branches. The
// terms are in index.json, as the parameters of the file's tool.
inline constexpr const char* own_group = "redoubt";

template <class Value>
std::string to_bytes(const std::vector<Value>& values) {
  std::string out(values.size() * sizeof(Value), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace redoubt::internal::io::umb
