#include "table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checks.h"
#include "every_rank.h"
#include "text.h"

namespace redoubt::app {
namespace {

std::string meaning(const Problem& problem, const Solution& solution) {
  if (solution.status == Status::certified && problem.terms().helpful_nature)
    return "no policy does better by more than the gap, with nature on its side";
  switch (solution.status) {
    case Status::certified:
      return "every constraint holds in the worst case, and no policy does better by more than the "
             "gap";
    case Status::feasible:
      return solution.reward.bound
                 ? "every constraint holds in the worst case; the gap says how much better a "
                   "policy "
                   "could be"
                 : "every constraint holds in the worst case; a better policy may exist";
    case Status::violated:
      return "this policy breaks a constraint in the worst case";
    case Status::infeasible:
      return "no policy keeps every constraint";
    case Status::stopped:
      return is_known(solution.reward.worst)
                 ? "the work was ended early, and no policy is known that keeps every constraint; "
                   "this is the best so far"
                 : "the work was ended early, before any policy was evaluated";
  }
  return "";
}

// Below its heading, a column holds numbers when it holds nothing else.
bool holds_numbers(const std::vector<Cells>& rows, std::size_t column) {
  return std::all_of(rows.begin() + 1, rows.end(), [&](const Cells& row) {
    return row[column].empty() || to_number(row[column]).has_value();
  });
}

void print_effort(const Solution& solution) {
  const auto memory = memory_states(solution.policy);
  fmt::print("Method {}: {}, {} iterations, {} row evaluations; the policy has {} memory state{}\n",
             solution.method, duration_text(solution.seconds),
             count_text(static_cast<double>(solution.iterations)),
             count_text(solution.row_evaluations), count_text(static_cast<double>(memory)),
             memory == 1 ? "" : "s");
}

}  // namespace

void print_table(const std::vector<Cells>& rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (const Cells& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::vector<bool> right(width.size());
  for (std::size_t c = 0; c < width.size(); ++c) right[c] = holds_numbers(rows, c);
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += right[c] ? fmt::format("  {:>{}}", row[c], width[c])
                       : fmt::format("  {:<{}}", row[c], width[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

void print_worst_cases(const Problem& problem, const RewardResult& reward,
                       const std::vector<ConstraintResult>& constraints,
                       const std::optional<double>& hopeless, const std::optional<double>& gap) {
  const bool helpful = problem.terms().helpful_nature;
  std::vector<Cells> rows = {{"", helpful ? "best case" : "worst case", "", ""}};
  rows.push_back({"reward", number_text(reward.worst), "", ""});
  for (const ConstraintResult& c : constraints) {
    const char* verdict = c.satisfied ? "holds" : is_known(c.worst) ? "BROKEN" : "unknown";
    rows.push_back({quantity_text(c), number_text(c.worst), bound_text(c), verdict});
  }
  print_table(rows);
  if (reward.bound) {
    fmt::print("  No policy {} a reward above {}{}\n",
               helpful ? "has" : "that keeps the constraints guarantees",
               number_text(*reward.bound),
               gap ? ": gap " + number_text(std::max(0.0, *gap)) : std::string());
  }
  for (const ConstraintResult& c : constraints) {
    if (c.best_achievable && !c.satisfied)
      fmt::print("  The best worst-case {} of any policy is {}\n", quantity_text(c),
                 number_text(*c.best_achievable));
  }
  if (hopeless && *hopeless > 0)
    fmt::print(
        "  With worst-case probability {:.3g} the policy reaches a state from which the remaining "
        "budget\n"
        "  cannot be met; the totals above include what it does there.\n",
        *hopeless);
}

void print_first_decisions(const Problem& problem, const Policy& policy) {
  constexpr std::size_t kMost = 8;  // start states; more are a matter for a file
  const Start& start = problem.start();
  if (policy.stages.empty() || start.states.size() > kMost) return;
  const Policy::Stage& stage = policy.at(0);
  const bool elsewhere = stage.mixed.empty() && stage.choice_begin.empty();  // or on other ranks
  if (elsewhere || problem.model().arrays().submodel) return;
  std::vector<Cells> rows;
  for (const State state : start.states) {
    const Row first = problem.model().row_begin(0, state);
    if (first == problem.model().row_end(0, state)) continue;  // terminal
    std::map<std::int32_t, double> weights;
    for (const MemoryMove& move : start_memory(policy, state)) {
      for_each_choice(
          stage, stage.begin(state) + move.memory, [&](std::int32_t action, double weight) {
            weights[problem.model().arrays().action[first + action]] += move.weight * weight;
          });
    }
    std::string actions;
    for (const auto& [action, weight] : weights) {
      if (weight < 5e-7) continue;
      if (!actions.empty()) actions += ", ";
      actions += problem.model().action_name(action);
      if (weight < 1) actions += fmt::format(" with probability {:.3g}", weight);
    }
    rows.push_back({"in " + state_text(problem, state) + ":", actions});
  }
  if (rows.empty()) return;
  fmt::print("First decision\n");
  print_table(rows);
}

void print_evaluation(const Problem& problem, const Evaluation& evaluation) {
  print_worst_cases(problem, evaluation.reward, evaluation.constraints, evaluation.hopeless, {});
  fmt::print("\nProblem: {} states, {}\n", count_text(problem.model().all_states()),
             terms_text(problem));
}

void print_solution(const Problem& problem, const Solution& solution) {
  fmt::print("{}: {}\n\n", name(solution.status), meaning(problem, solution));
  print_worst_cases(problem, solution.reward, solution.constraints, solution.hopeless,
                    solution.gap());
  fmt::print("\n");
  print_first_decisions(problem, solution.policy);
  fmt::print("Problem: {} states, {}\n", count_text(problem.model().all_states()),
             terms_text(problem));
  print_effort(solution);
  for (const std::string& note : solution.notes) fmt::print("Note: {}\n", note);
}

}  // namespace redoubt::app
