#include "io/explicit/text.h"

#include <charconv>
#include <cmath>

#include "support/csv_records.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

bool TextLines::next() {
  if (rest_.empty()) return false;
  const auto end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  while (!line_.empty() && kBlanks.find(line_.back()) != std::string_view::npos)
    line_.remove_suffix(1);
  ++number_;
  return true;
}

bool TextLines::next_filled() {
  while (next()) {
    if (!trimmed(line_).empty()) return true;
  }
  return false;
}

void TextLines::fail(std::string_view what, std::string_view rule) const {
  throw Error(fmt::format("line {}: {}, {}", number_, excerpt(what), rule));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view text) {
  const auto bar = text.find('/');
  if (bar == std::string_view::npos) return decimal_of(text);
  const auto above = decimal_of(trimmed(text.substr(0, bar)));
  const auto below = decimal_of(trimmed(text.substr(bar + 1)));
  if (!above || !below || *below == 0 || !std::isfinite(*above / *below)) return {};
  return *above / *below;
}

std::optional<std::int64_t> count_of(std::string_view text) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    return {};
  return value;
}

std::optional<Bounds> bounds_of(std::string_view text) {
  if (!text.starts_with('[')) {
    const auto value = number_of(text);
    return value ? std::optional<Bounds>({*value, *value}) : std::nullopt;
  }
  const auto comma = text.find(',');
  if (!text.ends_with(']') || comma == std::string_view::npos) return {};
  const auto lower = number_of(trimmed(text.substr(1, comma - 1)));
  const auto upper = number_of(trimmed(text.substr(comma + 1, text.size() - comma - 2)));
  if (!lower || !upper) return {};
  return Bounds{*lower, *upper};
}

std::string valuation_name(const std::vector<std::string_view>& variables,
                           const std::vector<std::string_view>& values) {
  std::string name;
  for (std::size_t i = 0; i < variables.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : ", ", variables[i], values[i]);
  return name;
}

std::optional<Valuations> valuations_of(const std::vector<std::string>& state_names) {
  Valuations out;
  for (const std::string& name : state_names) {
    std::vector<std::string> variables, values;
    for (std::size_t begin = 0; begin <= name.size();) {
      const auto end = std::min(name.find(", ", begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      const auto equals = part.find('=');
      if (equals == 0 || equals == std::string::npos || equals + 1 == part.size()) return {};
      variables.push_back(part.substr(0, equals));
      values.push_back(part.substr(equals + 1));
      if (part.find_first_of("(),\"\n\r\t &[]") != std::string::npos) return {};
      begin = end + 2;
    }
    if (out.values.empty())
      out.variables = std::move(variables);
    else if (variables != out.variables)
      return {};
    out.values.push_back(std::move(values));
  }
  if (out.values.empty()) return {};
  return out;
}

}  // namespace redoubt::internal::io
