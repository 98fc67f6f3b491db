#include "model/set_traits.h"

#include "model/row_name.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Calls visit(place, first row, end of its rows) for every state of every stage.
template <class Visit>
void for_each_place(const Model& model, Visit visit) {
  std::size_t place = 0;
  for (int h = 0; h < model.stages(); ++h) {
    for (State s = 0; s < model.states(); ++s)
      visit(place++, model.row_begin(h, s), model.row_end(h, s));
  }
}

void check_radii_of_states(const Model& model, const Radius& radius) {
  const auto places = static_cast<std::size_t>(model.stages()) * model.states();
  require(radius.states.size() == places,
          "{} radii with scope state for {} states{}, must be one for each state{}",
          radius.states.size(), model.states(),
          model.stages() > 1 ? fmt::format(" of {} stages", model.stages()) : "",
          model.stages() > 1 ? " of each stage" : "");
}

void check_radii_of_rows(const Model& model, const Radius& radius) {
  for_each_place(model, [&](std::size_t, Row begin, Row end) {
    for (Row row = begin; row < end; ++row)
      require(radius.rows[row] == radius.rows[begin],
              "radius {} of {} with scope state, must be {} as in the other rows of its state",
              radius.rows[row], RowName{model, row}, radius.rows[begin]);
  });
}

// Both lists, from the one that is given. A state without rows has radius 0.
void complete(const Model& model, Radius& radius) {
  if (!radius.states.empty()) {
    check_radii_of_states(model, radius);
    radius.rows.resize(model.rows());
    for_each_place(model, [&](std::size_t place, Row begin, Row end) {
      for (Row row = begin; row < end; ++row) radius.rows[row] = radius.states[place];
    });
  } else {
    if (static_cast<Row>(radius.rows.size()) != model.rows()) return;  // none, or wrong elsewhere
    check_radii_of_rows(model, radius);
  }
  radius.states.clear();
  for_each_place(model, [&](std::size_t, Row begin, Row end) {
    radius.states.push_back(begin < end ? radius.rows[begin] : 0.0);
  });
}

}  // namespace

void spread_radii_of_states(const Model& model, Uncertainty& uncertainty) {
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.scope; }) {
          if (set.scope == Scope::state) complete(model, set.radius);
        }
      },
      uncertainty);
}

}  // namespace redoubt::internal
