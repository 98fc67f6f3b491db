#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "io/archives.h"
#include "io/json/json_model.h"
#include "io/prism/prism_parts.h"
#include "io/umb/umb_read.h"
#include "model/goals.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/export.h"
#include "redoubt/advanced/file.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/given_policy.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

enum class Format { json, csv, umb, drn, tra, pexp, pomdp };

Format format_of(const std::filesystem::path& path, bool to_write = false) {
  std::filesystem::path rest = path;
  if (rest.extension() == ".gz" || rest.extension() == ".xz") rest.replace_extension();
  const std::string ending = rest.extension().string();
  if (ending == ".drn") return Format::drn;
  if (rest == path && ending == ".json") return Format::json;
  if (rest == path && ending == ".csv") return Format::csv;
  if (rest == path && ending == ".umb") return Format::umb;
  if (rest == path && ending == ".tra") return Format::tra;
  if (rest == path && ending == ".pexp") return Format::pexp;
  if (rest == path && ending == ".pomdp") return Format::pomdp;
  for (const char* program : {".prism", ".nm", ".pm", ".jani"})
    require(
        ending != program,
        "{}: ending '{}', must be a model: PRISM and JANI programs are read through stormpy, by "
        "python -m redoubt convert {} MODEL.umb",
        path.string(), ending, path.string());
  throw Error(fmt::format("{}: ending '{}', must be .json, .csv, .umb, .drn, .tra{}", path.string(),
                          path.extension().string(), to_write ? " or .pexp" : ", .pexp or .pomdp"));
}

// The filter that packs a file of this name; null: none does.
const char* packing_of(const std::filesystem::path& path) {
  if (path.extension() == ".gz") return "gzip";
  return path.extension() == ".xz" ? "xz" : nullptr;
}

std::filesystem::path terms_path(std::filesystem::path path) {
  if (packing_of(path) != nullptr) path.replace_extension();
  return path.replace_extension(".terms.json");
}

// Whether a format has its terms in a file of their own.
bool has_terms_beside(Format format) {
  return format != Format::json && format != Format::umb && format != Format::pomdp;
}

Draft load_text(const std::filesystem::path& path, Format format, Posterior posterior) {
  const std::string name = path.string();
  const auto beside = terms_path(path);
  const bool given = std::filesystem::exists(beside);
  const std::string terms = given ? read_file(beside) : "";
  const std::string terms_name = given ? beside.string() : "";
  if (format == Format::tra) return read_prism(io::files_beside(path), terms, terms_name);
  std::string text = read_file(path);
  switch (format) {
    case Format::drn:
      text = naming(name, [&] { return io::unpacked(std::move(text)); });
      return read_drn(text, name, terms, terms_name);
    case Format::pexp:
      return read_prism({{name, std::move(text)}}, terms, terms_name);
    default:
      return given ? read_csv(text, name, terms, terms_name, posterior)
                   : read_csv(text, name, posterior);
  }
}

// The files that hold a problem in a text format, its terms first.
std::vector<TextFile> text_files(const Draft& draft, const std::filesystem::path& path,
                                 Format format) {
  const std::string terms = terms_path(path).string();
  switch (format) {
    case Format::drn: {
      const char* filter = packing_of(path);
      std::string text = write_drn(draft);
      return {{terms, write_drn_terms(draft)},
              {path.string(), filter == nullptr ? text : io::packed(text, filter)}};
    }
    case Format::tra: {
      std::filesystem::path name = path;
      auto files = write_prism(draft, name.replace_extension().string());
      io::require_no_others(path, files);
      files.insert(files.begin(), {terms, write_prism_terms(draft)});
      return files;
    }
    case Format::pexp:
      return {{terms, write_prism_terms(draft)}, {path.string(), write_pexp(draft)}};
    default:
      return {{terms, write_terms(draft)}, {path.string(), write_csv(draft)}};
  }
}

Draft load_umb(const std::filesystem::path& path) {
  return naming(path.string(), [&] {
    io::TarReader archive(path);
    return io::read_whole(archive);
  });
}

