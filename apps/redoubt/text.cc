#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace redoubt::app {
namespace {

std::string quantity_text(const std::string& signal, Sense sense, double bound, bool chance) {
  return chance ? fmt::format("P({} {} {})", signal,
                              sense == Sense::at_most ? "<=" : ">=", number_text(bound))
                : signal;
}

std::string bound_text(Sense sense, double bound, const std::optional<double>& probability) {
  if (probability) return "at least " + number_text(*probability);
  return fmt::format("{} {}", sense == Sense::at_most ? "at most" : "at least", number_text(bound));
}

std::string radius_text(const Radius& radius) {
  if (radius.rows.empty()) return "radius " + number_text(radius.all);
  const auto [least, most] = std::minmax_element(radius.rows.begin(), radius.rows.end());
  return fmt::format("radius {} to {}", number_text(*least), number_text(*most));
}

}  // namespace

std::string number_text(double value) {
  return std::isnan(value) ? "unknown" : fmt::format("{:.6g}", value + 0.0);
}

std::string count_text(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2g} s", std::max(seconds, 1e-6));
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} hours", seconds / 3600);
}

std::string memory_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.3g} MB", bytes / 1e6);
  return fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string memory_text(const MemoryPlan& plan) {
  std::string text =
      fmt::format("model {}, values {}", memory_text(plan.model), memory_text(plan.values));
  if (plan.halo > 0) text += fmt::format(", values of other ranks {}", memory_text(plan.halo));
  return text + fmt::format(", policy {}", memory_text(plan.policy));
}

std::string quantity_text(const Constraint& c) {
  return quantity_text(c.signal, c.sense, c.bound, c.probability.has_value());
}
std::string quantity_text(const ConstraintResult& c) {
  return quantity_text(c.name, c.sense, c.bound, c.probability.has_value());
}

std::string bound_text(const Constraint& c) { return bound_text(c.sense, c.bound, c.probability); }
std::string bound_text(const ConstraintResult& c) {
  return bound_text(c.sense, c.bound, c.probability);
}

std::string set_text(const Uncertainty& uncertainty) {
  if (std::holds_alternative<Nominal>(uncertainty)) return "no uncertainty";
  if (std::holds_alternative<Interval>(uncertainty)) return "intervals of the model";
  std::string text(name(uncertainty));
  std::visit(
      [&](const auto& set) {
        if constexpr (requires { set.radius; }) text += ", " + radius_text(set.radius);
        if constexpr (requires { set.reach; })
          if (SetKind::find(name(uncertainty))->reach)
            text += set.reach == Reach::anywhere ? ", reach anywhere" : ", reach support";
        if constexpr (requires { set.temperature; })
          text += ", temperature " + number_text(set.temperature);
        if constexpr (requires { set.scope; }) {
          if (set.scope == Scope::state) text += ", scope state";
        }
      },
      uncertainty);
  return text;
}

// The user's own name for a state, unless several of theirs have become one.
std::string state_text(const Problem& problem, State state) {
  if (problem.given_state().empty() || problem.merged() != nullptr)
    return problem.model().state_name(state);
  return problem.given().model.state_name(problem.given_state()[state]);
}

std::string start_text(const Problem& problem) {
  const Start& start = problem.start();
  const auto [least, most] =
      std::minmax_element(start.probability.begin(), start.probability.end());
  if (start.states.size() == 1) return state_text(problem, start.states.front());
  return fmt::format("{} over {} states", *least == *most ? "uniform" : "a distribution",
                     start.states.size());
}

std::string terms_text(const Problem& problem) {
  const Draft given = problem.given();
  const State groups = given.model.groups(), factors = given.model.factors();
  const Terms& terms = problem.two_stages() ? given.terms : problem.terms();
  const std::string horizon = problem.undiscounted() ? "no horizon and no discount"
                              : problem.infinite()   ? "infinite horizon"
                                                     : fmt::format("horizon {}", *terms.horizon);
  const std::string discount =
      terms.discount < 1 ? ", discount " + number_text(terms.discount) : "";
  std::string picks;
  if (groups > 0)
    picks = fmt::format(", {} groups{}", count_text(groups),
                        terms.helpful_groups ? ", groups helpful" : "");
  if (factors > 0) picks = fmt::format(", {} factors", count_text(factors));
  return fmt::format("{}{}, start {}; {}{}{}", horizon, discount, start_text(problem),
                     set_text(terms.uncertainty), picks,
                     terms.helpful_nature ? ", nature helpful" : "");
}

}  // namespace redoubt::app
