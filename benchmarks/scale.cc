#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <limits>

#include "redoubt/advanced/ranks.h"
#include "redoubt/environments.h"
#include "redoubt/reorder.h"
#include "redoubt/solve.h"
#include "solvers/rcvi/budget_sweep.h"
#include "support/shuffled.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

namespace {

using Clock = std::chrono::steady_clock;

double processor_time() {  // of this thread: others may be at work on the machine
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Some stages of a sparse random model with up to 64 budgets, in seconds for one value of one
// successor.
double stage_time(const Problem& problem, int stages) {
  const RcviPlan plan = plan_rcvi(problem, {.budget_cells = 60});
  Workers workers(1);
  BudgetSweep sweep(problem, plan.axes, plan.stages, Fallback::reward, workers);
  Policy::Stage decisions;
  double seconds = 0, values = 0;
  for (int h = plan.stages; h-- > plan.stages - stages;) {
    const double start = processor_time();
    sweep.step(h, decisions);
    const double took = processor_time() - start;
    if (h + 1 == plan.stages) continue;  // the first one also gets the memory
    seconds += took;
    values += 2.0 * static_cast<double>(problem.model().outcomes()) * plan.axes[0].cells[h];
  }
  return seconds / values;
}

// By how much a million states slow down the work on each of them.
double million_by_ten_thousand(const char* set) {
  const auto model = [&](int states) {
    return make(
        fmt::format("garnet(states={},actions=4,successors=10,horizon=6,start=0,bound=40,"
                    "set={},radius=0.1)",
                    states, set));
  };
  const Problem small = model(10'000);
  double fast = std::numeric_limits<double>::infinity();
  for (int again = 0; again < 5; ++again) fast = std::min(fast, stage_time(small, 6));
  return stage_time(model(1'000'000), 4) / fast;
}

// A whole solve of a board that was numbered at random and then reordered, by the same board
// numbered row by row.
double reordered_by_row_by_row(const char* set) {
  const Problem board =
      make(fmt::format("grid(size=300,horizon=8,start=uniform,bound=4,set={},radius=0.1)", set));
  const Problem shuffled = reorder(board, testing::shuffled(board.model().states()));
  const Problem moved = reorder(shuffled);
  const auto time = [&](const Problem& problem) {
    const double start = processor_time();
    redoubt::rcvi(problem, {.budget_step = 0.2});
    return processor_time() - start;
  };
  double good_time = std::numeric_limits<double>::infinity(), moved_time = good_time;
  for (int again = 0; again < 3; ++again) {
    good_time = std::min(good_time, time(board));
    moved_time = std::min(moved_time, time(moved));
  }
  return moved_time / good_time;
}

const Problem& medium() {
  static const Problem problem =
      make("garnet(states=1000,actions=10,successors=20,horizon=10,start=0,bound=0)");
  return problem;
}

// A whole solve of the medium model, evaluation included, on ranks in this process.
double solve_time(int ranks, int threads) {
  const RcviOptions options{.budget_step = 1};
  std::vector<Problem> parts;
  const auto blocks = balanced_blocks(medium().model(), ranks);
  for (int rank = 0; rank < ranks; ++rank) parts.push_back(subproblem(medium(), blocks, rank));
  const auto start = Clock::now();
  run_ranks(ranks, [&](Communicator& all) {
    Execution execution{.threads = threads};
    execution.ranks = &all;
    redoubt::rcvi(parts[all.rank()], options, execution);
  });
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double speedup(int ranks, int threads) {
  double one = std::numeric_limits<double>::infinity(), many = one;
  for (int again = 0; again < 3; ++again) {
    one = std::min(one, solve_time(1, 1));
    many = std::min(many, solve_time(ranks, threads));
  }
  return one / many;
}

}  // namespace

void scale(Table& table) {
  table.add({"scale: kl, a million states by ten thousand, per value", 1.3, 1.1},
            [] { return million_by_ten_thousand("kl"); });
  table.add({"scale: tv, a million states by ten thousand, per value", 2, 1.3},
            [] { return million_by_ten_thousand("tv"); });
  table.add({"scale: chi2, a million states by ten thousand, per value", 2, 1.3},
            [] { return million_by_ten_thousand("chi2"); });
  for (const char* set : {"tv", "chi2"}) {
    table.add({fmt::format("scale: {}, reordered board by row by row", set), 1.25, 1.1},
              [set] { return reordered_by_row_by_row(set); });
  }
  table.add({"scale: rcvi, medium kl model, two ranks by one", 1.7, 1.9, Better::higher,
             lacks_two_cores()},
            [] { return speedup(2, 1); });
  table.add({"scale: rcvi, medium kl model, two threads by one", 1.8, 1.95, Better::higher,
             lacks_two_cores()},
            [] { return speedup(1, 2); });
}

}  // namespace redoubt::bench
