#include "io/explicit/explicit_model.h"

#include <algorithm>
#include <limits>
#include <set>

#include "io/transitions.h"
#include "io/umb/umb_annotations.h"
#include "model/set_traits.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

std::string without_blanks(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    if (std::string_view(" \t\r\n\v\f[]\":").find(c) != std::string_view::npos) c = '_';
  }
  return out;
}

// The number of a label that is one, as this library writes actions without names.
std::optional<std::int32_t> action_number(const std::string& label) {
  const auto number = count_of(label);
  if (!number || *number >= std::numeric_limits<std::int32_t>::max() ||
      label != fmt::format("{}", *number))
    return {};
  return static_cast<std::int32_t>(*number);
}

void use_numbers(ModelArrays& a, const std::vector<std::int32_t>& numbers) {
  for (auto& action : a.action) action = numbers[action];
}

void use_given_names(ModelArrays& a, const std::vector<std::string>& names) {
  ModelArrays named;
  named.action_names = names;
  const auto written = choice_labels(named, 0);
  std::map<std::string, std::int32_t> places;
  for (std::size_t i = 0; i < written.size(); ++i)
    places.emplace(written[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> numbers;
  for (const std::string& label : a.action_names) {
    const auto place = places.find(label);
    require(place != places.end(), "action '{}', must be one of those that the terms list",
            excerpt(label));
    numbers.push_back(place->second);
  }
  use_numbers(a, numbers);
  a.action_names = names;
}

// Labels of choices become actions: those of the terms, numbers, names, or places in the state.
void name_actions(ModelArrays& a, const Side& side) {
  const auto repeats = most_repeats(a);
  const auto& labels = a.action_names;
  std::vector<std::int32_t> numbers;
  for (const std::string& label : labels) {
    if (const auto number = action_number(label)) numbers.push_back(*number);
  }
  if (side.actions && !side.actions->names().empty()) {
    use_given_names(a, side.actions->names());
  } else if (numbers.size() == labels.size() && repeats == 0) {
    use_numbers(a, numbers);
    a.action_names.clear();
  } else if (labels.size() == 1 && labels[0].empty()) {
    number_actions(a);
  } else if (repeats > 0) {
    constexpr std::int64_t most_names = 1'000'000;
    if (static_cast<std::int64_t>(labels.size()) * (repeats + 1) <= most_names)
      tell_apart(a, repeats);
    else
      number_actions(a);
  }
  if (side.actions && a.action_names.empty()) {
    for (const auto action : a.action)
      require(action < side.actions->count(), "action {}, must be below {}, which the terms say",
              action, side.actions->count());
  }
  sort_actions(a);
}

// Layers of states, one for each stage and one more, become stages again.
void fold_layers(ModelArrays& a, State states, int stages) {
  const auto slots = static_cast<std::size_t>(states) * stages;
  require(a.state_rows[slots] == a.state_rows.back(),
          "a state after the last stage has a choice, must have none");
  a.state_rows.resize(slots + 1);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto first = static_cast<std::int64_t>(slot / states + 1) * states;
    const auto end = a.row_outcomes[a.state_rows[slot + 1]];
    for (auto i = a.row_outcomes[a.state_rows[slot]]; i < end; ++i) {
      require(a.next[i] >= first && a.next[i] < first + states,
              "a branch from state {} to state {}, must lead to the next stage", slot, a.next[i]);
      a.next[i] -= static_cast<State>(first);
    }
  }
  for (Label& label : a.labels) std::erase_if(label.states, [&](State s) { return s >= states; });
  a.state_names.clear();
  a.states = states;
  a.stages = stages;
}

void use_states(ModelArrays& a, const Side& side) {
  if (!side.states) return;
  const std::int64_t states = side.states->count(), stages = side.horizon.value_or(0);
  if (states != a.states) {
    require(stages >= 1 && a.states == states * (stages + 1),
            "{} states in the file and {} in its terms, must be equal or one layer for each stage "
            "and one more",
            a.states, states);
    fold_layers(a, side.states->count(), static_cast<int>(stages));
  }
  if (!side.states->names().empty()) a.state_names = side.states->names();
}

// Where outcomes have bounds, the nominal probabilities that the terms give, or some between them.
void use_bounds(ModelArrays& a, bool intervals, const JsonNode& root) {
  if (!intervals) {
    a.probability = std::move(a.lower);
    a.lower.clear();
    a.upper.clear();
    return;
  }
  a.probability.assign(a.lower.size(), kAbsent);
  if (const auto nominal = root.find("nominal")) {
    nominal->require_size(static_cast<std::int64_t>(a.lower.size()), "outcome");
    for (std::size_t i = 0; i < a.lower.size(); ++i) a.probability[i] = nominal->at(i).number();
  }
  place_between_bounds(a);
}

void require_distinct_names(std::vector<std::string>& names) {
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) names.clear();
}

