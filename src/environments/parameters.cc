#include "environments/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/require.h"

namespace redoubt::internal {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

EnvironmentId parse_id(std::string_view text) {
  const std::string_view id = trim(text);
  const auto open = id.find('(');
  EnvironmentId result{std::string(trim(id.substr(0, open))), {}};
  require(is_word(result.name), "environment id '{}', must read name or name(key=value,...)",
          excerpt(text));
  if (open == std::string_view::npos) return result;
  require(id.back() == ')', "environment id '{}', must end with ')'", excerpt(text));
  std::string_view rest = trim(id.substr(open + 1, id.size() - open - 2));
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto equals = part.find('=');
    const std::string_view key = trim(part.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? "" : trim(part.substr(equals + 1));
    require(is_word(key) && !value.empty(), "'{}' in environment id '{}', must read key=value",
            excerpt(trim(part)), excerpt(text));
    result.given.emplace_back(key, value);
    if (comma == std::string_view::npos) break;
    rest = trim(rest.substr(comma + 1));
    require(!rest.empty(), "environment id '{}', must not end with a comma", excerpt(text));
  }
  return result;
}

Parameters::Parameters(const EnvironmentInfo& environment, const EnvironmentId& id)
    : environment_(environment.name) {
  std::vector<std::string> known;
  for (const ParameterInfo& parameter : environment.parameters) {
    known.push_back(parameter.name);
    values_[parameter.name] = {parameter.default_value, false};
  }
  for (const auto& [key, value] : id.given) {
    const auto found = values_.find(key);
    require(found != values_.end(), "{}: parameter '{}', must be one of {}", environment_,
            excerpt(key), fmt::join(known, ", "));
    require(!found->second.given, "{}: parameter '{}' is given twice, must be given once",
            environment_, key);
    found->second = {value, true};
  }
}

void Parameters::refuse(const std::string& name, const std::string& rule) const {
  throw Error(fmt::format("{}: {} = {}, {}", environment_, name, excerpt(text(name)), rule));
}

bool Parameters::given(const std::string& name) const { return values_.at(name).given; }

const std::string& Parameters::text(const std::string& name) const { return values_.at(name).text; }

double Parameters::number(const std::string& name) const {
  const auto value = parse<double>(text(name));
  if (!value || !std::isfinite(*value)) refuse(name, "must be a finite number");
  return *value;
}

double Parameters::number(const std::string& name, double least, double most) const {
  const double value = number(name);
  if (value < least || value > most)
    refuse(name, fmt::format("must be a number from {} to {}", least, most));
  return value;
}

std::int64_t Parameters::integer(const std::string& name, std::int64_t least,
                                 std::int64_t most) const {
  const auto value = parse<std::int64_t>(text(name));
  if (!value || *value < least || *value > most)
    refuse(name, fmt::format("must be an integer from {} to {}", least, most));
  return *value;
}

std::optional<std::int64_t> Parameters::integer_or(const std::string& word, const std::string& name,
                                                   std::int64_t least, std::int64_t most) const {
  if (text(name) == word) return {};
  const auto value = parse<std::int64_t>(text(name));
  if (!value || *value < least || *value > most)
    refuse(name, fmt::format("must be {} or an integer from {} to {}", word, least, most));
  return value;
}

std::uint64_t Parameters::seed(const std::string& name) const {
  const auto value = parse<std::uint64_t>(text(name));
  if (!value) refuse(name, "must be an integer from 0 to 2^64 - 1");
  return *value;
}

std::vector<double> Parameters::numbers(const std::string& name, char separator) const {
  std::vector<double> values;
  std::string_view rest = text(name);
  while (true) {
    const auto end = rest.find(separator);
    const auto value = parse<double>(std::string(trim(rest.substr(0, end))));
    if (!value) refuse(name, fmt::format("must be numbers separated by '{}'", separator));
    values.push_back(*value);
    if (end == std::string_view::npos) return values;
    rest.remove_prefix(end + 1);
  }
}

std::string Parameters::choice(const std::string& name,
                               const std::vector<std::string>& choices) const {
  if (std::find(choices.begin(), choices.end(), text(name)) == choices.end())
    refuse(name, fmt::format("must be one of {}", fmt::join(choices, ", ")));
  return text(name);
}

}  // namespace redoubt::internal
