#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "io/explicit/explicit_model.h"
#include "io/json/json_model.h"
#include "io/transitions.h"
#include "redoubt/io.h"
#include "support/csv_records.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

// Where each thing stands in a record.
struct Columns {
  int from = -1, action = -1, to = -1, probability = -1, reward = -1;
  int step = -1, lower = -1, upper = -1, sample = -1;
};

CsvTable read_header(std::string_view text, Columns& c) {
  CsvTable table(text, std::array<CsvColumn, 9>{{{"idstatefrom", &c.from},
                                                 {"idaction", &c.action},
                                                 {"idstateto", &c.to},
                                                 {"probability", &c.probability},
                                                 {"reward", &c.reward},
                                                 {"step", &c.step, true},
                                                 {"lower", &c.lower, true},
                                                 {"upper", &c.upper, true},
                                                 {"idoutcome", &c.sample, true}}});
  require((c.lower < 0) == (c.upper < 0),
          "line {}: columns 'lower' and 'upper' must be given together", table.line());
  require(c.sample < 0 || c.lower < 0,
          "line {}: columns 'idoutcome' and 'lower', must be one of them: samples make bounds",
          table.line());
  return table;
}

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max() - 1;

struct Limits {
  std::int32_t state = largest, action = largest, step = largest;
};

// `samples` gets the sample of each line, where the file has several.
Transitions read_records(CsvTable& record, const Columns& c, const Limits& limits,
                         std::vector<std::int32_t>& samples) {
  Transitions t;
  const std::vector<int>& signals = record.others();
  t.signals.resize(signals.size());
  while (record.next()) {
    t.state.push_back(record.integer(c.from, limits.state));
    t.action.push_back(record.integer(c.action, limits.action));
    t.next.push_back(record.integer(c.to, limits.state));
    if (c.sample >= 0) samples.push_back(record.integer(c.sample, largest));
    if (c.step >= 0) t.stage.push_back(record.integer(c.step, limits.step));
    const bool bounded = c.lower >= 0 && !record.is_empty(c.lower);
    if (c.lower >= 0) {
      t.lower.push_back(bounded ? record.number(c.lower) : kAbsent);
      t.upper.push_back(bounded ? record.number(c.upper) : kAbsent);
    }
    const bool between = bounded && record.is_empty(c.probability);
    t.probability.push_back(between ? kAbsent : record.number(c.probability));
    t.reward.push_back(record.number(c.reward));
    for (std::size_t s = 0; s < signals.size(); ++s)
      t.signals[s].push_back(record.number(signals[s]));
  }
  return t;
}

std::int32_t one_more(const std::vector<std::int32_t>& numbers) {  // than the largest
  return numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end());
}

struct SampledOutcome {
  std::size_t first = 0;                       // the line that its values come from
  std::map<std::int32_t, double> probability;  // by sample
};
using RowKey = std::tuple<std::int32_t, State, std::int32_t>;  // stage, state, action
using SampledRow = std::map<State, SampledOutcome>;            // by next state

bool same_values(const Transitions& t, std::size_t i, std::size_t j) {
  bool same = t.reward[i] == t.reward[j];
  for (const auto& signal : t.signals) same = same && signal[i] == signal[j];
  return same;
}

std::map<RowKey, SampledRow> rows_of(const std::vector<std::int32_t>& sample,
                                     const Transitions& t) {
  std::map<RowKey, SampledRow> rows;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const RowKey key{t.stage.empty() ? 0 : t.stage[i], t.state[i], t.action[i]};
    const auto [place, added] = rows[key].try_emplace(t.next[i], SampledOutcome{i, {}});
    require(added || same_values(t, i, place->second.first),
            "what (state {}, action {}) earns in state {} differs between samples, must be the "
            "same in all",
            t.state[i], t.action[i], t.next[i]);
    place->second.probability[sample[i]] += t.probability[i];
  }
  return rows;
}

// Sums of each sample; all of them must be one.
std::map<std::int32_t, double> sums_of(const RowKey& key, const SampledRow& row) {
  std::map<std::int32_t, double> sums;
  for (const auto& [next, outcome] : row) {
    for (const auto& [sample, p] : outcome.probability) sums[sample] += p;
  }
  for (const auto& [sample, sum] : sums)
    require(std::abs(sum - 1) <= 1e-9 * static_cast<double>(row.size()),
            "probabilities of (state {}, action {}) in sample {} sum to {}, must sum to 1",
            std::get<1>(key), std::get<2>(key), sample, sum);
  return sums;
}

