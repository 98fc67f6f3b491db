#pragma once

#include <span>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/problem.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// Total variation with reach anywhere lets nature land in states that a row does not list. A
// promise for such a landing must be kept by every one of them, so the row gets one more place to
// go: the intersection of their trade-off sets. Rows that list the same states share it. On models
// with too many different lists all rows share one landing, the intersection over all states: still
// right, only more careful than it needs to be. Ranks number the landings of all of them alike, and
// each knows the sets of its own states.
class Landings {
 public:
  Landings(const Problem& problem, Communicator& ranks);
  static double most(const Problem& problem);  // that there can be

  bool anywhere() const { return anywhere_; }  // the set lets nature land outside
  int count() const { return static_cast<int>(listed_.size()); }
  int of(Row row) const {
    return row_landing_.empty() ? -1 : row_landing_[row];
  }  // -1: nature cannot leave the row's outcomes
  bool covers(int landing, State state) const { return !listed_[landing][state]; }
  // What an arrival in a state earns, in signal j of a promise: a landing there keeps this much
  // more than the state itself does.
  double worth(State state, int j) const { return worth_.empty() ? 0.0 : worth_[j][state]; }
  const Model& model() const { return *model_; }
  Communicator& ranks() const { return *ranks_; }

 private:
  void find_worth(const Problem& problem);

  const Model* model_;
  Communicator* ranks_;
  bool anywhere_;
  std::vector<std::vector<double>> worth_;  // [signal][state]; empty: nothing
  std::vector<int> row_landing_;
  std::vector<std::vector<bool>>
      listed_;  // of each landing and state: rows list it, so it is no landing
};

// The bound of a landing in a direction is a sum of least bounds of its states, each in a direction
// of its own.
struct LandingPart {
  int direction = 0;
  double weight = 0;
};

// How a landing's points are achieved in each of its states, and where its bounds come from.
struct LandingPlans {
  // For landing l and point k in the own state with place s, the moves begin[(l * directions + k) *
  // own states + s] up to the next entry.
  std::vector<std::int64_t> begin;
  std::vector<MemoryMove> moves;
  // The state whose bound is the least, in each direction: [landing][direction].
  struct Least {
    double bound = 0;
    double gap = 0;   // of the state
    State state = 0;  // in the whole model
  };
  std::vector<Least> least;
  std::vector<LandingPart> parts;  // two of each landing and direction
};

// Fills the entries of the landings, which stand behind the states in the table, from those of the
// states. Ranks call this together. Throws Stopped.
LandingPlans land(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                  Workers& workers);

}  // namespace redoubt::internal
