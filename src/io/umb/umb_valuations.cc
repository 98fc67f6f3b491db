#include "io/umb/umb_annotations.h"

#include <fmt/format.h>

#include <unordered_set>

#include "io/umb/umb_index.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

// A variable, or bits between variables where the name is empty.
struct PackedVariable {
  std::string name;
  int bits = 0;
  bool truth = false, sign = false;
  std::int64_t offset = 0;  // added to the stored number
};

// None where some variable is neither a whole number nor a truth value.
std::optional<std::vector<PackedVariable>> read_variables(const JsonNode& list) {
  std::vector<PackedVariable> variables;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonNode one = list.at(i);
    PackedVariable variable;
    if (const auto padding = one.find("padding")) {
      variable.bits = static_cast<int>(padding->integer(0, 1 << 20));
    } else {
      variable.name = one.at("name").text();
      const JsonNode type = one.at("type");
      const std::string kind = type.at("type").text();
      if (kind != "bool" && kind != "int" && kind != "uint") return {};
      const auto size = type.find("size");
      variable.bits = size ? static_cast<int>(size->integer(1, 64)) : kind == "bool" ? 1 : 64;
      variable.truth = kind == "bool";
      variable.sign = kind == "int";
      if (const auto offset = one.find("offset"))
        variable.offset = offset->integer(-(std::int64_t{1} << 62), std::int64_t{1} << 62);
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

// Bits begin..begin+count-1, the lowest first.
std::uint64_t bits_at(std::string_view bytes, std::uint64_t begin, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    const auto at = begin + i;
    const auto byte = static_cast<unsigned char>(bytes[at / 8]);
    value |= std::uint64_t{(byte >> (at % 8)) & 1U} << i;
  }
  return value;
}

std::string value_text(const PackedVariable& variable, std::uint64_t bits) {
  if (variable.truth) return bits != 0 ? "true" : "false";
  if (variable.sign && variable.bits < 64 && (bits >> (variable.bits - 1)) != 0)
    bits |= ~std::uint64_t{0} << variable.bits;
  // Modulo 2^64, as files of large numbers may have it.
  const auto sum = bits + static_cast<std::uint64_t>(variable.offset);
  return fmt::format("{}", static_cast<std::int64_t>(sum));
}

}  // namespace

void read_valuations(umb::Members& members, const JsonNode& index, ModelArrays& arrays) {
  const std::string member = "valuations/states/valuations.bin";
  const auto valuations = index.find("valuations");
  const auto states = valuations ? valuations->find("states") : std::nullopt;
  const auto classes = states ? states->find("classes") : std::nullopt;
  if (!classes || classes->size() != 1 || !members.has(member)) return;
  const JsonNode one = classes->at(std::size_t{0});
  const auto variables = read_variables(one.at("variables"));
  if (!variables) return;
  std::uint64_t bits = 0;
  for (const PackedVariable& variable : *variables) bits += variable.bits;
  const std::string bytes = members.text(member);
  const auto count = static_cast<std::uint64_t>(arrays.states);
  require(bits % 8 == 0 && bytes.size() == count * (bits / 8),
          "{}: {} bytes for {} states of {} bits, must be whole bytes for each", member,
          bytes.size(), count, bits);
  std::vector<std::string> names;
  std::unordered_set<std::string> distinct;
  for (std::uint64_t s = 0; s < count; ++s) {
    std::string name;
    auto at = s * bits;
    for (const PackedVariable& variable : *variables) {
      if (!variable.name.empty())
        name += fmt::format("{}{}={}", name.empty() ? "" : ", ", variable.name,
                            value_text(variable, bits_at(bytes, at, variable.bits)));
      at += variable.bits;
    }
    if (!distinct.insert(name).second) return;
    names.push_back(std::move(name));
  }
  arrays.state_names = std::move(names);
}

}  // namespace redoubt::internal::io
