#include "io/file.h"
#include "model/require.h"
#include "redoubt/io.h"

namespace redoubt {
namespace {

enum class Format { json };

Format format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".json") return Format::json;
  throw Error(fmt::format("{}: ending '{}', must be .json", path.string(), ending));
}

}  // namespace

Draft load_draft(const std::filesystem::path& path) {
  const Format format = format_of(path);
  const std::string content = io::read_file(path);
  const std::string name = path.string();
  switch (format) {
    case Format::json:
      break;
  }
  const Problem problem = read_json(content, name);
  return {problem.model(), problem.terms()};
}

Problem load(const std::filesystem::path& path) {
  Draft draft = load_draft(path);
  return io::naming(path.string(),
                    [&] { return Problem(std::move(draft.model), std::move(draft.terms)); });
}

void save(const Problem& problem, const std::filesystem::path& path) {
  switch (format_of(path)) {
    case Format::json:
      return io::write_file(path, write_json(problem));
  }
}

}  // namespace redoubt