std::string_view value_name(const Model& m, int signal) {
  return signal < 0 ? "reward" : std::string_view(m.arrays().signals[signal].name);
}

}  // namespace

ExplicitFile::ExplicitFile() {
  arrays.state_rows = {0};
  arrays.row_outcomes = {0};
}

std::int32_t ExplicitFile::Numbers::of(std::string_view label) {
  const auto found = numbers.find(label);
  if (found != numbers.end()) return found->second;
  return numbers.emplace(std::string(label), static_cast<std::int32_t>(numbers.size()))
      .first->second;
}

void ExplicitFile::begin_choice(std::string_view label) {
  const std::int32_t number = choice_labels_.of(label);
  if (number == static_cast<std::int32_t>(arrays.action_names.size()))
    arrays.action_names.emplace_back(label);
  arrays.action.push_back(number);
  ++arrays.state_rows.back();
  arrays.row_outcomes.push_back(arrays.row_outcomes.back());
}

void ExplicitFile::add_branch(State next, const Bounds& probability) {
  arrays.next.push_back(next);
  arrays.lower.push_back(probability.lower);
  arrays.upper.push_back(probability.upper);
  ++arrays.row_outcomes.back();
}

void ExplicitFile::add_label(std::string_view name, State state) {
  if (name == "init") return initial.push_back(state);
  const std::int32_t number = state_labels_.of(name);
  if (number == static_cast<std::int32_t>(arrays.labels.size()))
    arrays.labels.push_back({std::string(name)});
  if (state >= 0) arrays.labels[number].states.push_back(state);
}

void add_rewards(std::vector<ExplicitReward> rewards, ModelArrays& a) {
  const auto rows = a.action.size();
  for (ExplicitReward& reward : rewards) {
    Signal signal{std::move(reward.name), std::move(reward.choices), std::move(reward.branches)};
    if (!reward.states.empty()) signal.row.resize(rows, 0.0);
    for (std::size_t s = 0; s < reward.states.size(); ++s) {
      const auto begin = a.state_rows[s], end = a.state_rows[s + 1];
      require(begin < end || reward.states[s] == 0,
              "reward '{}' of state {} = {}, must be 0: the state has no choice, so nothing is "
              "earned in it",
              excerpt(signal.name), s, reward.states[s]);
      for (auto row = begin; row < end; ++row) signal.row[row] += reward.states[s];
    }
    a.signals.push_back(std::move(signal));
  }
}

std::vector<std::string> choice_labels(const ModelArrays& a, std::int32_t actions) {
  std::vector<std::string> labels;
  for (std::int32_t i = 0; a.action_names.empty() && i < actions; ++i)
    labels.push_back(fmt::format("{}", i));
  std::set<std::string> used = {"__NOLABEL__", "__TERMINAL__"};
  for (const std::string& name : a.action_names) {
    std::string label = without_blanks(name);
    while (!used.insert(label).second) label += '_';
    labels.push_back(std::move(label));
  }
  return labels;
}

bool take_reward(ModelArrays& a) {
  for (const std::string name : {"reward", "", "default"}) {
    const auto named = [&](const Signal& signal) { return signal.name == name; };
    const auto found = std::find_if(a.signals.begin(), a.signals.end(), named);
    if (found == a.signals.end()) continue;
    require(std::count_if(a.signals.begin(), a.signals.end(), named) == 1,
            "two reward structures are called '{}', must be one", name);
    a.reward = std::move(found->row);
    a.outcome_reward = std::move(found->outcome);
    a.signals.erase(found);
    return true;
  }
  return false;
}

