#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "redoubt/environments.h"
#include "redoubt/error.h"

namespace redoubt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(std::string_view id) {
  try {
    make(id);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Registry, EveryEnvironmentMakesAValidProblemFromItsDefaults) {
  std::set<std::string> names;
  for (const EnvironmentInfo& info : environments()) {
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.description.empty());
    const Problem problem = make(info.name);
    EXPECT_EQ(problem.constraints().size(), 1u);
    std::string id = info.name + "(";
    for (const ParameterInfo& parameter : info.parameters) {
      EXPECT_FALSE(parameter.description.empty()) << parameter.name;
      // A default that belongs to another set or recipe may not be given together with this one.
      const std::set<std::string> conditional = {"radius", "reach", "temperature", "scope"};
      if (!conditional.contains(parameter.name))
        id += parameter.name + "=" + parameter.default_value + ",";
    }
    id.back() = ')';
    EXPECT_EQ(make(id), problem) << id;
  }
}

TEST(Registry, EveryEnvironmentTakesTheCommonTerms) {
  for (const EnvironmentInfo& info : environments()) {
    SCOPED_TRACE(info.name);
    const Problem problem = make(
        info.name + "(horizon=7,discount=.5,start=1,bound=-2.5,set=tv,radius=.25,reach=support)");
    EXPECT_EQ(problem.horizon(), 7);
    EXPECT_EQ(problem.discount(), 0.5);
    EXPECT_EQ(problem.start(), Start(1));
    EXPECT_EQ(problem.constraints()[0].bound, -2.5);
    EXPECT_EQ(problem.uncertainty(), Uncertainty(TV{0.25, Reach::support}));
    EXPECT_EQ(problem.model(), make(info.name).model());
  }
}

TEST(Registry, AFiniteHorizonAloneMeansNoDiscount) {
  EXPECT_TRUE(make("river_swim").infinite());
  EXPECT_EQ(make("river_swim").discount(), 0.9);
  EXPECT_EQ(make("river_swim(horizon=10)").discount(), 1.0);
  EXPECT_EQ(make("river_swim(horizon=10,discount=.9)").discount(), 0.9);
  EXPECT_EQ(make("fork(horizon=infinite,discount=.9)").infinite(), true);
}

TEST(Registry, StartIsAStateOrADistribution) {
  EXPECT_EQ(make("river_swim").start(), Start::uniform(6));
  EXPECT_EQ(make("river_swim(start=2)").start(), Start(2));
  EXPECT_EQ(make("fork(start=.5:0:.25:.25)").start(), Start({0, 2, 3}, {0.5, 0.25, 0.25}));
}

TEST(Registry, EverySetCanBeAskedFor) {
  EXPECT_EQ(make("river_swim(set=none)").uncertainty(), Uncertainty(Nominal{}));
  EXPECT_EQ(make("river_swim(radius=.1)").uncertainty(), Uncertainty(KL{0.1}));
  EXPECT_EQ(make("river_swim(set=chi2)").uncertainty(), Uncertainty(Chi2{0.05}));
  EXPECT_EQ(make("river_swim(set=tv)").uncertainty(), Uncertainty(TV{0.05, Reach::anywhere}));
  EXPECT_EQ(make("river_swim(set=tilt,temperature=3)").uncertainty(), Uncertainty(Tilt{3}));
}

TEST(Registry, IntervalsSurroundTheNominalRows) {
  const Problem problem = make("river_swim(set=interval,radius=.2)");
  EXPECT_EQ(problem.uncertainty(), Uncertainty(Interval{}));
  const ModelArrays& arrays = problem.model().arrays();  // the first row is s0 .9, s1 .1
  EXPECT_NEAR(arrays.lower[0], 0.7, 1e-15);
  EXPECT_EQ(arrays.upper[0], 1.0);
  EXPECT_EQ(arrays.lower[1], 0.0);
  EXPECT_NEAR(arrays.upper[1], 0.3, 1e-15);
}

TEST(Registry, SpacesDoNotMatter) {
  EXPECT_EQ(make(" river_swim ( horizon = 10 , start=2 ) "),
            make("river_swim(horizon=10,start=2)"));
  EXPECT_EQ(make("river_swim()"), make("river_swim"));
}

