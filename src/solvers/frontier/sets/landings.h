#pragma once

#include <vector>

#include "parallel/workers.h"
#include "redoubt/problem.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// Total variation with reach anywhere lets nature land in states that a row does not list: a group
// of states, of which it picks one. A promise for a landing must be kept by all of them, so that
// rows get one more place to go, behind the states in a table: the intersection of trade-off sets.
// It is the same for all rows, of all states: a promise that is lowered to what a listed state is
// promised is kept there, too, and gives nature nothing that moving mass to that state does not.
class Landings {
 public:
  Landings(const Problem& problem, Communicator& ranks);

  bool anywhere() const { return anywhere_; }  // the set lets nature land outside
  // What an arrival in a state earns, in signal j of a promise: a landing there keeps this much
  // more than the state itself does.
  double worth(State state, int j) const { return worth_.empty() ? 0.0 : worth_[j][state]; }
  const Model& model() const { return *model_; }
  Communicator& ranks() const { return *ranks_; }

 private:
  const Model* model_;
  Communicator* ranks_;
  bool anywhere_;
  std::vector<std::vector<double>> worth_;  // [signal][state]; empty: nothing
};

// The bound of a landing in a direction is a sum of least bounds of its states, each in a direction
// of its own.
struct LandingPart {
  int direction = 0;
  double weight = 0;
};

// How the points of landings are achieved in each state, and where their bounds come from.
struct LandingPlans {
  // For point k in the own state with place s, the moves begin[k * own states + s] up to the next
  // entry.
  std::vector<std::int64_t> begin;
  std::vector<MemoryMove> moves;
  // The state whose bound is the least, in each direction.
  struct Least {
    double bound = 0;
    double gap = 0;   // of the state
    State state = 0;  // in the whole model
  };
  std::vector<Least> least;
  std::vector<LandingPart> parts;  // two of each direction
};

// Fills the entry of landings, which stands behind the states in the table, from those of the
// states. Ranks call this together. Throws Stopped.
LandingPlans land(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                  Workers& workers);

}  // namespace redoubt::internal
