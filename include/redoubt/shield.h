#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "redoubt/controller.h"
#include "redoubt/execution.h"
#include "redoubt/policy.h"

namespace redoubt {

// An action, and the largest probability with which it may be taken now.
struct Permission {
  std::int32_t action = 0;  // by its number in the model
  double largest = 1;       // 1: freely
};

// Stands between a policy of somebody else and the world, and keeps the constraints whatever that
// policy wants:
//     shield.start();
//     for (const Permission& p : shield.allowed(state)) ...   // what may be done
//     action = shield.take(wanted);                           // what is done
//     shield.observe(next_state);                             // what it led to
// `take` lets an action pass that may be taken freely, and any other with the largest probability
// that `allowed` says; otherwise it draws what keeps the promise. What remains promised to the
// constraints moves with what was done. docs/shield.md has the theorem and its proof: for any
// foreign policy the worst case of every constraint keeps its bound, against a nature that sees all
// of it.
//
// States and actions are those of the model that the problem was made of, as for a Controller.
//
// It stands on a policy that keeps the constraints: an Error otherwise, and for chance constraints
// and the set `tilt`, which is not monotone. Problem and policy must outlive it. A call that throws
// changes nothing.
class Shield {
 public:
  Shield(const Problem& problem, const Policy& policy, std::uint64_t seed = 0,
         std::uint64_t stream = 0, const Execution& execution = {});
  Shield(Shield&&) noexcept;
  ~Shield();

  void start();  // a new episode; random numbers go on from where they were

  // For the state at hand: one that episodes begin in, and from then on the one that was observed.
  // Actions that may not be taken at all are not listed.
  std::vector<Permission> allowed(State given);
  std::int32_t take(std::int32_t action);  // once `allowed` was asked for the state at hand

  // As for a Controller.
  void observe(State given, const ObservedSignals& signals = {});
  void observe_outcome(std::int32_t outcome);

  int stage() const;
  bool ended() const;
  // The worst-case total of each constraint's signal that is promised from the state at hand on, in
  // the user's sign. Empty while no state is known.
  std::vector<double> promise() const;
  std::int64_t steps() const;      // actions taken, in all episodes
  std::int64_t corrected() const;  // how often another one than was wanted

 private:
  struct Episode;
  std::unique_ptr<Episode> episode_;
};

}  // namespace redoubt
