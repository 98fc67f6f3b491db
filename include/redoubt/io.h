#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redoubt/error.h"
#include "redoubt/execution.h"
#include "redoubt/objective.h"
#include "redoubt/problem.h"
#include "redoubt/solution.h"

namespace redoubt {

class Checkpoint;

// The ending chooses the format: .json (for people), .csv (the robust-MDP world), .umb (Unified
// Markov Binary, for large models), .drn (Storm's text, also .drn.gz and .drn.xz), .tra (PRISM's
// explicit files, with NAME.lab and the others beside it), .pexp (the same in one file), .pomdp
// (read only). Terms of text formats other than JSON stand beside them in NAME.terms.json.
// docs/formats.md describes them. A file that breaks a rule is an Error that names the file, the
// line or key, the value and the rule; so is one without a reward, unless the objective chooses
// one.
Problem load(const std::filesystem::path& path, const Objective& objective = {});

// What becomes of a CSV file in which every row has several distributions, samples of a posterior.
enum class Posterior {
  mean,       // their mean, with the smallest total variation around it that holds them all
  scenarios,  // nature picks one of them, or any mixture, whenever the row is taken
};

// What a file says, before anything is asked of it, for callers who replace some of the terms.
// Formats of other programs often have no place for a horizon or a constraint; then the terms are
// the defaults of `Terms`, and the caller completes them.
// `notes` gets what the reader had to leave out, for people to know.
Draft load_draft(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr,
                 Posterior posterior = Posterior::mean);

// How the archive of a .umb file is packed. Ranks read a plain one together, each some of
// its bytes; of a packed one, every rank must unpack everything.
enum class Packing { gzip, plain };

// Writes the whole file or none of it: the final name never holds half a problem. Loading it gives
// the same problem to the last bit; docs/formats.md lists what CSV cannot carry, which is an Error.
void save(const Problem& problem, const std::filesystem::path& path,
          Packing packing = Packing::gzip);
// The same for what is not a problem yet, for want of a horizon or a reward.
void save(const Draft& draft, const std::filesystem::path& path, Packing packing = Packing::gzip);

// The formats themselves, on text and bytes. `name` stands for the file in errors.
Problem read_json(std::string_view text, std::string_view name);
std::string write_json(const Problem& problem);
std::string write_json(const Draft& draft);

// CSV and, where there is one, the text of NAME.terms.json.
Draft read_csv(std::string_view text, std::string_view name, Posterior posterior = Posterior::mean);
Draft read_csv(std::string_view text, std::string_view name, std::string_view terms,
               std::string_view terms_name, Posterior posterior = Posterior::mean);
std::string write_csv(const Problem& problem);
std::string write_csv(const Draft& draft);
std::string write_terms(const Problem& problem);
std::string write_terms(const Draft& draft);

// Storm's direct encoding, and the text of NAME.terms.json where there is one (`terms_name` is
// empty where there is none). What the format cannot keep is an Error of the writer.
Draft read_drn(std::string_view text, std::string_view name, std::string_view terms = {},
               std::string_view terms_name = {});
std::string write_drn(const Draft& draft);
std::string write_drn(const Problem& problem);
std::string write_drn_terms(const Draft& draft);

// Cassandra's format of partially observable problems, as a fully observable one: observations are
// ignored, and a note says so. It is only read.
Draft read_pomdp(std::string_view text, std::string_view name,
                 std::vector<std::string>* notes = nullptr);

// PRISM's explicit files, told by their endings: .tra and any of .sta, .lab, .srew, .trew, or
// .pexp.
struct TextFile {
  std::string name;
  std::string text;
};
Draft read_prism(const std::vector<TextFile>& files, std::string_view terms = {},
                 std::string_view terms_name = {});
std::vector<TextFile> write_prism(const Draft& draft, const std::string& name);  // NAME.tra, ...
std::string write_pexp(const Draft& draft);
std::string write_prism_terms(const Draft& draft);

Draft read_umb(std::string_view bytes, std::string_view name);
std::string write_umb(const Problem& problem, Packing packing = Packing::gzip);
std::string write_umb(const Draft& draft, Packing packing = Packing::gzip);

// Solutions, policy included, as HDF5; loading gives the same bits. Written whole or not at all; a
// damaged file is an Error.
void save_solution(const Solution& solution, const std::filesystem::path& path);
// The same for a policy that is not all here. The execution that solved it tells where it is: with
// other ranks, which have other submodels and all call this, or with stages in a store.
// There is one file all the same, in which states have the numbers of the whole model.
void save_solution(const Solution& solution, const std::filesystem::path& path, const Model& model,
                   const Execution& execution);
Solution load_solution(const std::filesystem::path& path);
// The same with a policy for the states that the model, which may be a submodel, has the rows of.
Solution load_solution(const std::filesystem::path& path, const Model& model);

// A file for the checkpoints of a solve (Execution::checkpoint), written every `interval` seconds,
// or less often where writing takes long: never more than a tenth of the time. Zero: wherever it
// can.
std::shared_ptr<Checkpoint> checkpoint_file(const std::filesystem::path& path, double interval = 5);

// A policy for other programs: .json, all that running it takes (docs/deploy.md); .csv, one line
// for each decision; .storm.json, the schedulers of the model checker Storm (an Error when the
// policy's memory moves at random, which those cannot say).
void export_policy(const Problem& problem, const Policy& policy, const std::filesystem::path& path);

}  // namespace redoubt
