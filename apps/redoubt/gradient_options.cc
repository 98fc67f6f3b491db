#include "gradient_options.h"

#include "checks.h"

namespace redoubt::app {

void add_gradient(CommandLine& verb, GradientOptions& options) {
  const auto add = [&](const char* flag, auto& value, const Check& check, const char* text) {
    return verb.add_option(flag, value, text)
        .check(check)
        .type_name("NUMBER")
        .group("Gradient methods");
  };
  add("--step", options.step, is_number(), "Step size; iteration counts scale as one over it");
  add("--iterations", options.iterations, is_whole_number(), "Updates of the policy");
  add("--seed", options.seed, is_whole_number(), "Of a random first policy, and of samples");
  add("--weight", options.weight, is_number(), "rnpg, rppg: of the constraints against the reward");
  add("--inner", options.inner, is_whole_number(), "epirc: updates for each guess of the optimum");
  add("--dual-step", options.dual_step, is_number(),
      "primal-dual: step of the multipliers; 0: as --step");
  verb.add_option_function(
          "--first-policy",
          [&](const std::string& word) {
            options.first_policy = word == "random" ? FirstPolicy::random : FirstPolicy::uniform;
          },
          "uniform, or random by --seed")
      .check(is_one_of({"uniform", "random"}))
      .group("Gradient methods");
  verb.add_option_function(
          "--rule",
          [&](const std::string& word) {
            options.rule = word == "repo" ? ChoiceRule::repo : ChoiceRule::neg;
          },
          "rnpg, rppg: when to follow the reward: neg (feasible) or repo (the published code)")
      .check(is_one_of({"neg", "repo"}))
      .group("Gradient methods");
}

}  // namespace redoubt::app
