#include "model/two_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/set_traits.h"
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
        ordinary_(model.ordinary()),
        anywhere_(lands_anywhere(terms.uncertainty)),
        writer_(model, terms) {}

  TwoStages build() {
    number_states();
    for (int stage = 0; stage < writer_.stages(); ++stage) {
      for (State s = 0; s < writer_.arrays.states; ++s) add_state(stage, s);
    }
    name_everything();
    Terms terms = writer_.terms();
    return {Model(std::move(writer_.arrays)), std::move(terms), std::move(state_)};
  }

 private:
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
    writer_.arrays.states = static_cast<State>(state_.size());
  }

  void add_state(int stage, State state) {
    const bool acts = state < ordinary_;
    const int given = writer_.given_stage(stage);
    if (writer_.takes_turn(stage, acts) && acts) {
      for (Row row = model_.row_begin(given, state); row < model_.row_end(given, state); ++row)
        add_action(row);
    } else if (writer_.takes_turn(stage, acts)) {
      add_group(given, state);
    }
    writer_.end_state();
  }

  void add_action(Row row) {
    writer_.begin_row(from_.action[row], radius_of(terms_.uncertainty, row));
    writer_.earn_as(row);
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const State next = from_.next[i];
      const bool known = !anywhere_ && !from_.lower.empty();
      writer_.add_outcome(next < ordinary_ ? alone_[next] : next, from_.probability[i],
                          known ? from_.lower[i] : 0, known ? from_.upper[i] : 1,
                          [&](int signal) { return model_.outcome_value(signal, i); });
    }
    if (anywhere_) writer_.add_outcome(writer_.arrays.states - 1, 0, 0, 1, [](int) { return 0.0; });
    writer_.end_row();
  }

  // What an outcome earns is earned half a step later, and discounted by as much more.
  void add_group(int given, State group) {
    const double half = writer_.half();
    if (anywhere_ && group == writer_.arrays.states - 1) {
      std::vector<State> all(ordinary_);
      for (State s = 0; s < ordinary_; ++s) all[s] = s;
      return add_members(all, [&](int signal, std::size_t member) {
        return model_.arrival_value(signal, all[member]) / half;
      });
    }
    if (group >= model_.states())
      return add_members({state_[group]}, [](int, std::size_t) { return 0.0; });
    const Row row = model_.row_begin(given, group);
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    add_members({from_.next.begin() + begin, from_.next.begin() + end}, [&](int signal,
                                                                            std::size_t member) {
      return model_.outcome_value(signal, begin + static_cast<std::int64_t>(member)) / half;
    });
  }

  template <class Earned>
  void add_members(const std::vector<State>& members, const Earned& earned) {
    const auto count = members.size();
    most_picks_ = std::max(most_picks_, count);
    if (!terms_.helpful_groups)
      writer_.begin_row(0,
                        radius_of_everything(terms_.uncertainty, static_cast<std::int64_t>(count)));
    for (std::size_t m = 0; m < count; ++m) {
      if (terms_.helpful_groups) writer_.begin_row(static_cast<std::int32_t>(m), 0);
      const bool sure = terms_.helpful_groups || count == 1;
      writer_.add_outcome(members[m], sure ? 1.0 : 1.0 / static_cast<double>(count), sure ? 1 : 0,
                          1, [&](int signal) { return earned(signal, m); });
      if (terms_.helpful_groups) writer_.end_row();
    }
    if (!terms_.helpful_groups) writer_.end_row();
  }

  void name_everything() {
    ModelArrays& arrays = writer_.arrays;
    if (!from_.state_names.empty()) {
      arrays.state_names = from_.state_names;
      for (auto s = static_cast<std::size_t>(model_.states()); s < state_.size(); ++s)
        arrays.state_names.push_back(anywhere_ && s + 1 == state_.size()
                                         ? "on the way to any state"
                                         : "on the way to " + from_.state_names[state_[s]]);
    }
    arrays.action_names = from_.action_names;
    const auto named = arrays.action_names.size();
    for (auto a = named; named > 0 && terms_.helpful_groups && a < most_picks_; ++a)
      arrays.action_names.push_back(fmt::format("pick member {}", a));
  }

  const Model& model_;
  const ModelArrays& from_;
  const Terms& terms_;
  State ordinary_;
  bool anywhere_;
  TwoStageWriter writer_;
  std::vector<State> state_;  // of each state: the one that was given
  std::vector<State> alone_;  // of each ordinary state: the group of itself; -1: none
  std::size_t most_picks_ = 0;
};

}  // namespace

void check_groups(const Model& m) {
  const State groups = m.groups(), ordinary = m.ordinary();
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

TwoStages with_groups(const Model& model, const Terms& terms) {
  require_set_for_groups(terms.uncertainty, model.groups());
  require_short_horizon(terms);
  require_ordinary_start(model, terms);
  if (!std::holds_alternative<Nominal>(terms.uncertainty)) return Expansion(model, terms).build();
  Terms with_set = terms;  // nature has a choice in groups
  with_set.uncertainty = TV{{}, Reach::support};
  return Expansion(model, with_set).build();
}

}  // namespace redoubt::internal
