#include "support/csv_records.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace redoubt::internal {

std::optional<double> decimal_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

CsvTable::CsvTable(std::string_view text, std::span<const CsvColumn> known) : records_(text) {
  require(records_.next(), "is empty, must begin with a header line");
  names_.assign(records_.fields().begin(), records_.fields().end());
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    const std::string& name = names_[i];
    require(
        name.empty() || std::find(names_.begin(), names_.begin() + i, name) == names_.begin() + i,
        "line {}: column '{}' is given twice, must be given once", line(), excerpt(name));
    const auto it = std::find_if(known.begin(), known.end(),
                                 [&](const CsvColumn& column) { return column.name == name; });
    if (it != known.end())
      *it->place = i;
    else if (!name.empty())
      others_.push_back(i);
  }
  for (const CsvColumn& column : known)
    require(column.optional || *column.place >= 0, "line {}: column '{}' is missing, must be given",
            line(), column.name);
}

std::vector<std::string> CsvTable::other_names() const {
  std::vector<std::string> names;
  for (const int column : others_) names.push_back(names_[column]);
  return names;
}

bool CsvTable::next() {
  if (!records_.next()) return false;
  require(records_.fields().size() == names_.size(), "line {}: {} fields, must be {}", line(),
          records_.fields().size(), names_.size());
  return true;
}

double CsvTable::number(int column) const {
  const auto value = decimal_of(records_.fields()[column]);
  if (!value) fail(column, "must be a finite number");
  return *value;
}

std::int32_t CsvTable::integer(int column, std::int32_t most) const {
  // Mostly digits, and few; anything else is read as the number that it may be.
  const std::string_view text = records_.fields()[column];
  std::int32_t digits = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (result.ec == std::errc() && result.ptr == text.data() + text.size() && digits >= 0 &&
      digits <= most)
    return digits;
  const double value = number(column);
  if (!(value >= 0 && value <= most && value == std::floor(value)))
    fail(column, fmt::format("must be a whole number in 0..{}", most));
  return static_cast<std::int32_t>(value);
}

void CsvTable::fail(int column, std::string_view rule) const {
  throw Error(fmt::format("line {}: {} = {}, {}", line(), excerpt(names_[column]),
                          excerpt(records_.fields()[column]), rule));
}

}  // namespace redoubt::internal
