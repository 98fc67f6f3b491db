#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "redoubt/policy.h"

namespace redoubt {

// What to do about a next state, or a start, that the model did not foresee: the world is never
// quite the model.
enum class Unmodelled {
  error,
  go_on,  // a policy without memory just does; one that remembers budgets takes what the row earns,
          // or the signals that were observed, off its budgets; any other takes the memory of that
          // state that promises the constraints most
};

// Values of a step by the names of their signals; "reward" is the reward.
using ObservedSignals = std::map<std::string, double>;

// Runs a policy:
//     controller.start();
//     action = controller.act(state);         // the state in which the episode begins
//     controller.observe(next_state);         // what the action led to
//     action = controller.act(next_state);    // and so on
// States and actions are those of the model that the problem was made of (see given_policy.h).
// Where rows mix factors, which nobody sees, a step is one decision.
// What it draws depends on the seed, the stream and the number of draws so far and on nothing else.
// Problem and policy must outlive it. A call that throws changes nothing.
class Controller {
 public:
  Controller(const Problem& problem, const Policy& policy, std::uint64_t seed = 0,
             std::uint64_t stream = 0, Unmodelled unmodelled = Unmodelled::error);
  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;
  ~Controller();

  // A new episode. The random numbers go on from where they were.
  void start();

  // The action, by its number in the model, for the state at hand: any state that the policy can
  // start in, and from then on the one that was observed. Asking twice draws twice.
  std::int32_t act(State state);

  // What the last action led to. Several outcomes of the row may lead to that state; the signals of
  // the step tell them apart, each taken for the modelled one that it is nearest to. Unless the
  // policy remembers all of them alike, it is an Error if they do not, and if the signals are none
  // of the model's. A state that the row does not list is an Error too, unless the set lets nature
  // land anywhere. `Unmodelled::go_on` goes on in all these cases, and counts them.
  void observe(State next, const ObservedSignals& signals = {});
  // The same for another action of the state than the one that `act` drew. Policies whose memory
  // moves by table know only what they may do themselves.
  void observe(std::int32_t action, State next, const ObservedSignals& signals = {});
  // The outcome of the row, counted from its first.
  void observe_outcome(std::int32_t action, std::int32_t outcome);

  int stage() const;
  std::int32_t memory() const;      // of the state at hand, once `act` was called for it
  bool ended() const;               // the horizon is over; `act` is an Error
  std::int64_t unmodelled() const;  // how often it went on in what the model did not foresee

 private:
  struct Episode;
  std::unique_ptr<Episode> episode_;
};

}  // namespace redoubt
