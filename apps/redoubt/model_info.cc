#include "model_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "output.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct ValueRange {
  std::string name;
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void include(double value) {
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
};

// Of one decision, with what follows it. Signal -1 is the reward.
ValueRange value_range(const Draft& draft, int signal) {
  const Model& model = draft.model;
  const Uncertainty& set = draft.terms.uncertainty;
  const auto* tv = std::get_if<TV>(&set);
  const auto* composed = std::get_if<Composed>(&set);
  const bool lands = (tv != nullptr && tv->reach == Reach::anywhere) ||
                     (composed != nullptr && SetKind::find(name(set))->reach &&
                      composed->reach == Reach::anywhere);
  ValueRange range{signal < 0 ? "reward" : model.arrays().signals[signal].name};
  for (Row row = 0; row < model.rows(); ++row) {
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      range.include(model.value(signal, row) + model.outcome_value(signal, i));
    if (!lands || model.arrival_values(signal).empty()) continue;
    for (State s = 0; s < model.states(); ++s)
      range.include(model.value(signal, row) + model.arrival_value(signal, s));
  }
  return range;
}

std::vector<ValueRange> value_ranges(const Draft& draft) {
  std::vector<ValueRange> ranges;
  if (draft.model.rows() == 0) return ranges;
  for (int signal = draft.rewarded ? -1 : 0; signal < draft.model.signals(); ++signal)
    ranges.push_back(value_range(draft, signal));
  return ranges;
}

}  // namespace

void print_sizes(const Model& model) {
  fmt::print("{} states, {} actions, {} rows, {} outcomes{}\n", count_text(model.all_states()),
             count_text(model.actions()), count_text(static_cast<double>(model.rows())),
             count_text(static_cast<double>(model.outcomes())),
             model.stages() > 1 ? ", rows of their own for every stage" : "");
}

void print_labels(const Model& model) {
  std::vector<std::string> labels;
  for (const Label& label : model.arrays().labels)
    labels.push_back(fmt::format("{} ({} state{})", label.name,
                                 count_text(static_cast<double>(label.states.size())),
                                 label.states.size() == 1 ? "" : "s"));
  if (!labels.empty()) fmt::print("Labels: {}\n", fmt::join(labels, ", "));
}

void print_values(const Draft& draft) {
  std::vector<Cells> rows = {{"of one decision", "least", "largest"}};
  for (const ValueRange& range : value_ranges(draft))
    rows.push_back({range.name, number_text(range.least), number_text(range.largest)});
  fmt::print("\n");
  print_table(rows);
}

void add_model_json(Json& object, const Draft& draft) {
  object["rows"] = draft.model.rows();
  object["outcomes"] = draft.model.outcomes();
  object["stages"] = draft.model.stages();
  object["values"] = Json::array();
  for (const ValueRange& range : value_ranges(draft))
    object["values"].push_back(
        {{"name", range.name}, {"least", range.least}, {"largest", range.largest}});
  object["labels"] = Json::object();
  for (const Label& label : draft.model.arrays().labels)
    object["labels"][label.name] = label.states.size();
}

int print_draft(const Draft& draft, const std::string& incomplete, bool json) {
  if (json) {
    Json object = {{"states", draft.model.states()}, {"actions", draft.model.actions()}};
    add_model_json(object, draft);
    print_json(object);
    return kFine;
  }
  print_sizes(draft.model);
  print_labels(draft.model);
  print_values(draft);
  const bool complete = draft.terms.horizon || draft.terms.discount < 1;
  fmt::print("\nTo solve it, give{}{}{}\n", complete ? "" : " --horizon N, or --discount X below 1",
             complete || draft.rewarded ? "" : "; and",
             draft.rewarded ? "" : " --maximise NAME, --minimise NAME or --reward none");
  if (!incomplete.empty()) fmt::print("Without them: {}\n", incomplete);
  return kFine;
}

}  // namespace redoubt::app
