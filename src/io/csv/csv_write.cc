#include <algorithm>
#include <array>

#include "io/explicit/explicit_model.h"
#include "io/json/json_model.h"
#include "redoubt/io.h"
#include "support/csv_records.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

std::string header_name(const std::string& name) {
  constexpr std::array reserved = {"idstatefrom", "idaction", "idstateto", "probability",
                                   "step",        "lower",    "upper",     "idoutcome"};
  require(std::find(reserved.begin(), reserved.end(), name) == reserved.end(),
          "signal '{}', must not have the name of another column of a CSV file", name);
  if (name.find_first_of(",\"\n\r") == std::string::npos && name.front() != ' ' &&
      name.back() != ' ')
    return name;
  return csv_quoted(name);
}

}  // namespace

std::string write_csv(const Draft& draft) {
  const Model& m = draft.model;
  io::require_no_arrivals(m, "a CSV file");
  io::require_no_groups(m, "a CSV file");
  io::require_row_values_survive(draft, "a CSV file");
  const ModelArrays& a = m.arrays();
  const bool staged = m.stages() > 1, bounded = !a.lower.empty();
  std::string out = staged ? "step," : "";
  out += "idstatefrom,idaction,idstateto,probability,reward";
  for (const Signal& s : a.signals) out.append(",").append(header_name(s.name));
  out += bounded ? ",lower,upper\n" : "\n";
  for (int stage = 0; stage < m.stages(); ++stage) {
    for (State s = 0; s < m.states(); ++s) {
      for (Row r = m.row_begin(stage, s); r < m.row_end(stage, s); ++r) {
        for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i) {
          if (staged) out += fmt::format("{},", stage);
          out +=
              fmt::format("{},{},{},{}", s, a.action[r], a.next[i], number_text(a.probability[i]));
          for (int k = -1; k < m.signals(); ++k)
            out.append(",").append(number_text(io::outcome_total(m, k, r, i)));
          if (bounded)
            out += fmt::format(",{},{}", number_text(a.lower[i]), number_text(a.upper[i]));
          out += "\n";
        }
      }
    }
  }
  return out;
}

std::string io::write_side(const Draft& draft, bool labels, std::string_view more) {
  std::string out = "{\n  \"format\": \"redoubt-terms\",\n  \"version\": 1,\n";
  io::write_names(out, draft.model);
  if (labels) io::write_labels(out, draft.model);
  io::write_terms(out, draft);
  io::write_arrivals(out, draft.model);
  out += more;
  io::write_uncertainty(out, draft);
  return out + "}\n";
}

std::string write_csv(const Problem& problem) { return write_csv(problem.given()); }
std::string write_terms(const Draft& draft) { return io::write_side(draft); }
std::string write_terms(const Problem& problem) { return write_terms(problem.given()); }

}  // namespace redoubt
