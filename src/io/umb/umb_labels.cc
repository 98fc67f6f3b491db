#include "io/umb/umb_labels.h"

#include "io/umb/umb_index.h"
#include "support/require.h"

namespace redoubt::internal::io {

void read_labels(umb::Members& members, const JsonNode& index, std::int64_t states,
                 ModelArrays& arrays) {
  const auto annotations = index.find("annotations");
  const auto labels = annotations ? annotations->find(umb::labels_group) : std::nullopt;
  if (!labels) return;
  if (!labels->raw().is_object()) labels->fail("must be an object");
  for (const auto& [id, description] : labels->raw().get_ref<const Json::object_t&>()) {
    const JsonNode node = labels->at(id);
    const std::string member = umb::annotation(umb::labels_group, id, "states");
    if (!members.has(member)) continue;
    if (const auto type = node.find("type"); type && type->at("type").text() != "bool")
      type->at("type").fail("must be \"bool\"");
    const auto alias = node.find("alias");
    Label label{alias ? alias->text() : id, members.bits(member, states)};
    while (!label.states.empty() && label.states.back() >= arrays.states) label.states.pop_back();
    arrays.labels.push_back(std::move(label));
  }
}

std::string bits_of(const std::vector<State>& states, std::int64_t count, std::int64_t layer) {
  std::vector<std::uint64_t> bits((count + 63) / 64, 0);
  for (std::int64_t first = 0; first < count; first += layer) {
    for (const State s : states) bits[(first + s) / 64] |= std::uint64_t{1} << ((first + s) % 64);
  }
  return umb::to_bytes(bits);
}

}  // namespace redoubt::internal::io
