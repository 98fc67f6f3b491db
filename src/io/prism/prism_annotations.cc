#include <algorithm>
#include <map>

#include "io/prism/prism_parts.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

std::vector<std::string_view> between_parentheses(const TextLines& lines, std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')'))
    lines.fail(lines.line(), "must have its variables in parentheses");
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    out.push_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

// 0="init" 1="deadlock" ...; names may have blanks.
std::map<std::int64_t, std::string> declared_labels(const TextLines& lines) {
  std::map<std::int64_t, std::string> names;
  std::string_view rest = trimmed(lines.line());
  while (!rest.empty()) {
    const auto equals = rest.find("=\"");
    const auto number =
        equals == std::string_view::npos ? std::nullopt : count_of(rest.substr(0, equals));
    const auto end = number ? rest.find('"', equals + 2) : std::string_view::npos;
    if (end == std::string_view::npos)
      lines.fail(lines.line(), "must declare labels, as in 0=\"init\" 1=\"goal\"");
    names[*number] = rest.substr(equals + 2, end - equals - 2);
    rest = trimmed(rest.substr(end + 1));
  }
  return names;
}

// Storm's variant: #DECLARATION, names, #END, then "STATE NAME NAME".
void read_declaration_labels(TextLines& lines, ExplicitFile& file) {
  std::vector<std::string> known;
  while (lines.next() && trimmed(lines.line()) != "#END") {
    for (const auto name : words_of(lines.line())) {
      known.emplace_back(name);
      if (name != "init") file.add_label(name, -1);
    }
  }
  if (trimmed(lines.line()) != "#END") lines.fail("#END", "must follow the names of labels");
  while (lines.next()) {
    const auto words = words_of(lines.line());
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (std::find(known.begin(), known.end(), words[i]) == known.end())
        lines.fail(words[i], "must be one of the labels that are declared");
      file.add_label(words[i], state_of(lines, words[0], file.arrays.states));
    }
  }
}

// A structure's rewards by state and by branch.
class RewardReader {
 public:
  RewardReader(const ExplicitFile& file, bool nondeterministic)
      : arrays_(file.arrays), nondeterministic_(nondeterministic) {}

  void read(const PrismPart& part, ExplicitReward& reward) {
    TextLines lines(part.text, part.line);
    lines.next_filled();
    const auto sizes = words_of(lines.line());
    const bool of_states = part.kind == PrismKind::state_rewards;
    const std::size_t expected = of_states || !nondeterministic_ ? 2 : 3;
    const auto states = sizes.empty() ? std::nullopt : count_of(sizes[0]);
    if (sizes.size() != expected || states != arrays_.states)
      lines.fail(lines.line(), fmt::format("must be {} numbers, of which the first is {}, as in "
                                           "the transitions",
                                           expected, arrays_.states));
    std::vector<Row> used(arrays_.states, 0);  // rows of each state that were listed, as rows
    while (lines.next_filled()) {
      const auto words = words_of(lines.line());
      if (of_states)
        add_state(lines, words, reward);
      else
        add_branch(lines, words, reward, used);
    }
  }

 private:
  double value_of(const TextLines& lines, std::string_view word) const {
    const auto bounds = bounds_of(word);
    if (!bounds || bounds->lower != bounds->upper)
      lines.fail(lines.line(), "its reward must be a finite number");
    return bounds->lower;
  }

  void add_state(const TextLines& lines, const std::vector<std::string_view>& words,
                 ExplicitReward& reward) const {
    if (words.size() != 2) lines.fail(lines.line(), "must read STATE REWARD");
    reward.states.resize(arrays_.states, 0.0);
    reward.states[state_of(lines, words[0], arrays_.states)] = value_of(lines, words[1]);
  }

