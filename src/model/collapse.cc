#include "model/collapse.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "model/model_writer.h"
#include "model/select_rows.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

class Collapse {
 public:
  Collapse(const Model& model, const Terms& terms, const std::vector<char>& keep,
           const EndComponents& components, const std::vector<char>& unfinished)
      : model_(model),
        terms_(terms),
        support_(model, terms_.uncertainty),
        keep_(keep),
        components_(components),
        unfinished_(unfinished),
        writer_(model.arrays().signals, !model.arrays().lower.empty()) {
    inner_.assign(model.rows(), 0);
    for (const auto& rows : components.rows)
      for (const Row row : rows) inner_[row] = 1;
  }

  Collapsed build() {
    find_reached();
    number_states();
    begin_arrays();
    for (const auto& members : members_) add_state(members);
    if (stays_ >= 0) writer_.end_state();
    Terms terms = terms_;
    for (State& s : terms.start.states) s = number_[s];
    select_radii(terms, rows_);
    return {Model(std::move(arrays_)), std::move(terms), std::move(state_), std::move(number_),
            std::move(rows_)};
  }

 private:
  int component(State s) const {
    return components_.of_state.empty() ? -1 : components_.of_state[s];
  }
  const std::vector<State>& together(int c) const { return components_.states[c]; }
  bool may_stay(int c) const { return unfinished_.empty() || !unfinished_[together(c).front()]; }
  bool used(Row row) const { return keep_[row] && !inner_[row]; }

  template <class Visit>
  void for_each_next(State s, Visit visit) const {
    for (Row row = model_.row_begin(0, s); row < model_.row_end(0, s); ++row) {
      if (!used(row)) continue;
      for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
        visit(model_.arrays().next[i]);
      for (State to = 0; support_.lands_anywhere(row) && to < model_.states(); ++to) visit(to);
    }
  }

  void find_reached() {
    reached_.assign(model_.states(), 0);
    std::vector<State> open;
    const auto reach = [&](State s) {
      if (reached_[s]) return;
      reached_[s] = 1;
      open.push_back(s);
      if (component(s) < 0) return;
      for (const State other : together(component(s))) {
        if (!reached_[other]) open.push_back(other);
        reached_[other] = 1;
      }
    };
    for (const State s : terms_.start.states) reach(s);
    while (!open.empty()) {
      const State s = open.back();
      open.pop_back();
      for_each_next(s, reach);
    }
  }

  // A component stands where its first state stood.
  void number_states() {
    number_.assign(model_.states(), -1);
    for (State s = 0; s < model_.states(); ++s) {
      if (!reached_[s] || number_[s] >= 0) continue;
      const int c = component(s);
      const std::vector<State> members = c < 0 ? std::vector<State>{s} : together(c);
      for (const State member : members) number_[member] = static_cast<State>(members_.size());
      members_.push_back(members);
      state_.push_back(s);
      if (c >= 0 && may_stay(c) && has_way_out(members)) stays_ = s;
    }
    if (stays_ < 0) return;
    state_.push_back(stays_);
    stays_ = static_cast<State>(members_.size());
  }
  bool has_way_out(const std::vector<State>& members) const {
    return std::any_of(members.begin(), members.end(), [&](State s) {
      for (Row row = model_.row_begin(0, s); row < model_.row_end(0, s); ++row)
        if (used(row)) return true;
      return false;
    });
  }

