#include <cstdint>

#include "io/archives.h"
#include "io/explicit/explicit_model.h"
#include "io/json/json_model.h"
#include "io/umb/umb_values.h"
#include "model/set_traits.h"
#include "redoubt/io.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

using umb::to_bytes;

// The file has unsigned numbers.
template <class Value>
std::string to_words(const std::vector<Value>& numbers) {
  return to_bytes(std::vector<std::uint64_t>(numbers.begin(), numbers.end()));
}

// One bit for each of so many states, set for those that are listed.
std::string to_bits(const std::vector<State>& states, State count) {
  std::vector<std::uint64_t> bits((std::int64_t{count} + 63) / 64, 0);
  for (const State s : states) bits[s / 64] |= std::uint64_t{1} << (s % 64);
  return to_bytes(bits);
}

std::vector<double> interleave(const std::vector<double>& lower, const std::vector<double>& upper) {
  std::vector<double> out;
  out.reserve(2 * lower.size());
  for (std::size_t i = 0; i < lower.size(); ++i) {
    out.push_back(lower[i]);
    out.push_back(upper[i]);
  }
  return out;
}

// The radii of rows; null: one number holds for all.
Radius* radii_of(Uncertainty& uncertainty) {
  return std::visit(
      [](auto& set) -> Radius* {
        if constexpr (requires { set.radius; })
          if (!set.radius.rows.empty()) return &set.radius;
        return nullptr;
      },
      uncertainty);
}

// The terms as JSON; labels and radii of rows have arrays of their own.
Json terms_json(Draft draft) {
  if (Radius* radii = radii_of(draft.terms.uncertainty)) *radii = Radius(0);
  return parse_json(write_side(draft, false));
}

class UmbWriter {
 public:
  explicit UmbWriter(const Draft& draft)
      : draft_(draft),
        model_(draft.model),
        layers_(model_.stages() > 1 ? unrolled(model_) : ModelArrays()),
        arrays_(model_.stages() > 1 ? layers_ : model_.arrays()) {}

  std::string write(Packing packing) {
    write_structure();
    write_actions();
    write_values();
    write_labels();
    std::vector<std::pair<std::string, std::string>> files;
    files.emplace_back(umb::index, index().dump(2) + "\n");
    for (auto& file : files_) files.push_back(std::move(file));
    return write_tar(files, packing);
  }

 private:
  Json index() const {
    Json out;
    out["format-version"] = 1;
    out["format-revision"] = 0;
    out["file-data"] = {
        {"tool", "redoubt"}, {"tool-version", REDOUBT_VERSION}, {"parameters", terms_json(draft_)}};
    Json system;
    system["time"] = "discrete";
    system["#players"] = 1;
    system["#states"] = arrays_.states;
    system["#initial-states"] = draft_.terms.start.states.size();
    system["#choices"] = model_.rows();
    system["#choice-actions"] = action_count();
    system["#branches"] = model_.outcomes();
    system["#branch-actions"] = 0;
    system["#observations"] = 0;
    if (model_.outcomes() > 0) {
      const bool interval = !arrays_.lower.empty();
      system["branch-probability-type"] = {{"type", interval ? "double-interval" : "double"},
                                           {"size", interval ? 128 : 64}};
    }
    out["transition-system"] = system;
    out["annotations"] = annotations_;
    return out;
  }

  std::size_t action_count() const {
    return arrays_.action_names.empty() ? model_.actions() : arrays_.action_names.size();
  }

  void write_structure() {
    add(umb::state_is_initial, to_bits(draft_.terms.start.states, arrays_.states));
    add(umb::state_to_choices, to_words(arrays_.state_rows));
    add(umb::choice_to_branches, to_words(arrays_.row_outcomes));
    if (model_.outcomes() == 0) return;
    add(umb::branch_to_target, to_words(arrays_.next));
    if (arrays_.lower.empty()) {
      add(umb::branch_to_probability, to_bytes(arrays_.probability));
    } else {
      add(umb::branch_to_probability, to_bytes(interleave(arrays_.lower, arrays_.upper)));
      annotate(umb::own_group, "nominal", "nominal probability", nullptr, &arrays_.probability);
    }
  }

  void write_actions() {
    if (action_count() == 0) return;
    add(umb::action_values, to_bytes(arrays_.action));
    if (arrays_.action_names.empty()) return;
    std::vector<std::uint64_t> offsets{0};
    std::string strings;
    for (const std::string& name : arrays_.action_names) {
      strings += name;
      offsets.push_back(strings.size());
    }
    add(umb::action_string_mapping, to_bytes(offsets));
    add(umb::action_strings, std::move(strings));
  }

  void write_values() {
    if (draft_.rewarded) annotate_value("reward", "reward", arrays_.reward, arrays_.outcome_reward);
    for (std::size_t s = 0; s < arrays_.signals.size(); ++s) {
      const Signal& signal = arrays_.signals[s];
      annotate_value(fmt::format("signal-{}", s), signal.name, signal.row, signal.outcome);
    }
    Uncertainty uncertainty = draft_.terms.uncertainty;
    if (const Radius* radii = radii_of(uncertainty))
      annotate(umb::own_group, "radius", "radius", &radii->rows, nullptr);
  }

  void write_labels() {
    for (std::size_t i = 0; i < arrays_.labels.size(); ++i) {
      const Label& label = arrays_.labels[i];
      quoted(label.name);  // an Error unless it is UTF-8
      const std::string id = fmt::format("label-{}", i);
      add(umb::annotation(umb::labels_group, id, "states"), to_bits(label.states, arrays_.states));
      annotations_[umb::labels_group][id] = {{"alias", label.name},
                                             {"applies-to", {"states"}},
                                             {"type", {{"type", "bool"}, {"size", 1}}}};
    }
  }

  // An annotation applies to something, even when it is zero throughout.
  void annotate_value(const std::string& id, const std::string& alias,
                      const std::vector<double>& row, const std::vector<double>& outcome) {
    const std::vector<double> zeros(row.empty() && outcome.empty() ? model_.rows() : 0, 0.0);
    const bool only_outcomes = row.empty() && !outcome.empty();
    annotate("rewards", id, alias,
             only_outcomes ? nullptr
             : row.empty() ? &zeros
                           : &row,
             outcome.empty() ? nullptr : &outcome);
  }

  void annotate(const std::string& group, const std::string& id, const std::string& alias,
                const std::vector<double>* choices, const std::vector<double>* branches) {
    quoted(alias);  // an Error unless it is UTF-8
    Json applies_to = Json::array();
    const auto apply = [&](const char* to, const std::vector<double>* values) {
      if (values == nullptr) return;
      applies_to.push_back(to);
      add(umb::annotation(group, id, to), to_bytes(*values));
    };
    apply("choices", choices);
    apply("branches", branches);
    annotations_[group][id] = {
        {"alias", alias}, {"applies-to", applies_to}, {"type", {{"type", "double"}, {"size", 64}}}};
  }

  void add(std::string name, std::string content) {
    files_.emplace_back(std::move(name), std::move(content));
  }

  const Draft& draft_;
  const Model& model_;
  const ModelArrays layers_;  // where rows depend on the stage: a layer of states for each
  const ModelArrays& arrays_;
  Json annotations_ = Json::object();
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace
}  // namespace internal::io

std::string write_umb(const Draft& draft, Packing packing) {
  Draft whole = draft;
  internal::spread_radii_of_states(whole.model, whole.terms.uncertainty);
  return io::UmbWriter(whole).write(packing);
}
std::string write_umb(const Problem& problem, Packing packing) {
  return write_umb(problem.given(), packing);
}

}  // namespace redoubt
