#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "json.h"
#include "redoubt/environments.h"
#include "redoubt/error.h"
#include "table.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

Json environment_json(const EnvironmentInfo& environment) {
  Json object = {{"name", environment.name}, {"description", environment.description}};
  object["parameters"] = Json::array();
  for (const ParameterInfo& parameter : environment.parameters)
    object["parameters"].push_back({{"name", parameter.name},
                                    {"default", parameter.default_value},
                                    {"description", parameter.description}});
  return object;
}

void print_list(const std::vector<EnvironmentInfo>& list) {
  std::vector<Cells> rows;
  for (const EnvironmentInfo& environment : list)
    rows.push_back({environment.name, environment.description});
  print_table(rows);
  fmt::print("\nParameters of one of them: redoubt envs {}\n", list.front().name);
}

void print_one(const EnvironmentInfo& environment) {
  fmt::print("{}: {}\n\n", environment.name, environment.description);
  std::vector<Cells> rows = {{"parameter", "default", "meaning"}};
  for (const ParameterInfo& parameter : environment.parameters)
    rows.push_back({parameter.name, parameter.default_value, parameter.description});
  print_table(rows);
  fmt::print("\nUse it as redoubt info \"{}({}={})\"\n", environment.name,
             environment.parameters.front().name, environment.parameters.front().default_value);
}

}  // namespace

Action envs_verb(CommandLine& verb) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  verb.add_option("ENV", options->name, "Show the parameters of this one").type_name("");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] {
    std::vector<EnvironmentInfo> list = environments();
    if (!options->name.empty()) {
      make(options->name);  // an unknown name is an Error that suggests the right one
      std::erase_if(list, [&](const EnvironmentInfo& e) {
        return e.name != options->name.substr(0, options->name.find('('));
      });
    }
    if (options->json) {
      Json object = {{"environments", Json::array()}};
      for (const auto& environment : list)
        object["environments"].push_back(environment_json(environment));
      print_json(object);
    } else if (options->name.empty()) {
      print_list(list);
    } else {
      print_one(list.front());
    }
    return kFine;
  };
}

}  // namespace redoubt::app
