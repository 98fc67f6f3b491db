#include "redoubt/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>

#include "evaluation/satisfied.h"
#include "parallel/workers.h"
#include "redoubt/solve.h"
#include "support/csv_records.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

void check(const std::vector<Contestant>& contestants) {
  require(!contestants.empty(), "no methods to compare, must be at least one");
  std::set<std::string> names;
  for (const Contestant& contestant : contestants)
    require(names.insert(contestant.name).second, "method {} is listed twice, must be once",
            contestant.name);
}

bool holds(const Problem& problem, const std::vector<double>& misses, const Trace& trace,
           std::size_t record) {
  for (std::size_t c = 0; c < problem.constraints().size(); ++c)
    if (!satisfied(problem.constraints()[c], trace.constraints[c][record], misses[c])) return false;
  return true;
}

ComparisonLine summary(const Problem& problem, const Contestant& contestant, Solution solution) {
  ComparisonLine line;
  line.name = contestant.name;
  line.solution = std::move(solution);
  const Trace& trace = line.solution.trace;
  const auto& constraints = line.solution.constraints;
  const bool feasible = all_satisfied(constraints);
  if (feasible) line.best_reward = line.solution.reward.worst;
  if (contestant.iterates && !trace.reward.empty()) {
    const std::vector<double> misses = allowed_misses(problem);
    for (std::size_t i = 0; i < trace.reward.size() && !line.first_feasible; ++i)
      if (holds(problem, misses, trace, i)) line.first_feasible = trace.iteration[i];
    line.last_reward = trace.reward.back();
    for (const auto& column : trace.constraints) line.last_constraints.push_back(column.back());
  } else {
    if (feasible) line.first_feasible = static_cast<double>(line.solution.iterations);
    line.last_reward = line.solution.reward.worst;
    for (const ConstraintResult& c : constraints) line.last_constraints.push_back(c.worst);
  }
  return line;
}

double least_bound(const Problem& problem, const std::vector<ComparisonLine>& lines,
                   const Execution& execution) {
  std::optional<double> least;
  for (const ComparisonLine& line : lines)
    if (const auto& bound = line.solution.reward.bound)
      least = std::min(*bound, least.value_or(*bound));
  constexpr double unknown = std::numeric_limits<double>::infinity();
  Execution rest = execution;
  if (execution.checkpoint) rest.checkpoint = execution.checkpoint->part("bound");
  return least ? *least : robust(problem, {}, rest).reward.bound.value_or(unknown);
}

}  // namespace

Comparison compare(const Problem& problem, const std::vector<Contestant>& contestants,
                   const Execution& execution) {
  check(contestants);
  Comparison comparison;
  comparison.lines.resize(contestants.size());
  std::vector<Execution> alone(contestants.size(), execution);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    alone[i].threads = 1;
    if (execution.checkpoint) alone[i].checkpoint = execution.checkpoint->part(std::to_string(i));
  }
  // Each contestant's share of the work done, for one report of them all.
  std::vector<double> done(contestants.size(), 0.0);
  std::mutex mutex;
  const auto report = [&](std::size_t i, double share) {
    const std::lock_guard lock(mutex);
    done[i] = share;
    double sum = 0;
    for (const double each : done) sum += each;
    return !execution.progress || execution.progress(sum / static_cast<double>(done.size()));
  };
  Workers workers(execution.threads);
  workers.for_each(static_cast<std::int64_t>(contestants.size()), 2 * Workers::kWorthwhile,
                   [&](std::int64_t begin, std::int64_t end, int) {
                     for (auto i = begin; i < end; ++i) {
                       alone[i].progress = [&, i](double share) { return report(i, share); };
                       comparison.lines[i] = summary(problem, contestants[i],
                                                     contestants[i].solve(problem, alone[i]));
                     }
                   });
  comparison.bound = least_bound(problem, comparison.lines, execution);
  for (ComparisonLine& line : comparison.lines)
    if (line.best_reward) line.gap = comparison.bound - *line.best_reward;
  return comparison;
}

std::string trace_csv(const Problem& problem, const Comparison& comparison) {
  std::string text = "method,iteration,row_evaluations,seconds,reward,bound";
  for (const Constraint& constraint : problem.constraints())
    text += ',' + csv_quoted(constraint.signal);
  text += '\n';
  for (const ComparisonLine& line : comparison.lines) {
    const Trace& trace = line.solution.trace;
    const auto cell = [](const std::vector<double>& column, std::size_t i) {
      return i < column.size() ? fmt::format(",{}", column[i]) : std::string(",");
    };
    for (std::size_t i = 0; i < trace.iteration.size(); ++i) {
      text += fmt::format("{},{},{},{},{}", csv_quoted(line.name), trace.iteration[i],
                          trace.row_evaluations[i], trace.seconds[i], trace.reward[i]);
      text += cell(trace.bound, i);
      // A method that has no policy before its end has no constraint values on the way.
      for (std::size_t c = 0; c < problem.constraints().size(); ++c)
        text += c < trace.constraints.size() ? cell(trace.constraints[c], i) : ",";
      text += '\n';
    }
  }
  return text;
}

}  // namespace redoubt
