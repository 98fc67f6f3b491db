#include "support/json_node.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr std::size_t deepest = 16;  // our files need 5

// Builds the values as nlohmann's own reader does, with two rules more: no key twice, no deep
// nesting.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool end_object() override {
    const auto& members = open_.back()->get_ref<const Json::object_t&>();
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    require(twin == keys.end(), "key '{}' is given twice, must be given once",
            twin == keys.end() ? "" : excerpt(*twin));
    return close();
  }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string what = error.what();
    const auto at = std::min(position, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + at, '\n');
    require(what.find("unexpected end of input") == std::string::npos,
            "line {}: the text ends here, inside a value; must be complete JSON", line);
    const auto dash = what.find(" - "), bracket = what.find("] ");  // before nlohmann's own words
    const auto detail = dash != std::string::npos ? dash + 3 : bracket + 2;
    throw Error(fmt::format("line {}: {}, must be JSON", line, excerpt(what.substr(detail), 200)));
  }

 private:
  template <class Value>
  bool add(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) {
      auto& list = open_.back()->get_ref<Json::array_t&>();
      return list.emplace_back(std::move(value));
    }
    auto& members = open_.back()->get_ref<Json::object_t&>();
    // Straight to the back: a search for the key would make large objects quadratic.
    members.emplace_back(std::move(key_), std::move(value));
    return members.back().second;
  }
  bool open(Json value) {
    require(open_.size() < deepest, "values are nested more than {} deep, must be at most that",
            deepest);
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

std::string json_excerpt(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return fmt::format("an object of {}", value.size());
  if (value.is_number_float()) return number_text(value.get<double>());
  const auto text = [](const Json& shown) {
    return excerpt(shown.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  // The whole of a long text would be copied to show its beginning.
  constexpr std::size_t kShown = 100;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kShown)
    return text(Json(value.get_ref<const std::string&>().substr(0, kShown)));
  return text(value);
}

}  // namespace

Json parse_json(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  require(text.find_first_not_of(" \t\r\n") != std::string_view::npos, "is empty, must be JSON");
  Builder builder(text);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

void JsonNode::allow_only(const std::vector<std::string_view>& keys) const {
  if (!value_->is_object()) fail("must be an object");
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    if (key == "comment" || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw Error(fmt::format("unknown key '{}'{}{}, must be one of {}", excerpt(key),
                            parent_ == nullptr ? "" : " in ", parent_ == nullptr ? "" : path(),
                            fmt::join(keys, ", ")));
  }
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  if (!value_->is_object()) fail("must be an object");
  for (const auto& [k, value] : value_->get_ref<const Json::object_t&>()) {
    if (k == key) return JsonNode(value, *this, k, 0);
  }
  return std::nullopt;
}

JsonNode JsonNode::at(std::string_view key) const {
  const auto found = find(key);
  const bool inside = parent_ != nullptr;
  require(found.has_value(), "{}{}key '{}' is missing, must be given", inside ? path() : "",
          inside ? ": " : "", key);
  return *found;
}

JsonNode JsonNode::at(std::size_t index) const {
  return JsonNode((*value_)[index], *this, {}, index);
}

std::size_t JsonNode::size() const {
  if (!value_->is_array()) fail("must be a list");
  return value_->size();
}

void JsonNode::require_size(std::int64_t entries, std::string_view each) const {
  if (static_cast<std::int64_t>(size()) != entries)
    fail(fmt::format("must have {} entries, one for each {}", entries, each));
}

bool JsonNode::flag() const {
  if (!value_->is_boolean()) fail("must be true or false");
  return value_->get<bool>();
}

double JsonNode::number() const {
  if (!value_->is_number()) fail("must be a number");
  return value_->get<double>();
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  const auto rule = [&] { return fmt::format("must be a whole number in {}..{}", least, most); };
  if (!value_->is_number()) fail(rule());
  const double value = value_->get<double>();  // all our ranges lie within the exact integers
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most) &&
        value == std::floor(value)))
    fail(rule());
  return static_cast<std::int64_t>(value);
}

std::string JsonNode::text() const {
  if (!value_->is_string()) fail("must be a text in quotes");
  return value_->get<std::string>();
}

std::string JsonNode::path() const {
  if (parent_ == nullptr) return "";
  const std::string before = parent_->path();
  if (key_.empty()) return fmt::format("{}[{}]", before, index_);
  const std::string key = excerpt(key_);
  return before.empty() ? key : fmt::format("{}.{}", before, key);
}

void JsonNode::fail(std::string_view rule) const {
  const std::string where = path();
  throw Error(where.empty() ? fmt::format("the file holds {}, {}", json_excerpt(*value_), rule)
                            : fmt::format("{} = {}, {}", where, json_excerpt(*value_), rule));
}

void require_format(const JsonNode& root, std::string_view format, int version) {
  const JsonNode given = root.at("format");
  if (given.text() != format) given.fail(fmt::format("must be \"{}\"", format));
  const JsonNode number = root.at("version");
  if (number.integer(1, 1'000'000) > version)
    number.fail(fmt::format("is newer than this program, which reads versions up to {}", version));
}

std::string number_text(double value) {
  // JSON readers take "-0" for the integer 0.
  return value == 0 && std::signbit(value) ? "-0.0" : fmt::format("{}", value);
}

std::string quoted(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw Error(fmt::format("name '{}' is not valid UTF-8, must be to be written as JSON",
                            Json(text).dump(-1, ' ', true, Json::error_handler_t::replace)));
  }
}

}  // namespace redoubt::internal
