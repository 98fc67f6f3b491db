#include "run_python.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace redoubt::bench {

nlohmann::json run_python(const std::string& script, const std::string& argument) {
  const std::filesystem::path source = REDOUBT_SOURCE_DIR;
  const std::string command = fmt::format("{} {} {}", (source / ".venv/bin/python").string(),
                                          (source / "benchmarks" / script).string(), argument);
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return nlohmann::json::parse(text);
}

}  // namespace redoubt::bench
