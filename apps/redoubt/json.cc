#include "json.h"

#include <fmt/format.h>

#include "every_rank.h"
#include "version.h"

namespace redoubt::app {
namespace {

// What nobody knows is null.
Json known_or_null(double worst) { return is_known(worst) ? Json(worst) : Json(); }

Json radius_json(const Uncertainty& uncertainty) {
  return std::visit(
      [](const auto& set) -> Json {
        if constexpr (requires { set.radius; }) {
          if (!set.radius.states.empty()) return set.radius.states;
          if (set.radius.rows.empty()) return set.radius.all;
          return set.radius.rows;
        }
        return Json();
      },
      uncertainty);
}

void append(Json& object, const Json& more) {
  for (const auto& [key, value] : more.items()) object[key] = value;
}

}  // namespace

Json problem_json(const Problem& problem) {
  const Draft given = problem.given();
  const Terms& terms = problem.two_stages() ? given.terms : problem.terms();
  Json object;
  object["states"] = problem.model().all_states();
  object["actions"] = problem.model().actions();
  object["horizon"] = or_null(terms.horizon);
  object["discount"] = terms.discount;
  object["set"] = name(terms.uncertainty);
  object["radius"] = radius_json(terms.uncertainty);
  object["scope"] = name(scope_of(terms.uncertainty));
  object["nature"] = terms.helpful_nature ? "helpful" : "adversarial";
  if (given.model.groups() > 0) {
    object["groups"] = given.model.groups();
    object["helpful_groups"] = terms.helpful_groups;
  }
  if (given.model.factors() > 0) object["factors"] = given.model.factors();
  return object;
}

Json reward_json(const RewardResult& reward, const std::optional<double>& gap) {
  return {{"worst", known_or_null(reward.worst)},
          {"bound", or_null(reward.bound)},
          {"static_bound", or_null(reward.static_bound)},
          {"gap", or_null(gap)}};
}

Json constraints_json(const std::vector<ConstraintResult>& constraints) {
  Json list = Json::array();
  for (const ConstraintResult& c : constraints) {
    list.push_back({{"name", c.name},
                    {"sense", c.sense == Sense::at_most ? "at_most" : "at_least"},
                    {"bound", c.bound},
                    {"worst", known_or_null(c.worst)},
                    {"satisfied", is_known(c.worst) ? Json(c.satisfied) : Json()}});
    if (c.probability) list.back()["probability"] = *c.probability;
    if (c.best_achievable) list.back()["best_achievable"] = *c.best_achievable;
  }
  return list;
}

Json evaluation_json(const Problem& problem, const Evaluation& evaluation) {
  Json object;
  object["satisfied"] = evaluation.satisfied();
  object["reward"] = reward_json(evaluation.reward, {});
  object["constraints"] = constraints_json(evaluation.constraints);
  object["hopeless"] = or_null(evaluation.hopeless);
  append(object, problem_json(problem));
  object["version"] = version();
  return object;
}

Json solution_json(const Problem& problem, const Solution& solution) {
  Json object;
  object["status"] = name(solution.status);
  object["method"] = solution.method;
  object["reward"] = reward_json(solution.reward, solution.gap());
  object["constraints"] = constraints_json(solution.constraints);
  object["hopeless"] = or_null(solution.hopeless);
  object["seconds"] = solution.seconds;
  object["row_evaluations"] = solution.row_evaluations;
  object["iterations"] = solution.iterations;
  append(object, problem_json(problem));
  object["memory_states"] = memory_states(solution.policy);
  object["cut"] = or_null(solution.cut);
  object["unfinished"] = solution.unfinished;
  object["notes"] = solution.notes;
  object["version"] = version();
  return object;
}

void print_json(const Json& object) {
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace redoubt::app
