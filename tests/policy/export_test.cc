#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "policy/export.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::error_of;

// Two states; "go" leads to the other state and costs 1, "stay" stays and earns nothing.
Problem two_states(int horizon) {
  ModelBuilder builder(2, {"cost"});
  for (State s = 0; s < 2; ++s) {
    builder.add(
        0, s, 3,
        {.reward = 0, .signals = {0}, .outcomes = {{.next = s, .probability = 1, .signals = {}}}});
    builder.add(0, s, 7,
                {.reward = 1,
                 .signals = {1},
                 .outcomes = {{.next = 1 - s, .probability = 1, .signals = {}}}});
  }
  return Problem(builder.build(), {.horizon = horizon, .constraints = {at_most("cost", 1)}});
}

std::string csv(const Problem& problem, const Policy& policy) {
  std::ostringstream out;
  write_policy_csv(out, problem, policy);
  return out.str();
}
nlohmann::json storm(const Problem& problem, const Policy& policy) {
  std::ostringstream out;
  write_storm_scheduler(out, problem, policy);
  return nlohmann::json::parse(out.str());
}

TEST(Export, MarkovPolicyAsCsv) {
  const Problem p = two_states(2);
  const Policy policy = markov_policy(p, {{0.25, 0.75, 0, 1}, {1, 0, 1, 0}});
  EXPECT_EQ(csv(p, policy),
            "step,idstate,memory,idaction,probability\n"
            "0,0,0,3,0.25\n0,0,0,7,0.75\n0,1,0,7,1\n"
            "1,0,0,3,1\n1,1,0,3,1\n");
}

TEST(Export, MarkovPolicyForStormCountsTheStepsInItsMemory) {
  const Problem p = two_states(2);
  const auto out = storm(p, markov_policy(p, {{0.25, 0.75, 0, 1}, {1, 0, 1, 0}}));
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0], nlohmann::json::parse(R"({"s": 0, "m": 0, "c": [
      {"index": 0, "labels": ["3"], "prob": 0.25, "memory-updates": [{"s'": 0, "m'": 1}]},
      {"index": 1, "labels": ["7"], "prob": 0.75, "memory-updates": [{"s'": 1, "m'": 1}]}]})"));
  EXPECT_EQ(out[2]["m"], 1);
  EXPECT_EQ(out[2]["c"][0]["memory-updates"][0]["m'"], 2);
}

TEST(Export, APolicyThatIsUsedForEverStaysInItsMemory) {
  Problem p = two_states(2);
  Terms terms = p.terms();
  terms.horizon.reset();
  terms.discount = 0.9;
  p = p.with(terms);
  const auto out = storm(p, markov_policy(p, {{0, 1, 0, 1}}));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1]["c"][0]["memory-updates"][0]["m'"], 0);
}

// Follows the scheduler from its memory 0 and returns what it earns and costs.
std::pair<double, double> run(const nlohmann::json& scheduler, const Problem& p) {
  double reward = 0, cost = 0;
  std::int64_t memory = 0;
  State state = p.start().states[0];
  for (int h = 0; h < p.horizon(); ++h) {
    for (const auto& entry : scheduler) {
      if (entry["s"] != state || entry["m"] != memory) continue;
      const auto& choice = entry["c"].at(0);
      const Row row = choice["index"];
      reward += p.model().value(-1, row);
      cost += p.model().value(0, row);
      state = choice["memory-updates"].at(0)["s'"];
      memory = choice["memory-updates"].at(0)["m'"];
      break;
    }
  }
  return {reward, cost};
}

TEST(Export, TheBudgetOfRcviIsTheMemoryOfTheScheduler) {
  const Problem p = two_states(3);  // one step may cost, of three
  const Solution s = rcvi(p);
  ASSERT_EQ(s.reward.worst, 1);
  EXPECT_EQ(run(storm(p, s.policy), p), std::pair(1.0, 1.0));
  // The CSV says how much each memory state may still spend: all of it at the start.
  const std::string text = csv(p, s.policy);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "step,idstate,memory,budget_cost,idaction,probability");
  const auto start = start_memory(s.policy, 0).front().memory;
  EXPECT_NE(text.find("\n0,0," + std::to_string(start) + ",1,"), std::string::npos) << text;
}

TEST(Export, StormCannotSayRandomMemory) {
  const Problem p = testing::random_problem(1, {.outcome_values = true});
  const Solution s = rcvi(p, {.rounding = Rounding::mixed});
  EXPECT_EQ(error_of([&] { storm(p, s.policy); }),
            "the memory of the policy moves at random at stage 0, Storm's schedulers cannot");
}

}  // namespace
}  // namespace redoubt
