#include "model/two_stages.h"

#include <cmath>
#include <limits>

#include "support/require.h"

namespace redoubt::internal {

void require_short_horizon(const Terms& terms) {
  require(terms.horizon.value_or(0) <= std::numeric_limits<int>::max() / 2,
          "horizon {} of a model with groups or factors, must be at most {}",
          terms.horizon.value_or(0), std::numeric_limits<int>::max() / 2);
}

void require_ordinary_start(const Model& model, const Terms& terms) {
  for (const State s : terms.start.states)
    require(s<model.ordinary(), "start state {} is a {}, must be an ordinary state",
                model.state_name(s), model.groups()> 0
                ? "group"
                : "factor");
}

TwoStageWriter::TwoStageWriter(const Model& from, const Terms& terms, bool bounded,
                               std::vector<bool> earns)
    : from_(from),
      terms_(terms),
      bounded_(bounded),
      earns_(std::move(earns)),
      half_(std::sqrt(terms.discount)) {
  arrays_.stages = from.stages() == 1 ? 1 : 2 * from.stages();
  arrays_.labels = from.arrays().labels;
  for (const Signal& signal : from.arrays().signals)
    arrays_.signals.push_back({signal.name, {}, {}});
  arrays_.state_rows.push_back(0);
  arrays_.row_outcomes.push_back(0);
}

void TwoStageWriter::begin_row(std::int32_t action, double radius) {
  arrays_.action.push_back(action);
  arrays_.reward.push_back(0);
  for (Signal& signal : arrays_.signals) signal.row.push_back(0);
  radii_.push_back(radius);
}

void TwoStageWriter::earn_as(Row given) {
  arrays_.reward.back() = from_.value(-1, given);
  for (int s = 0; s < from_.signals(); ++s) arrays_.signals[s].row.back() = from_.value(s, given);
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
