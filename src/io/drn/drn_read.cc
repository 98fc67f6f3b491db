#include <algorithm>
#include <limits>
#include <map>

#include "io/explicit/explicit_model.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

constexpr std::size_t kMostRewards = 1000;

class DrnReader {
 public:
  explicit DrnReader(std::string_view text) : lines_(text), text_(text) {
    file_.bytes = text.size();
  }

  ExplicitFile read() {
    read_header();
    while (lines_.next()) read_line();
    finish_state();
    require(file_.arrays.state_rows.size() == static_cast<std::size_t>(states_) + 1,
            "{} states, must be {}, which @nr_states says", file_.arrays.state_rows.size() - 1,
            states_);
    const auto choices = static_cast<std::int64_t>(file_.arrays.action.size()) + terminal_;
    require(choices_ < 0 || choices == choices_, "{} choices, must be {}, which @nr_choices says",
            choices, choices_);
    file_.arrays.states = static_cast<State>(states_);
    if (file_.arrays.state_names.size() != static_cast<std::size_t>(states_))
      file_.arrays.state_names.clear();
    add_rewards(rewards(), file_.arrays);
    return std::move(file_);
  }

 private:
  static bool is_comment(std::string_view line) { return line.starts_with("//"); }

  // ---- The header ----
  void read_header() {
    bool typed = false;
    while (lines_.next()) {
      const auto line = lines_.line();
      if (line.empty() || is_comment(line)) continue;
      if (line.starts_with("@type:")) {
        read_type(trimmed(line.substr(6)));
        typed = true;
      } else if (line.starts_with("@value_type:")) {
        if (trimmed(line.substr(12)) == "parametric")
          lines_.fail(line, "must be of numbers or intervals: parameters have no values here");
      } else if (line == "@parameters") {
        if (!next_value().empty())
          lines_.fail(lines_.line(), "must be empty: parameters have no values here");
      } else if (line.starts_with('$')) {
        read_placeholder(line);
      } else if (line == "@reward_models") {
        read_names();
      } else if (line == "@nr_states") {
        states_ = read_count(std::numeric_limits<State>::max() - 1);
      } else if (line == "@nr_choices") {
        choices_ = read_count(std::int64_t{1} << 40);
      } else if (line == "@model") {
        in_model_ = true;
        break;
      } else if (line != "@placeholders") {
        lines_.fail(line, "must be a line of the header, such as @type: MDP or @model");
      }
    }
    require(typed, "@type is missing, must be given before @model");
    require(in_model_, "@model is missing, must be given");
    require(states_ >= 1, "@nr_states is missing, must be given and at least 1");
    require_plausible(states_, "states", text_.size());
  }

  void read_type(std::string_view type) {
    if (type == "MDP" || type == "DTMC") return;
    lines_.fail(fmt::format("@type: {}", excerpt(type)),
                type == "POMDP" ? "must be MDP or DTMC: what a policy sees is the state"
                                : "must be MDP or DTMC: time is counted in decisions");
  }

  std::string_view next_value() {
    if (!lines_.next()) lines_.fail("the header ends", "must go on to @model");
    return lines_.line();
  }

  std::int64_t read_count(std::int64_t most) {
    const auto count = count_of(trimmed(next_value()));
    if (!count || *count > most)
      lines_.fail(lines_.line(), fmt::format("must be a whole number up to {}", most));
    return *count;
  }

  // Names are divided by single blanks, so that a nameless one is an empty line, or a blank before
  // others.
  void read_names() {
    std::string_view rest = next_value();
    if (rest.empty()) names_.emplace_back();
    while (!rest.empty()) {
      const auto end = std::min(rest.find_first_of(" \t"), rest.size());
      names_.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (names_.size() > kMostRewards)
        lines_.fail("more than 1000 reward models", "must be at most that");
    }
  }

  void read_placeholder(std::string_view line) {
    const auto colon = std::min(line.find(':'), line.size() - 1);
    const auto bounds = bounds_of(trimmed(line.substr(colon + 1)));
    if (!bounds) lines_.fail(line, "must be a placeholder with a number, such as $0 : 0.25");
    placeholders_[std::string(trimmed(line.substr(0, colon)))] = *bounds;
  }

