#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;

constexpr const char* header = "idstatefrom,idaction,idstateto,probability,reward\n";

Model read(const std::string& text) { return read_csv(text, "m.csv").model; }
std::string error_in(const std::string& text) {
  return error_of([&] { read(text); });
}
Problem there_and_back(const Problem& p) {
  Draft draft = read_csv(write_csv(p), "m.csv", write_terms(p), "m.terms.json");
  return Problem(draft.model, draft.terms);
}

TEST(Csv, ReadsWhatTheRobustMdpWorldWrites) {
  const Model m = read(std::string(header) + "0,0,0,0.5,1\n0,0,1,0.5,1\n1,0,2,1,-2.5\n");
  EXPECT_EQ(m.states(), 3);  // state 2 is terminal
  EXPECT_EQ(m.rows(), 2);
  EXPECT_EQ(m.value(-1, 0), 1);  // a value that all outcomes share belongs to the row
  EXPECT_EQ(m.value(-1, 1), -2.5);
  EXPECT_TRUE(m.outcome_values(-1).empty());
}

TEST(Csv, ToleratesOtherOrderQuotesBlanksMarksAndLineEnds) {
  const Model plain = read(
      "idstatefrom,idaction,idstateto,probability,reward,cost\n"
      "0,0,0,0.5,1,3\n0,0,1,0.5,2,3\n0,1,1,1,0,4\n");
  EXPECT_EQ(read("\xEF\xBB\xBF\"\",cost, \"reward\" ,probability,idstateto,idaction,idstatefrom\r\n"
                 "0,4,0,1,1,1,0\r\n"
                 "\r\n"
                 "1, 3.0 ,+2, 5e-1,\"1\",0,0\r\n"
                 "2,3,1,.5,0,0,0.0"),
            plain);
}

TEST(Csv, ValuesThatDifferBelongToOutcomes) {
  const Model m = read(std::string(header) + "0,0,0,0.5,1\n0,0,0,0.25,2\n0,0,0,0.25,1\n");
  EXPECT_EQ(m.outcomes(), 2);  // equal outcomes are merged, different values are not
  EXPECT_EQ(m.outcome_value(-1, 0), 1);
  EXPECT_EQ(m.arrays().probability[0], 0.75);
}

TEST(Csv, ImpossibleOutcomesDoNotHideARowsValue) {
  const Model m = read(std::string(header) + "0,0,0,1,7\n0,0,0,0,0\n");
  EXPECT_EQ(m.value(-1, 0), 7);
  EXPECT_TRUE(m.outcome_values(-1).empty());
}

TEST(Csv, StepsMakeStages) {
  const Draft draft =
      read_csv("step," + std::string(header) + "0,0,0,0,1,5\n1,0,0,0,1,6\n", "m.csv");
  EXPECT_EQ(draft.model.stages(), 2);
  EXPECT_EQ(draft.model.value(-1, 1), 6);
  EXPECT_EQ(draft.terms.horizon, 2);
}

TEST(Csv, SamplesBecomeTheirMeanWithARadiusAndBounds) {
  const Draft draft = read_csv("idoutcome," + std::string(header) +
                                   "0,0,0,0,0.5,1\n0,0,0,1,0.5,2\n"
                                   "1,0,0,0,0.75,1\n1,0,0,1,0.25,2\n"
                                   "2,0,0,0,1,1\n"
                                   "0,1,0,1,1,0\n",
                               "m.csv");
  const ModelArrays& a = draft.model.arrays();
  EXPECT_EQ(a.probability, (std::vector<double>{0.75, 0.25, 1}));
  EXPECT_EQ(a.lower, (std::vector<double>{0.5, 0, 1}));
  EXPECT_EQ(a.upper, (std::vector<double>{1, 0.5, 1}));
  EXPECT_EQ(draft.terms.uncertainty,
            Uncertainty(TV{Radius(std::vector<double>{0.25, 0}), Reach::support}));
}

