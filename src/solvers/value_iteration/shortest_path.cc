#include "solvers/value_iteration/value_iteration.h"

#include <algorithm>

#include "evaluation/until_end.h"
#include "model/end_components.h"
#include "model/ends.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "policy/stage_builder.h"

namespace redoubt::internal {

TakenRows all_rows(const Model& model) {
  TakenRows all;
  all.begin = {0};
  for (State place = 0; place < model.own_states(); ++place) {
    const State s = model.own(place);
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) all.rows.push_back(row);
    all.begin.push_back(static_cast<std::int64_t>(all.rows.size()));
  }
  return all;
}

std::vector<std::int32_t> first_actions(const Model& model) {
  std::vector<std::int32_t> actions(model.states(), -1);
  for (State s = 0; s < model.states(); ++s)
    if (model.row_begin(0, s) < model.row_end(0, s)) actions[s] = 0;
  return actions;
}

namespace {

// Actions by which every episode ends, whatever nature does.
std::vector<std::int32_t> ending_actions(const Problem& problem) {
  const Model& model = problem.model();
  std::vector<std::int32_t> actions(model.all_states(), 0);
  if (!problem.improper()) return actions;
  std::vector<char> ends(model.states(), 0);
  for (State s = 0; s < model.states(); ++s) ends[s] = model.row_begin(0, s) == model.row_end(0, s);
  const SureReach sure = sure_reach(model, Support(model, problem.uncertainty()), ends);
  for (State s = 0; s < model.states(); ++s)
    if (!ends[s]) actions[s] = static_cast<std::int32_t>(sure.row[s] - model.row_begin(0, s));
  return actions;
}

}  // namespace

ValueIteration shortest_path(const Problem& problem, Channel channel, Workers& workers,
                             bool least) {
  const Model& model = problem.model();
  if (problem.traps()) {
    if (least) return least_with_traps(problem, channel, workers);
    const AskedTotal total{"", channel.signal, channel.sign};
    return only_adds(model, Support(model, problem.uncertainty()), total)
               ? most_despite_traps(problem, channel, workers)
               : most_by_kernels(problem, channel, workers);
  }
  const TakenRows rows = all_rows(model);
  UntilEnd totals(problem, channel, rows, least ? UntilEnd::Choice::least : UntilEnd::Choice::best,
                  workers);
  std::vector<double> values(model.all_states(), 0.0);
  std::vector<std::int32_t> actions = ending_actions(problem);
  totals.find(values, actions);
  ValueIteration result;
  result.sweeps = totals.rounds();
  result.scale = totals.scale();
  if (least) {
    const std::vector<double> below = totals.below(values);
    for (std::size_t s = 0; s < values.size(); ++s)
      result.error = std::max(result.error, values[s] - below[s]);
  } else {
    result.error = totals.most_above(values, actions);
  }
  result.row_evaluations = sum_over_ranks(workers.ranks(), totals.evaluations());
  for (State s = 0; s < model.states(); ++s)
    result.values.push_back(values[whole_number(model, s)]);
  std::vector<std::int32_t> own;
  for (State place = 0; place < model.own_states(); ++place)
    own.push_back(actions[whole_number(model, model.own(place))]);
  result.policy = pure_policy(own);
  return result;
}

double bytes_of_shortest_path(const Problem& problem) {
  const double rows = static_cast<double>(problem.model().rows());
  return 8 * rows + UntilEnd::bytes(problem, rows);
}

}  // namespace redoubt::internal
