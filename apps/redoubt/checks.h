#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace redoubt::app {

std::optional<double> to_number(std::string_view text);

// Checks of option values, with errors that name the value and the rule.
CLI::Validator is_number();
CLI::Validator is_whole_number();
CLI::Validator is_one_of(std::vector<std::string> words);

// A number of bytes, or of kB, MB, GB or TB; leaves the number of bytes.
CLI::Validator is_memory_size();

}  // namespace redoubt::app