  void begin_arrays() {
    const ModelArrays& from = model_.arrays();
    arrays_.states = static_cast<State>(state_.size());
    for (const Label& label : from.labels) {
      Label& here = arrays_.labels.emplace_back();
      here.name = label.name;
      for (const State s : label.states)
        if (number_[s] >= 0) here.states.push_back(number_[s]);
    }
    for (const auto& members : members_) arrays_.state_names.push_back(name_of(members));
    if (stays_ >= 0) add_name("for ever", arrays_.state_names);
    arrays_.action_names = from.action_names;
    if (!components_.states.empty() && arrays_.action_names.empty())
      for (int a = 0; a < model_.actions(); ++a)
        arrays_.action_names.push_back(model_.action_name(a));
    fresh_ = static_cast<std::int32_t>(arrays_.action_names.size());
    for (const auto& members : members_)
      for (const State s : members) name_exits(s, members.size() > 1);
    if (stays_ >= 0) add_name("stay for ever", arrays_.action_names);
    carry_arrivals(-1, arrays_.arrival_reward);
    for (int s = 0; s < model_.signals(); ++s) carry_arrivals(s, arrays_.signals[s].arrival);
  }
  // A model that was collapsed before has such a name.
  static void add_name(std::string name, std::vector<std::string>& names) {
    while (std::find(names.begin(), names.end(), name) != names.end()) name += " again";
    names.push_back(std::move(name));
  }
  // Which of several states a row leaves is part of its action.
  void name_exits(State s, bool together) {
    for (Row row = model_.row_begin(0, s); together && row < model_.row_end(0, s); ++row)
      if (used(row))
        arrays_.action_names.push_back(fmt::format(
            "{} from {}", model_.action_name(model_.arrays().action[row]), model_.state_name(s)));
  }
  std::string name_of(const std::vector<State>& members) const {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kMost, members.size()); ++i)
      names.push_back(model_.state_name(members[i]));
    if (members.size() > kMost) names.push_back(fmt::format("{} more", members.size() - kMost));
    return fmt::format("{}", fmt::join(names, " or "));
  }
  void carry_arrivals(int signal, std::vector<double>& to) const {
    if (model_.arrival_values(signal).empty()) return;
    for (const auto& members : members_) {
      to.push_back(model_.arrival_value(signal, members.front()));
      for (const State s : members)
        require(model_.arrival_value(signal, s) == to.back(),
                "states {} are one end component, arrivals in them must earn the same",
                name_of(members));
    }
    if (stays_ >= 0) to.push_back(0);
  }

  void add_state(const std::vector<State>& members) {
    const int c = component(members.front());
    for (const State s : members) {
      for (Row row = model_.row_begin(0, s); row < model_.row_end(0, s); ++row) {
        if (!used(row)) continue;
        add_row(row, members.size() > 1 ? fresh_++ : model_.arrays().action[row]);
      }
    }
    if (c >= 0 && may_stay(c) && has_way_out(members)) add_stay();
    writer_.end_state();
  }

  void add_row(Row row, std::int32_t action) {
    rows_.push_back(row);
    writer_.begin_row(action, [&](int k) { return model_.value(k, row); });
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
      writer_.copy_outcome(number_[model_.arrays().next[i]], model_, i,
                           [&](int k) { return model_.outcome_value(k, i); });
    writer_.end_row();
  }
  void add_stay() {
    const auto nothing = [](int) { return 0.0; };
    rows_.push_back(-1);
    writer_.begin_row(static_cast<std::int32_t>(arrays_.action_names.size()) - 1, nothing);
    writer_.add_outcome(stays_, 1, 1, 1, nothing);
    writer_.end_row();
  }

  const Model& model_;
  const Terms& terms_;
  Support support_;
  const std::vector<char>& keep_;
  const EndComponents& components_;
  const std::vector<char>& unfinished_;
  std::vector<char> inner_, reached_;
  std::vector<State> number_, state_;
  std::vector<std::vector<State>> members_;  // of each new state
  State stays_ = -1;                         // where "stay for ever" leads
  std::int32_t fresh_ = 0;                   // the next action that has a name of its own
  std::vector<Row> rows_;                    // of each new row; -1: none
  ModelWriter writer_;
  ModelArrays& arrays_ = writer_.arrays;
};

}  // namespace

Collapsed collapse(const Model& model, const Terms& terms, const std::vector<char>& keep,
                   const EndComponents& components, const std::vector<char>& unfinished) {
  return Collapse(model, terms, keep, components, unfinished).build();
}

}  // namespace redoubt::internal
