#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <sstream>

#include "bellman/row_batch.h"
#include "plain_sweep.h"
#include "redoubt/environments.h"
#include "redoubt/io.h"
#include "redoubt/solve.h"
#include "redoubt/worst_case.h"
#include "rows.h"
#include "support/set_rows.h"
#include "topics.h"

namespace redoubt::bench {

using namespace internal;

namespace {

double processor_time() {  // of this thread: others may be at work on the machine
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double least_time(int times, const std::function<void()>& body) {
  double least = std::numeric_limits<double>::infinity();
  for (int again = 0; again < times; ++again) {
    const double begin = processor_time();
    body();
    least = std::min(least, processor_time() - begin);
  }
  return least;
}

Problem garnet(const std::string& set, int states, const std::string& rest) {
  const char* terms = set == "none" ? ""
                      : set == "tv" ? ",radius=0.1,reach=support"
                                    : ",radius=0.1";
  return make(fmt::format("garnet(states={},set={}{},start=0,{})", states, set, terms, rest));
}

// The worst cases of all rows, of one value for each state, by the kernel alone on 64 lanes of
// values that never leave the nearest cache; both for one successor. What is lost is where values
// lie.
double all_rows_by_lanes(const Uncertainty& set, const std::string& name) {
  constexpr int kSuccessors = 10;
  const Problem problem =
      garnet(name, 1000, fmt::format("actions=5,successors={},horizon=2", kSuccessors));
  const Model& model = problem.model();
  std::vector<double> next(model.states()), result(model.rows());
  std::mt19937_64 random(1);
  for (double& value : next) value = testing::uniform(random);
  RowBatch batch(problem);
  const auto sweep = [&] {
    batch.worst(Row{0}, model.rows(), Channel{}, next.data(), 0, result.data());
    benchmark::DoNotOptimize(result.data());
  };
  Rows rows(kSuccessors, 0.1);
  const std::vector<double> time = seconds({sweep, rows.backup(set)});
  return time[0] / static_cast<double>(model.outcomes()) / (time[1] / rows.values());
}

// A sweep of `robust`, which leaves out rows that cannot be the best, by the same kernel.
double sweep_by_lanes(const Uncertainty& set, const std::string& name) {
  constexpr int kSuccessors = 10, kStages = 100;
  const Problem given =
      garnet(name, 1000, fmt::format("actions=5,successors={},horizon={}", kSuccessors, kStages));
  Terms terms = given.terms();
  terms.constraints.clear();
  const Problem problem = given.with(std::move(terms));
  Rows rows(kSuccessors, 0.1);
  const std::vector<double> time =
      seconds({[&] { robust(problem, {}, {.threads = 1}); }, rows.backup(set)});
  return time[0] / (kStages * static_cast<double>(problem.model().outcomes())) /
         (time[1] / rows.values());
}

// The same for one row after the other, each alone in its lanes.
double one_lane_by_lanes(const Uncertainty& set) {
  Rows rows(10, 0.1);
  const std::vector<double> time = seconds({rows.backup_of_one(set), rows.backup(set)});
  return time[0] / rows.values_of_one() / (time[1] / rows.values());
}

double solve_time(const Problem& problem) {
  return least_time(7, [&] { robust(problem); });
}

double long_by_short_discount(const std::string& set) {
  const auto time = [&](const char* discount) {
    return solve_time(garnet(
        set, 1000, fmt::format("actions=5,successors=10,horizon=infinite,discount={}", discount)));
  };
  return time("0.999") / time("0.9");
}

// As it was before rows stood side by side and decisions were kept: sweeps over one row after the
// other until they change nothing, once to solve and once to evaluate. Two sweeps are measured.
double before_by_after() {
  const Problem problem =
      garnet("tv", 10'000, "actions=5,successors=10,horizon=infinite,discount=0.95");
  PlainSweep sweep(problem);
  sweep();
  const double sweeps = 2 * std::log(1e-12) / std::log(problem.discount());
  return sweeps * least_time(2, [&] { sweep(); }) / solve_time(problem);
}

double two_threads_by_one(const std::string& set) {
  const Problem problem = garnet(set, 1'000'000, "actions=4,successors=5,horizon=4");
  double one = std::numeric_limits<double>::infinity(), two = one;
  for (int again = 0; again < 3; ++again) {
    one = std::min(one, robust(problem, {}, {.threads = 1}).seconds);
    two = std::min(two, robust(problem, {}, {.threads = 2}).seconds);
  }
  return one / two;
}

// The public call for one row and one vector, by the kernel for the same.
double call_by_kernel(const Uncertainty& set) {
  constexpr int kOutcomes = 10;
  std::mt19937_64 random(1);
  const auto row = testing::plain_row(random, kOutcomes, 0.1);
  const std::vector<double> values = row.lane(0);
  const auto call = [&] {
    for (int again = 0; again < 100; ++again)
      benchmark::DoNotOptimize(worst_case(set, row.probability, values));
  };
  Scratch scratch;
  const WorstCase kernel = worst_case_kernel(set);
  // On cache lines, as the call has them.
  alignas(64) std::array<double, kOutcomes * kLaneBlock> lanes;
  alignas(64) std::array<double, kLaneBlock> result;
  std::vector<const double*> pointers;
  for (int i = 0; i < kOutcomes; ++i) {
    std::fill_n(lanes.data() + i * kLaneBlock, kLaneBlock, values[i]);
    pointers.push_back(lanes.data() + i * kLaneBlock);
  }
  const auto plain = [&] {
    for (int again = 0; again < 100; ++again) {
      kernel({kOutcomes, row.probability.data(), 0.1}, {1, pointers.data()}, scratch, result.data(),
             nullptr);
      benchmark::DoNotOptimize(result.data());
      benchmark::ClobberMemory();
    }
  };
  return ratio(call, plain);
}

// The public call for many rows of a sparse matrix, by the same rows in a sweep, which are known to
// be right and need no checks.
double many_rows_by_sweep(const Uncertainty& set, const std::string& name) {
  const Problem problem = garnet(name, 1000, "actions=5,successors=10,horizon=2");
  const ModelArrays& arrays = problem.model().arrays();
  std::vector<double> next(arrays.states), result(problem.model().rows());
  std::mt19937_64 random(1);
  for (double& value : next) value = testing::uniform(random);
  RowBatch batch(problem);
  return ratio(
      [&] {
        benchmark::DoNotOptimize(worst_cases(
            set, {arrays.row_outcomes, arrays.next, arrays.probability, {}, {}, {}}, next));
      },
      [&] {
        batch.worst(Row{0}, problem.model().rows(), Channel{}, next.data(), 0, result.data());
        benchmark::DoNotOptimize(result.data());
      });
}

// A plain reader of the same file: lines, strtod, and lists of actions and outcomes that grow.
void read_plainly(const std::string& text) {
  struct Outcome {
    int next;
    double probability, reward;
  };
  std::vector<std::vector<std::vector<Outcome>>> states;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    char* at = line.data();
    const auto from = static_cast<std::size_t>(std::strtol(at, &at, 10));
    const auto action = static_cast<std::size_t>(std::strtol(at + 1, &at, 10));
    const auto next = static_cast<int>(std::strtol(at + 1, &at, 10));
    const double probability = std::strtod(at + 1, &at), reward = std::strtod(at + 1, &at);
    if (states.size() <= from) states.resize(from + 1);
    if (states[from].size() <= action) states[from].resize(action + 1);
    states[from][action].push_back({next, probability, reward});
  }
  benchmark::DoNotOptimize(states.data());
}

double csv_by_plain_reader() {
  const Problem problem = garnet("none", 10'000, "actions=5,successors=10,horizon=2");
  std::string text = "idstatefrom,idaction,idstateto,probability,reward\n";
  const Model& model = problem.model();
  for (State state = 0; state < model.states(); ++state) {
    const Row first = model.row_begin(0, state);
    for (Row row = first; row < model.row_end(0, state); ++row) {
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        text += fmt::format("{},{},{},{},{}\n", state, row - first, model.arrays().next[i],
                            model.arrays().probability[i], model.value(-1, row));
    }
  }
  const double ours = least_time(5, [&] { benchmark::DoNotOptimize(read_csv(text, "model.csv")); });
  return ours / least_time(5, [&] { read_plainly(text); });
}

}  // namespace

void base_case(Table& table) {
  const std::pair<const char*, Uncertainty> sets[] = {
      {"tv", TV{0.1, Reach::support}}, {"chi2", Chi2{0.1}}, {"kl", KL{0.1}}};
  for (const auto& [name, set] : sets) {
    table.add({fmt::format("base: {}, sweep of robust by 64 lanes, per successor", name), 2.5, 1.5},
              [=] { return sweep_by_lanes(set, name); });
    table.add({fmt::format("base: {}, all rows by 64 lanes, per successor", name), 2.5, 1.5},
              [=] { return all_rows_by_lanes(set, name); });
    table.add({fmt::format("base: {}, one lane by 64, per successor", name), 64, 8},
              [=] { return one_lane_by_lanes(set); });
    table.add({fmt::format("base: {}, worst_case of one vector by kernel", name), 2, 1.5},
              [=] { return call_by_kernel(set); });
    table.add({fmt::format("base: {}, worst_cases of 5,000 rows by sweep", name), 2, 1.5},
              [=] { return many_rows_by_sweep(set, name); });
  }
  for (const char* name : {"tv", "chi2", "kl"})
    table.add({fmt::format("base: {}, discount .999 by .9", name), 4, 2},
              [=] { return long_by_short_discount(name); });
  table.add({"base: tv, discount .95, before by after", 20, 60, Better::higher}, before_by_after);
  for (const char* name : {"none", "tv"})
    table.add({fmt::format("base: {}, a million states, two threads by one", name), 1.7, 1.9,
               Better::higher, lacks_two_cores()},
              [=] { return two_threads_by_one(name); });
  table.add({"base: CSV of 500,000 outcomes by a plain reader", 1, .7}, csv_by_plain_reader);
}

}  // namespace redoubt::bench
