#include <algorithm>

#include "io/explicit/explicit_model.h"
#include "io/json/json_model.h"
#include "io/transitions.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

std::string nominal_text(const ModelArrays& a) {
  if (a.lower.empty()) return "";
  ModelArrays placed = a;
  std::fill(placed.probability.begin(), placed.probability.end(), kAbsent);
  place_between_bounds(placed);
  if (placed.probability == a.probability) return "";
  std::string out = "  \"nominal\": [";
  for (std::size_t i = 0; i < a.probability.size(); ++i)
    out += (i == 0 ? "" : ", ") + number_text(a.probability[i]);
  return out + "],\n";
}

}  // namespace

ModelArrays unrolled(const Model& m) {
  ModelArrays a = m.arrays();
  if (m.stages() == 1) return a;
  const auto states = static_cast<std::int64_t>(m.states());
  const auto all = states * (m.stages() + 1);
  require(all <= std::numeric_limits<State>::max() - 1,
          "{} states of all stages, must be at most {}", all,
          std::numeric_limits<State>::max() - 1);
  for (int stage = 0; stage < m.stages(); ++stage) {
    for (Row r = m.row_begin(stage, 0); r < m.row_end(stage, m.states() - 1); ++r) {
      for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i)
        a.next[i] += static_cast<State>((stage + 1) * states);
    }
  }
  a.states = static_cast<State>(all);
  a.state_rows.resize(all + 1, a.state_rows.back());
  for (Label& label : a.labels) {
    const auto count = label.states.size();
    for (int stage = 1; stage <= m.stages(); ++stage) {
      for (std::size_t i = 0; i < count; ++i)
        label.states.push_back(label.states[i] + static_cast<State>(stage * states));
    }
  }
  a.state_names.clear();
  a.stages = 1;
  return a;
}

std::string probability_text(const ModelArrays& a, std::int64_t i, const char* separator) {
  if (a.lower.empty()) return number_text(a.probability[i]);
  return "[" + number_text(a.lower[i]) + separator + number_text(a.upper[i]) + "]";
}

std::string explicit_terms(const Draft& draft, bool labels) {
  return write_side(draft, labels, nominal_text(draft.model.arrays()));
}

}  // namespace redoubt::internal::io
