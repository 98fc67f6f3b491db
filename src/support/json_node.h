#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redoubt::internal {

using Json = nlohmann::ordered_json;  // keeps the order of signals

// Text to values. Errors name the line; keys given twice and nesting deeper than any of our files
// are errors too, so that hostile text costs little.
Json parse_json(std::string_view text);

// A value inside a file that knows where it is, so that every complaint names its path, such as
// "transitions[17].p". A node must not outlive the node it came from.
class JsonNode {
 public:
  explicit JsonNode(const Json& root) : value_(&root) {}

  // Members of an object and of a list.
  void allow_only(const std::vector<std::string_view>& keys) const;  // and "comment"
  std::optional<JsonNode> find(std::string_view key) const;
  JsonNode at(std::string_view key) const;  // an Error when there is none
  JsonNode at(std::size_t index) const;
  std::size_t size() const;                                              // of a list
  void require_size(std::int64_t entries, std::string_view each) const;  // an Error unless so
  // Calls visit(key, value) for the members of an object, in the order of the text; the rule is of
  // the error where it is none.
  template <class Visit>
  void for_each_member(std::string_view rule, Visit visit) const {
    if (!value_->is_object()) fail(rule);
    for (const auto& [key, value] : value_->get_ref<const Json::object_t&>())
      visit(key, JsonNode(value, *this, key, 0));
  }

  // Values, checked.
  double number() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::string text() const;
  bool flag() const;
  const Json& raw() const { return *value_; }
  bool is_null() const { return value_->is_null(); }

  // "path = value, rule".
  [[noreturn]] void fail(std::string_view rule) const;
  std::string path() const;

 private:
  JsonNode(const Json& value, const JsonNode& parent, std::string_view key, std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index) {}
  const Json* value_;
  const JsonNode* parent_ = nullptr;
  std::string_view key_;  // empty: an entry of a list
  std::size_t index_ = 0;
};

// An Error unless the file says that it is of this format, in this version or an older one.
void require_format(const JsonNode& root, std::string_view format, int version);

// The shortest text that reads back as the same double.
std::string number_text(double value);
// Quoted and escaped; an Error when it is not valid UTF-8.
std::string quoted(const std::string& text);

}  // namespace redoubt::internal
