#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "io/file.h"
#include "io/json_model.h"
#include "io/tar.h"
#include "io/transitions.h"
#include "io/umb_index.h"
#include "io/umb_values.h"
#include "model/require.h"
#include "redoubt/io.h"

namespace redoubt {
namespace io {
namespace {

class UmbReader {
 public:
  explicit UmbReader(std::string_view archive)
      : members_(read_tar(archive)), json_(parse_index(members_.text(umb::index))), index_(json_) {}

  Draft read() {
    naming(umb::index, [&] { read_sizes(); });
    read_side_terms();
    a_.states = static_cast<State>(states_);
    // From the end: every branch has its bytes in the archive, which then limits all other counts.
    read_probabilities();
    a_.row_outcomes = members_.offsets(umb::choice_to_branches, choices_, branches_);
    a_.state_rows = members_.offsets(umb::state_to_choices, states_, choices_);
    a_.next = members_.numbers<std::uint64_t>(umb::branch_to_target, branches_, states_);
    place_between_bounds(a_);
    read_rewards();
    read_actions();
    if (side_.states) fold_stages();
    const Start start = read_initial();
    Model model(std::move(a_));
    Terms terms;
    if (parameters_)
      terms = naming(umb::index, [&] { return read_terms(*parameters_, model); });
    else if (!start.states.empty())
      terms.start = start;
    read_radii(terms, model.rows());
    if (!parameters_ && !model.arrays().lower.empty()) terms.uncertainty = Interval{};
    return {std::move(model), std::move(terms)};
  }

 private:
  static Json parse_index(const std::string& text) {
    return naming(umb::index, [&] { return parse_json(text); });
  }

  void read_sizes() {
    const Node version = index_.at("format-version");
    if (version.integer(0, 0xFFFFFFFF) > 1)  // 0 and 1 do not differ in what we read
      version.fail("is newer than this program, which reads versions up to 1");
    system_.emplace(index_.at("transition-system"));
    const Node& system = *system_;
    if (system.at("time").text() != "discrete")
      system.at("time").fail("must be \"discrete\": time is counted in decisions");
    system.at("#players").integer(0, 1);
    if (const auto observations = system.find("#observations"))
      observations->integer(0, 0);  // what a policy sees is the state
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1;
    states_ = system.at("#states").integer(1, most);
    choices_ = system.at("#choices").integer(0, most);
    branches_ = system.at("#branches").integer(0, most);
    choice_actions_ = system.at("#choice-actions").integer(0, most);
  }

  // Our own terms, when we wrote the file.
  void read_side_terms() {
    file_data_ = index_.find("file-data");
    if (!file_data_ || !file_data_->raw().is_object()) return;
    const auto tool = file_data_->find("tool");
    if (!tool || tool->raw() != "redoubt") return;
    parameters_ = file_data_->find("parameters");
    if (parameters_)
      side_ = naming(umb::index, [&] { return read_side(*parameters_, members_.bytes()); });
  }

  void read_probabilities() {
    if (branches_ == 0) return;
    const auto type = system_->find("branch-probability-type");
    require(type.has_value(), "{}: branch-probability-type is missing, must be given", umb::index);
    auto values = members_.values(umb::branch_to_probability, branches_, *type);
    if (values.upper.empty()) {
      a_.probability = std::move(values.lower);
      return;
    }
    a_.lower = std::move(values.lower);
    a_.upper = std::move(values.upper);
    a_.probability.assign(branches_, std::numeric_limits<double>::quiet_NaN());
    const std::string nominal = umb::annotation(umb::own_group, "nominal", "branches");
    if (parameters_ && members_.has(nominal))
      a_.probability = members_.values(nominal, branches_, doubles()).lower;
  }

