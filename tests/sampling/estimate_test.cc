#include "redoubt/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "redoubt/environments.h"
#include "support/expect_error.h"
#include "support/folders.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A file of this test's own, gone when the test ends.
class Scratch {
 public:
  explicit Scratch(const std::string& name) : path(testing::binary_folder() / name) {
    fs::remove(path);
  }
  ~Scratch() { fs::remove(path); }
  const fs::path path;
};

Estimate sample(const Problem& problem, std::int64_t samples, std::uint64_t seed, int threads = 1) {
  const auto simulator = problem_simulator(problem);
  return estimate(*simulator, {.samples = samples, .seed = seed},
                  {.threads = threads, .progress = {}});
}

void expect_same(const Estimate& a, const Estimate& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.visits, b.visits);
  EXPECT_EQ(a.counts, b.counts);
}

TEST(Estimate, FrequenciesComeCloseToTheModel) {
  const Problem truth = make("river_swim(horizon=10)");
  const Estimate found = sample(truth, 40'000, 1);
  const Model &a = truth.model(), &b = found.model;
  ASSERT_EQ(a.outcomes(), b.outcomes());
  for (std::int64_t i = 0; i < a.outcomes(); ++i) {
    const double p = a.arrays().probability[i];
    EXPECT_EQ(a.arrays().next[i], b.arrays().next[i]);
    EXPECT_NEAR(b.arrays().probability[i], p, 5 * std::sqrt(p * (1 - p) / 40'000)) << i;
  }
  EXPECT_EQ(a.arrays().reward, b.arrays().reward);
  EXPECT_EQ(a.arrays().signals, b.arrays().signals);
  EXPECT_EQ(found.queries, 40'000 * a.rows());
  EXPECT_TRUE(found.unvisited.empty());
  EXPECT_EQ(found.terms, truth.terms());
}

TEST(Estimate, DependsOnTheSeedAndNotOnThreads) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem truth = testing::random_problem(seed, testing::random_options(seed));
    const Estimate one = sample(truth, 3000, 7);
    expect_same(one, sample(truth, 3000, 7, 4));
  }
  const Problem truth = make("river_swim");
  EXPECT_NE(sample(truth, 100, 1).model, sample(truth, 100, 2).model);
}

TEST(Estimate, RandomValuesBecomeOutcomes) {
  testing::RandomOptions options;
  options.outcome_values = true;
  const Problem truth = testing::random_problem(3, options);
  const Estimate found = sample(truth, 20'000, 1);
  ASSERT_EQ(found.model.outcomes(), truth.model().outcomes());
  // The same distribution of (next, reward, signal) in every row.
  for (Row row = 0; row < truth.model().rows(); ++row) {
    const auto outcomes = [row](const Model& model) {
      std::set<std::pair<State, std::int64_t>> out;
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        out.insert({model.arrays().next[i],
                    std::llround(1e9 * (model.value(0, row) + model.outcome_value(0, i)))});
      return out;
    };
    EXPECT_EQ(outcomes(found.model), outcomes(truth.model()));
  }
}

// What a row's own values are, and what an arrival that no sample shows would earn, is known.
TEST(Estimate, KeepsWhatRowsAndArrivalsEarn) {
  int arrivals = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Model truth = testing::random_problem(seed, testing::random_options(seed)).model();
    const Model found =
        sample(Problem(truth, {.horizon = truth.stages() > 1 ? std::optional(truth.stages())
                                                             : std::optional(2)}),
               50, seed)
            .model;
    for (int signal = -1; signal < truth.signals(); ++signal) {
      EXPECT_EQ(found.arrival_values(signal), truth.arrival_values(signal));
      arrivals += truth.arrival_values(signal).empty() ? 0 : 1;
      for (Row row = 0; row < truth.rows(); ++row)
        EXPECT_EQ(found.value(signal, row), truth.value(signal, row));
    }
    for (Row row = 0; row < truth.rows(); ++row) {
      for (auto i = found.outcome_begin(row); i < found.outcome_end(row); ++i) {
        const State next = found.arrays().next[i];
        EXPECT_TRUE(found.lists(row, next) || !truth.lists(row, next));
      }
    }
  }
  EXPECT_GE(arrivals, 10);
}

TEST(Estimate, FunctionsAreSimulatorsToo) {
  const auto simulator =
      function_simulator(regular_shape(3, 2, {"cost"}, 2, {2}), [](const Query& query) {
        return Sample{(query.state + query.action) % 3, 1.0 * query.stage, {0.5}};
      });
  const Estimate found = estimate(*simulator, {.samples = 5});
  EXPECT_EQ(found.model.rows(), 2 * 2 * 2);  // stages, states that do not end, actions
  EXPECT_EQ(found.terms.horizon, 2);
  EXPECT_EQ(found.model.value(-1, found.model.row_begin(1, 0)), 1.0);
  EXPECT_EQ(found.model.arrays().next[found.model.row_begin(0, 1) + 1], 2);
}

TEST(Estimate, BadAnswersNameTheQuery) {
  const auto ask = [](Sample sample) {
    const auto simulator =
        function_simulator(regular_shape(3, 2, {"cost"}), [sample](const Query& query) {
          return query.draw == 4 ? sample : Sample{0, 0, {0}};
        });
    return error_of([&] { estimate(*simulator, {.samples = 5}); });
  };
  EXPECT_EQ(ask({3, 0, {0}}), "draw 4 of (state 0, action 0): next = 3, must be in 0..2");
  EXPECT_THAT(ask({0, NAN, {0}}), HasSubstr("reward = nan, must be finite"));
  EXPECT_THAT(ask({0, 0, {INFINITY}}), HasSubstr("signal 'cost' = inf, must be finite"));
  EXPECT_THAT(ask({0, 0, {}}), HasSubstr("0 signals, must be 1"));
}

TEST(Estimate, OptionsAreChecked) {
  const auto simulator = problem_simulator(make("fork"));
  EXPECT_EQ(error_of([&] { estimate(*simulator, {.samples = 0}); }),
            "samples = 0, must be in 1..4294967295");
  EXPECT_EQ(error_of([&] { estimate(*simulator, {}, {.threads = 0, .progress = {}}); }),
            "threads = 0, must be at least 1");
  EXPECT_EQ(error_of([] { regular_shape(3, 2, {}, 1, {3}); }), "terminal state 3, must be in 0..2");
  SimulatorShape shape = regular_shape(2, 2, {});
  shape.state_rows = {0, 3, 2};
  EXPECT_EQ(error_of([&] { shape.check(); }),
            "state_rows must increase from 0 to 4, the number of rows");
}

TEST(Estimate, ProgressRisesAndMayStopTheWork) {
  const auto simulator = problem_simulator(make("river_swim"));
  double last = 0;
  const auto watch = [&](double done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  };
  estimate(*simulator, {.samples = 10'000}, {.progress = watch});
  EXPECT_GT(last, 0.9);
  EXPECT_LE(last, 1);
  last = 0;  // of two threads, the one that tells may have its last turn early
  estimate(*simulator, {.samples = 10'000}, {.threads = 2, .progress = watch});
  EXPECT_LE(last, 1);
  const std::string text = error_of([&] {
    estimate(*simulator, {.samples = 10'000}, {.progress = [](double) { return false; }});
  });
  EXPECT_THAT(text, HasSubstr("estimate was stopped after"));
}

TEST(Store, AnInterruptedRunContinuesToTheSameBits) {
  const Problem truth = make("river_swim");
  const Scratch scratch("interrupted.samples");
  const auto simulator = problem_simulator(truth);
  // Enough that the other thread cannot finish while the one that is asked waits for its turn.
  constexpr int kSamples = 50'000;
  const EstimateOptions options{.samples = kSamples, .seed = 3, .store = scratch.path};
  for (const double stop : {0.3, 0.7}) {
    const std::string text = error_of([&] {
      estimate(*simulator, options,
               {.threads = 2, .progress = [&](double done) { return done < stop; }});
    });
    EXPECT_THAT(text, HasSubstr("samples are kept in"));
  }
  const Estimate resumed = estimate(*simulator, options, {.threads = 2, .progress = {}});
  EXPECT_GE(resumed.reused, kSamples * 12 * 0.6);
  EXPECT_EQ(resumed.reused + resumed.queries, kSamples * 12);
  expect_same(resumed, sample(truth, kSamples, 3));
  const Estimate again = estimate(*simulator, options);
  EXPECT_EQ(again.queries, 0);
  expect_same(again, resumed);
}

TEST(Store, MoreSamplesAskOnlyForTheRest) {
  const Problem truth = make("river_swim");
  const Scratch scratch("more.samples");
  const auto simulator = problem_simulator(truth);
  estimate(*simulator, {.samples = 100, .store = scratch.path});
  const Estimate more = estimate(*simulator, {.samples = 300, .store = scratch.path});
  EXPECT_EQ(more.queries, 200 * 12);
  expect_same(more, sample(truth, 300, 0));
  const Estimate fewer = estimate(*simulator, {.samples = 50, .store = scratch.path});
  EXPECT_EQ(fewer.queries, 0);
  expect_same(fewer, sample(truth, 50, 0));
}

TEST(Store, ATornEndIsDroppedAndDamageIsAnError) {
  const Problem truth = make("river_swim");
  const Scratch scratch("torn.samples");
  const auto simulator = problem_simulator(truth);
  const EstimateOptions options{.samples = 2000, .store = scratch.path};
  const Estimate whole = estimate(*simulator, options);
  const auto size = fs::file_size(scratch.path);
  for (const std::uintmax_t cut : {std::uintmax_t{3}, std::uintmax_t{50'000}, size - 5}) {
    fs::resize_file(scratch.path, fs::file_size(scratch.path) - std::min(cut, size));
    const Estimate resumed = estimate(*simulator, options);
    EXPECT_GT(resumed.queries, 0);
    expect_same(resumed, whole);
  }
  for (const int at : {36, 1000}) {  // in the length of the first block, and in what it holds
    std::fstream file(scratch.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int before = file.get();
    file.seekp(at);
    file.put('x');
    file.close();
    const auto damaged = fs::file_size(scratch.path);
    EXPECT_THAT(error_of([&] { estimate(*simulator, options); }),
                HasSubstr("block at byte 34 is damaged"));
    EXPECT_EQ(fs::file_size(scratch.path), damaged);  // nothing was thrown away
    file.open(scratch.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(static_cast<char>(before));
  }
}

TEST(Store, IsUsedByOneAtATime) {
  const Scratch scratch("shared.samples");
  const auto simulator = problem_simulator(make("river_swim"));
  const EstimateOptions options{.samples = 10'000, .store = scratch.path};
  int asked = 0;
  const auto watch = [&](double) {
    if (asked++ == 0) {
      EXPECT_EQ(error_of([&] { estimate(*simulator, options); }),
                scratch.path.string() + ": is in use by another process, must be free");
    }
    return true;
  };
  estimate(*simulator, options, {.threads = 1, .progress = watch});
  EXPECT_GT(asked, 0);
}

TEST(Store, SamplesOfOthersAreNotMixedIn) {
  const Scratch scratch("mixed.samples");
  const auto mine = problem_simulator(make("river_swim"));
  estimate(*mine, {.samples = 10, .store = scratch.path});
  const auto error = [&](Simulator& simulator, std::uint64_t seed) {
    return error_of(
        [&] { estimate(simulator, {.samples = 10, .seed = seed, .store = scratch.path}); });
  };
  EXPECT_THAT(error(*mine, 1), HasSubstr("holds samples of seed 0, must be of seed 1"));
  const auto other = problem_simulator(make("garnet(states=6,actions=2)"));
  EXPECT_THAT(error(*other, 0), HasSubstr("holds samples of another simulator"));
  std::ofstream(scratch.path) << "something else, and longer than a header would be";
  EXPECT_THAT(error(*mine, 0), HasSubstr("is not a file of samples"));
}

}  // namespace
}  // namespace redoubt