void add_outcome(const Transitions& from, const RowKey& key, State next,
                 const SampledOutcome& outcome, double count, Transitions& to) {
  if (!from.stage.empty()) to.stage.push_back(std::get<0>(key));
  to.state.push_back(std::get<1>(key));
  to.action.push_back(std::get<2>(key));
  to.next.push_back(next);
  const bool missing = static_cast<double>(outcome.probability.size()) < count;
  double sum = 0, least = missing ? 0 : 1, most = 0;
  for (const auto& [sample, p] : outcome.probability) {
    sum += p;
    least = std::min(least, p);
    most = std::max(most, p);
  }
  to.probability.push_back(sum / count);
  to.lower.push_back(std::min(least, sum / count));
  to.upper.push_back(std::max(most, sum / count));
  to.reward.push_back(from.reward[outcome.first]);
  for (std::size_t k = 0; k < from.signals.size(); ++k)
    to.signals[k].push_back(from.signals[k][outcome.first]);
}

double largest_distance(const SampledRow& row, const std::map<std::int32_t, double>& samples) {
  const auto count = static_cast<double>(samples.size());
  double most = 0;
  for (const auto& [sample, sum] : samples) {
    double distance = 0;
    for (const auto& [next, outcome] : row) {
      double mean = 0;
      for (const auto& [other, p] : outcome.probability) mean += p / count;
      const auto own = outcome.probability.find(sample);
      distance += std::abs((own == outcome.probability.end() ? 0.0 : own->second) - mean) / 2;
    }
    most = std::max(most, distance);
  }
  return most;
}

// Writes the rows of ordinary states, then those of factors.
class Scenarios {
 public:
  Scenarios(const Transitions& transitions, ModelArrays& a)
      : from_(transitions), a_(a), ordinary_(a.states) {}

  void write(const std::map<RowKey, SampledRow>& rows) {
    a_.state_rows = a_.row_outcomes = {0};
    auto row = rows.begin();
    for (State s = 0; s < ordinary_; ++s) {
      for (; row != rows.end() && std::get<1>(row->first) == s; ++row)
        add_row(row->first, row->second);
      a_.state_rows.push_back(static_cast<Row>(a_.action.size()));
    }
    for (const Factor& factor : factors_) add_factor(factor);
    a_.factors = static_cast<State>(factors_.size());
    a_.states += a_.factors;
  }

 private:
  struct Factor {
    const RowKey* key;
    const SampledRow* row;
    std::int32_t sample;
  };

  void add_row(const RowKey& key, const SampledRow& row) {
    const auto samples = sums_of(key, row);
    const double share = 1 / static_cast<double>(samples.size());
    for (const auto& [sample, sum] : samples) {
      factors_.push_back({&key, &row, sample});
      const std::size_t number = ordinary_ + factors_.size() - 1;
      require(number < std::numeric_limits<State>::max(),
              "{} states and samples of their rows, must be fewer", number);
      add_outcome(static_cast<State>(number), share, 0, 1, nullptr);
    }
    end_row(std::get<2>(key));
  }
  void add_factor(const Factor& factor) {
    for (const auto& [next, outcome] : *factor.row) {
      const auto own = outcome.probability.find(factor.sample);
      if (own == outcome.probability.end()) continue;
      add_outcome(next, own->second, own->second, own->second, &outcome);
    }
    end_row(0);
    a_.state_rows.push_back(static_cast<Row>(a_.action.size()));
    if (!a_.state_names.empty())
      a_.state_names.push_back(fmt::format("sample {} of ({}, action {})", factor.sample,
                                           a_.state_names[std::get<1>(*factor.key)],
                                           std::get<2>(*factor.key)));
  }
  // What an outcome earns stands in its first line; null: nothing.
  void add_outcome(State next, double probability, double lower, double upper,
                   const SampledOutcome* earns) {
    a_.next.push_back(next);
    a_.probability.push_back(probability);
    a_.lower.push_back(lower);
    a_.upper.push_back(upper);
    a_.outcome_reward.push_back(earns == nullptr ? 0 : from_.reward[earns->first]);
    for (std::size_t k = 0; k < from_.signals.size(); ++k)
      a_.signals[k].outcome.push_back(earns == nullptr ? 0 : from_.signals[k][earns->first]);
  }
  void end_row(std::int32_t action) {
    a_.action.push_back(action);
    a_.row_outcomes.push_back(static_cast<std::int64_t>(a_.next.size()));
  }