TEST(Registry, UnknownNamesAreAnsweredWithSuggestions) {
  EXPECT_THAT(error_of("riverswim"),
              AllOf(HasSubstr("'riverswim'"), HasSubstr("river_swim"), Not(HasSubstr("garnet"))));
  EXPECT_THAT(error_of("pendulum"),
              AllOf(HasSubstr("'pendulum'"), HasSubstr("river_swim"), HasSubstr("garnet")));
  EXPECT_THAT(error_of("river_swim(speed=2)"),
              AllOf(HasSubstr("river_swim"), HasSubstr("'speed'"), HasSubstr("version, horizon")));
}

TEST(Registry, BadValuesAreNamedWithTheRule) {
  EXPECT_EQ(error_of("garnet(states=0)"),
            "garnet: states = 0, must be an integer from 1 to 10000000");
  EXPECT_EQ(error_of("garnet(states=2.5)"),
            "garnet: states = 2.5, must be an integer from 1 to 10000000");
  EXPECT_EQ(error_of("garnet(successors=11)"),
            "garnet: successors = 11, must be all or an integer from 1 to 10");
  EXPECT_EQ(error_of("garnet(successors=3,spread=1)"),
            "garnet: spread = 1, has a meaning for successors=all only");
  EXPECT_THAT(error_of("garnet(states=100000,actions=100)"), HasSubstr("outcomes, use fewer"));
  EXPECT_EQ(error_of("garnet(spread=-1)"),
            "garnet: spread = -1, must be a number from 0 to 1000000");
  EXPECT_EQ(error_of("river_swim(version=old)"),
            "river_swim: version = old, must be one of paper, repo");
  EXPECT_EQ(error_of("river_swim(bound=four)"),
            "river_swim: bound = four, must be a finite number");
  EXPECT_EQ(error_of("river_swim(bound=inf)"), "river_swim: bound = inf, must be a finite number");
  EXPECT_EQ(error_of("river_swim(start=6)"),
            "river_swim: start = 6, must be uniform or an integer from 0 to 5");
  EXPECT_THAT(error_of("river_swim(start=.5:.5)"), HasSubstr("must list 6 probabilities"));
  EXPECT_THAT(error_of("river_swim(start=.5:x)"), HasSubstr("must be numbers separated by ':'"));
  EXPECT_EQ(error_of("river_swim(set=wasserstein)"),
            "river_swim: set = wasserstein, must be one of none, tv, chi2, kl, tilt, interval, "
            "interval-tv, interval-chi2, interval-kl");
  EXPECT_EQ(error_of("river_swim(horizon=-1)"),
            "river_swim: horizon = -1, must be infinite or an integer from 0 to 2147483647");
  EXPECT_EQ(error_of("garnet(seed=-1)"),
            "garnet: seed = -1, must be an integer from 0 to 2^64 - 1");
  EXPECT_THAT(error_of("river_swim(discount=1)"),
              HasSubstr("give a discount below 1 or a finite horizon"));
  EXPECT_THAT(error_of("river_swim(radius=-1)"), HasSubstr("radius = -1"));
}

TEST(Registry, AParameterThatTheSetDoesNotHaveIsRefused) {
  EXPECT_EQ(error_of("hedge(radius=.1)"), "hedge: radius = .1, has no meaning for set none");
  EXPECT_EQ(error_of("river_swim(reach=support)"),
            "river_swim: reach = support, has no meaning for set kl");
  EXPECT_EQ(error_of("river_swim(temperature=1)"),
            "river_swim: temperature = 1, has no meaning for set kl");
}

TEST(Registry, MalformedIdsAreRefused) {
  EXPECT_THAT(error_of(""), HasSubstr("must read name"));
  EXPECT_THAT(error_of("(horizon=3)"), HasSubstr("must read name"));
  EXPECT_THAT(error_of("river swim"), HasSubstr("must read name"));
  EXPECT_THAT(error_of("river_swim(horizon=3"), HasSubstr("must end with ')'"));
  EXPECT_THAT(error_of("river_swim(horizon=3)x"), HasSubstr("must end with ')'"));
  EXPECT_THAT(error_of("river_swim(horizon)"), HasSubstr("must read key=value"));
  EXPECT_THAT(error_of("river_swim(horizon=)"), HasSubstr("must read key=value"));
  EXPECT_THAT(error_of("river_swim(=3)"), HasSubstr("must read key=value"));
  EXPECT_THAT(error_of("river_swim(horizon=3,,start=1)"), HasSubstr("must read key=value"));
  EXPECT_THAT(error_of("river_swim(horizon=3,)"), HasSubstr("must not end with a comma"));
  EXPECT_THAT(error_of("river_swim(start=1,start=2)"), HasSubstr("given twice"));
}

}  // namespace
}  // namespace redoubt
