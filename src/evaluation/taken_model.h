#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "evaluation/taken_rows.h"
#include "model/model_writer.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Writes the model of a problem that is made from another one, state by state: each row with the
// weight that a policy takes it with and a radius of its own.
class TakenModel : public ModelWriter {
 public:
  TakenModel(const Model& from, bool bounded) : ModelWriter(from.arrays().signals, bounded) {
    taken_.begin = {0};
  }

  template <class Value>
  void begin_row(double weight, double radius, const Value& value) {
    const auto row = static_cast<Row>(arrays.action.size());
    taken_.rows.push_back(row);
    taken_.weight.push_back(weight);
    radii_.push_back(radius);
    ModelWriter::begin_row(static_cast<std::int32_t>(row - arrays.state_rows.back()), value);
  }
  void end_state() {
    ModelWriter::end_state();
    taken_.begin.push_back(static_cast<std::int64_t>(taken_.rows.size()));
  }

  // What the problem asks for on this model: no constraints, and the radii of its rows.
  Terms terms_like(const Problem& problem) const {
    Terms terms = problem.terms();
    terms.constraints.clear();
    std::visit(
        [&](auto& set) {
          if constexpr (requires { set.radius; }) set.radius = Radius(radii_);
        },
        terms.uncertainty);
    return terms;
  }
  Model take_model() {
    arrays.states = static_cast<State>(arrays.state_rows.size()) - 1;
    return Model(std::move(arrays));
  }
  TakenRows take_rows() { return std::move(taken_); }

 private:
  TakenRows taken_;
  std::vector<double> radii_;
};

}  // namespace redoubt::internal
