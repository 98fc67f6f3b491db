#include "run_python.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace redoubt::bench {
namespace {

const std::filesystem::path kSource = REDOUBT_SOURCE_DIR;

nlohmann::json run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return nlohmann::json::parse(text.substr(std::min(text.find('{'), text.size())));
}

}  // namespace

nlohmann::json run_python(const std::string& script, const std::string& argument) {
  return run(fmt::format("\"{}\" \"{}\" {}", (kSource / ".venv/bin/python").string(),
                         (kSource / "benchmarks" / script).string(), argument));
}

nlohmann::json run_peers(const std::string& arguments) {
  return run(fmt::format("\"{}\" {}", (kSource / "benchmarks/peers/run").string(), arguments));
}

}  // namespace redoubt::bench
