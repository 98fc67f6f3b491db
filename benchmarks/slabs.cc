#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "bellman/row_evaluator.h"
#include "redoubt/environments.h"
#include "support/array_memory.h"
#include "topics.h"

// All rows of a stage for some of its budgets, then all rows for the next ones, each slab with a
// table of next values of its own, of which more fits into a cache: is that faster than all budgets
// at once? docs/measurements/scale.md says what came of it.
namespace redoubt::bench {
using namespace internal;

namespace {

constexpr int kBudgets = 64, kArrays = 2;

double processor_time() {  // of this thread: others may be at work on the machine
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What every state is worth for some budgets: [state][array][budget], and what the worst of them is
// worth.
struct Slab {
  int budgets;
  std::vector<double> values, floor;

  Slab(State states, int count) : budgets(count), floor(kArrays * count, 0.0) {
    resize_with_large_pages(values, static_cast<std::size_t>(states) * kArrays * count);
    std::uint64_t random = 1;
    for (double& value : values) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      value = static_cast<double>(random >> 11) * 0x1p-53;
    }
  }
  const double* at(State state, int array) const {
    return values.data() + (std::int64_t{state} * kArrays + array) * budgets;
  }
};

// All rows for the budgets of one slab, and the next row's values asked for ahead, as in a sweep.
void run_rows(const Problem& problem, const Slab& slab, RowEvaluator& rows) {
  const Model& model = problem.model();
  const State* next = model.arrays().next.data();
  const Channel channel;
  std::vector<const double*> pointers(model.most_outcomes());
  double result[kBudgets];
  const bool far = is_far_away(slab.values);
  for (Row row = 0; row < model.rows(); ++row) {
    const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
    for (auto i = end; far && row + 1 < model.rows() && i < model.outcome_end(row + 1); ++i)
      fetch(slab.at(next[i], 0), kArrays * slab.budgets);
    for (int array = 0; array < kArrays; ++array) {
      for (auto i = begin; i < end; ++i) pointers[i - begin] = slab.at(next[i], array);
      rows.worst(row, {&channel, 1}, slab.budgets, pointers.data(),
                 rows.needs_floor() ? slab.floor.data() + array * slab.budgets : nullptr, result);
    }
  }
}

// Seconds for all rows and budgets, the least of some runs; what is made ready does not count.
double stage_time(const Problem& problem, int budgets, int runs) {
  std::vector<Slab> slabs;
  for (int first = 0; first < kBudgets; first += budgets)
    slabs.emplace_back(problem.model().states(), budgets);
  RowEvaluator rows(problem);
  double least = std::numeric_limits<double>::infinity();
  for (int again = 0; again < runs; ++again) {
    const double start = processor_time();
    for (const Slab& slab : slabs) run_rows(problem, slab, rows);
    least = std::min(least, processor_time() - start);
  }
  return least;
}

void add_lines(Table& table, const Problem& model, const Uncertainty& set) {
  Terms terms = model.terms();
  terms.uncertainty = set;
  const Problem problem = model.with(std::move(terms));
  const State states = problem.model().states();
  const int runs = std::clamp(400'000 / states, 2, 10);
  double all = 0;
  for (const int budgets : {32, 16, 8}) {
    const std::string line =
        fmt::format("slabs: {}, {} states, {} budgets at a time by 64", name(set), states, budgets);
    // Below 1 slabs would pay. That is to be known, and no reason to fail.
    table.add({line, 0, 1, Better::higher}, [&] {
      if (all == 0) {
        all = stage_time(problem, kBudgets, runs);
        fmt::print(
            "{:.2f} ns for a value with 64 budgets at a time\n",
            1e9 * all / (static_cast<double>(problem.model().outcomes()) * kArrays * kBudgets));
      }
      return stage_time(problem, budgets, runs) / all;
    });
  }
}

}  // namespace

void slabs(Table& table) {
  for (const int states : {10'000, 200'000, 1'000'000}) {
    const Problem model =
        make(fmt::format("garnet(states={},actions=4,successors=10,horizon=6,start=0)", states));
    add_lines(table, model, TV{0.1});
    add_lines(table, model, Chi2{0.1});
  }
}

}  // namespace redoubt::bench
