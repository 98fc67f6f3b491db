#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "numerics/kernels.h"
#include "redoubt/environments.h"
#include "redoubt/solve.h"
#include "run_python.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

namespace {

double now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Vector exps for about as long as the machine needs to show its speed, in seconds for each value.
double seconds_per_exp(clockid_t clock) {
  alignas(64) static std::array<double, 512> x, y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -30.0 * i / x.size();
  const auto exp = vector_functions(best_instruction_set()).exp;
  double best = std::numeric_limits<double>::infinity();
  for (int window = 0; window < 200; ++window) {
    const double start = now(clock);
    for (int repeat = 0; repeat < 20; ++repeat) exp(x.data(), y.data(), x.size());
    best = std::min(best, now(clock) - start);
  }
  return best / (20.0 * x.size());
}

// All stages of a medium model, in seconds for one successor value of one array, and one vector
// exp, timed between the stages. A stage is too long to hope for an undisturbed one on a busy
// machine, so one thread is measured by its own processor time.
struct StageTime {
  double successor = 0;
  double exp = std::numeric_limits<double>::infinity();
};

StageTime stage_time(int threads, clockid_t clock) {
  static const Problem problem =
      make("garnet(states=1000,actions=10,successors=20,horizon=10,start=0,bound=0)");
  const RcviOptions options{.budget_step = 1};  // up to 196 budgets at a stage
  const RcviPlan plan = plan_rcvi(problem, options);
  StageTime time;
  int stage = plan.stages;  // the one that has just been done
  double start = 0, values = 0, last = -1;
  Execution execution{.threads = threads};
  execution.progress = [&](double done) {
    if (done == last) return true;  // within a stage
    last = done;
    if (stage < plan.stages) {
      time.successor += now(clock) - start;
      values += 2.0 * static_cast<double>(problem.model().outcomes()) * plan.axes[0].cells[stage];
    }
    --stage;
    time.exp = std::min(time.exp, seconds_per_exp(clock));
    start = now(clock);
    return true;
  };
  rcvi(problem, options, execution);
  time.successor /= values;
  return time;
}

double speedup(int threads) {
  double one = std::numeric_limits<double>::infinity(), many = one;
  for (int again = 0; again < 3; ++again) {
    one = std::min(one, stage_time(1, CLOCK_MONOTONIC).successor);
    many = std::min(many, stage_time(threads, CLOCK_MONOTONIC).successor);
  }
  return one / many;
}

// What benchmarks/rcvi_numpy.py reads: a model as arrays, and the budgets of every stage.
nlohmann::json for_numpy(const Problem& problem, const BudgetAxis& axis) {
  const Model& model = problem.model();
  nlohmann::json transitions = nlohmann::json::array(), reward, cost;
  for (State s = 0; s < model.states(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
      const auto a = row - model.row_begin(0, s);
      reward[s].push_back(model.value(-1, row));
      cost[s].push_back(model.value(axis.signal, row));
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        transitions.push_back({s, a, model.arrays().next[i], model.arrays().probability[i]});
    }
  }
  return {{"transitions", transitions},
          {"reward", reward},
          {"cost", cost},
          {"radius", std::get<KL>(problem.uncertainty()).radius.all},
          {"bound", -axis.bound},
          {"start", problem.start().states[0]},
          {"step", axis.step},
          {"low", axis.low},
          {"cells", axis.cells}};
}

nlohmann::json run_numpy(const nlohmann::json& input) {
  const auto file = std::filesystem::temp_directory_path() / "redoubt_bench_numpy.json";
  std::ofstream(file) << input;
  nlohmann::json answer = run_python("rcvi_numpy.py", file.string());
  std::filesystem::remove(file);
  return answer;
}

// Processor time of numpy by that of a whole solve, which also evaluates what it found. Both must
// have found the same.
double times_numpy(const char* id, double budget_step) {
  const Problem problem = make(id);
  const RcviOptions options{.budget_step = budget_step};
  double best = std::numeric_limits<double>::infinity();
  Solution solution;
  for (int again = 0; again < 5; ++again) {
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    solution = rcvi(problem, options);
    best = std::min(best, now(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  const nlohmann::json other = run_numpy(for_numpy(problem, solution.policy.budget[0]));
  const double reward = other["reward"], found = solution.trace.reward.back();
  // The policy of redoubt has weights of 16 bits.
  if (std::abs(reward - found) > 2e-5 * std::max(1.0, std::abs(found)))
    throw std::runtime_error(fmt::format("numpy finds {}, redoubt {}", reward, found));
  return other["seconds"].get<double>() / best;
}

}  // namespace

void rcvi(Table& table) {
  table.add({"rcvi stage in vector exps per successor, 1000 x 10 x 20", 4.5, 2.5}, [] {
    const StageTime time = stage_time(1, CLOCK_THREAD_CPUTIME_ID);
    return time.successor / time.exp;
  });
  table.add({"rcvi stage, two threads by one", 1.8, 1.95, Better::higher, lacks_two_cores()},
            [] { return speedup(2); });
  table.add({"rcvi by numpy, river_swim, 10 budgets, H = 1000", 20, 50, Better::higher},
            [] { return times_numpy("river_swim(horizon=1000,start=3,bound=800)", 100); });
  table.add({"rcvi by numpy, garnet 10 x 5, 20 budgets, H = 1000", 20, 50, Better::higher},
            [] { return times_numpy("garnet(horizon=1000,start=0,bound=170000)", 10000); });
}

}  // namespace redoubt::bench
