#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"

namespace redoubt::app {

std::optional<double> to_number(std::string_view text);

// "; did you mean X or Y?", or nothing when no known word is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

// Checks of option values, with errors that name the value and the rule.
Check is_number();
Check is_whole_number(std::optional<int> least = {});
Check is_one_of(std::vector<std::string> words);

// A number of bytes, or of kB, MB, GB or TB; leaves the number of bytes.
Check is_memory_size();

}  // namespace redoubt::app
