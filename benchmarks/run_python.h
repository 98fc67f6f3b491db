#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace redoubt::bench {

// What a program of benchmarks/ prints: benchmarks/SCRIPT by the Python of this clone, or
// benchmarks/peers/run, with these arguments.
nlohmann::json run_python(const std::string& script, const std::string& argument = "");
nlohmann::json run_peers(const std::string& arguments);

}  // namespace redoubt::bench
