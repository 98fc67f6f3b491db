#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/require.h"

namespace redoubt::internal {

inline constexpr std::size_t most_fields = 1000;  // of a record; enough for every signal there is

// A field in quotes, which may hold anything.
inline std::string csv_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

// Splits text into records: commas, quotes, blanks around fields, either line ending.
class CsvRecords {
 public:
  explicit CsvRecords(std::string_view text) : text_(text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text_.substr(0, mark.size()) == mark) at_ = mark.size();
  }
  // False at the end. Empty lines do not count as records.
  bool next() {
    while (at_ < text_.size()) {
      line_ = next_line_;
      fields_.clear();
      unescaped_.clear();
      do {
        require(fields_.size() < most_fields, "line {}: more than {} columns, must be at most that",
                line_, most_fields);
        fields_.push_back(field());
      } while (at_ < text_.size() && text_[at_] == ',' && ++at_);
      if (at_ < text_.size()) ++at_, ++next_line_;  // the end of the line
      if (fields_.size() > 1 || !fields_[0].empty()) return true;
    }
    return false;
  }
  // They point into the text and are gone with the next record.
  const std::vector<std::string_view>& fields() const { return fields_; }
  int line() const { return line_; }

 private:
  std::string_view field() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::string_view out = quoted_field();
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      require(at_ == text_.size() || text_[at_] == ',' || text_[at_] == '\n',
              "line {}: text after a closing quote, must be a comma or the end of the line", line_);
      return out;
    }
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != ',' && text_[end] != '\n') ++end;
    std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    while (!out.empty() && is_blank(out.back())) out.remove_suffix(1);
    return out;
  }
  std::string_view quoted_field() {
    const std::size_t begin = ++at_;
    std::string* copy = nullptr;  // needed from the first doubled quote on
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++next_line_;
      if (text_[at_] != '"') {
        if (copy != nullptr) *copy += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        if (copy == nullptr) copy = &unescaped_.emplace_back(text_.substr(begin, at_ - begin));
        *copy += text_[++at_];
      } else {
        ++at_;
        return copy != nullptr ? std::string_view(*copy) : text_.substr(begin, at_ - 1 - begin);
      }
    }
    throw Error(fmt::format("line {}: a quote is never closed, must be", line_));
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0, next_line_ = 1;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields with quotes in them, of this record
};

// A finite number, as a decimal.
std::optional<double> decimal_of(std::string_view text);

// A column that a table may have, and where it stands.
struct CsvColumn {
  std::string_view name;
  int* place;  // -1: nowhere
  bool optional = false;
};

// Records below a header line. Errors name the line and the column.
class CsvTable {
 public:
  CsvTable(std::string_view text, std::span<const CsvColumn> known);

  // Columns with other names. (One without a name is the row number of a data frame.)
  const std::vector<int>& others() const { return others_; }
  std::vector<std::string> other_names() const;

  bool next();  // record; false at the end
  int line() const { return records_.line(); }
  bool is_empty(int column) const { return records_.fields()[column].empty(); }
  double number(int column) const;
  // From 0 up to `most`.
  std::int32_t integer(int column,
                       std::int32_t most = std::numeric_limits<std::int32_t>::max() - 1) const;

 private:
  [[noreturn]] void fail(int column, std::string_view rule) const;

  CsvRecords records_;
  std::vector<std::string> names_;
  std::vector<int> others_;
};

}  // namespace redoubt::internal
