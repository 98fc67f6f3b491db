#include "model/two_stages.h"

#include <cmath>
#include <limits>

#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal {

void require_short_horizon(const Terms& terms) {
  require(terms.horizon.value_or(0) <= std::numeric_limits<int>::max() / 2,
          "horizon {} of a model with groups or factors, must be at most {}",
          terms.horizon.value_or(0), std::numeric_limits<int>::max() / 2);
}

void require_ordinary_start(const Model& model, const Terms& terms) {
  const char* const other = model.groups() > 0 ? "group" : "factor";
  for (const State s : terms.start.states) {
    const bool ordinary = s < model.ordinary();
    require(ordinary, "start state {} is a {}, must be an ordinary state", model.state_name(s),
            other);
  }
}

TwoStageWriter::TwoStageWriter(const Model& from, const Terms& terms)
    : ModelWriter(from.arrays().signals,
                  lands_anywhere(terms.uncertainty) || !from.arrays().lower.empty()),
      from_(from),
      terms_(terms),
      half_(std::sqrt(terms.discount)) {
  arrays.stages = from.stages() == 1 ? 1 : 2 * from.stages();
  arrays.labels = from.arrays().labels;
}

void TwoStageWriter::begin_row(std::int32_t action, double radius) {
  ModelWriter::begin_row(action, [](int) { return 0.0; });
  radii_.push_back(radius);
}

void TwoStageWriter::earn_as(Row given) {
  arrays.reward.back() = from_.value(-1, given);
  for (int s = 0; s < from_.signals(); ++s) arrays.signals[s].row.back() = from_.value(s, given);
}

Terms TwoStageWriter::terms() const {
  Terms terms = terms_;
  if (terms.horizon) *terms.horizon *= 2;
  terms.discount = half_;
  terms.helpful_groups = false;
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; }) set.radius = radii_;
        if constexpr (requires { set.reach; }) set.reach = Reach::support;
      },
      terms.uncertainty);
  return terms;
}

}  // namespace redoubt::internal