  const Transitions& from_;
  ModelArrays& a_;
  State ordinary_;
  std::vector<Factor> factors_;
};

// The same lines as scenarios: every sample of a row is a factor of its own, and the row a mixture
// of these with weights that nature picks, anything from 0 to 1. `a` has the ordinary states, with
// their names if any, and the names of signals; it gets everything else. Errors as above, and where
// rows depend on the stage.
void add_scenarios(const std::vector<std::int32_t>& sample, const Transitions& t, ModelArrays& a) {
  require(t.stage.empty(), "posterior scenarios with columns 'idoutcome' and 'step', must be mean");
  Scenarios(t, a).write(rows_of(sample, t));
}

// Of a file with `idoutcome` each row has several distributions, samples of a posterior. They
// become one: their mean, with the least and the largest probability of each outcome as its bounds.
// Returns for each row, by stage, state and action, the largest distance in total variation of a
// sample from the mean. An Error names a row of which a sample does not sum to one, and values that
// differ between samples.
std::vector<double> merge_samples(const std::vector<std::int32_t>& sample, Transitions& t) {
  Transitions merged;
  merged.signals.resize(t.signals.size());
  std::vector<double> radii;
  for (const auto& [key, row] : rows_of(sample, t)) {
    const auto samples = sums_of(key, row);
    for (const auto& [next, outcome] : row)
      add_outcome(t, key, next, outcome, static_cast<double>(samples.size()), merged);
    radii.push_back(std::min(1.0, largest_distance(row, samples)));
  }
  t = std::move(merged);
  return radii;
}

// `radii` gets the radius of each row, where the file has samples of them.
Model read_csv_model(std::string_view text, const JsonNode& root, const Side& side,
                     Posterior posterior, std::vector<double>& radii) {
  Columns columns;
  CsvTable table = read_header(text, columns);
  Limits limits;
  if (side.states) limits.state = side.states->count() - 1;
  if (side.actions) limits.action = side.actions->count() - 1;
  if (side.horizon) limits.step = *side.horizon - 1;
  std::vector<std::int32_t> samples;
  Transitions transitions = read_records(table, columns, limits, samples);
  const bool scenarios = posterior == Posterior::scenarios;
  require(!scenarios || columns.sample >= 0,
          "posterior scenarios without a column 'idoutcome', must have one");
  if (columns.sample >= 0 && !scenarios) radii = merge_samples(samples, transitions);

  ModelArrays a;
  a.states = std::max(one_more(transitions.state), one_more(transitions.next));
  if (side.states) a.states = side.states->count(), a.state_names = side.states->names();
  if (side.actions) a.action_names = side.actions->names();
  require(a.states >= 1, "has no transitions, must have at least one");
  read_labels(root, a);
  if (columns.step >= 0) a.stages = std::max(1, side.horizon.value_or(one_more(transitions.stage)));
  require_plausible(a.states, "states", text.size());
  require_plausible(static_cast<std::int64_t>(a.stages) * a.states, "states of all stages",
                    text.size());
  for (const std::string& name : table.other_names()) a.signals.push_back({name, {}, {}});
  if (scenarios) {
    add_scenarios(samples, transitions, a);
    return Model(std::move(a));
  }
  assemble(std::move(transitions), a);
  // The file gives every value with an outcome.
  a.reward = take_row_values(a.outcome_reward, a);
  for (Signal& s : a.signals) s.row = take_row_values(s.outcome, a);
  return Model(std::move(a));
}

}  // namespace
}  // namespace internal::io

Draft read_csv(std::string_view text, std::string_view name, Posterior posterior) {
  return read_csv(text, name, io::kNoTerms, "defaults", posterior);
}

Draft read_csv(std::string_view text, std::string_view name, std::string_view terms,
               std::string_view terms_name, Posterior posterior) {
  using namespace io;
  const TermsBeside beside(terms, terms_name, text.size(), "a CSV file");
  const JsonNode& root = beside.root;
  std::vector<double> radii;
  const Model model =
      naming(name, [&] { return read_csv_model(text, root, beside.side, posterior, radii); });
  Draft draft{model, naming(terms_name, [&] { return read_terms(root, model.arrays()); })};
  if (!radii.empty() && !root.find("uncertainty"))
    draft.terms.uncertainty = TV{Radius(std::move(radii)), Reach::support};
  if (posterior == Posterior::scenarios && !root.find("uncertainty"))
    draft.terms.uncertainty = Interval{};
  if (model.stages() > 1) draft.terms.horizon = model.stages();
  return draft;
}

}  // namespace redoubt