TermsBeside::TermsBeside(std::string_view terms, std::string_view name, std::size_t bytes,
                         std::string_view file)
    : json(naming(name, [&] { return parse_json(terms); })), root(json) {
  naming(name, [&] {
    side = read_side(root, std::max(bytes, terms.size()));
    for (const char* key : {"arrivals", "groups", "factors"}) {
      if (const auto node = root.find(key))
        node->fail(fmt::format("must be left out beside {}", file));
    }
  });
}

Draft complete(ExplicitFile file, std::string_view name, std::string_view terms,
               std::string_view terms_name) {
  const TermsBeside beside(terms_name.empty() ? kNoTerms : terms, terms_name, file.bytes,
                           "a file of this format");
  const JsonNode& root = beside.root;
  ModelArrays& a = file.arrays;
  bool rewarded = false;
  const Model model = naming(name, [&] {
    require_distinct_names(a.state_names);
    use_states(a, beside.side);
    naming(terms_name.empty() ? "terms" : terms_name, [&] { use_bounds(a, file.intervals, root); });
    name_actions(a, beside.side);
    rewarded = take_reward(a);
    if (root.find("labels")) {
      a.labels.clear();
      read_labels(root, a);
    }
    return Model(std::move(a));
  });
  Draft draft{model, naming(terms_name, [&] { return read_terms(root, model.arrays()); }),
              rewarded};
  if (!root.find("start") && !file.initial.empty()) {
    auto& initial = file.initial;
    const auto share = 1.0 / static_cast<double>(initial.size());
    draft.terms.start = Start(initial, std::vector<double>(initial.size(), share));
  }
  if (!root.find("uncertainty") && file.intervals) draft.terms.uncertainty = Interval{};
  if (model.stages() > 1) draft.terms.horizon = model.stages();
  return draft;
}

std::vector<double> take_row_values(std::vector<double>& outcome, const ModelArrays& a) {
  std::vector<double> row(a.action.size(), 0.0);
  const auto possible = [&](std::int64_t i) {
    return a.probability[i] > 0 || (!a.upper.empty() && a.upper[i] > 0);
  };
  for (std::size_t r = 0; r < row.size(); ++r) {
    const auto begin = a.row_outcomes[r], end = a.row_outcomes[r + 1];
    auto first = begin;
    while (first < end && !possible(first)) ++first;
    bool shared = first < end;
    for (auto i = first; i < end && shared; ++i)
      shared = !possible(i) || outcome[i] == outcome[first];
    if (!shared) continue;
    row[r] = outcome[first];
    std::fill(outcome.begin() + begin, outcome.begin() + end, 0.0);
  }
  return row;
}

void require_no_groups(const Model& m, std::string_view format) {
  require(m.groups() == 0, "{} groups of states, which {} cannot keep: write JSON or UMB",
          m.groups(), format);
  require(m.factors() == 0, "{} factors of rows, which {} cannot keep: write JSON or UMB",
          m.factors(), format);
}

void require_no_arrivals(const Model& m, std::string_view format) {
  for (int signal = -1; signal < m.signals(); ++signal)
    require(m.arrival_values(signal).empty(),
            "{} is earned by arrivals, also by those that no row lists, which {} cannot keep: "
            "write JSON or UMB",
            value_name(m, signal), format);
}

double outcome_total(const Model& m, int signal, Row row, std::int64_t outcome) {
  return m.value(signal, row) + m.outcome_value(signal, outcome);
}

// Mass that total variation moves to a new state earns the row's own value. Where a file has only
// the totals of outcomes, that value must be the one that its reader takes from them.
void require_row_values_survive(const Draft& draft, std::string_view format) {
  if (!lands_anywhere(draft.terms.uncertainty)) return;
  const Model& m = draft.model;
  for (int signal = -1; signal < m.signals(); ++signal) {
    if (m.outcome_values(signal).empty()) continue;
    for (Row r = 0; r < m.rows(); ++r) {
      const double first = outcome_total(m, signal, r, m.outcome_begin(r));
      bool shared = true;
      for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i)
        shared = shared && outcome_total(m, signal, r, i) == first;
      require(m.value(signal, r) == (shared ? first : 0.0),
              "{} of {} differs between outcomes and from its row; with set tv and reach anywhere, "
              "{} cannot keep both",
              value_name(m, signal), m.row_name(r), format);
    }
  }
}

}  // namespace redoubt::internal::io