  // The one called "reward" (or the nameless one) is the reward, all others are signals.
  void read_rewards() {
    const auto annotations = index_.find("annotations");
    if (!annotations) return;
    const auto rewards = annotations->find("rewards");
    if (!rewards) return;
    bool found = false;
    if (!rewards->raw().is_object()) rewards->fail("must be an object");
    for (const auto& [id, description] : rewards->raw().get_ref<const Json::object_t&>()) {
      const Node node = rewards->at(id);
      const auto alias = node.find("alias");
      const std::string name = alias ? alias->text() : id;
      Signal signal{name, {}, {}};
      read_reward(id, node, signal);
      if (name == "reward" || name.empty()) {
        require(!found, "{}: two reward structures are called 'reward', must be one", umb::index);
        found = true;
        a_.reward = std::move(signal.row);
        a_.outcome_reward = std::move(signal.outcome);
      } else {
        a_.signals.push_back(std::move(signal));
      }
    }
  }

  void read_reward(const std::string& id, const Node& node, Signal& signal) {
    const Node applies_to = node.at("applies-to");
    for (std::size_t i = 0; i < applies_to.size(); ++i) {
      const std::string to = applies_to.at(i).text();
      const std::string member = umb::annotation("rewards", id, to);
      const auto load = [&](std::int64_t count) {
        auto values = members_.values(member, count, node.at("type"));
        if (!values.upper.empty()) node.at("type").fail("must be a number, not an interval");
        return std::move(values.lower);
      };
      if (to == "branches") {
        signal.outcome = load(branches_);
      } else if (to == "choices") {
        add_choice_rewards(load(choices_), signal);
      } else if (to == "states") {
        add_state_rewards(member, load(states_), signal);
      } else {
        applies_to.at(i).fail("must be states, choices or branches");
      }
    }
  }

  static void add_choice_rewards(std::vector<double> values, Signal& signal) {
    for (std::size_t c = 0; c < signal.row.size(); ++c) values[c] += signal.row[c];
    signal.row = std::move(values);
  }

  void add_state_rewards(const std::string& member, const std::vector<double>& values,
                         Signal& signal) {
    signal.row.resize(choices_, 0.0);
    for (std::int64_t s = 0; s < states_; ++s) {
      const auto begin = a_.state_rows[s], end = a_.state_rows[s + 1];
      require(begin < end || values[s] == 0,
              "{}[{}] = {}, must be 0: the state has no choice, so nothing is earned in it", member,
              s, values[s]);
      for (auto c = begin; c < end; ++c) signal.row[c] += values[s];
    }
  }

  void read_actions() {
    a_.action.resize(choices_);
    if (choice_actions_ > 0)
      a_.action = members_.numbers<std::uint32_t>(umb::action_values, choices_, choice_actions_);
    if (choice_actions_ == 0 || !actions_differ()) {
      number_actions();
      return;
    }
    read_action_names();
    sort_actions();
  }

  bool actions_differ() const {
    std::set<std::int32_t> seen;
    for (std::int64_t s = 0; s < states_; ++s) {
      seen.clear();
      for (auto c = a_.state_rows[s]; c < a_.state_rows[s + 1]; ++c) {
        if (!seen.insert(a_.action[c]).second) return false;
      }
    }
    return true;
  }

  // Labels of choices need not differ; then an action is the place of a choice in its state.
  void number_actions() {
    for (std::int64_t s = 0; s < states_; ++s) {
      const auto begin = a_.state_rows[s];
      std::iota(a_.action.begin() + begin, a_.action.begin() + a_.state_rows[s + 1], 0);
    }
  }

  void read_action_names() {
    if (side_.actions) {
      a_.action_names = side_.actions->names();
      return;
    }
    if (!members_.has(umb::action_string_mapping)) return;
    const std::string strings = members_.text(umb::action_strings);
    const auto offsets = members_.offsets(umb::action_string_mapping, choice_actions_,
                                          static_cast<std::int64_t>(strings.size()));
    std::set<std::string> distinct;
    for (std::int64_t i = 0; i < choice_actions_; ++i) {
      a_.action_names.push_back(strings.substr(offsets[i], offsets[i + 1] - offsets[i]));
      distinct.insert(a_.action_names.back());
    }
    if (distinct.size() < a_.action_names.size()) a_.action_names.clear();
  }

