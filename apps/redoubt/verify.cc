#include "redoubt/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "execution_options.h"
#include "json.h"
#include "problem_options.h"
#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "table.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

constexpr double kAgreement = 1e-9;  // of the larger of the total and one

struct VerifyOptions {
  ProblemOptions problem;
  std::string solution;
  ExecutionOptions execution;
  bool json = false;
};

double difference(double a, double b) { return std::abs(a - b) / std::max(1.0, std::abs(a)); }

double largest_difference(const Evaluation& verified, const Evaluation& evaluated) {
  double largest = difference(verified.reward.worst, evaluated.reward.worst);
  for (std::size_t c = 0; c < verified.constraints.size(); ++c)
    largest = std::max(largest,
                       difference(verified.constraints[c].worst, evaluated.constraints[c].worst));
  return largest;
}

int verify(const VerifyOptions& options) {
  const Problem problem = read_problem(options.problem);
  const Policy policy = load_solution(options.solution).policy;
  const Execution run = execution(options.execution);
  const Evaluation verified = redoubt::verify(problem, policy, run);
  const Evaluation evaluated = evaluate(problem, policy, run);
  const double largest = largest_difference(verified, evaluated);
  const bool agrees = largest <= kAgreement;
  if (options.json) {
    Json object = evaluation_json(problem, verified);
    object["agrees"] = agrees;
    object["difference"] = largest;
    print_json(object);
  } else {
    print_evaluation(problem, verified);
    fmt::print("The fast evaluation {} with this one: largest relative difference {:.0e}\n",
               agrees ? "agrees" : "DOES NOT AGREE", largest);
  }
  return agrees && verified.satisfied() ? kFine : kBadOutcome;
}

}  // namespace

Action verify_verb(CommandLine& verb) {
  auto options = std::make_shared<VerifyOptions>();
  add_problem(verb, options->problem);
  add_nature(verb, options->problem);
  add_solution(verb, options->solution);
  add_execution(verb, options->execution);
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return verify(*options); };
}

}  // namespace redoubt::app
