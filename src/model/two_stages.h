#pragma once

#include <vector>

#include "model/model_writer.h"
#include "redoubt/problem.h"

// Problems in which a decision takes two stages: an action leads to a group or to a factor, and
// from there to a state.
namespace redoubt::internal {

// A model in which every state is an ordinary one, and the terms for it.
struct TwoStages {
  Model model;
  Terms terms;
  std::vector<State> state;  // of each state, the one of the model that was given
};

// An Error unless half a stage may be counted.
void require_short_horizon(const Terms& terms);

// An Error unless every start state is an ordinary one.
void require_ordinary_start(const Model& model, const Terms& terms);

// Writes the rows of such a model, one after the other.
class TwoStageWriter : public ModelWriter {
 public:
  TwoStageWriter(const Model& from, const Terms& terms);

  double half() const { return half_; }  // the discount of half a decision
  int stages() const { return arrays.stages; }
  // Of a stage of this model: the one that was given, and whether actions are taken in it. Rows
  // that do not depend on the stage are those of both.
  int given_stage(int stage) const { return stages() == 1 ? 0 : stage / 2; }
  bool takes_turn(int stage, bool acts) const { return stages() == 1 || (stage % 2 == 0) == acts; }

  void begin_row(std::int32_t action, double radius);
  // The row at hand earns what this row of the given model does.
  void earn_as(Row given);

  // The terms of two stages: every row has the radius that it was begun with.
  Terms terms() const;

 private:
  const Model& from_;
  const Terms& terms_;
  double half_;
  std::vector<double> radii_;
};

// An Error unless every row of an ordinary state mixes factors, every factor has one row over
// ordinary states, and nothing that is earned tells which factor was drawn.
void check_factors(const Model& model);

// Every decision takes two stages: an action leads to a factor, with probabilities that are known,
// and the factor to a state, with the set of the terms around it. The worst case of a factor is
// then found once in a sweep, and that of a row is a sum over factors. Mass that total variation
// may put anywhere goes to outcomes of nominal probability zero.
//
// In this problem a policy could remember which factor was drawn. It must not: see
// Problem::is_factor.
TwoStages with_factors(const Model& model, const Terms& terms);

// An Error unless every group has one row at each stage, which leads to ordinary states and earns
// nothing of its own.
void check_groups(const Model& model);

// Every decision takes two stages: an action leads to a group, and from there to one of its
// members. A single next state is a group of its own. Nature's set of a group is as large as sets
// can be: all distributions over the members, so that each of its natures takes what is worst. A
// policy that picks has an action for each member. All methods, and everything that evaluates, know
// groups by this alone. Total variation with reach anywhere is one more group of all states, of
// nominal probability zero.
TwoStages with_groups(const Model& model, const Terms& terms);

}  // namespace redoubt::internal
