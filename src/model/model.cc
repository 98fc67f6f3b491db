#include "redoubt/model.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <unordered_set>

#include "model/canonicalize.h"
#include "model/row_name.h"
#include "model/two_stages.h"
#include "model/validate.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double kLargest = 1 + 1e-9;  // probability: what rounding may make of one

// Returns the largest difference of two neighbours.
template <class Offset>
int check_offsets(std::span<const Offset> offsets, std::size_t count, std::size_t total,
                  const char* what) {
  require(offsets.size() == count + 1, "{} has {} entries, must have {}", what, offsets.size(),
          count + 1);
  require(offsets.front() == 0, "{} starts at {}, must start at 0", what, offsets.front());
  const std::int64_t most = largest_step(offsets);
  require(most >= 0, "{} decreases somewhere, must never decrease", what);
  require(static_cast<std::size_t>(offsets.back()) == total, "{} ends at {}, must end at {}", what,
          offsets.back(), total);
  return static_cast<int>(most);
}

void check_size(std::span<const double> values, std::size_t count, const std::string& what) {
  require(values.empty() || values.size() == count, "{} has {} values, must have {} or none", what,
          values.size(), count);
}

struct Most {
  int actions, outcomes;
};

// Returns the most actions of a state and the most outcomes of a row.
Most check_sizes(const ModelArrays& a, const ModelViews& views) {
  require(a.states >= 1, "states = {}, must be at least 1", a.states);
  require(a.stages >= 1, "stages = {}, must be at least 1", a.stages);
  const std::size_t rows = a.action.size(), outcomes = views.next.size();
  const int most_actions = check_offsets<Row>(
      a.state_rows, static_cast<std::size_t>(a.states) * a.stages, rows, "state_rows");
  const int most_outcomes = std::visit(
      [&](const auto offsets) { return check_offsets(offsets, rows, outcomes, "row_outcomes"); },
      views.row_outcomes);
  require(views.probability.size() == outcomes, "probability has {} values, must have {}",
          views.probability.size(), outcomes);
  check_size(views.reward, rows, "reward");
  check_size(a.outcome_reward, outcomes, "outcome_reward");
  check_size(a.arrival_reward, a.states, "arrival_reward");
  check_size(a.lower, outcomes, "lower");
  check_size(a.upper, outcomes, "upper");
  require(a.lower.size() == a.upper.size(),
          "lower has {} values and upper {}, must be given together", a.lower.size(),
          a.upper.size());
  std::set<std::string> names;
  for (std::size_t s = 0; s < a.signals.size(); ++s) {
    const Signal& signal = a.signals[s];
    require(!signal.name.empty() && signal.name != "reward",
            "signal name '{}', must not be empty or 'reward'", signal.name);
    require(names.insert(signal.name).second, "signal '{}' is given twice, names must differ",
            signal.name);
    check_size(views.signals[s], rows, "signal '" + signal.name + "'");
    check_size(signal.outcome, outcomes, "signal '" + signal.name + "' of outcomes");
    check_size(signal.arrival, a.states, "signal '" + signal.name + "' of arrivals");
  }
  require(a.state_names.empty() || a.state_names.size() == static_cast<std::size_t>(a.states),
          "state_names has {} names, must have {} or none", a.state_names.size(), a.states);
  return {most_actions, most_outcomes};
}

void check_finite(const Model& m, const std::vector<double>& row,
                  const std::vector<double>& outcome, const std::string& what) {
  const std::size_t r = first_not_finite(row), i = first_not_finite(outcome);
  if (r < row.size())
    require(false, "{} of {} is {}, must be finite", what, RowName{m, static_cast<Row>(r)}, row[r]);
  if (i == outcome.size()) return;
  const auto& begin = m.arrays().row_outcomes;
  const Row of = std::upper_bound(begin.begin(), begin.end(), static_cast<std::int64_t>(i)) -
                 begin.begin() - 1;
  require(false, "{} of an outcome of {} is {}, must be finite", what, RowName{m, of}, outcome[i]);
}

void check_arrivals(const Model& m) {
  for (int signal = -1; signal < m.signals(); ++signal) {
    const std::vector<double>& values = m.arrival_values(signal);
    const std::size_t s = first_not_finite(values);
    if (s == values.size()) continue;
    require(false, "{} of arrivals in state {} is {}, must be finite",
            signal < 0 ? "reward" : "signal '" + m.arrays().signals[signal].name + "'",
            m.state_name(static_cast<State>(s)), values[s]);
  }
}

// Two loops that no value ends early: compilers make vector instructions of them.
bool all_in_range(const ModelArrays& a) {
  std::int32_t outside = 0;
  for (const State next : a.next) outside |= (next < 0) | (next >= a.states);
  std::int64_t improper = 0;
  for (const double p : a.probability) improper |= !(p >= 0) | !(p <= kLargest);
  return outside == 0 && improper == 0;
}

