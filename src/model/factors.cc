#include "model/two_stages.h"

#include <cmath>
#include <map>

#include "model/row_name.h"
#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

void check_mixture(const Model& m, Row row) {
  const ModelArrays& a = m.arrays();
  for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
    require(a.next[i] >= m.ordinary(),
            "{} leads to state {}, must lead to factors only, as every row where there are any",
            RowName{m, row}, m.state_name(a.next[i]));
    for (int signal = -1; signal < m.signals(); ++signal)
      require(m.outcome_value(signal, i) == 0,
              "an outcome of {} earns {}, must earn nothing: it leads to a factor", RowName{m, row},
              m.outcome_value(signal, i));
    const auto known = [&](double bound) { return std::abs(bound - a.probability[i]) <= 1e-9; };
    const bool within = a.lower.empty() || (known(a.lower[i]) && known(a.upper[i])) ||
                        (0 <= a.lower[i] && a.lower[i] <= a.probability[i] &&
                         a.probability[i] <= a.upper[i] && a.upper[i] <= 1);
    require(within, "bounds {} and {} of {} for factor {}, must hold its probability {}",
            a.lower.empty() ? 0 : a.lower[i], a.upper.empty() ? 0 : a.upper[i], RowName{m, row},
            m.state_name(a.next[i]), a.probability[i]);
  }
}

void check_factor(const Model& m, int stage, State factor) {
  const ModelArrays& a = m.arrays();
  const Row row = m.row_begin(stage, factor);
  require(m.row_end(stage, factor) - row == 1, "factor {} has {} rows, must have one",
          m.state_name(factor), m.row_end(stage, factor) - row);
  for (int signal = -1; signal < m.signals(); ++signal)
    require(m.value(signal, row) == 0, "factor {} earns {}, must earn nothing of its own",
            m.state_name(factor), m.value(signal, row));
  for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
    const State next = a.next[i];
    require(next < m.ordinary(), "factor {} leads to factor {}, must lead to ordinary states",
            m.state_name(factor), m.state_name(next));
  }
}

bool earns_by_arrival(const Model& m, int stage, State factor) {
  const Row row = m.row_begin(stage, factor);
  for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i)
    for (int signal = -1; signal < m.signals(); ++signal)
      if (m.outcome_value(signal, i) != m.arrival_value(signal, m.arrays().next[i])) return false;
  return true;
}

// Nothing that is earned tells which of a row's factors it was.
void check_earned(const Model& m, int stage, Row row) {
  const std::vector<State>& next = m.arrays().next;
  std::map<State, std::int64_t> known;  // an outcome that leads there
  for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
    const Row factor = m.row_begin(stage, next[i]);
    for (auto o = m.outcome_begin(factor); o < m.outcome_end(factor); ++o) {
      const auto first = known.emplace(next[o], o).first->second;
      for (int signal = -1; signal < m.signals(); ++signal)
        require(m.outcome_value(signal, o) == m.outcome_value(signal, first),
                "factors of {} earn {} and {} in state {}, must earn the same there",
                RowName{m, row}, m.outcome_value(signal, first), m.outcome_value(signal, o),
                m.state_name(next[o]));
    }
  }
}

bool has_radii(const Uncertainty& set) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.radius; }) return !one.radius.rows.empty();
        return false;
      },
      set);
}

void require_terms_for_factors(const Model& model, const Terms& terms) {
  const Uncertainty& set = terms.uncertainty;
  require(!std::holds_alternative<Tilt>(set),
          "set tilt on a model with {} factors, must be a set of distributions", model.factors());
  require(!needs_bounds(set) || !lands_anywhere(set),
          "set {} with reach anywhere on a model with {} factors, must have reach support",
          name(set), model.factors());
  require(scope_of(set) == Scope::row,
          "set {} of scope state on a model with {} factors, must have scope row", name(set),
          model.factors());
  for (int stage = 0; stage < model.stages(); ++stage) {
    for (Row row = model.row_begin(stage, 0); row < model.row_end(stage, model.ordinary() - 1);
         ++row)
      require(!has_radii(set) || radius_of(set, row) == 0,
              "radius {} of {}, must be 0 where rows have radii of their own: the set is around "
              "factors",
              radius_of(set, row), RowName{model, row});
  }
  for (const Constraint& c : terms.constraints)
    require(!c.probability,
            "a chance constraint on '{}' on a model with {} factors, must be left out", c.signal,
            model.factors());
}