TEST(Csv, SamplesAsScenariosAreFactorsOfWhichNaturePicks) {
  const std::string text = "idoutcome," + std::string(header) +
                           "0,0,0,0,0.5,1\n0,0,0,1,0.5,2\n1,0,0,0,0.75,1\n1,0,0,1,0.25,2\n"
                           "2,0,0,0,1,1\n0,1,0,1,1,0\n";
  const Draft draft = read_csv(text, "m.csv", Posterior::scenarios);
  const ModelArrays& a = draft.model.arrays();
  EXPECT_EQ(a.factors, 4);
  EXPECT_EQ(a.states, 6);
  EXPECT_EQ(draft.terms.uncertainty, Uncertainty(Interval{}));
  EXPECT_EQ(a.upper[0], 1);
  EXPECT_EQ(a.lower[0], 0);
  Terms terms = draft.terms;
  terms.horizon = 1;
  // From state 0: the sample with the least chance of the 2, from state 1 none has any choice.
  EXPECT_NEAR(robust(Problem(draft.model, terms)).reward.worst, 1, 1e-15);
  terms.horizon = 2;
  EXPECT_NEAR(robust(Problem(draft.model, terms)).reward.worst, 2, 1e-14);
  const Draft again{read_json(write_json(Draft{draft.model, terms}), "m.json").given()};
  EXPECT_EQ(again.model, draft.model);
  EXPECT_EQ(error_of([&] { read_csv(header, "m.csv", Posterior::scenarios); }),
            "m.csv: posterior scenarios without a column 'idoutcome', must have one");
  EXPECT_EQ(error_of([&] {
              read_csv("step,idoutcome," + std::string(header) + "0,0,0,0,0,1,1\n", "m.csv",
                       Posterior::scenarios);
            }),
            "m.csv: posterior scenarios with columns 'idoutcome' and 'step', must be mean");
}

TEST(Csv, TermsComeFromTheFileBesideIt) {
  const Draft draft = read_csv(std::string(header) + "0,0,0,1,5\n", "m.csv",
                               R"({"format": "redoubt-terms", "version": 1, "states": ["a", "b"],
                                   "horizon": 3, "start": "b", "uncertainty": {"set": "tv", "radius": 0.1}})",
                               "m.terms.json");
  EXPECT_EQ(draft.model.states(), 2);
  EXPECT_EQ(draft.terms.start, Start(1));
  EXPECT_EQ(draft.terms.horizon, 3);
  EXPECT_EQ(draft.terms.uncertainty, Uncertainty(TV{0.1}));
}

RC_GTEST_PROP(Csv, RoundTripKeepsEveryBit, (std::uint64_t seed)) {
  auto options = testing::random_options(seed);
  options.outcome_values = options.arrivals = false;
  const Problem p = testing::random_problem(seed, options);
  RC_ASSERT(there_and_back(p) == p);
}

RC_GTEST_PROP(Csv, RoundTripKeepsTheTotalsOfOutcomes, (std::uint64_t seed)) {
  auto options = testing::random_options(seed);
  options.outcome_values = true;
  options.arrivals = false;
  if (std::holds_alternative<TV>(options.uncertainty)) options.uncertainty = Nominal{};
  const Problem p = testing::random_problem(seed, options);
  const Problem q = there_and_back(p);
  RC_ASSERT(q.terms() == p.terms());
  RC_ASSERT(q.model().arrays().next == p.model().arrays().next);
  RC_ASSERT(q.model().arrays().probability == p.model().arrays().probability);
  for (int signal = -1; signal < p.model().signals(); ++signal) {
    for (Row r = 0; r < p.model().rows(); ++r) {
      for (auto i = p.model().outcome_begin(r); i < p.model().outcome_end(r); ++i) {
        RC_ASSERT(p.model().value(signal, r) + p.model().outcome_value(signal, i) ==
                  q.model().value(signal, r) + q.model().outcome_value(signal, i));
      }
    }
  }
  RC_ASSERT(there_and_back(q) == q);
}

TEST(Csv, NamesOfSignalsMayHoldAnything) {
  for (const char* name : {"a,b", "\"quoted\"", "two\nlines", " blank"}) {
    ModelArrays a = testing::random_model(1).arrays();
    a.signals[0].name = name;
    const Problem p(Model(a), {.horizon = 2});
    const Draft back = read_csv(write_csv(p), "m.csv", write_terms(p), "m.terms.json");
    EXPECT_EQ(Problem(back.model, back.terms), p) << name;
  }
}

