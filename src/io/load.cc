#include <fstream>

#include "io/file.h"
#include "model/require.h"
#include "policy/export.h"
#include "redoubt/io.h"

namespace redoubt {
namespace {

enum class Format { json, csv, umb };

Format format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".json") return Format::json;
  if (ending == ".csv") return Format::csv;
  if (ending == ".umb") return Format::umb;
  throw Error(fmt::format("{}: ending '{}', must be .json, .csv or .umb", path.string(), ending));
}

std::filesystem::path terms_path(std::filesystem::path path) {
  return path.replace_extension(".terms.json");
}

Draft load_csv(const std::filesystem::path& path, std::string_view text) {
  const auto beside = terms_path(path);
  if (!std::filesystem::exists(beside)) return read_csv(text, path.string());
  return read_csv(text, path.string(), io::read_file(beside), beside.string());
}

}  // namespace

Draft load_draft(const std::filesystem::path& path) {
  const Format format = format_of(path);
  const std::string content = io::read_file(path);
  if (format == Format::csv) return load_csv(path, content);
  if (format == Format::umb) return read_umb(content, path.string());
  const Problem problem = read_json(content, path.string());
  return {problem.model(), problem.terms()};
}

Problem load(const std::filesystem::path& path) {
  Draft draft = load_draft(path);
  return io::naming(path.string(), [&] {
    require(draft.terms.horizon || draft.terms.discount < 1,
            "says neither horizon nor discount, must say one of them{}",
            format_of(path) == Format::csv ? " in " + terms_path(path).string() : "");
    return Problem(std::move(draft.model), std::move(draft.terms));
  });
}

void save(const Problem& problem, const std::filesystem::path& path) {
  switch (format_of(path)) {
    case Format::json:
      return write_file(path, write_json(problem));
    case Format::csv: {
      const std::string table = write_csv(problem), terms = write_terms(problem);
      io::NewFile terms_file(terms_path(path)), table_file(path);
      terms_file.write(terms);
      table_file.write(table);
      terms_file.keep();  // neither is lost for want of room for the other
      return table_file.keep();
    }
    case Format::umb:
      return write_file(path, write_umb(problem));
  }
}

void export_policy(const Problem& problem, const Policy& policy,
                   const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  require(ending == ".csv" || ending == ".json", "{}: ending '{}', must be .csv or .json",
          path.string(), ending);
  io::NewFile file(path);
  std::ofstream out(file.path(), std::ios::binary);
  if (ending == ".csv")
    write_policy_csv(out, problem, policy);
  else
    write_storm_scheduler(out, problem, policy);
  out.close();
  file.check(out.good());
  file.keep();
}

}  // namespace redoubt
