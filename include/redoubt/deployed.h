#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redoubt/model.h"

namespace redoubt {

// A policy as `export_policy` writes it to a .json file: all that running it takes, without its
// problem. docs/deploy.md describes the arrays. A file that is no such policy, or not all of one,
// is an Error.
struct DeployedPolicy {
  explicit DeployedPolicy(const std::filesystem::path& path);

  // A distribution over memory states for each entry: begin[entry] up to the next one.
  struct Moves {
    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> memory;
    std::vector<double> weight;
  };

  State states = 0;
  std::int32_t actions = 0;
  std::optional<int> horizon;  // none: infinite
  int stages = 0;              // with choices of their own; the last one is used from then on
  std::vector<State> start_state;
  std::vector<std::int64_t> node_begin, choice_begin, outcome_begin;
  std::vector<std::int32_t> choice_action, outcome_number;
  std::vector<double> choice_weight;
  std::vector<State> outcome_next;  // -1: any state that no outcome of the choice has
  Moves start, move, plan;
  std::vector<std::string> state_names, action_names;

  std::string state_name(State state) const;
  std::string action_name(std::int32_t action) const;
};

// Runs one: for the same seed and stream it does what a Controller does, draw by draw. The policy
// must outlive it. A call that throws changes nothing.
class DeployedController {
 public:
  explicit DeployedController(const DeployedPolicy& policy, std::uint64_t seed = 0,
                              std::uint64_t stream = 0);
  DeployedController(DeployedController&&) noexcept;
  ~DeployedController();

  void start();                   // a new episode
  std::int32_t act(State state);  // the number of the action
  // What the last action led to. Where several outcomes lead there and the policy remembers them
  // differently, the number of the one that happened.
  void observe(State next, std::optional<std::int32_t> outcome = {});

  int stage() const;
  std::int32_t memory() const;
  bool ended() const;    // the horizon is over, or the state at hand is terminal
  bool started() const;  // an action was taken, whose outcome is not known yet

 private:
  struct Episode;
  std::unique_ptr<Episode> episode_;
};

}  // namespace redoubt