TEST(Csv, RefusesWhatItCannotKeep) {
  testing::RandomOptions options;
  options.outcome_values = true;
  options.uncertainty = TV{0.1};
  EXPECT_EQ(error_of([&] { write_csv(testing::random_problem(1, options)); }),
            "reward of (state 0, action 0) differs between outcomes and from its row; with set tv "
            "and reach anywhere, a CSV file cannot keep both");
  ModelBuilder builder(1, {"step"});
  builder.add(
      0, 0, 0,
      {.reward = 0, .signals = {}, .outcomes = {{.next = 0, .probability = 1, .signals = {}}}});
  EXPECT_EQ(error_of([&] { write_csv(Problem(builder.build(), {.horizon = 1})); }),
            "signal 'step', must not have the name of another column of a CSV file");
}

TEST(Csv, ErrorsNameTheLine) {
  const std::string h = header;
  EXPECT_EQ(error_in(""), "m.csv: is empty, must begin with a header line");
  EXPECT_EQ(error_in(h), "m.csv: has no transitions, must have at least one");
  EXPECT_EQ(error_in("idstatefrom,idaction,idstateto,probability\n"),
            "m.csv: line 1: column 'reward' is missing, must be given");
  EXPECT_EQ(error_in("cost,cost," + h),
            "m.csv: line 1: column 'cost' is given twice, must be given once");
  EXPECT_EQ(error_in("lower," + h),
            "m.csv: line 1: columns 'lower' and 'upper' must be given together");
  EXPECT_EQ(error_in("idoutcome,lower,upper," + h),
            "m.csv: line 1: columns 'idoutcome' and 'lower', must be one of them: samples make "
            "bounds");
  EXPECT_EQ(error_in("idoutcome," + h + "0,0,0,0,1,0\n1,0,0,0,.98,0\n"),
            "m.csv: probabilities of (state 0, action 0) in sample 1 sum to 0.98, must sum to 1");
  EXPECT_EQ(error_in("idoutcome," + h + "0,0,0,0,1,0\n1,0,0,0,1,2\n"),
            "m.csv: what (state 0, action 0) earns in state 0 differs between samples, must be the "
            "same in all");
  EXPECT_EQ(error_in(h + "0,0,0,1,0\n\n0,1,0,1\n"), "m.csv: line 4: 4 fields, must be 5");
  EXPECT_EQ(error_in(h + "0,0,0,one,0\n"),
            "m.csv: line 2: probability = one, must be a finite number");
  EXPECT_EQ(error_in(h + "0,0,0,nan,0\n"),
            "m.csv: line 2: probability = nan, must be a finite number");
  EXPECT_EQ(error_in(h + "0,0,0,1,inf\n"), "m.csv: line 2: reward = inf, must be a finite number");
  EXPECT_EQ(error_in(h + "0,0,0,1,1e999\n"),
            "m.csv: line 2: reward = 1e999, must be a finite number");
  EXPECT_EQ(error_in(h + "0,0,-1,1,0\n"),
            "m.csv: line 2: idstateto = -1, must be a whole number in 0..2147483646");
  EXPECT_EQ(error_in(h + "0,1.5,0,1,0\n"),
            "m.csv: line 2: idaction = 1.5, must be a whole number in 0..2147483646");
  EXPECT_EQ(error_in(h + "0,0,0,.98,0\n"),
            "m.csv: probabilities of (state 0, action 0) sum to 0.98, must sum to 1 within 1e-09");
  EXPECT_EQ(error_in(h + "0,0,0,\"1,0\n"), "m.csv: line 2: a quote is never closed, must be");
  EXPECT_EQ(error_in(h + "0,0,0,\"1\"2,0\n"),
            "m.csv: line 2: text after a closing quote, must be a comma or the end of the line");
  EXPECT_EQ(error_in(h + "0,0,2000000000,1,0\n"),
            "m.csv: 2000000001 states in a file of 69 bytes, must be at most 1002208");
  EXPECT_EQ(error_of([&] {
              read_csv(h + "0,0,2,1,0\n", "m.csv",
                       R"({"format": "redoubt-terms", "version": 1, "states": 2})", "m.terms.json");
            }),
            "m.csv: line 2: idstateto = 2, must be a whole number in 0..1");
  EXPECT_EQ(error_of([&] {
              read_csv(h + "0,0,0,1,0\n", "m.csv",
                       R"({"format": "redoubt-problem", "version": 1, "states": 2})",
                       "m.terms.json");
            }),
            "m.terms.json: format = \"redoubt-problem\", must be \"redoubt-terms\"");
}

}  // namespace
}  // namespace redoubt
