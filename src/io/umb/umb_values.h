#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/archives.h"
#include "redoubt/model.h"
#include "support/json_node.h"

// Unified Markov Binary, version 1: a tar archive with index.json and arrays.
namespace redoubt::internal::io::umb {

// Numbers of a file, as doubles; intervals have both ends.
struct Values {
  std::vector<double> lower, upper;  // upper is empty unless the type is an interval
};

bool is_interval(const JsonNode& type);

// Entries begin..end-1 of an array.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};
using Ranges = std::vector<Range>;  // in increasing order
std::int64_t size_of(const Ranges& ranges);
// Adds one that comes after all others; what touches becomes one.
void add_range(Ranges& ranges, const Range& range);

// The arrays of an archive, of which only the entries asked for are kept. `count` is how many the
// whole array must have.
class Members {
 public:
  explicit Members(TarReader& archive);

  std::size_t bytes() const { return bytes_; }  // of all members
  bool has(const std::string& name) const { return archive_.members().contains(name); }
  std::string text(const std::string& name);

  // An Error unless the member is there and has its values, or offsets: which are one more, and may
  // be missing when they count from 0 to `total` by ones.
  void check_values(const std::string& name, std::int64_t count, const JsonNode& type) const;
  void check_offsets(const std::string& name, std::int64_t count, std::int64_t total) const;

  // Offsets `range.begin` to `range.end`, both included, of those that begin at 0, never decrease
  // and end at `total`; without the member, one each.
  std::vector<std::int64_t> offsets(const std::string& name, std::int64_t count, std::int64_t total,
                                    const Range& range);
  // For each of the increasing `values`, the first offset that is not below it. Of a plain archive
  // by halving, in a few reads.
  std::vector<std::int64_t> lower_bounds(const std::string& name, std::int64_t count,
                                         std::int64_t total,
                                         const std::vector<std::int64_t>& values);
  // Whole numbers below `limit`; without the member, zeros.
  template <class Stored>
  std::vector<std::int32_t> numbers(const std::string& name, std::int64_t count, std::int64_t limit,
                                    const Ranges& ranges);
  std::vector<State> bits(const std::string& name, std::int64_t count);  // those that are set
  // Of the type that index.json gives, such as {"type": "double", "size": 64}.
  Values values(const std::string& name, std::int64_t count, const JsonNode& type,
                const Ranges& ranges);

 private:
  void check_size(const std::string& name, std::int64_t count, std::int64_t bits_each) const;
  // visit(entry, where it lies) for all entries of the ranges; `bytes_each` is the size of one.
  template <class Visit>
  void for_each(const std::string& name, std::int64_t bytes_each, const Ranges& ranges,
                Visit visit);
  template <class Visit>
  void for_each_offset(const std::string& name, std::int64_t count, std::int64_t total,
                       const Range& range, Visit visit);
  std::int64_t offset(const std::string& name, std::int64_t total, std::int64_t i);

  TarReader& archive_;
  std::size_t bytes_ = 0;
};

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
