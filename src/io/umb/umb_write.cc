#include <cstdint>

#include "io/json/json_write.h"
#include "io/umb/tar.h"
#include "io/umb/umb_index.h"
#include "io/umb/umb_labels.h"
#include "model/scope.h"
#include "redoubt/io.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

using umb::to_bytes;

// Rows that depend on the stage become states of their own, as other programs expect: state s at
// stage h is number h * S + s, and there is one more layer, without choices, after the last stage.
struct Layers {
  std::int64_t states;  // of the file
  std::int64_t states_per_stage;
  bool unrolled;
};

Layers layers_of(const Model& m) {
  const bool unrolled = m.stages() > 1;
  return {static_cast<std::int64_t>(m.states()) * (unrolled ? m.stages() + 1 : 1), m.states(),
          unrolled};
}

std::vector<std::uint64_t> unsigned_offsets(const std::vector<std::int64_t>& offsets,
                                            std::int64_t count) {
  std::vector<std::uint64_t> out(offsets.begin(), offsets.end());
  out.resize(count + 1, out.back());
  return out;
}

std::vector<std::uint64_t> targets(const Model& m, const Layers& layers) {
  std::vector<std::uint64_t> out(m.arrays().next.begin(), m.arrays().next.end());
  if (!layers.unrolled) return out;
  for (int stage = 0; stage < m.stages(); ++stage) {
    for (Row r = m.row_begin(stage, 0); r < m.row_end(stage, m.states() - 1); ++r) {
      for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i)
        out[i] += (stage + 1) * layers.states_per_stage;
    }
  }
  return out;
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

const Radius* radius_of(const Uncertainty& uncertainty) {
  return std::visit(
      [](const auto& set) -> const Radius* {
        if constexpr (requires { set.radius; }) return &set.radius;
        return nullptr;
      },
      uncertainty);
}

// The terms as JSON; labels and radii of rows have arrays of their own.
Json terms_json(Draft draft) {
  const Radius* radius = radius_of(draft.terms.uncertainty);
  if (radius == nullptr || radius->rows.empty()) return parse_json(write_side(draft, false));
  std::visit(
      [](auto& set) {
        if constexpr (requires { set.radius; }) set.radius = Radius(0);
      },
      draft.terms.uncertainty);
  return parse_json(write_side(draft, false));
}

class UmbWriter {
 public:
  explicit UmbWriter(const Draft& draft)
      : draft_(draft), model_(draft.model), arrays_(model_.arrays()) {}

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
    system["#states"] = layers_of(model_).states;
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
    const Layers layers = layers_of(model_);
    add(umb::state_is_initial, bits_of(draft_.terms.start.states, layers.states, layers.states));
    add(umb::state_to_choices, to_bytes(unsigned_offsets(arrays_.state_rows, layers.states)));
    add(umb::choice_to_branches, to_bytes(unsigned_offsets(arrays_.row_outcomes, model_.rows())));
    if (model_.outcomes() == 0) return;
    add(umb::branch_to_target, to_bytes(targets(model_, layers)));
    if (arrays_.lower.empty()) {
      add(umb::branch_to_probability, to_bytes(arrays_.probability));
    } else {
      add(umb::branch_to_probability, to_bytes(interleave(arrays_.lower, arrays_.upper)));
      annotate(umb::own_group, "nominal", "nominal probability", nullptr, &arrays_.probability);
    }
  }

  void write_actions() {
    if (action_count() == 0) return;
    const std::vector<std::uint32_t> numbers(arrays_.action.begin(), arrays_.action.end());
    add(umb::action_values, to_bytes(numbers));
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
    const Radius* radius = radius_of(draft_.terms.uncertainty);
    if (radius != nullptr && !radius->rows.empty())
      annotate(umb::own_group, "radius", "radius", &radius->rows, nullptr);
  }

  void write_labels() {
    for (std::size_t i = 0; i < arrays_.labels.size(); ++i) {
      const Label& label = arrays_.labels[i];
      quoted(label.name);  // an Error unless it is UTF-8
      const std::string id = fmt::format("label-{}", i);
      add(umb::annotation(umb::labels_group, id, "states"),
          bits_of(label.states, layers_of(model_).states, model_.states()));
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
