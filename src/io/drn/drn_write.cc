#include <algorithm>
#include <set>

#include "io/explicit/explicit_model.h"
#include "redoubt/io.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

using StateLabels = std::vector<std::vector<const Label*>>;

StateLabels labels_by_state(const ModelArrays& a) {
  StateLabels out(a.states);
  for (const Label& label : a.labels) {
    for (const State s : label.states) out[s].push_back(&label);
  }
  return out;
}

// The file lists labels with their states: one of no state is lost, others change their order.
bool labels_survive(const ModelArrays& a) {
  State last = -1;
  for (const Label& label : a.labels) {
    if (label.states.empty() || label.states.front() < last) return false;
    last = label.states.front();
  }
  return true;
}

std::string label_text(const std::string& name) {
  require(name.find_first_of("\"\n\r") == std::string::npos,
          "label '{}', must have neither quotes nor line ends in a DRN file", name);
  require(name != "init", "label 'init', must have another name: it says where episodes begin");
  return name.find_first_of(" \t[{!") == std::string::npos ? " " + name : " \"" + name + "\"";
}

class DrnWriter {
 public:
  explicit DrnWriter(const Draft& draft)
      : draft_(draft),
        arrays_(unrolled(draft.model)),
        labels_(labels_by_state(arrays_)),
        valuations_(valuations_of(arrays_.state_names)) {
    if (draft.rewarded) columns_.push_back(&arrays_.reward);
    for (const Signal& signal : arrays_.signals) columns_.push_back(&signal.row);
  }

  std::string write() {
    check();
    write_header();
    const auto& start = draft_.terms.start.states;
    const std::set<State> initial(start.begin(), start.end());
    for (State s = 0; s < arrays_.states; ++s) write_state(s, initial.contains(s));
    return std::move(out_);
  }

 private:
  void check() const {
    require_no_arrivals(draft_.model, "a DRN file");
    require_no_groups(draft_.model, "a DRN file");
    for (int signal = -1; signal < draft_.model.signals(); ++signal)
      require(draft_.model.outcome_values(signal).empty(),
              "{} differs between outcomes of a row, which a DRN file cannot keep: write UMB",
              signal < 0 ? "reward" : arrays_.signals[signal].name);
    for (const Signal& signal : arrays_.signals)
      require(!signal.name.empty() && signal.name.find_first_of(" \t\r\n") == std::string::npos,
              "signal '{}', must have no blanks in its name in a DRN file", signal.name);
  }

  void write_header() {
    Row terminal = 0, most = 0;
    for (State s = 0; s < arrays_.states; ++s) {
      const Row rows = arrays_.state_rows[s + 1] - arrays_.state_rows[s];
      terminal += rows == 0;
      most = std::max(most, rows);
    }
    // Where nobody has a choice, Storm wants a chain: it asks for no min or max then.
    out_ += fmt::format("// Exported by redoubt\n@type: {}\n", most > 1 ? "MDP" : "DTMC");
    if (!arrays_.lower.empty()) out_ += "@value_type: double-interval\n";
    out_ += "@parameters\n\n@reward_models\n";
    if (draft_.rewarded) out_ += "reward ";
    for (const Signal& signal : arrays_.signals) out_ += signal.name + " ";
    out_ += fmt::format("\n@nr_states\n{}\n@nr_choices\n{}\n@model\n", arrays_.states,
                        static_cast<Row>(arrays_.action.size()) + terminal);
  }

  void write_state(State s, bool initial) {
    out_ += fmt::format("state {}", s);
    if (!columns_.empty()) {  // all is earned by actions
      out_ += " [0";
      for (std::size_t k = 1; k < columns_.size(); ++k) out_ += ", 0";
      out_ += "]";
    }
    if (initial) out_ += " init";
    for (const Label* label : labels_[s]) out_ += label_text(label->name);
    out_ += "\n";
    if (valuations_) write_valuation(s);
    const Row begin = arrays_.state_rows[s], end = arrays_.state_rows[s + 1];
    for (Row r = begin; r < end; ++r) write_row(r);
    if (begin == end)
      out_ += fmt::format("\taction __TERMINAL__\n\t\t{} : {}\n", s,
                          arrays_.lower.empty() ? "1" : "[1, 1]");
  }

  void write_valuation(State s) {
    out_ += "//[";
    for (std::size_t k = 0; k < valuations_->variables.size(); ++k)
      out_ += fmt::format("{}{}={}", k == 0 ? "" : "\t& ", valuations_->variables[k],
                          valuations_->values[s][k]);
    out_ += "]\n";
  }

  void write_row(Row r) {
    const std::string& label = choices_[arrays_.action[r]];
    out_ += "\taction " + (label.empty() ? "__NOLABEL__" : label);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      out_ +=
          (k == 0 ? " [" : ", ") + (columns_[k]->empty() ? "0" : number_text((*columns_[k])[r]));
    out_ += columns_.empty() ? "\n" : "]\n";
    for (auto i = arrays_.row_outcomes[r]; i < arrays_.row_outcomes[r + 1]; ++i)
      out_ += fmt::format("\t\t{} : {}\n", arrays_.next[i], probability_text(arrays_, i, ", "));
  }

  const Draft& draft_;
  const ModelArrays arrays_;
  const StateLabels labels_;
  const std::optional<Valuations> valuations_;
  const std::vector<std::string> choices_ = choice_labels(arrays_, draft_.model.actions());
  std::vector<const std::vector<double>*> columns_;  // reward and signals
  std::string out_;
};

}  // namespace
}  // namespace internal::io

std::string write_drn(const Draft& draft) { return io::DrnWriter(draft).write(); }
std::string write_drn(const Problem& problem) { return write_drn(problem.given()); }

std::string write_drn_terms(const Draft& draft) {
  return io::explicit_terms(draft, !io::labels_survive(draft.model.arrays()));
}

}  // namespace redoubt
