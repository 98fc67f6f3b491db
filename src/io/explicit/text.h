#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redoubt/model.h"

// What the text formats of model checkers have in common: lines of words and numbers.
namespace redoubt::internal::io {

// The lines of a text, without line ends and blanks at their end.
class TextLines {
 public:
  explicit TextLines(std::string_view text, std::int64_t first = 1)
      : rest_(text), number_(first - 1) {}

  bool next();         // false after the last
  bool next_filled();  // the same, past blank lines
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }

  // "line 7: WHAT, RULE".
  [[noreturn]] void fail(std::string_view what, std::string_view rule) const;

 private:
  std::string_view rest_, line_;
  std::int64_t number_;
};

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> words_of(std::string_view line);  // between blanks and tabs

// A finite number, as a decimal or as a quotient such as 1/3.
std::optional<double> number_of(std::string_view text);
std::optional<std::int64_t> count_of(std::string_view text);  // a whole number below 2^40

// A number, which is both ends, or an interval such as [0.1, 0.2].
struct Bounds {
  double lower = 0, upper = 0;
};
std::optional<Bounds> bounds_of(std::string_view text);

// How names of states are made of the values of variables, and back.
std::string valuation_name(const std::vector<std::string_view>& variables,
                           const std::vector<std::string_view>& values);
// The names of the variables and the values of each state; none where the names are others.
struct Valuations {
  std::vector<std::string> variables;
  std::vector<std::vector<std::string>> values;  // of each state
};
std::optional<Valuations> valuations_of(const std::vector<std::string>& state_names);

}  // namespace redoubt::internal::io
