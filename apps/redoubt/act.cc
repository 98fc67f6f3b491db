#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "checks.h"
#include "json.h"
#include "redoubt/deployed.h"
#include "redoubt/error.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct ActOptions {
  std::string policy;
  int seed = 0;
};

// Answers lines, each about one of any number of episodes.
class Acting {
 public:
  Acting(const DeployedPolicy& policy, std::uint64_t seed) : policy_(policy), seed_(seed) {
    for (State s = 0; s < static_cast<State>(policy.state_names.size()); ++s)
      number_.emplace(policy.state_names[s], s);
  }

  Json answer(const std::string& line) {
    Json request = Json::parse(line, nullptr, false);
    if (!request.is_object()) throw Error("must be a JSON object such as {\"state\": 3}");
    for (const auto& [key, value] : request.items()) {
      if (key != "state" && key != "start" && key != "outcome" && key != "episode")
        throw Error(
            fmt::format("no key '{}' is known, must be state, start, outcome or episode", key));
    }
    const State state = state_of(request);
    DeployedController& episode = episode_of(request);
    const bool start = request.contains("start") && request["start"] == true;
    if (start) episode.start();
    if (!start && !episode.started() && episode.stage() > 0)
      throw Error(fmt::format("stage {}, the {} over; say \"start\": true", episode.stage(),
                              episode.ended() ? "horizon is" : "episode is"));
    if (episode.started()) episode.observe(state, outcome_of(request));
    if (episode.stage() > 0 && episode.ended())
      return {{"action", nullptr}, {"ended", true}, {"stage", episode.stage()}};
    const std::int32_t action = episode.act(state);
    Json said = {{"action", action}};
    if (!policy_.action_names.empty()) said["name"] = policy_.action_name(action);
    said["stage"] = episode.stage();
    said["memory"] = episode.memory();
    return said;
  }

 private:
  State state_of(const Json& request) const {
    const auto given = request.find("state");
    if (given == request.end()) throw Error("a key 'state' must be there");
    if (given->is_string()) {
      const auto found = number_.find(given->get<std::string>());
      if (found != number_.end()) return found->second;
    } else if (given->is_number_integer() && *given >= 0 && *given < policy_.states) {
      return given->get<State>();
    }
    throw Error(fmt::format("state {}, must be in 0..{}{}", given->dump(), policy_.states - 1,
                            number_.empty() ? "" : " or the name of a state"));
  }

  static std::optional<std::int32_t> outcome_of(const Json& request) {
    const auto given = request.find("outcome");
    if (given == request.end()) return {};
    if (!given->is_number_integer() || *given < 0 || *given > INT32_MAX)
      throw Error(fmt::format("outcome {}, must be a whole number", given->dump()));
    return given->get<std::int32_t>();
  }

  // One that is named for the first time has a stream of random numbers of its own.
  DeployedController& episode_of(const Json& request) {
    const std::string name = request.contains("episode") ? request["episode"].dump() : "";
    const auto found = episodes_.find(name);
    if (found != episodes_.end()) return found->second;
    const std::uint64_t stream = name.empty() ? 0 : ++streams_;
    return episodes_.emplace(name, DeployedController(policy_, seed_, stream)).first->second;
  }

  const DeployedPolicy& policy_;
  std::uint64_t seed_, streams_ = 0;
  std::map<std::string, State> number_;
  std::map<std::string, DeployedController> episodes_;
};

int act(const ActOptions& options) {
  const DeployedPolicy policy(options.policy);
  Acting acting(policy, static_cast<std::uint64_t>(options.seed));
  std::ios::sync_with_stdio(false);
  std::string line;
  for (std::int64_t number = 1; std::getline(std::cin, line); ++number) {
    Json said;
    try {
      said = acting.answer(line);
    } catch (const Error& error) {
      said = {{"error", fmt::format("line {}: {}", number, error.what())}};
    }
    fmt::print("{}\n", said.dump(-1, ' ', false, Json::error_handler_t::replace));
    // Whoever waits for the answer before the next question gets it now.
    if (std::cin.rdbuf()->in_avail() <= 0 && std::fflush(stdout) != 0) break;
  }
  return kFine;
}

}  // namespace

Action act_verb(CommandLine& verb) {
  auto options = std::make_shared<ActOptions>();
  verb.add_option("POLICY", options->policy, "A policy as solve --policy FILE.json writes it")
      .required()
      .type_name("");
  verb.add_option("--seed", options->seed, "A seed gives the same actions on any machine (0)")
      .check(is_whole_number())
      .type_name("NUMBER");
  return [options] { return act(*options); };
}

}  // namespace redoubt::app
