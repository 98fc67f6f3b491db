#include "io/json/json_model.h"

#include <fmt/format.h>

#include "model/set_traits.h"
#include "redoubt/io.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

std::string list_of_names(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) out += (out.size() > 1 ? ", " : "") + quoted(name);
  return out + "]";
}

std::string label(const std::vector<std::string>& names, std::int32_t number) {
  return names.empty() ? fmt::format("{}", number) : quoted(names[number]);
}

// The values of one state by action number, null where it has no such action.
std::string state_values(const Model& m, int stage, State state, const std::vector<double>& rows) {
  std::string out = "[";
  std::int32_t action = 0;
  for (Row r = m.row_begin(stage, state); r < m.row_end(stage, state); ++r, ++action) {
    for (; action < m.arrays().action[r]; ++action) out += "null, ";
    out += number_text(rows[r]) + (r + 1 < m.row_end(stage, state) ? ", " : "");
  }
  return out + "]";
}

// A table S x A, or H x S x A, one line for each state; "0" when there are no values.
std::string table(const Model& m, const std::vector<double>& rows, const std::string& indent) {
  if (rows.empty()) return "0";
  std::string out = "[";
  for (int stage = 0; stage < m.stages(); ++stage) {
    const std::string inner = m.stages() == 1 ? indent : indent + "  ";
    if (m.stages() > 1) out += "\n" + inner + "[";
    for (State s = 0; s < m.states(); ++s) {
      out += "\n" + inner + "  " + state_values(m, stage, s, rows);
      if (s + 1 < m.states()) out += ",";
    }
    if (m.stages() > 1) out += "\n" + inner + (stage + 1 < m.stages() ? "]," : "]");
  }
  return out + "\n" + indent + "]";
}

// Tables have a place for every action number below the largest of a state.
void require_dense_actions(const Model& m) {
  std::int64_t places = 0;
  for (Row r = 0; r < m.rows(); ++r) places += m.arrays().action[r];
  require(places <= 1'000'000 + 1000 * m.rows(),
          "action numbers up to {} with {} rows, must be numbered more densely to be written as "
          "JSON",
          m.actions() - 1, m.rows());
}

void write_outcome(std::string& out, const Model& m, int stage, State state, Row row,
                   std::int64_t i) {
  const ModelArrays& a = m.arrays();
  const std::string s = label(a.state_names, state), act = label(a.action_names, a.action[row]),
                    next = label(a.state_names, a.next[i]), p = number_text(a.probability[i]);
  std::string extra, signals;
  if (!a.lower.empty())
    extra += fmt::format(", \"lower\": {}, \"upper\": {}", number_text(a.lower[i]),
                         number_text(a.upper[i]));
  if (!a.outcome_reward.empty())
    extra += fmt::format(", \"reward\": {}", number_text(a.outcome_reward[i]));
  for (const Signal& signal : a.signals) {
    if (signal.outcome.empty()) continue;
    signals += fmt::format("{}{}: {}", signals.empty() ? "" : ", ", quoted(signal.name),
                           number_text(signal.outcome[i]));
  }
  if (!signals.empty()) extra += fmt::format(", \"signals\": {{{}}}", signals);
  if (m.stages() > 1) extra += fmt::format(", \"stage\": {}", stage);
  if (extra.empty())
    out += fmt::format("[{}, {}, {}, {}]", s, act, next, p);
  else
    out += fmt::format("{{\"state\": {}, \"action\": {}, \"next\": {}, \"p\": {}{}}}", s, act, next,
                       p, extra);
}

void write_transitions(std::string& out, const Model& m) {
  out += "  \"transitions\": [";
  const char* separator = "\n    ";
  for (int stage = 0; stage < m.stages(); ++stage) {
    for (State s = 0; s < m.states(); ++s) {
      for (Row r = m.row_begin(stage, s); r < m.row_end(stage, s); ++r) {
        for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i) {
          out += separator;
          write_outcome(out, m, stage, s, r, i);
          separator = ",\n    ";
        }
      }
    }
  }
  out += "\n  ],\n";
}

void write_values(std::string& out, const Draft& draft) {
  const Model& m = draft.model;
  if (draft.rewarded) out += fmt::format("  \"reward\": {},\n", table(m, m.arrays().reward, "  "));
  out += "  \"signals\": {";
  const char* separator = "\n    ";
  for (const Signal& signal : m.arrays().signals) {
    out += separator + quoted(signal.name) + ": " + table(m, signal.row, "    ");
    separator = ",\n    ";
  }
  out += m.signals() == 0 ? "},\n" : "\n  },\n";
}

std::string start_text(const Start& start, const Model& m) {
  const auto& names = m.arrays().state_names;
  if (start.states.size() == 1) return label(names, start.states[0]);
  std::string out = "{";
  for (std::size_t i = 0; i < start.states.size(); ++i)
    out += fmt::format("{}{}: {}", i == 0 ? "" : ", ", quoted(m.state_name(start.states[i])),
                       number_text(start.probability[i]));
  return out + "}";
}

std::string constraint_text(const Constraint& c) {
  std::string out =
      fmt::format("{{\"signal\": {}, \"{}\": {}", quoted(c.signal),
                  c.sense == Sense::at_least ? "at_least" : "at_most", number_text(c.bound));
  if (c.probability) out += fmt::format(", \"probability\": {}", number_text(*c.probability));
  return out + "}";
}