  // Choices of a state may come in any order; rows are ordered by action.
  void sort_actions() {
    std::vector<std::int64_t> order(choices_);
    std::iota(order.begin(), order.end(), 0);
    bool sorted = true;
    for (std::int64_t s = 0; s < states_; ++s) {
      const auto begin = order.begin() + a_.state_rows[s],
                 end = order.begin() + a_.state_rows[s + 1];
      const auto less = [&](auto i, auto j) { return a_.action[i] < a_.action[j]; };
      if (std::is_sorted(begin, end, less)) continue;
      sorted = false;
      std::sort(begin, end, less);
    }
    if (!sorted) reorder_rows(a_, order);
  }

  static void reorder_rows(ModelArrays& a, const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> branches, offsets{0};
    for (const auto c : order) {
      for (auto b = a.row_outcomes[c]; b < a.row_outcomes[c + 1]; ++b) branches.push_back(b);
      offsets.push_back(static_cast<std::int64_t>(branches.size()));
    }
    const auto pick = [](auto& values, const std::vector<std::int64_t>& from) {
      auto old = std::move(values);
      values.clear();
      if (old.empty()) return;
      for (const auto i : from) values.push_back(old[i]);
    };
    pick(a.action, order);
    pick(a.reward, order);
    pick(a.next, branches);
    for (auto* values : {&a.probability, &a.outcome_reward, &a.lower, &a.upper})
      pick(*values, branches);
    for (Signal& s : a.signals) {
      pick(s.row, order);
      pick(s.outcome, branches);
    }
    a.row_outcomes = std::move(offsets);
  }

  // Our own files say how many states there are; with one layer of them for each stage, and one
  // after the last, the rows depend on the stage.
  void fold_stages() {
    const std::int64_t states = side_.states->count();
    a_.state_names = side_.states->names();
    if (states == states_) return;
    const std::int64_t stages = side_.horizon.value_or(0);
    require(stages >= 1 && states_ == states * (stages + 1),
            "{} states in the file and {} in its terms, must be equal or one layer for each stage "
            "and one more",
            states_, states);
    require(a_.state_rows[states * stages] == choices_,
            "a state after the last stage has a choice, must have none");
    for (std::int64_t s = 0; s < states * stages; ++s) {
      const std::int64_t first = (s / states + 1) * states;
      for (auto b = a_.row_outcomes[a_.state_rows[s]]; b < a_.row_outcomes[a_.state_rows[s + 1]];
           ++b) {
        require(a_.next[b] >= first && a_.next[b] < first + states,
                "a branch from state {} to state {}, must lead to the next stage", s, a_.next[b]);
        a_.next[b] -= static_cast<State>(first);
      }
    }
    a_.states = static_cast<State>(states);
    a_.stages = static_cast<int>(stages);
    a_.state_rows.resize(states * stages + 1);
  }

  Start read_initial() {
    const auto initial = members_.bits(umb::state_is_initial, states_);
    Start start;
    for (std::int64_t s = 0; s < states_; ++s) {
      if (initial[s]) start.states.push_back(static_cast<State>(s));
    }
    start.probability.assign(start.states.size(), 1.0 / static_cast<double>(start.states.size()));
    return start;
  }

  void read_radii(Terms& terms, Row rows) {
    const std::string member = umb::annotation(umb::own_group, "radius", "choices");
    if (!parameters_ || !members_.has(member)) return;
    const auto radii = members_.values(member, rows, doubles()).lower;
    std::visit(
        [&](auto& set) {
          if constexpr (requires { set.radius; }) set.radius = Radius(radii);
        },
        terms.uncertainty);
  }

  static const Node& doubles() {
    static const Json type = {{"type", "double"}};
    static const Node node(type);
    return node;
  }

  umb::Members members_;
  Json json_;
  Node index_;
  std::optional<Node> system_, file_data_, parameters_;
  Side side_;
  std::int64_t states_ = 0, choices_ = 0, branches_ = 0, choice_actions_ = 0;
  ModelArrays a_;
};

}  // namespace
}  // namespace io

Draft read_umb(std::string_view bytes, std::string_view name) {
  return io::naming(name, [&] { return io::UmbReader(bytes).read(); });
}

}  // namespace redoubt
