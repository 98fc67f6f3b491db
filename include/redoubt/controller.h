#pragma once

#include <cstdint>
#include <memory>

#include "redoubt/policy.h"

namespace redoubt {

// Runs a policy:
//     controller.start();
//     action = controller.act(state);         // the state in which the episode begins
//     controller.observe(next_state);         // what the action led to
//     action = controller.act(next_state);    // and so on
// What it draws depends on the seed, the stream and the number of draws so far and on nothing else.
// Problem and policy must outlive it. A call that throws changes nothing.
class Controller {
 public:
  Controller(const Problem& problem, const Policy& policy, std::uint64_t seed = 0,
             std::uint64_t stream = 0);
  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;
  ~Controller();

  // A new episode. The random numbers go on from where they were.
  void start();

  // The action, by its number in the model, for the state at hand: any state that the policy can
  // start in, and from then on the one that was observed. Asking twice draws twice.
  std::int32_t act(State state);

  // What the last action led to. Where several outcomes of the row lead to that state and the
  // policy would remember them differently (random utilities), the state is not enough: an Error
  // that asks for the outcome. A state that the row does not list is an Error too, unless the set
  // lets nature land anywhere.
  void observe(State next);
  // The same for another action of the state than the one that `act` drew. Policies whose memory
  // moves by table know only what they may do themselves.
  void observe(std::int32_t action, State next);
  // The outcome of the row, counted from its first.
  void observe_outcome(std::int32_t action, std::int32_t outcome);

  int stage() const;
  std::int32_t memory() const;  // of the state at hand, once `act` was called for it
  bool ended() const;           // the horizon is over; `act` is an Error

 private:
  struct Episode;
  std::unique_ptr<Episode> episode_;
};

}  // namespace redoubt