std::string objective_text(const Objective& objective) {
  return fmt::format("  \"objective\": {{\"{}\": {}}},\n",
                     objective.minimise ? "minimise" : "maximise", quoted(objective.signal));
}

}  // namespace

void write_names(std::string& out, const Model& m) {
  const ModelArrays& a = m.arrays();
  out += fmt::format("  \"states\": {},\n", a.state_names.empty() ? fmt::format("{}", m.states())
                                                                  : list_of_names(a.state_names));
  out +=
      fmt::format("  \"actions\": {},\n", a.action_names.empty() ? fmt::format("{}", m.actions())
                                                                 : list_of_names(a.action_names));
  if (m.groups() > 0) out += fmt::format("  \"groups\": {},\n", m.groups());
  if (m.factors() > 0) out += fmt::format("  \"factors\": {},\n", m.factors());
}

void write_labels(std::string& out, const Model& m) {
  std::string labels;
  for (const Label& one : m.arrays().labels) {
    std::string states;
    for (const State s : one.states)
      states += (states.empty() ? "" : ", ") + label(m.arrays().state_names, s);
    labels += fmt::format("{}\n    {}: [{}]", labels.empty() ? "" : ",", quoted(one.name), states);
  }
  if (!labels.empty()) out += fmt::format("  \"labels\": {{{}\n  }},\n", labels);
}

void write_terms(std::string& out, const Draft& draft) {
  const Terms& terms = draft.terms;
  const std::string horizon = terms.horizon ? fmt::format("{}", *terms.horizon) : "null";
  out += fmt::format("  \"horizon\": {},\n  \"discount\": {},\n  \"start\": {},\n", horizon,
                     number_text(terms.discount), start_text(terms.start, draft.model));
  if (terms.objective.chosen()) out += objective_text(terms.objective);
  if (terms.helpful_nature) out += "  \"nature\": \"helpful\",\n";
  if (terms.helpful_groups) out += "  \"helpful_groups\": true,\n";
  out += "  \"constraints\": [";
  const char* separator = "\n    ";
  for (const Constraint& c : terms.constraints) {
    out += separator + constraint_text(c);
    separator = ",\n    ";
  }
  out += terms.constraints.empty() ? "],\n" : "\n  ],\n";
}

void write_arrivals(std::string& out, const Model& m) {
  std::string signals;
  for (int signal = -1; signal < m.signals(); ++signal) {
    const std::vector<double>& values = m.arrival_values(signal);
    if (values.empty()) continue;
    std::string states;
    for (State s = 0; s < m.states(); ++s) {
      if (values[s] != 0)
        states += fmt::format("{}{}: {}", states.empty() ? "" : ", ", quoted(m.state_name(s)),
                              number_text(values[s]));
    }
    const std::string name = signal < 0 ? "reward" : m.arrays().signals[signal].name;
    signals += fmt::format("{}\n    {}: {{{}}}", signals.empty() ? "" : ",", quoted(name), states);
  }
  if (!signals.empty()) out += fmt::format("  \"arrivals\": {{{}\n  }},\n", signals);
}

std::string radius_text(const Model& model, const Radius& radius) {
  if (radius.rows.empty()) return number_text(radius.all);
  const std::vector<double>& radii = radius.states;
  if (radii.empty()) return table(model, radius.rows, "  ");
  std::string text;
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const bool begins = i % static_cast<std::size_t>(model.states()) == 0;
    text += (i == 0 ? "" : begins && model.stages() > 1 ? "], [" : ", ") + number_text(radii[i]);
  }
  return model.stages() > 1 ? "[[" + text + "]]" : "[" + text + "]";
}

void write_uncertainty(std::string& out, const Draft& draft) {
  Uncertainty uncertainty = draft.terms.uncertainty;
  spread_radii_of_states(draft.model, uncertainty);
  out += fmt::format("  \"uncertainty\": {{\"set\": \"{}\"", name(uncertainty));
  std::visit(
      [&](const auto& set) {
        if constexpr (requires { set.radius; })
          out += ", \"radius\": " + radius_text(draft.model, set.radius);
        if constexpr (requires { set.reach; })
          if (SetKind::find(name(draft.terms.uncertainty))->reach)
            out += fmt::format(", \"reach\": \"{}\"",
                               set.reach == Reach::anywhere ? "anywhere" : "support");
        if constexpr (requires { set.scope; }) {
          if (set.scope == Scope::state) out += ", \"scope\": \"state\"";
        }
        if constexpr (requires { set.temperature; })
          out += ", \"temperature\": " + number_text(set.temperature);
      },
      uncertainty);
  out += "}\n";
}

}  // namespace internal::io

std::string write_json(const Draft& draft) {
  io::require_dense_actions(draft.model);
  std::string out = "{\n  \"format\": \"redoubt-problem\",\n  \"version\": 1,\n";
  io::write_names(out, draft.model);
  io::write_labels(out, draft.model);
  io::write_terms(out, draft);
  io::write_transitions(out, draft.model);
  io::write_values(out, draft);
  io::write_arrivals(out, draft.model);
  io::write_uncertainty(out, draft);
  return out + "}\n";
}

std::string write_json(const Problem& problem) { return write_json(problem.given()); }

}  // namespace redoubt
