#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/require.h"

namespace redoubt::internal {

inline constexpr std::size_t most_fields = 1000;  // of a record; enough for every signal there is

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
  const std::vector<std::string>& fields() const { return fields_; }
  int line() const { return line_; }

 private:
  std::string field() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    std::string out;
    if (at_ < text_.size() && text_[at_] == '"') {
      out = quoted_field();
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      require(at_ == text_.size() || text_[at_] == ',' || text_[at_] == '\n',
              "line {}: text after a closing quote, must be a comma or the end of the line", line_);
      return out;
    }
    const auto end = std::min(text_.find_first_of(",\n", at_), text_.size());
    out = text_.substr(at_, end - at_);
    at_ = end;
    while (!out.empty() && is_blank(out.back())) out.pop_back();
    return out;
  }
  std::string quoted_field() {
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++next_line_;
      if (text_[at_] != '"') {
        out += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        out += text_[++at_];
      } else {
        ++at_;
        return out;
      }
    }
    throw Error(fmt::format("line {}: a quote is never closed, must be", line_));
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0, next_line_ = 1;
  std::vector<std::string> fields_;
};

}  // namespace redoubt::internal
