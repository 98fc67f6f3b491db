#include "redoubt/samples.h"

#include <fmt/format.h>

#include <memory>

#include "checks.h"
#include "json.h"
#include "problem_options.h"
#include "redoubt/error.h"
#include "table.h"
#include "text.h"
#include "verbs.h"
#include "version.h"

namespace redoubt::app {
namespace {

struct SamplesVerb {
  ProblemOptions problem;
  std::optional<double> epsilon;
  std::optional<std::int64_t> samples;
  double delta = 0.05;
  bool json = false;
};

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json size_json(const Problem& problem, const SampleSize& size) {
  Json object;
  object["per_row"] = size.per_row;
  object["total"] = size.total;
  object["rows"] = problem.model().rows();
  object["epsilon"] = size.epsilon;
  object["delta"] = size.delta;
  object["reward_error"] = size.reward_error;
  Json constraints = Json::array();
  for (std::size_t c = 0; c < size.violation.size(); ++c) {
    constraints.push_back({{"name", problem.constraints()[c].signal},
                           {"violation", size.violation[c]},
                           {"slack", size.slack[c]}});
  }
  object["constraints"] = constraints;
  object["lemma_per_row"] = or_null(size.lemma_per_row);
  object["lemma_total"] = or_null(size.lemma_total);
  object["theorem_total"] = or_null(size.theorem_total);
  object["set"] = name(problem.uncertainty());
  object["version"] = version();
  return object;
}

void print_size(const Problem& problem, const SampleSize& size) {
  fmt::print("{} samples of each of {} rows, {} in all, guarantee with probability {}:\n\n",
             count_text(static_cast<double>(size.per_row)),
             count_text(static_cast<double>(problem.model().rows())), count_text(size.total),
             number_text(1 - size.delta));
  std::vector<Cells> rows = {{"", "error at most", "slack to solve with"}};
  rows.push_back({"reward", number_text(size.reward_error), ""});
  for (std::size_t c = 0; c < size.violation.size(); ++c)
    rows.push_back({problem.constraints()[c].signal, number_text(size.violation[c]),
                    number_text(size.slack[c])});
  print_table(rows);
  if (size.lemma_per_row)
    fmt::print("\nThe paper's lemma asks for {} of each row and stage, {} in all.\n",
               count_text(*size.lemma_per_row), count_text(*size.lemma_total));
  if (size.theorem_total)
    fmt::print("The rate of its theorem, with constant one: {} in all.\n",
               count_text(*size.theorem_total));
}

int samples(const SamplesVerb& options) {
  if (options.epsilon.has_value() == options.samples.has_value())
    throw Error("--epsilon and --samples, must give one of them: it decides the other");
  const Problem problem = read_problem(options.problem);
  const SampleSize size = options.epsilon ? samples_needed(problem, *options.epsilon, options.delta)
                                          : samples_buy(problem, *options.samples, options.delta);
  if (options.json) {
    print_json(size_json(problem, size));
  } else {
    print_size(problem, size);
  }
  return kFine;
}

}  // namespace

Action samples_verb(CommandLine& verb) {
  auto options = std::make_shared<SamplesVerb>();
  add_problem(verb, options->problem);
  verb.add_option("--epsilon", options->epsilon, "Error to guarantee")
      .check(is_number())
      .type_name("NUMBER");
  verb.add_option("--samples", options->samples,
                  "Samples of each row, to learn what they guarantee")
      .type_name("NUMBER");
  verb.add_option("--delta", options->delta, "Probability that the guarantee may fail")
      .check(is_number())
      .type_name("NUMBER");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return samples(*options); };
}

}  // namespace redoubt::app
