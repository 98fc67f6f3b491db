#include "io/solution/parts_hdf5.h"

#include <array>
#include <cmath>
#include <limits>

#include "support/require.h"

namespace redoubt::internal::io {
namespace {

constexpr std::int64_t whole = std::int64_t{1} << 53;  // integers that a double keeps

// JSON has no infinity and no NaN.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json worst_case(double worst) { return is_known(worst) ? number(worst) : Json(nullptr); }

double read_number(const JsonNode& node) {
  if (!node.raw().is_string()) return node.number();
  const std::string text = node.text();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  node.fail("must be a number");
}
std::optional<double> read_optional(const JsonNode& node) {
  if (node.is_null()) return std::nullopt;
  return read_number(node);
}
double read_worst(const JsonNode& node) { return node.is_null() ? kUnknown : read_number(node); }

// The value whose name is the text of the node.
template <class Value, std::size_t count, class Name>
Value read_word(const JsonNode& node, const std::array<Value, count>& values, Name name_of) {
  const std::string text = node.text();
  for (const Value value : values) {
    if (name_of(value) == text) return value;
  }
  std::string known;
  for (const Value value : values)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(value));
  node.fail("must be one of " + known);
}

constexpr std::array statuses = {Status::certified, Status::feasible, Status::violated,
                                 Status::infeasible, Status::stopped};
std::string_view name_of(Sense sense) { return sense == Sense::at_least ? "at_least" : "at_most"; }
std::string_view name_of(Rounding rounding) { return rounding == Rounding::up ? "up" : "mixed"; }
Sense read_sense(const JsonNode& node) {
  return read_word(node, std::array{Sense::at_least, Sense::at_most},
                   [](Sense s) { return name_of(s); });
}
Rounding read_rounding(const JsonNode& node) {
  return read_word(node, std::array{Rounding::up, Rounding::mixed},
                   [](Rounding r) { return name_of(r); });
}

Json constraint_json(const ConstraintResult& c) {
  return {{"name", c.name},
          {"sense", name_of(c.sense)},
          {"bound", number(c.bound)},
          {"probability", number(c.probability)},
          {"worst", worst_case(c.worst)},
          {"satisfied", c.satisfied},
          {"best_achievable", number(c.best_achievable)}};
}

ConstraintResult read_result(const JsonNode& node) {
  return {.name = node.at("name").text(),
          .sense = read_sense(node.at("sense")),
          .bound = read_number(node.at("bound")),
          .probability = read_optional(node.at("probability")),
          .worst = read_worst(node.at("worst")),
          .satisfied = node.at("satisfied").flag(),
          .best_achievable = read_optional(node.at("best_achievable"))};
}

Json axis_json(const BudgetAxis& axis) {
  return {{"constraint", axis.constraint}, {"signal", axis.signal},
          {"sign", number(axis.sign)},     {"bound", number(axis.bound)},
          {"step", number(axis.step)},     {"discount", number(axis.discount)},
          {"exact", axis.exact},           {"rounding", name_of(axis.rounding)}};
}

BudgetAxis read_axis(const JsonNode& node) {
  constexpr int most = std::numeric_limits<int>::max();
  BudgetAxis axis;
  axis.constraint = static_cast<int>(node.at("constraint").integer(0, most));
  axis.signal = static_cast<int>(node.at("signal").integer(0, most));
  axis.sign = read_number(node.at("sign"));
  axis.bound = read_number(node.at("bound"));
  axis.step = read_number(node.at("step"));
  axis.discount = read_number(node.at("discount"));
  axis.exact = node.at("exact").flag();
  axis.rounding = read_rounding(node.at("rounding"));
  return axis;
}

Json policy_json(const Policy& policy, State states) {
  Json budget = Json::array();
  for (const BudgetAxis& axis : policy.budget) budget.push_back(axis_json(axis));
  return {{"states", states},
          {"repeats_last", policy.repeats_last},
          {"start_memory", policy.start_memory},
          {"budget", budget}};
}

void read_policy(const JsonNode& node, Policy& policy) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  policy.states = static_cast<State>(node.at("states").integer(0, most));
  policy.repeats_last = node.at("repeats_last").flag();
  policy.start_memory = static_cast<std::int32_t>(node.at("start_memory").integer(0, most));
  const JsonNode budget = node.at("budget");
  for (std::size_t i = 0; i < budget.size(); ++i) policy.budget.push_back(read_axis(budget.at(i)));
}

}  // namespace

std::string write_summary(const Solution& s, State states) {
  Json out;
  out["format"] = "redoubt-solution";
  out["version"] = 1;
  out["written_by"] = REDOUBT_VERSION;
  out["status"] = name(s.status);
  out["method"] = s.method;
  out["reward"] = {{"worst", worst_case(s.reward.worst)},
                   {"bound", number(s.reward.bound)},
                   {"static_bound", number(s.reward.static_bound)}};
  out["constraints"] = Json::array();
  for (const ConstraintResult& c : s.constraints) out["constraints"].push_back(constraint_json(c));
  out["hopeless"] = number(s.hopeless);
  out["seconds"] = number(s.seconds);
  out["row_evaluations"] = number(s.row_evaluations);
  out["iterations"] = s.iterations;
  out["cut"] = s.cut ? Json(*s.cut) : Json(nullptr);
  out["unfinished"] = s.unfinished;
  out["notes"] = s.notes;
  out["policy"] = policy_json(s.policy, states);
  out["trace_columns"] = s.trace.constraints.size();
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Solution read_summary(const JsonNode& root) {
  require_format(root, "redoubt-solution", 1);
  Solution s;
  s.status = read_word(root.at("status"), statuses, [](Status status) { return name(status); });
  s.method = root.at("method").text();
  const JsonNode reward = root.at("reward");
  s.reward = {read_worst(reward.at("worst")), read_optional(reward.at("bound")),
              read_optional(reward.at("static_bound"))};
  const JsonNode constraints = root.at("constraints");
  for (std::size_t i = 0; i < constraints.size(); ++i)
    s.constraints.push_back(read_result(constraints.at(i)));
  s.hopeless = read_optional(root.at("hopeless"));
  s.seconds = read_number(root.at("seconds"));
  s.row_evaluations = read_number(root.at("row_evaluations"));
  s.iterations = root.at("iterations").integer(0, whole);
  const JsonNode cut = root.at("cut");
  if (!cut.is_null()) s.cut = static_cast<int>(cut.integer(0, std::numeric_limits<int>::max()));
  // Files that were written before there was such a thing do not say it.
  if (const auto unfinished = root.find("unfinished")) s.unfinished = unfinished->flag();
  const JsonNode notes = root.at("notes");
  for (std::size_t i = 0; i < notes.size(); ++i) s.notes.push_back(notes.at(i).text());
  read_policy(root.at("policy"), s.policy);
  s.trace.constraints.resize(
      static_cast<std::size_t>(root.at("trace_columns").integer(0, 1'000'000)));
  return s;
}

}  // namespace redoubt::internal::io