  // "i k j r", "i j r" of a chain, or a row "i r:j r:j", which may be "i" alone.
  void add_branch(const TextLines& lines, const std::vector<std::string_view>& words,
                  ExplicitReward& reward, std::vector<Row>& used) const {
    reward.branches.resize(arrays_.next.size(), 0.0);
    const State state = state_of(lines, words[0], arrays_.states);
    if (words.size() == 1 || words[1].find(':') != std::string_view::npos) {
      const Row row = row_of(lines, state, used[state]++);
      for (std::size_t i = 1; i < words.size(); ++i) {
        const auto colon = words[i].find(':');
        if (colon == std::string_view::npos) lines.fail(words[i], "must read REWARD:TARGET");
        set(lines, row, words[i].substr(colon + 1), words[i].substr(0, colon), reward);
      }
      return;
    }
    if (words.size() != (nondeterministic_ ? 4U : 3U))
      lines.fail(lines.line(), nondeterministic_ ? "must read STATE CHOICE TARGET REWARD"
                                                 : "must read STATE TARGET REWARD");
    const auto choice = nondeterministic_ ? count_of(words[1]) : 0;
    if (!choice) lines.fail(lines.line(), "its choice must be a whole number");
    set(lines, row_of(lines, state, *choice), words.end()[-2], words.back(), reward);
  }

  Row row_of(const TextLines& lines, State state, std::int64_t choice) const {
    const Row row = arrays_.state_rows[state] + choice;
    if (row >= arrays_.state_rows[state + 1])
      lines.fail(lines.line(), "must be of a choice that the transitions have");
    return row;
  }

  void set(const TextLines& lines, Row row, std::string_view target, std::string_view value,
           ExplicitReward& reward) const {
    const State next = state_of(lines, target, arrays_.states);
    bool found = false;
    for (auto i = arrays_.row_outcomes[row]; i < arrays_.row_outcomes[row + 1]; ++i) {
      if (arrays_.next[i] != next) continue;
      reward.branches[i] = value_of(lines, value);
      found = true;
    }
    if (!found) lines.fail(lines.line(), "must be of a transition that there is");
  }

  const ModelArrays& arrays_;
  bool nondeterministic_;
};

}  // namespace

void read_prism_states(const PrismPart& part, ExplicitFile& file) {
  TextLines lines(part.text, part.line);
  require(lines.next(), "is empty, must begin with the names of variables");
  const std::string first(trimmed(lines.line()));
  const auto variables = between_parentheses(lines, first);
  auto& names = file.arrays.state_names;
  names.assign(file.arrays.states, "");
  std::int64_t count = 0;
  while (lines.next_filled()) {
    const auto line = trimmed(lines.line());
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) lines.fail(line, "must read STATE:(VALUES)");
    const State state = state_of(lines, line.substr(0, colon), file.arrays.states);
    const auto values = between_parentheses(lines, trimmed(line.substr(colon + 1)));
    if (values.size() != variables.size())
      lines.fail(line, fmt::format("must have {} values, one for each variable", variables.size()));
    names[state] = valuation_name(variables, values);
    ++count;
  }
  require(count == file.arrays.states, "{} states, must be {}, as in the transitions", count,
          file.arrays.states);
}

void read_prism_labels(const PrismPart& part, ExplicitFile& file) {
  TextLines lines(part.text, part.line);
  if (!lines.next()) return;
  if (trimmed(lines.line()) == "#DECLARATION") return read_declaration_labels(lines, file);
  const auto names = declared_labels(lines);
  for (const auto& [number, name] : names) {
    if (name != "init") file.add_label(name, -1);
  }
  while (lines.next_filled()) {
    const auto line = trimmed(lines.line());
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) lines.fail(line, "must read STATE: LABELS");
    const State state = state_of(lines, line.substr(0, colon), file.arrays.states);
    for (const auto word : words_of(line.substr(colon + 1))) {
      const auto number = count_of(word);
      const auto name = number ? names.find(*number) : names.end();
      if (name == names.end()) lines.fail(line, "must name labels that the first line declares");
      file.add_label(name->second, state);
    }
  }
}

std::vector<ExplicitReward> read_prism_rewards(const std::vector<PrismPart>& parts,
                                               const ExplicitFile& file, bool nondeterministic) {
  std::vector<ExplicitReward> rewards;
  std::map<std::string, std::size_t> places;
  RewardReader reader(file, nondeterministic);
  for (const PrismPart& part : parts) {
    if (part.kind != PrismKind::state_rewards && part.kind != PrismKind::transition_rewards)
      continue;
    const auto [place, added] = places.emplace(part.structure, rewards.size());
    if (added) rewards.push_back({part.reward, {}, {}, {}});
    ExplicitReward& reward = rewards[place->second];
    naming(part.file, [&] { reader.read(part, reward); });
  }
  return rewards;
}

}  // namespace redoubt::internal::io
