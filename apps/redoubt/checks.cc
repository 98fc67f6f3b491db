#include "checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "redoubt/error.h"

namespace redoubt::app {
namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::optional<double> to_number(std::string_view text) { return parse<double>(text); }

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto near = near_matches(word, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

Check is_number() {
  return [](std::string& text) {
    return to_number(text) ? "" : fmt::format("'{}', must be a number", text);
  };
}

Check is_whole_number(std::optional<int> least) {
  return [least](std::string& text) -> std::string {
    const auto number = parse<int>(text);
    if (number && (!least || *number >= *least)) return "";
    return fmt::format("'{}', must be a whole number{}", text,
                       least ? fmt::format(" from {} on", *least) : "");
  };
}

Check is_one_of(std::vector<std::string> words) {
  return [words = std::move(words)](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return fmt::format("'{}', must be one of {}{}", text, fmt::join(words, ", "),
                       did_you_mean(text, words));
  };
}

Check is_memory_size() {
  return [](std::string& text) -> std::string {
    static const std::map<std::string, double> units = {{"", 1},     {"B", 1},    {"kB", 1e3},
                                                        {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    const std::size_t letters = std::min(text.find_first_of("BkMGT"), text.size());
    const auto unit = units.find(text.substr(letters));
    const auto number = to_number(text.substr(0, letters));
    if (!number || *number < 0 || unit == units.end())
      return fmt::format("'{}', must be a number of bytes, kB, MB, GB or TB, such as 16GB", text);
    text = fmt::format("{}", *number * unit->second);
    return "";
  };
}

}  // namespace redoubt::app
