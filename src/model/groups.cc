#include "model/groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "model/row_name.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// A radius at which a set holds every distribution over this many equally likely outcomes.
double radius_of_everything(const Uncertainty& set, std::int64_t members) {
  const auto count = static_cast<double>(members);
  if (std::holds_alternative<KL>(set)) return std::log(count) + 1;
  if (std::holds_alternative<Chi2>(set)) return count;
  return 1;
}

// Nature's choices in a group are independent of those in any other row, and the set of a group can
// be made to hold every distribution over its members.
void require_set_for_groups(const Uncertainty& set, State groups) {
  const bool known = std::holds_alternative<Nominal>(set) || std::holds_alternative<TV>(set) ||
                     std::holds_alternative<Chi2>(set) || std::holds_alternative<KL>(set) ||
                     std::holds_alternative<Interval>(set);
  require(known, "set {} on a model with {} groups, must be none, tv, chi2, kl or interval",
          name(set), groups);
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.scope; })
          require(one.scope == decltype(one.scope){},
                  "a set whose scope is a state on a model with {} groups, must be a row", groups);
      },
      set);
}

class Expansion {
 public:
  Expansion(const Model& model, const Terms& terms)
      : model_(model),
        from_(model.arrays()),
        terms_(terms),
        ordinary_(model.states() - model.groups()),
        half_(std::sqrt(terms.discount)) {
    const auto* tv = std::get_if<TV>(&terms.uncertainty);
    anywhere_ = tv != nullptr && tv->reach == Reach::anywhere;
    bounded_ = anywhere_ || !from_.lower.empty();
    if (const Radius* radius = radius_of(terms.uncertainty)) radius_ = *radius;
    earns_.push_back(earns_by_outcome(-1));
    for (int s = 0; s < model.signals(); ++s) earns_.push_back(earns_by_outcome(s));
  }

  WithGroups build() {
    number_states();
    arrays_.stages = from_.stages == 1 ? 1 : 2 * from_.stages;
    arrays_.labels = from_.labels;
    for (const Signal& signal : from_.signals) arrays_.signals.push_back({signal.name, {}, {}});
    arrays_.state_rows.push_back(0);
    arrays_.row_outcomes.push_back(0);
    for (int stage = 0; stage < arrays_.stages; ++stage) {
      for (State s = 0; s < arrays_.states; ++s) add_state(stage, s);
    }
    name_everything();
    return {Model(std::move(arrays_)), changed_terms(), std::move(state_)};
  }

 private:
  static const Radius* radius_of(const Uncertainty& set) {
    return std::visit(
        [](const auto& one) -> const Radius* {
          if constexpr (requires { one.radius; }) return &one.radius;
          return nullptr;
        },
        set);
  }
  bool earns_by_outcome(int signal) const {
    return !model_.outcome_values(signal).empty() || !model_.arrival_values(signal).empty();
  }

  // Ordinary states, groups, then a group of its own for every single next state, then one of all.
  void number_states() {
    for (State s = 0; s < model_.states(); ++s) state_.push_back(s);
    alone_.assign(ordinary_, -1);
    for (int stage = 0; stage < from_.stages; ++stage) {
      const auto end = model_.outcome_begin(model_.row_end(stage, ordinary_ - 1));
      for (auto i = model_.outcome_begin(model_.row_begin(stage, 0)); i < end; ++i) {
        const State next = from_.next[i];
        if (next >= ordinary_ || alone_[next] >= 0) continue;
        alone_[next] = static_cast<State>(state_.size());
        state_.push_back(next);
      }
    }
    if (anywhere_) state_.push_back(0);
    require(state_.size() <= static_cast<std::size_t>(std::numeric_limits<State>::max()),
            "{} states of a model with groups, must be at most {}", state_.size(),
            std::numeric_limits<State>::max());
    arrays_.states = static_cast<State>(state_.size());
  }

  void add_state(int stage, State state) {
    const bool acts = state < ordinary_;
    const bool turn = arrays_.stages == 1 || (stage % 2 == 0) == acts;
    const int given = arrays_.stages == 1 ? 0 : stage / 2;
    if (turn && acts) {
      for (Row row = model_.row_begin(given, state); row < model_.row_end(given, state); ++row)
        add_action(row);
    } else if (turn) {
      add_group(given, state);
    }
    arrays_.state_rows.push_back(static_cast<Row>(arrays_.action.size()));
  }