// Goals, and where episodes end without a horizon, are found in whole models.
bool asks_for_whole(const Terms& terms, const Objective& objective) {
  const auto is_goal = [](const std::string& words) { return parse_goal(words).has_value(); };
  return (!terms.horizon && terms.discount == 1) || is_goal(objective.signal) ||
         is_goal(terms.objective.signal) ||
         std::any_of(terms.constraints.begin(), terms.constraints.end(),
                     [&](const Constraint& c) { return is_goal(c.signal); });
}

// None where it takes the whole model. An error of one rank is an error of all.
std::optional<Problem> load_part_of_umb(const std::filesystem::path& path, Communicator& ranks,
                                        const ChangeTerms& change, const PartitionOptions& options,
                                        const Objective& objective) {
  io::UmbShare share = naming(path.string(), [&] {
    std::optional<io::TarReader> archive;
    // Ranks share a machine, and each reads its own pieces only: none keeps all that was packed.
    all_or_none(ranks,
                [&] { archive.emplace(path, ranks.size() == 1 ? io::TarReader::kMostKept : 0); });
    return io::read_share(*archive, ranks, options);
  });
  const auto& actions = share.block.action;
  const auto largest = actions.empty() ? -1 : *std::max_element(actions.begin(), actions.end());
  const int count = static_cast<int>(max_over_ranks(ranks, largest)) + 1;
  std::optional<Problem> part;
  all_or_none(ranks, [&] {
    if (change) change(share.terms, share.block.states, share.block.state_names);
    if (asks_for_whole(share.terms, objective)) return;
    part = naming(path.string(), [&] {
      const Problem given = make_submodel(std::move(share.block), share.partition, ranks.rank(),
                                          count, std::move(share.terms), false);
      return Problem(with_objective(given.model(), objective, share.rewarded), given.terms());
    });
  });
  return part;
}

}  // namespace

Draft load_draft(const std::filesystem::path& path, std::vector<std::string>* notes,
                 Posterior posterior) {
  const Format format = format_of(path);
  require(posterior == Posterior::mean || format == Format::csv,
          "{}: posterior scenarios, must be a .csv file with a column 'idoutcome'", path.string());
  if (format == Format::umb) return load_umb(path);
  if (has_terms_beside(format)) return load_text(path, format, posterior);
  if (format == Format::pomdp) return read_pomdp(read_file(path), path.string(), notes);
  return io::read_json_draft(read_file(path), path.string());
}

Problem load_subproblem(const std::filesystem::path& path, Communicator& ranks,
                        const ChangeTerms& change, const PartitionOptions& options,
                        const Objective& objective) {
  if (ranks.size() > 1 && format_of(path) == Format::umb) {
    std::optional<Problem> part = load_part_of_umb(path, ranks, change, options, objective);
    if (part) return *std::move(part);
  }
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
            has_terms_beside(format_of(path)) ? " in " + terms_path(path).string() : "");
    return pose(std::move(draft), objective);
  });
}

void save(const Draft& draft, const std::filesystem::path& path, Packing packing) {
  const Format format = format_of(path, true);
  require(packing == Packing::gzip || format == Format::umb,
          "{}: only a .umb file is packed, must be one to be written uncompressed", path.string());
  require(format != Format::pomdp, "{}: .pomdp files are only read, must have another ending",
          path.string());
  if (format == Format::json) return write_file(path, write_json(draft));
  if (format == Format::umb) return write_file(path, write_umb(draft, packing));
  const auto contents = text_files(draft, path, format);
  std::vector<std::unique_ptr<NewFile>> files;
  for (const TextFile& content : contents) {
    files.push_back(std::make_unique<NewFile>(content.name));
    files.back()->write(content.text);
  }
  for (const auto& file : files) file->keep();  // none is lost for want of room for another
}

void save(const Problem& problem, const std::filesystem::path& path, Packing packing) {
  save(problem.given(), path, packing);
}

void export_policy(const Problem& problem, const Policy& policy,
                   const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  require(ending == ".csv" || ending == ".json", "{}: ending '{}', must be .csv or .json",
          path.string(), ending);
  if (has_given_policy(problem)) {
    const GivenPolicy given = given_policy(problem, policy);
    return export_policy(given.problem, given.policy, path);
  }
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
