#include "solvers/frontier/sets/landings.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "bellman/row_evaluator.h"
#include "model/submodel.h"
#include "parallel/collectives.h"

// Which rows share a landing.
namespace redoubt::internal {
namespace {

// Plans take room for every landing, direction and state; beyond this many landings times states
// all rows share one landing.
constexpr std::int64_t kMostPlanned = 20000;
// Different lists of states, in the numbers of the whole model, and for each the first row of all
// that has it: stage, state, action.
using FirstRow = std::tuple<int, State, int>;
using Lists = std::map<std::vector<State>, FirstRow>;

bool too_many(const Lists& lists, const Model& model) {
  return static_cast<std::int64_t>(lists.size()) * model.all_states() > kMostPlanned;
}

std::vector<State> listed_states(const Model& model, Row row) {
  std::vector<State> listed;
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    const State s = model.arrays().next[i], whole = whole_number(model, s);
    if (model.lists(row, s) && (listed.empty() || listed.back() != whole)) listed.push_back(whole);
  }
  return listed;
}

// Calls visit(stage, state, row) for each of this rank's rows, until it says false.
template <class Visit>
void for_each_row(const Model& model, Visit visit) {
  for (int h = 0; h < model.stages(); ++h) {
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        if (!visit(h, s, row)) return;
      }
    }
  }
}

// The lists of all ranks' rows that leave states out; too many of them when there are.
Lists different_lists(const Model& model, Communicator& ranks) {
  Lists own, all;
  for_each_row(model, [&](int h, State s, Row row) {
    std::vector<State> listed = listed_states(model, row);
    if (static_cast<State>(listed.size()) < model.all_states())
      own.try_emplace(std::move(listed), h, whole_number(model, s),
                      static_cast<int>(row - model.row_begin(h, s)));
    return !too_many(own, model);
  });
  std::vector<std::int32_t> told;  // first row, length and states of each list
  for (const auto& [list, first] : own) {
    const auto& [stage, state, action] = first;
    told.insert(told.end(), {stage, state, action, static_cast<std::int32_t>(list.size())});
    told.insert(told.end(), list.begin(), list.end());
  }
  told = all_gather_lists(ranks, std::move(told));
  for (auto at = told.begin(); at != told.end();) {
    const FirstRow first(at[0], at[1], at[2]);
    const auto begin = at + 4, end = begin + at[3];
    const auto known = all.try_emplace({begin, end}, first).first;
    known->second = std::min(known->second, first);
    at = end;
  }
  return all;
}

}  // namespace

Landings::Landings(const Problem& problem, Communicator& ranks)
    : model_(&problem.model()), ranks_(&ranks), anywhere_(lands_anywhere(problem)) {
  if (!anywhere_) return;
  find_worth(problem);
  const Model& model = problem.model();
  const Lists lists = different_lists(model, ranks);
  if (too_many(lists, model)) {
    row_landing_.assign(model.rows(), 0);
    listed_.assign(1, std::vector<bool>(model.states(), false));
    return;
  }
  std::vector<std::pair<FirstRow, const std::vector<State>*>> order;
  for (const auto& [list, first] : lists) order.emplace_back(first, &list);
  std::sort(order.begin(), order.end());
  std::map<std::vector<State>, int> number;
  for (const auto& [first, list] : order) {
    number.emplace(*list, static_cast<int>(number.size()));
    std::vector<bool>& listed = listed_.emplace_back(model.states());
    for (State s = 0; s < model.states(); ++s)
      listed[s] = std::binary_search(list->begin(), list->end(), whole_number(model, s));
  }
  row_landing_.assign(model.rows(), -1);
  for_each_row(model, [&](int, State, Row row) {
    const auto found = number.find(listed_states(model, row));
    if (found != number.end()) row_landing_[row] = found->second;
    return true;
  });
}

void Landings::find_worth(const Problem& problem) {
  const std::vector<Channel> channels = channels_of(problem);
  const bool any = std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
    return !model_->arrival_values(channel.signal).empty();
  });
  if (!any) return;
  for (const Channel& channel : channels) {
    std::vector<double>& worth = worth_.emplace_back(model_->states());
    for (State s = 0; s < model_->states(); ++s) worth[s] = arrival_worth(problem, channel, s);
  }
}

double Landings::most(const Problem& problem) {
  if (!lands_anywhere(problem)) return 0;
  const Model& model = problem.model();
  return static_cast<double>(std::min<std::int64_t>(
      model.rows(), std::max<std::int64_t>(1, kMostPlanned / model.all_states())));
}

}  // namespace redoubt::internal