  void add_action(Row row) {
    begin_row(from_.action[row], radius_.of(row));
    arrays_.reward.back() = model_.value(-1, row);
    for (int s = 0; s < model_.signals(); ++s) arrays_.signals[s].row.back() = model_.value(s, row);
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const State next = from_.next[i];
      const bool known = !anywhere_ && !from_.lower.empty();
      add_outcome(next < ordinary_ ? alone_[next] : next, from_.probability[i],
                  known ? from_.lower[i] : 0, known ? from_.upper[i] : 1,
                  [&](int signal) { return model_.outcome_value(signal, i); });
    }
    if (anywhere_) add_outcome(arrays_.states - 1, 0, 0, 1, [](int) { return 0.0; });
    end_row();
  }

  // What an outcome earns is earned half a step later, and discounted by as much more.
  void add_group(int given, State group) {
    if (anywhere_ && group == arrays_.states - 1) {
      std::vector<State> all(ordinary_);
      for (State s = 0; s < ordinary_; ++s) all[s] = s;
      return add_members(all, [&](int signal, std::size_t member) {
        return model_.arrival_value(signal, all[member]) / half_;
      });
    }
    if (group >= model_.states())
      return add_members({state_[group]}, [](int, std::size_t) { return 0.0; });
    const Row row = model_.row_begin(given, group);
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    add_members({from_.next.begin() + begin, from_.next.begin() + end}, [&](int signal,
                                                                            std::size_t member) {
      return model_.outcome_value(signal, begin + static_cast<std::int64_t>(member)) / half_;
    });
  }

  template <class Earned>
  void add_members(const std::vector<State>& members, const Earned& earned) {
    const auto count = members.size();
    most_picks_ = std::max(most_picks_, count);
    if (!terms_.helpful_groups)
      begin_row(0, radius_of_everything(terms_.uncertainty, static_cast<std::int64_t>(count)));
    for (std::size_t m = 0; m < count; ++m) {
      if (terms_.helpful_groups) begin_row(static_cast<std::int32_t>(m), 0);
      const bool sure = terms_.helpful_groups || count == 1;
      add_outcome(members[m], sure ? 1.0 : 1.0 / static_cast<double>(count), sure ? 1 : 0, 1,
                  [&](int signal) { return earned(signal, m); });
      if (terms_.helpful_groups) end_row();
    }
    if (!terms_.helpful_groups) end_row();
  }

  void begin_row(std::int32_t action, double radius) {
    arrays_.action.push_back(action);
    arrays_.reward.push_back(0);
    for (Signal& signal : arrays_.signals) signal.row.push_back(0);
    radii_.push_back(radius);
  }
  template <class Earned>
  void add_outcome(State next, double probability, double lower, double upper,
                   const Earned& earned) {
    arrays_.next.push_back(next);
    arrays_.probability.push_back(probability);
    if (earns_[0]) arrays_.outcome_reward.push_back(earned(-1));
    for (int s = 0; s < model_.signals(); ++s)
      if (earns_[s + 1]) arrays_.signals[s].outcome.push_back(earned(s));
    if (!bounded_) return;
    arrays_.lower.push_back(lower);
    arrays_.upper.push_back(upper);
  }
  void end_row() { arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size())); }

  void name_everything() {
    if (!from_.state_names.empty()) {
      arrays_.state_names = from_.state_names;
      for (auto s = static_cast<std::size_t>(model_.states()); s < state_.size(); ++s)
        arrays_.state_names.push_back(anywhere_ && s + 1 == state_.size()
                                          ? "on the way to any state"
                                          : "on the way to " + from_.state_names[state_[s]]);
    }
    arrays_.action_names = from_.action_names;
    const auto named = arrays_.action_names.size();
    for (auto a = named; named > 0 && terms_.helpful_groups && a < most_picks_; ++a)
      arrays_.action_names.push_back(fmt::format("pick member {}", a));
  }

  Terms changed_terms() const {
    Terms terms = terms_;
    if (terms.horizon) *terms.horizon *= 2;
    terms.discount = half_;
    terms.helpful_groups = false;
    if (std::holds_alternative<Nominal>(terms.uncertainty))
      terms.uncertainty = TV{{}, Reach::support};
    std::visit(
        [&](auto& set) {
          if constexpr (requires { set.radius; }) set.radius = radii_;
          if constexpr (requires { set.reach; }) set.reach = Reach::support;
        },
        terms.uncertainty);
    return terms;
  }

  const Model& model_;
  const ModelArrays& from_;
  const Terms& terms_;
  State ordinary_;
  double half_;  // the discount of half a step
  bool anywhere_ = false, bounded_ = false;
  Radius radius_;
  std::vector<bool> earns_;   // of the reward and each signal: outcomes may earn something
  std::vector<State> state_;  // of each state: the one that was given
  std::vector<State> alone_;  // of each ordinary state: the group of itself; -1: none
  std::vector<double> radii_;
  std::size_t most_picks_ = 0;
  ModelArrays arrays_;
};

}  // namespace

void check_groups(const Model& m) {
  const State groups = m.groups(), ordinary = m.states() - groups;
  require(groups >= 0 && ordinary >= 1, "{} groups of {} states, must leave an ordinary state",
          groups, m.states());
  if (groups == 0) return;
  require(!m.arrays().submodel, "groups on {} ranks, must run on one",
          m.arrays().submodel ? m.arrays().submodel->ranks : 1);
  for (int stage = 0; stage < m.stages(); ++stage) {
    for (State g = ordinary; g < m.states(); ++g) {
      const Row row = m.row_begin(stage, g);
      require(m.row_end(stage, g) - row == 1,
              "group {} has {} rows, must have one, which lists its members", m.state_name(g),
              m.row_end(stage, g) - row);
      for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i)
        require(m.arrays().next[i] < ordinary,
                "member {} of group {} is a group itself, must be an ordinary state",
                m.state_name(m.arrays().next[i]), m.state_name(g));
      for (int signal = -1; signal < m.signals(); ++signal)
        require(m.value(signal, row) == 0, "group {} earns {}, must earn nothing of its own",
                m.state_name(g), m.value(signal, row));
    }
  }
}

WithGroups with_groups(const Model& model, const Terms& terms) {
  require_set_for_groups(terms.uncertainty, model.groups());
  require(terms.horizon.value_or(0) <= std::numeric_limits<int>::max() / 2,
          "horizon {} of a model with groups, must be at most {}", terms.horizon.value_or(0),
          std::numeric_limits<int>::max() / 2);
  const State ordinary = model.states() - model.groups();
  for (const State s : terms.start.states)
    require(s < ordinary, "start state {} is a group, must be an ordinary state",
            model.state_name(s));
  return Expansion(model, terms).build();
}

}  // namespace redoubt::internal
