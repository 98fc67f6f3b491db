#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "redoubt/environments.h"
#include "redoubt/evaluate.h"
#include "redoubt/verify.h"
#include "support/examples.h"
#include "support/folders.h"
#include "support/random_policy.h"

// Every built-in problem x set x method: the answer is that of `evaluate`, the slow verification
// agrees, and the numbers are those of tests/golden/ENVIRONMENT.SET.METHOD.txt. `scripts/golden`
// writes those files anew; read the difference before you commit it.
namespace redoubt {
namespace {

using testing::Example;
using testing::ExampleMethod;
using testing::ExampleSet;

std::filesystem::path golden_folder() { return testing::source_folder() / "tests" / "golden"; }

std::string describe(const Example& example, const ExampleSet& set, const ExampleMethod& method,
                     const Solution& solution) {
  std::string text = fmt::format("problem {}\nset {}\nmethod {}\nstatus {}\n", example.id, set.name,
                                 method.name, name(solution.status));
  text += fmt::format("reward worst {:.10g}\n", solution.reward.worst);
  if (solution.reward.bound) text += fmt::format("reward bound {:.10g}\n", *solution.reward.bound);
  for (const ConstraintResult& c : solution.constraints) {
    text += fmt::format("{} worst {:.10g} {} {:g} {}\n", c.name, c.worst,
                        c.sense == Sense::at_least ? "at_least" : "at_most", c.bound,
                        c.satisfied ? "satisfied" : "missed");
  }
  if (solution.hopeless) text += fmt::format("hopeless {:.10g}\n", *solution.hopeless);
  if (method.name != "frontier")  // as many as its gap happened to need
    text += fmt::format("memory_states {}\n", solution.policy.memory_states());
  return text;
}

// Words must be the same, numbers the same to the tolerance.
void expect_same_text(const std::string& expected, const std::string& found, double tolerance) {
  std::istringstream a(expected), b(found);
  std::string word, other;
  while (a >> word) {
    ASSERT_TRUE(static_cast<bool>(b >> other)) << found;
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end != '\0') {
      EXPECT_EQ(word, other) << "expected\n" << expected << "found\n" << found;
    } else {
      EXPECT_NEAR(number, std::strtod(other.c_str(), nullptr),
                  tolerance * std::max(1.0, std::abs(number)))
          << "expected\n"
          << expected << "found\n"
          << found;
    }
  }
  EXPECT_FALSE(static_cast<bool>(b >> other)) << found;
}

class Golden : public ::testing::TestWithParam<Example> {};

TEST_P(Golden, EverySetAndMethod) {
  const bool write = std::getenv("REDOUBT_WRITE_GOLDEN") != nullptr;
  for (const ExampleSet& set : testing::example_sets()) {
    const Problem problem = testing::example_problem(GetParam(), set);
    for (const ExampleMethod& method : testing::example_methods()) {
      if (!method.takes(set)) continue;
      SCOPED_TRACE(set.name + " " + method.name);
      const Solution solution = method.solve(problem);
      const Evaluation again = evaluate(problem, solution.policy);
      // For ever after: from the values at hand, or from nothing, both to 1e-12.
      const double near = problem.infinite() ? 1e-11 : 0;
      EXPECT_NEAR(solution.reward.worst, again.reward.worst, near * std::abs(again.reward.worst));
      for (std::size_t c = 0; c < again.constraints.size(); ++c) {
        EXPECT_NEAR(solution.constraints.at(c).worst, again.constraints[c].worst,
                    near * std::abs(again.constraints[c].worst));
        EXPECT_EQ(solution.constraints[c].satisfied, again.constraints[c].satisfied);
      }
      testing::expect_same(again, verify(problem, solution.policy), 1e-9);
      const auto path = golden_folder() /
                        fmt::format("{}.{}.{}.txt", GetParam().environment, set.name, method.name);
      const std::string text = describe(GetParam(), set, method, solution);
      if (write) {
        std::ofstream(path) << text;
        continue;
      }
      std::ifstream file(path);
      ASSERT_TRUE(file.good()) << path << " is missing: run scripts/golden";
      expect_same_text(std::string(std::istreambuf_iterator<char>(file), {}), text,
                       method.tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Environments, Golden, ::testing::ValuesIn(testing::example_problems()),
                         [](const auto& one) { return one.param.environment; });

TEST(GoldenFiles, CoverEveryEnvironmentAndNothingElse) {
  std::set<std::string> covered, known;
  for (const Example& example : testing::example_problems()) covered.insert(example.environment);
  for (const EnvironmentInfo& environment : environments()) known.insert(environment.name);
  EXPECT_EQ(covered, known);
  std::set<std::string> expected, found;
  for (const std::string& environment : known) {
    for (const ExampleSet& set : testing::example_sets()) {
      for (const ExampleMethod& method : testing::example_methods())
        if (method.takes(set))
          expected.insert(fmt::format("{}.{}.{}.txt", environment, set.name, method.name));
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder()))
    found.insert(entry.path().filename());
  EXPECT_EQ(expected, found);
}

}  // namespace
}  // namespace redoubt
