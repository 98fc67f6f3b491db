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

CLI::Validator is_number() {
  return CLI::Validator(
      [](std::string& text) {
        return to_number(text) ? "" : fmt::format("'{}', must be a number", text);
      },
      "");
}

CLI::Validator is_whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        return parse<int>(text) ? "" : fmt::format("'{}', must be a whole number", text);
      },
      "");
}

CLI::Validator is_one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        const auto near = near_matches(text, words);
        return fmt::format("'{}', must be one of {}{}", text, fmt::join(words, ", "),
                           near.empty() ? "" : fmt::format("; did you mean {}?", near.front()));
      },
      "");
}

CLI::Validator is_memory_size() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        static const std::map<std::string, double> units = {{"", 1},     {"B", 1},    {"kB", 1e3},
                                                            {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
        const std::size_t letters = std::min(text.find_first_of("BkMGT"), text.size());
        const auto unit = units.find(text.substr(letters));
        const auto number = to_number(text.substr(0, letters));
        if (!number || *number < 0 || unit == units.end())
          return fmt::format("'{}', must be a number of bytes, kB, MB, GB or TB, such as 16GB",
                             text);
        text = fmt::format("{}", *number * unit->second);
        return "";
      },
      "");
}

}  // namespace redoubt::app