class Mixing {
 public:
  Mixing(const Model& model, const Terms& terms)
      : model_(model),
        from_(model.arrays()),
        terms_(terms),
        anywhere_(lands_anywhere(terms.uncertainty)),
        writer_(model, terms) {}

  TwoStages build() {
    ModelArrays& arrays = writer_.arrays;
    arrays.states = model_.states();
    arrays.state_names = from_.state_names;
    arrays.action_names = from_.action_names;
    for (int stage = 0; stage < writer_.stages(); ++stage) {
      for (State s = 0; s < model_.states(); ++s) add_state(stage, s);
    }
    std::vector<State> state(model_.states());
    for (State s = 0; s < model_.states(); ++s) state[s] = s;
    return {Model(std::move(arrays)), writer_.terms(), std::move(state)};
  }

 private:
  void add_state(int stage, State state) {
    const bool acts = state < model_.ordinary();
    const int given = writer_.given_stage(stage);
    for (Row row = model_.row_begin(given, state);
         writer_.takes_turn(stage, acts) && row < model_.row_end(given, state); ++row) {
      if (acts)
        add_mixture(row);
      else
        add_factor(row);
    }
    writer_.end_state();
  }

  void add_mixture(Row row) {
    writer_.begin_row(from_.action[row], 0);
    writer_.earn_as(row);
    const bool bounded = needs_bounds(terms_.uncertainty);
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const double weight = from_.probability[i];
      writer_.add_outcome(from_.next[i], weight, bounded ? from_.lower[i] : weight,
                          bounded ? from_.upper[i] : weight, [](int) { return 0.0; });
    }
    writer_.end_row();
  }

  // What an arrival earns is earned half a decision later, and discounted by as much more.
  void add_factor(Row row) {
    writer_.begin_row(from_.action[row], radius_of(terms_.uncertainty, row));
    const bool known = !anywhere_ && !from_.lower.empty();
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
      writer_.add_outcome(from_.next[i], from_.probability[i], known ? from_.lower[i] : 0,
                          known ? from_.upper[i] : 1, [&](int signal) {
                            return model_.outcome_value(signal, i) / writer_.half();
                          });
    for (State s = 0; anywhere_ && s < model_.ordinary(); ++s)
      if (!model_.lists(row, s))
        writer_.add_outcome(s, 0, 0, 1, [&](int signal) {
          return model_.arrival_value(signal, s) / writer_.half();
        });
    writer_.end_row();
  }

  const Model& model_;
  const ModelArrays& from_;
  const Terms& terms_;
  bool anywhere_;
  TwoStageWriter writer_;
};

}  // namespace

void check_factors(const Model& m) {
  const State factors = m.factors();
  require(factors >= 0 && (factors == 0 || m.groups() == 0),
          "{} factors and {} groups, must be one of them", factors, m.groups());
  if (factors == 0) return;
  require(m.ordinary() >= 1, "{} factors of {} states, must leave an ordinary state", factors,
          m.states());
  require(!m.arrays().submodel, "factors on {} ranks, must run on one",
          m.arrays().submodel ? m.arrays().submodel->ranks : 1);
  for (int stage = 0; stage < m.stages(); ++stage) {
    bool by_arrival = true;
    for (State k = m.ordinary(); k < m.states(); ++k) {
      check_factor(m, stage, k);
      by_arrival = by_arrival && earns_by_arrival(m, stage, k);
    }
    for (Row row = m.row_begin(stage, 0); row < m.row_end(stage, m.ordinary() - 1); ++row) {
      check_mixture(m, row);
      if (!by_arrival) check_earned(m, stage, row);
    }
  }
}

TwoStages with_factors(const Model& model, const Terms& terms) {
  require_terms_for_factors(model, terms);
  require_short_horizon(terms);
  require_ordinary_start(model, terms);
  return Mixing(model, terms).build();
}

}  // namespace redoubt::internal