void check_outcomes(const Model& m) {
  const ModelArrays& a = m.arrays();
  const bool good = all_in_range(a);
  for (Row r = 0; r < m.rows(); ++r) {
    require(m.outcome_begin(r) < m.outcome_end(r), "{} has no outcome, must have at least one",
            RowName{m, r});
    for (auto i = m.outcome_begin(r); !good && i < m.outcome_end(r); ++i) {
      require(a.next[i] >= 0 && a.next[i] < a.states, "next state {} of {}, must be in 0..{}",
              a.next[i], RowName{m, r}, a.states - 1);
      require(a.probability[i] >= 0 && a.probability[i] <= kLargest,
              "probability {} of {} to state {}, must be in [0, 1]", a.probability[i],
              RowName{m, r}, a.next[i]);
    }
  }
}

void check_intervals(const Model& m) {
  const ModelArrays& a = m.arrays();
  if (a.lower.empty()) return;
  for (Row r = 0; r < m.rows(); ++r) {
    double low = 0, high = 0;
    for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i) {
      require(a.lower[i] >= 0 && a.lower[i] <= a.upper[i] && a.upper[i] <= 1,
              "interval [{}, {}] of {} to state {}, must satisfy 0 <= lower <= upper <= 1",
              a.lower[i], a.upper[i], RowName{m, r}, a.next[i]);
      low += a.lower[i];
      high += a.upper[i];
    }
    require(low <= 1 + 1e-12 && high >= 1 - 1e-12,
            "intervals of {} have lower sum {} and upper sum {}, must enclose 1", RowName{m, r},
            low, high);
  }
}

void check_actions(const Model& m) {
  const ModelArrays& a = m.arrays();
  for (std::size_t slot = 0; slot + 1 < a.state_rows.size(); ++slot) {
    for (Row r = a.state_rows[slot] + 1; r < a.state_rows[slot + 1]; ++r) {
      if (a.action[r] > a.action[r - 1]) continue;
      require(a.action[r] != a.action[r - 1], "{} is given twice, must be given once",
              RowName{m, r});
      require(false,
              "action {} of state {} comes after action {}, actions of a state must increase",
              a.action[r], slot % a.states, a.action[r - 1]);
    }
  }
}

void check_names(const std::vector<std::string>& names, std::string_view what) {
  const std::unordered_set<std::string_view> distinct(names.begin(), names.end());
  if (distinct.size() == names.size()) return;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names)
    require(seen.insert(name).second, "{} name '{}' is given twice, names must differ", what, name);
}

void tidy_labels(ModelArrays& a) {
  std::unordered_set<std::string_view> names;
  for (Label& label : a.labels) {
    require(!label.name.empty(), "a label without a name, must have one");
    require(names.insert(label.name).second, "label '{}' is given twice, names must differ",
            label.name);
    for (const State s : label.states)
      require(s >= 0 && s < a.states, "state {} of label '{}', must be in 0..{}", s, label.name,
              a.states - 1);
    std::sort(label.states.begin(), label.states.end());
    label.states.erase(std::unique(label.states.begin(), label.states.end()), label.states.end());
  }
}

// Of a submodel: numbers that increase, and rows in the states that it owns only.
void check_part(const ModelArrays& a) {
  if (!a.submodel) return;
  const auto& [rank, ranks, states, number, owner, actions] = *a.submodel;
  require(rank >= 0 && rank < ranks, "rank {} of a submodel, must be in 0..{}", rank, ranks - 1);
  const auto count = static_cast<std::size_t>(a.states);
  require(number.size() == count &&
              std::is_sorted(number.begin(), number.end(), std::less_equal<>()) &&
              number.front() >= 0 && number.back() < states,
          "a submodel of {} states with {} numbers, must have one for each, and they must increase "
          "from 0 or more and stay below {}",
          count, number.size(), states);
  require(owner.size() == count, "a submodel of {} states with {} owners, must have one for each",
          count, owner.size());
  for (const auto each : owner)
    require(each >= 0 && each < ranks, "rank {} owns a state, must be in 0..{}", each, ranks - 1);
  for (std::size_t slot = 0; slot + 1 < a.state_rows.size(); ++slot) {
    require(owner[slot % count] == rank || a.state_rows[slot] == a.state_rows[slot + 1],
            "a submodel has rows of state {}, must have those of its own states only",
            number[slot % count]);
  }
}

// One more than the largest action number.
int count_actions(const ModelArrays& a) {
  constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max() - 1;
  std::int32_t least = 0, most = -1;
  for (const std::int32_t action : a.action) {
    least = std::min(least, action);
    most = std::max(most, action);
  }
  const auto bad = least < 0 ? least : most;
  require(least >= 0 && most <= kLast, "action number {} of row {}, must be in 0..{}", bad,
          std::find(a.action.begin(), a.action.end(), bad) - a.action.begin(), kLast);
  const int count = most + 1;
  require(a.action_names.empty() || a.action_names.size() >= static_cast<std::size_t>(count),
          "action_names has {} names, must have {} or none", a.action_names.size(), count);
  return count;
}