  // ---- The model ----
  void read_line() {
    auto line = lines_.line();
    if (is_comment(line)) return read_comment(line);
    line = trimmed(line);
    if (line.empty()) return;
    if (is_comment(line)) return;
    if (line.starts_with("state ")) return read_state(trimmed(line.substr(6)));
    if (line.starts_with("action ")) return read_action(trimmed(line.substr(7)));
    read_branch(line);
  }

  void read_state(std::string_view rest) {
    finish_state();
    const auto expected = static_cast<std::int64_t>(file_.arrays.state_rows.size()) - 1;
    const auto id = count_of(take_word(rest));
    if (!id || *id != expected)
      lines_.fail(lines_.line(), fmt::format("must be state {}: states come in order", expected));
    if (expected >= states_)
      lines_.fail(lines_.line(), fmt::format("must be one of {} states", states_));
    file_.begin_state();
    if (rest.starts_with('!')) lines_.fail(lines_.line(), "must have no rate");
    if (rest.starts_with('{')) lines_.fail(lines_.line(), "must have no observation");
    if (rest.starts_with('[')) state_values_ = take_values(rest);
    while (!rest.empty()) file_.add_label(take_label(rest), static_cast<State>(expected));
  }

  // Storm writes the variables of a state after it: //[x=1	& y=0].
  void read_comment(std::string_view line) {
    const auto states = file_.arrays.state_rows.size() - 1;
    if (!line.starts_with("//[") || !line.ends_with(']') ||
        file_.arrays.state_names.size() + 1 != states)
      return;
    line = line.substr(3, line.size() - 4);
    std::string name;
    while (!line.empty()) {
      const auto end = std::min(line.find('&'), line.size());
      name += (name.empty() ? "" : ", ") + std::string(trimmed(line.substr(0, end)));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    file_.arrays.state_names.push_back(std::move(name));
  }

  void read_action(std::string_view rest) {
    if (file_.arrays.state_rows.size() < 2)
      lines_.fail(lines_.line(), "must come after the state it belongs to");
    std::string_view label = take_word(rest);
    if (in_terminal_) lines_.fail(lines_.line(), "must be the only action of a terminal state");
    if (label == "__TERMINAL__") {
      if (file_.arrays.state_rows.back() > file_.arrays.state_rows.end()[-2])
        lines_.fail(lines_.line(), "must be the only action of a terminal state");
      in_terminal_ = true;
      ++terminal_;
      return;
    }
    if (label == "__NOLABEL__") label = {};
    file_.begin_choice(label);
    if (rest.starts_with('[')) {
      const auto values = take_values(rest);
      for (std::size_t k = 0; k < values.size(); ++k) {
        auto& choices = reward(k).choices;
        choices.resize(file_.arrays.action.size(), 0.0);
        choices.back() = values[k];
      }
    }
    if (!rest.empty()) lines_.fail(lines_.line(), "must end after the action and its rewards");
  }

  void read_branch(std::string_view line) {
    const auto colon = line.find(':');
    const auto target =
        colon == std::string_view::npos ? std::nullopt : count_of(trimmed(line.substr(0, colon)));
    if (!target) lines_.fail(line, "must read TARGET : PROBABILITY");
    if (*target >= states_)
      lines_.fail(line, fmt::format("its target must be in 0..{}", states_ - 1));
    const Bounds bounds = value_of(trimmed(line.substr(colon + 1)));
    if (in_terminal_) {
      if (*target + 2 != static_cast<std::int64_t>(file_.arrays.state_rows.size()) ||
          bounds.lower != 1 || bounds.upper != 1)
        lines_.fail(line, "must lead from a terminal state to itself with probability 1");
      return;
    }
    if (file_.arrays.state_rows.size() < 2 ||
        file_.arrays.state_rows.back() == file_.arrays.state_rows.end()[-2])
      lines_.fail(line, "must come after the action it belongs to");
    file_.intervals = file_.intervals || trimmed(line.substr(colon + 1)).starts_with('[');
    file_.add_branch(static_cast<State>(*target), bounds);
  }

  // Rewards of the state, now that its actions are known.
  void finish_state() {
    in_terminal_ = false;
    for (std::size_t k = 0; k < state_values_.size(); ++k) {
      auto& states = reward(k).states;
      states.resize(states_, 0.0);
      states[file_.arrays.state_rows.size() - 2] = state_values_[k];
    }
    state_values_.clear();
  }

  // ---- Words ----
  static std::string_view take_word(std::string_view& rest) {
    const auto end = std::min(rest.find_first_of(" \t"), rest.size());
    const auto word = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    return word;
  }

  std::string_view take_label(std::string_view& rest) {
    if (!rest.starts_with('"')) return take_word(rest);
    const auto end = rest.find('"', 1);
    if (end == std::string_view::npos) lines_.fail(lines_.line(), "its quote must be closed");
    const auto label = rest.substr(1, end - 1);
    rest = trimmed(rest.substr(end + 1));
    return label;
  }

  Bounds value_of(std::string_view text) const {
    if (text.starts_with('$')) {
      const auto found = placeholders_.find(text);
      if (found == placeholders_.end()) lines_.fail(text, "must be one of the placeholders");
      return found->second;
    }
    const auto bounds = bounds_of(text);
    if (!bounds) lines_.fail(text, "must be a finite number or an interval");
    return *bounds;
  }

  // [1, 2.5], where each may be an interval whose ends are equal.
  std::vector<double> take_values(std::string_view& rest) {
    int depth = 0;
    std::size_t end = 0, begin = 1;
    std::vector<double> values;
    const auto add = [&](std::string_view text) {
      const Bounds bounds = value_of(trimmed(text));
      if (bounds.lower != bounds.upper)
        lines_.fail(trimmed(text),
                    "a reward must be a number: the ends of its interval must be equal");
      if (values.size() == kMostRewards)
        lines_.fail("more than 1000 rewards", "must be at most that");
      values.push_back(bounds.lower);
    };
    for (; end < rest.size(); ++end) {
      if (rest[end] == '[') ++depth;
      if (rest[end] == ']' && --depth == 0) break;
      if (rest[end] == ',' && depth == 1) {
        add(rest.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (end == rest.size()) lines_.fail(lines_.line(), "its bracket must be closed");
    if (!trimmed(rest.substr(begin, end - begin)).empty()) add(rest.substr(begin, end - begin));
    rest = trimmed(rest.substr(end + 1));
    return values;
  }

  ExplicitReward& reward(std::size_t k) {
    while (rewards_.size() <= k) {
      const auto n = rewards_.size();
      rewards_.push_back({n < names_.size() ? names_[n] : fmt::format("rew{}", n), {}, {}, {}});
    }
    return rewards_[k];
  }

  std::vector<ExplicitReward> rewards() {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (!names_[k].empty()) reward(k);  // one that is zero throughout has a name all the same
    }
    for (ExplicitReward& one : rewards_) {
      if (!one.choices.empty()) one.choices.resize(file_.arrays.action.size(), 0.0);
    }
    return std::move(rewards_);
  }

  TextLines lines_;
  std::string_view text_;
  ExplicitFile file_;
  bool in_model_ = false;
  bool in_terminal_ = false;  // after the one action of a state that is terminal
  std::int64_t states_ = 0, choices_ = -1, terminal_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, Bounds, std::less<>> placeholders_;
  std::vector<double> state_values_;  // of the state that is being read
  std::vector<ExplicitReward> rewards_;
};

}  // namespace
}  // namespace internal::io

Draft read_drn(std::string_view text, std::string_view name, std::string_view terms,
               std::string_view terms_name) {
  auto file = naming(name, [&] { return io::DrnReader(text).read(); });
  return io::complete(std::move(file), name, terms, terms_name);
}

}  // namespace redoubt
