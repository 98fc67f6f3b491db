#include <algorithm>

#include "io/json/json_model.h"
#include "redoubt/io.h"
#include "support/file.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

bool names_a_reward(const JsonNode& root) {
  if (root.find("reward") || root.find("objective")) return true;
  if (const auto arrivals = root.find("arrivals"); arrivals && arrivals->find("reward"))
    return true;
  const Json& transitions = root.at("transitions").raw();
  return std::any_of(transitions.begin(), transitions.end(), [](const Json& transition) {
    return transition.is_object() && transition.contains("reward");
  });
}

Draft read_root(const JsonNode& root, std::size_t bytes) {
  require_format(root, "redoubt-problem", 1);
  root.allow_only({"format", "version", "states", "actions", "horizon", "discount", "start",
                   "transitions", "reward", "signals", "constraints", "uncertainty", "arrivals",
                   "labels", "objective", "nature", "groups", "helpful_groups", "factors"});
  Model model = read_model(root, bytes, read_horizon(root));
  Terms terms = read_terms(root, model.arrays());
  return {std::move(model), std::move(terms), names_a_reward(root)};
}

}  // namespace

Draft read_json_draft(std::string_view text, std::string_view name) {
  return naming(name, [&] {
    const Json json = parse_json(text);
    return read_root(JsonNode(json), text.size());
  });
}

}  // namespace internal::io

Problem read_json(std::string_view text, std::string_view name) {
  Draft draft = io::read_json_draft(text, name);
  return naming(name, [&] { return pose(std::move(draft)); });
}

}  // namespace redoubt