// The views, and those of the arrays that hold what no view has.
ModelViews with_own_arrays(const ModelArrays& a, ModelViews views) {
  const auto complete = [](auto& view, const auto& own, const std::string& what) {
    require(view.empty() || own.empty(),
            "{} is given twice, as an array ({}) and as a view ({}), must be given once", what,
            own.size(), view.size());
    if (view.empty()) view = own;
  };
  const bool viewed = std::visit([](const auto view) { return !view.empty(); }, views.row_outcomes);
  require(!viewed || a.row_outcomes.empty(),
          "row_outcomes is given twice, as an array and as a view, must be given once");
  if (!viewed) views.row_outcomes = std::span(a.row_outcomes);
  complete(views.next, a.next, "next");
  complete(views.probability, a.probability, "probability");
  complete(views.reward, a.reward, "reward");
  require(views.signals.size() <= a.signals.size(), "{} views of signals, must be at most {}",
          views.signals.size(), a.signals.size());
  views.signals.resize(a.signals.size());
  for (std::size_t s = 0; s < a.signals.size(); ++s)
    complete(views.signals[s], a.signals[s].row, "signal '" + a.signals[s].name + "'");
  return views;
}

}  // namespace

Model::Model(ModelArrays arrays, const ModelViews& views) {
  auto shared = std::make_shared<ModelArrays>(std::move(arrays));
  const ModelViews all = with_own_arrays(*shared, views);
  const Most most = check_sizes(*shared, all);
  most_actions_ = most.actions;
  most_outcomes_ = most.outcomes;
  const bool tidy = copy_and_check(*shared, all);
  complete(std::move(shared), tidy);
}

void Model::complete(std::shared_ptr<ModelArrays> arrays, bool tidy) {
  ModelArrays& a = *arrays;
  arrays_ = std::move(arrays);
  check_part(a);
  actions_ = count_actions(a);
  check_names(a.state_names, "state");
  check_names(a.action_names, "action");
  tidy_labels(a);
  if (!tidy) {
    check_outcomes(*this);
    check_actions(*this);
    check_finite(*this, a.reward, a.outcome_reward, "reward");
    for (const Signal& s : a.signals)
      check_finite(*this, s.row, s.outcome, "signal '" + s.name + "'");
  }
  check_intervals(*this);
  check_arrivals(*this);
  earn_by_arrival(a);
  drop_silent_values(a);
  if (!tidy) {
    drop_and_merge_outcomes(a);
    normalise_rows(a, *this);
    most_outcomes_ = static_cast<int>(largest_step<std::int64_t>(a.row_outcomes));
  }
  if (a.submodel) {
    actions_ = std::max(actions_, a.submodel->actions);
    find_own();
  }
  check_groups(*this);
  check_factors(*this);
}

void Model::find_own() {
  const Submodel& part = *arrays_->submodel;
  Own own;
  own.places.assign(states(), -1);
  for (State s = 0; s < states(); ++s) {
    if (part.owner[s] != part.rank) continue;
    own.places[s] = static_cast<State>(own.states.size());
    own.states.push_back(s);
  }
  own_ = std::make_shared<const Own>(std::move(own));
}

bool Model::lists(Row row, State state) const {
  const auto first = arrays_->next.begin();
  const auto [begin, end] =
      std::equal_range(first + outcome_begin(row), first + outcome_end(row), state);
  for (auto i = begin - first; i < end - first; ++i) {
    bool plain = true;
    for (int signal = -1; signal < signals(); ++signal)
      plain &= outcome_value(signal, i) == arrival_value(signal, state);
    if (plain) return true;
  }
  return false;
}

int Model::signal_index(const std::string& name) const {
  for (int s = 0; s < signals(); ++s) {
    if (arrays_->signals[s].name == name) return s;
  }
  return -1;
}

const Label* Model::find_label(const std::string& name) const {
  for (const Label& label : arrays_->labels) {
    if (label.name == name) return &label;
  }
  return nullptr;
}

std::string Model::state_name(State state) const {
  if (!arrays_->state_names.empty()) return arrays_->state_names[state];
  return fmt::format("{}", arrays_->submodel ? arrays_->submodel->number[state] : state);
}

std::string Model::action_name(std::int32_t action) const {
  return arrays_->action_names.empty() ? fmt::format("{}", action) : arrays_->action_names[action];
}

std::string Model::row_name(Row row) const {
  const auto& begin = arrays_->state_rows;
  const auto slot = std::upper_bound(begin.begin(), begin.end(), row) - begin.begin() - 1;
  const auto stage = slot / arrays_->states;
  const auto state = static_cast<State>(slot % arrays_->states);
  const std::string where =
      fmt::format("state {}, action {}", state_name(state), action_name(arrays_->action[row]));
  return arrays_->stages == 1 ? fmt::format("({})", where)
                              : fmt::format("(stage {}, {})", stage, where);
}

}  // namespace redoubt
