#include "io/explicit/explicit_model.h"
#include "redoubt/io.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

class PrismWriter {
 public:
  explicit PrismWriter(const Draft& draft)
      : draft_(draft),
        arrays_(unrolled(draft.model)),
        valuations_(valuations_of(arrays_.state_names)) {
    require_no_arrivals(draft.model, "a PRISM file");
    require_no_groups(draft.model, "a PRISM file");
    require_row_values_survive(draft, "a PRISM file");
    find_choices();
  }

  std::string transitions() const {
    std::string out =
        fmt::format("# Transitions ({})\n{} {} {}\n", arrays_.lower.empty() ? "MDP" : "IMDP",
                    arrays_.states, arrays_.action.size(), arrays_.next.size());
    const auto labels = choice_labels(arrays_, draft_.model.actions());
    const bool numbered = arrays_.action_names.empty() && actions_are_places();
    for_each_outcome([&](State s, Row r, std::int64_t i) {
      out += fmt::format("{} {} {} {}", s, r - arrays_.state_rows[s], arrays_.next[i],
                         probability_text(arrays_, i, ","));
      if (!numbered && !labels[arrays_.action[r]].empty()) out += " " + labels[arrays_.action[r]];
      out += "\n";
    });
    return out;
  }

  std::string states() const {  // empty: names are none of variables
    if (!valuations_) return "";
    std::string out = "# States\n(";
    for (std::size_t k = 0; k < valuations_->variables.size(); ++k)
      out += (k == 0 ? "" : ",") + valuations_->variables[k];
    out += ")\n";
    for (State s = 0; s < arrays_.states; ++s) {
      out += fmt::format("{}:(", s);
      for (std::size_t k = 0; k < valuations_->variables.size(); ++k)
        out += (k == 0 ? "" : ",") + valuations_->values[s][k];
      out += ")\n";
    }
    return out;
  }

  std::string labels() const {
    std::vector<std::string> of_state(arrays_.states);
    std::string out = "# Labels\n0=\"init\"";
    for (const State s : draft_.terms.start.states) of_state[s] = " 0";
    for (std::size_t k = 0; k < arrays_.labels.size(); ++k) {
      const Label& label = arrays_.labels[k];
      require(label.name.find_first_of("\"\n\r") == std::string::npos,
              "label '{}', must have neither quotes nor line ends in a PRISM file", label.name);
      require(label.name != "init",
              "label 'init', must have another name: it says where episodes begin");
      out += fmt::format(" {}=\"{}\"", k + 1, label.name);
      for (const State s : label.states) of_state[s] += fmt::format(" {}", k + 1);
    }
    out += "\n";
    for (State s = 0; s < arrays_.states; ++s) {
      if (!of_state[s].empty()) out += fmt::format("{}:{}\n", s, of_state[s]);
    }
    return out;
  }

  int structures() const { return draft_.model.signals() + (draft_.rewarded ? 1 : 0); }

  // Number `k`, of which the first is the reward, where there is one.
  std::string rewards(int k) const {
    const int signal = k - (draft_.rewarded ? 1 : 0);
    const std::string name = signal < 0 ? "reward" : arrays_.signals[signal].name;
    require(!name.empty() && name.find_first_of("\"\n\r") == std::string::npos,
            "signal '{}', must have a name without quotes and line ends in a PRISM file", name);
    const Model& m = draft_.model;
    std::string lines;
    std::int64_t count = 0;
    for_each_outcome([&](State s, Row r, std::int64_t i) {
      const double value = m.value(signal, r) + m.outcome_value(signal, i);
      if (value == 0) return;
      ++count;
      lines += fmt::format("{} {} {} {}\n", s, r - arrays_.state_rows[s], arrays_.next[i],
                           number_text(value));
    });
    return fmt::format("# Reward structure \"{}\"\n# Transition rewards\n{} {} {}\n{}", name,
                       arrays_.states, arrays_.action.size(), count, lines);
  }

 private:
  template <class Visit>
  void for_each_outcome(Visit visit) const {
    for (State s = 0; s < arrays_.states; ++s) {
      for (Row r = arrays_.state_rows[s]; r < arrays_.state_rows[s + 1]; ++r) {
        for (auto i = arrays_.row_outcomes[r]; i < arrays_.row_outcomes[r + 1]; ++i) visit(s, r, i);
      }
    }
  }

  // A transition has one target and one reward.
  void find_choices() const {
    const Model& m = draft_.model;
    for (Row r = 0; r < m.rows(); ++r) {
      for (auto i = m.outcome_begin(r) + 1; i < m.outcome_end(r); ++i)
        require(arrays_.next[i] != arrays_.next[i - 1],
                "{} has two outcomes with the same next state and different values, which a PRISM "
                "file cannot keep: write UMB",
                m.row_name(r));
    }
  }

  bool actions_are_places() const {
    for (State s = 0; s < arrays_.states; ++s) {
      for (Row r = arrays_.state_rows[s]; r < arrays_.state_rows[s + 1]; ++r) {
        if (arrays_.action[r] != r - arrays_.state_rows[s]) return false;
      }
    }
    return true;
  }

  const Draft& draft_;
  const ModelArrays arrays_;
  const std::optional<Valuations> valuations_;
};

}  // namespace
}  // namespace internal::io

std::vector<TextFile> write_prism(const Draft& draft, const std::string& name) {
  const io::PrismWriter writer(draft);
  std::vector<TextFile> files = {{name + ".tra", writer.transitions()},
                                 {name + ".lab", writer.labels()}};
  if (std::string states = writer.states(); !states.empty())
    files.push_back({name + ".sta", std::move(states)});
  for (int k = 0; k < writer.structures(); ++k)
    files.push_back({fmt::format("{}{}.trew", name, k + 1), writer.rewards(k)});
  return files;
}

std::string write_pexp(const Draft& draft) {
  const io::PrismWriter writer(draft);
  std::string out = writer.transitions();
  if (const std::string states = writer.states(); !states.empty()) out += "\n" + states;
  out += "\n" + writer.labels();
  for (int k = 0; k < writer.structures(); ++k) out += "\n" + writer.rewards(k);
  return out;
}

std::string write_prism_terms(const Draft& draft) { return io::explicit_terms(draft, false); }

}  // namespace redoubt
