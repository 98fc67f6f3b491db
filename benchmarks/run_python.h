#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace redoubt::bench {

// What a script beside this file prints, with the project's Python.
nlohmann::json run_python(const std::string& script, const std::string& argument = "");

}  // namespace redoubt::bench
