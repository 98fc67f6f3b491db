#pragma once

#include <string>
#include <vector>

#include "environments/parameters.h"
#include "redoubt/environments.h"
#include "redoubt/model.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// What one file of this folder provides. The registry adds the parameters that every environment
// takes, reads the terms and puts the problem together.
struct Environment {
  // Defaults of the common parameters, as they would be written in an id.
  struct Defaults {
    std::string horizon = "infinite";
    std::string discount = "0.9";
    std::string start = "uniform";
    std::string bound;  // none
    std::string set = "kl";
    std::string radius = "0.05";
    std::string reach = "anywhere";
    std::string temperature = "1";
  };

  std::string name;
  std::string description;                // one line
  std::vector<ParameterInfo> parameters;  // its own, not the common ones
  Defaults defaults;
  Sense sense = Sense::at_most;  // of its one constraint, which is on its first signal
  Model (*model)(const Parameters&) = nullptr;
};

// Name, description and all parameters: its own, then the common ones with its defaults.
EnvironmentInfo describe(const Environment& environment);

Problem make(const Environment& environment, const EnvironmentId& id);

}  // namespace redoubt::internal
