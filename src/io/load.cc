#include <algorithm>
#include <fstream>
#include <optional>

#include "io/json/json_model.h"
#include "io/umb/umb_read.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/export.h"
#include "redoubt/io.h"
#include "redoubt/ranks.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
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
  return read_csv(text, path.string(), read_file(beside), beside.string());
}

Draft load_umb(const std::filesystem::path& path) {
  return naming(path.string(), [&] {
    io::TarReader archive(path);
    return io::read_whole(archive);
  });
}

// An error of one rank is an error of all.
Problem load_part_of_umb(const std::filesystem::path& path, Communicator& ranks,
                         const ChangeTerms& change, const PartitionOptions& options,
                         const Objective& objective) {
  io::UmbShare share = naming(path.string(), [&] {
    std::optional<io::TarReader> archive;
    all_or_none(ranks, [&] { archive.emplace(path); });
    return io::read_share(*archive, ranks, options);
  });
  const auto& actions = share.block.action;
  const auto largest = actions.empty() ? -1 : *std::max_element(actions.begin(), actions.end());
  const int count = static_cast<int>(max_over_ranks(ranks, largest)) + 1;
  std::optional<Problem> part;
  all_or_none(ranks, [&] {
    if (change) change(share.terms, share.block.states, share.block.state_names);
    part = naming(path.string(), [&] {
      const Problem given = make_submodel(std::move(share.block), share.partition, ranks.rank(),
                                          count, std::move(share.terms));
      return Problem(with_objective(given.model(), objective, share.rewarded), given.terms());
    });
  });
  return *std::move(part);
}

}  // namespace

Draft load_draft(const std::filesystem::path& path) {
  const Format format = format_of(path);
  if (format == Format::umb) return load_umb(path);
  const std::string content = read_file(path);
  if (format == Format::csv) return load_csv(path, content);
  return io::read_json_draft(content, path.string());
}

Problem load_subproblem(const std::filesystem::path& path, Communicator& ranks,
                        const ChangeTerms& change, const PartitionOptions& options,
                        const Objective& objective) {
  if (ranks.size() > 1 && format_of(path) == Format::umb)
    return load_part_of_umb(path, ranks, change, options, objective);
  Draft draft = load_draft(path);
  if (change) change(draft.terms, draft.model.states(), draft.model.arrays().state_names);
  const Problem whole = naming(path.string(), [&] { return pose(std::move(draft), objective); });
  if (ranks.size() == 1) return whole;
  return subproblem(whole, make_partition(whole.model(), ranks, options), ranks.rank());
}

Problem load(const std::filesystem::path& path, const Objective& objective) {
  Draft draft = load_draft(path);
  return naming(path.string(), [&] {
    require(draft.terms.horizon || draft.terms.discount < 1,
            "says neither horizon nor discount, must say one of them{}",
            format_of(path) == Format::csv ? " in " + terms_path(path).string() : "");
    return pose(std::move(draft), objective);
  });
}

void save(const Draft& draft, const std::filesystem::path& path, Packing packing) {
  require(packing == Packing::gzip || format_of(path) == Format::umb,
          "{}: only a .umb file is packed, must be one to be written uncompressed", path.string());
  switch (format_of(path)) {
    case Format::json:
      return write_file(path, write_json(draft));
    case Format::csv: {
      const std::string table = write_csv(draft), terms = write_terms(draft);
      NewFile terms_file(terms_path(path)), table_file(path);
      terms_file.write(terms);
      table_file.write(table);
      terms_file.keep();  // neither is lost for want of room for the other
      return table_file.keep();
    }
    case Format::umb:
      return write_file(path, write_umb(draft, packing));
  }
}

void save(const Problem& problem, const std::filesystem::path& path, Packing packing) {
  save(problem.given(), path, packing);
}

void export_policy(const Problem& problem, const Policy& policy,
                   const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  require(ending == ".csv" || ending == ".json", "{}: ending '{}', must be .csv or .json",
          path.string(), ending);
  NewFile file(path);
  std::ofstream out(file.path(), std::ios::binary);
  if (ending == ".csv")
    write_policy_csv(out, problem, policy);
  else if (path.stem().extension() == ".storm")
    write_storm_scheduler(out, problem, policy);
  else
    write_policy_json(out, problem, policy);
  out.close();
  file.check(out.good());
  file.keep();
}

}  // namespace redoubt
