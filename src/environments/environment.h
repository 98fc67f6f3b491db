#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redoubt/environments.h"
#include "redoubt/model.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// `name(key=value,...)` taken apart; says nothing yet about which names and keys exist.
struct EnvironmentId {
  std::string name;
  std::vector<std::pair<std::string, std::string>> given;
};
EnvironmentId parse_id(std::string_view text);

// The parameters of one environment: what the id gives, the defaults for the rest. Every reader
// throws an Error that names the environment, the parameter, its value and the rule.
class Parameters {
 public:
  Parameters(const EnvironmentInfo& environment, const EnvironmentId& id);

  bool given(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  double number(const std::string& name) const;
  double number(const std::string& name, double least, double most) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  // None when the value is the given word instead.
  std::optional<std::int64_t> integer_or(const std::string& word, const std::string& name,
                                         std::int64_t least, std::int64_t most) const;
  std::uint64_t seed(const std::string& name) const;
  std::vector<double> numbers(const std::string& name, char separator) const;
  std::string choice(const std::string& name, const std::vector<std::string>& choices) const;

  [[noreturn]] void refuse(const std::string& name, const std::string& rule) const;

 private:
  struct Value {
    std::string text;
    bool given;
  };
  std::string environment_;
  std::map<std::string, Value> values_;
};

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
  std::string description;                     // one line
  std::vector<ParameterInfo> parameters = {};  // its own, not the common ones
  Defaults defaults;
  Sense sense = Sense::at_most;  // of its one constraint, which is on its first signal
  Model (*model)(const Parameters&) = nullptr;
};

// Name, description and all parameters: its own, then the common ones with its defaults.
EnvironmentInfo describe(const Environment& environment);

Problem make(const Environment& environment, const EnvironmentId& id);

}  // namespace redoubt::internal
