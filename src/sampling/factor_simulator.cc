// Simulators of factors: distributions that the rows of a model share.
#include <utility>

#include "redoubt/simulator.h"
#include "sampling/feature_rows.h"
#include "support/checksum.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

std::uint64_t identity_of(const ModelArrays& a, std::uint64_t rows) {
  Checksum sum;
  sum.add(rows);
  sum.add(a.factors);
  sum.add_all(a.next);
  sum.add_all(a.probability);
  return sum.value();
}

void declare_mixture(const Model& features, Row row, SimulatorShape& shape) {
  for (auto i = features.outcome_begin(row); i < features.outcome_end(row); ++i) {
    SimulatorShape::Outcome& outcome = shape.outcomes[row].emplace_back();
    outcome.next = features.arrays().next[i];
    for (int s = -1; s < features.signals(); ++s)
      outcome.values.push_back(features.value(s, row) + 0.0);
    shape.weights[row].push_back(features.arrays().probability[i]);
  }
}

// A factor may lead to every ordinary state.
void declare_anything(const Model& features, Row row, SimulatorShape& shape) {
  for (State next = 0; next < features.ordinary(); ++next) {
    SimulatorShape::Outcome& outcome = shape.outcomes[row].emplace_back();
    outcome.next = next;
    for (int s = -1; s < features.signals(); ++s)
      outcome.values.push_back(features.arrival_value(s, next) + 0.0);
  }
}

// Draws of factors, or of rows that take one factor alone. Whatever they earn, a factor earns what
// arrivals do.
class FactorSimulator : public Simulator {
 public:
  FactorSimulator(std::unique_ptr<Simulator> rows, const Model& features)
      : rows_(std::move(rows)), shape_(factored_shape(features, rows_->shape().terms)) {
    const SimulatorShape& asked = rows_->shape();
    shape_.identity = identity_of(features.arrays(), asked.identity);
    if (asked.factors > 0) {
      require(asked.state_rows == shape_.state_rows && asked.factors == shape_.factors,
              "a simulator of {} factors, must have the rows of the features with {}",
              asked.factors, shape_.factors);
      return;
    }
    require(asked.states == features.ordinary(),
            "a simulator of {} states, must be of {} as the features", asked.states,
            features.ordinary());
    require(asked.stages == features.stages(),
            "a simulator of {} stages, must be of {} as the features", asked.stages,
            features.stages());
    find_rows(features);
  }

  const SimulatorShape& shape() const override { return shape_; }
  bool is_concurrent() const override { return rows_->is_concurrent(); }

  void answer(const Next& next, const Receive& receive) override {
    rows_->answer(
        [&](Query& query) {
          const bool more = next(query);
          if (more && !taken_.empty()) to_row(query);
          return more;
        },
        [&](const Query& query, const Sample& sample) {
          receive(taken_.empty() ? query : to_factor(query), by_arrival(sample.next));
        });
  }

 private:
  // A row that takes a factor alone.
  struct Taken {
    Row row = 0;
    State state = 0;
    std::int32_t action = 0;
  };

  struct AskedAs {
    State factor = 0;
    std::int64_t turn = 0;
  };

  void find_rows(const Model& features) {
    const SimulatorShape& asked = rows_->shape();
    taken_.resize(static_cast<std::size_t>(features.stages()) * features.factors());
    asked_as_.resize(asked.rows());
    for (int stage = 0; stage < asked.stages; ++stage) {
      for (State s = 0; s < asked.states; ++s) {
        const auto slot = static_cast<std::size_t>(stage) * asked.states + s;
        for (Row row = asked.state_rows[slot]; row < asked.state_rows[slot + 1]; ++row) {
          const Row mixed = feature_row(features, stage, s, asked.action[row]);
          const auto first = features.outcome_begin(mixed);
          if (features.outcome_end(mixed) - first > 1) continue;
          const State factor = features.arrays().next[first] - features.ordinary();
          auto& rows = taken_[place(stage, factor)];
          asked_as_[row] = {factor, static_cast<std::int64_t>(rows.size())};
          rows.push_back({row, s, asked.action[row]});
        }
      }
      for (State k = 0; k < features.factors(); ++k)
        require(
            !taken_[place(stage, k)].empty(),
            "no row takes factor {} alone, must be one: draws of a mixture do not say which factor "
            "they are of",
            k);
    }
  }

  std::size_t place(int stage, State factor) const {
    return static_cast<std::size_t>(stage) * shape_.factors + factor;
  }

  // Which row it is follows from the draw, so that the way back is known without a list.
  void to_row(Query& query) const {
    const State factor = query.state - (shape_.states - shape_.factors);
    const auto& rows = taken_[place(query.stage, factor)];
    const auto count = static_cast<std::int64_t>(rows.size());
    const Taken& taken = rows[query.draw % count];
    query.row = taken.row;
    query.state = taken.state;
    query.action = taken.action;
    query.draw = query.draw / count;
  }

  Query to_factor(Query query) const {
    const AskedAs& as = asked_as_[query.row];
    const auto count = static_cast<std::int64_t>(taken_[place(query.stage, as.factor)].size());
    query.state = shape_.states - shape_.factors + as.factor;
    query.action = 0;
    query.row =
        shape_.state_rows[static_cast<std::size_t>(query.stage) * shape_.states + query.state];
    query.draw = query.draw * count + as.turn;
    return query;
  }

  Sample by_arrival(State next) const {
    require(next >= 0 && next < shape_.states - shape_.factors, "next = {}, must be in 0..{}", next,
            shape_.states - shape_.factors - 1);
    Sample sample{next, 0, std::vector<double>(shape_.signals.size())};
    for (std::size_t q = 0; q < shape_.known.size(); ++q) {
      const auto& arrival = shape_.known[q].arrival;
      (q == 0 ? sample.reward : sample.signals[q - 1]) = arrival.empty() ? 0.0 : arrival[next];
    }
    return sample;
  }

  std::unique_ptr<Simulator> rows_;
  SimulatorShape shape_;
  std::vector<std::vector<Taken>> taken_;  // of each factor at each stage; none: they are asked for
  std::vector<AskedAs> asked_as_;          // of each row that takes a factor alone
};

}  // namespace

SimulatorShape factored_shape(const Model& features, Terms terms) {
  require_features(features);
  const ModelArrays& a = features.arrays();
  SimulatorShape shape;
  shape.states = a.states;
  shape.stages = a.stages;
  shape.state_rows = a.state_rows;
  shape.action = a.action;
  shape.state_names = a.state_names;
  shape.action_names = a.action_names;
  shape.factors = a.factors;
  shape.identity = identity_of(a, 0);
  shape.terms = std::move(terms);
  shape.known.push_back({a.reward, a.arrival_reward});
  for (const Signal& signal : a.signals) {
    shape.signals.push_back(signal.name);
    shape.known.push_back({signal.row, signal.arrival});
  }
  shape.outcomes.resize(features.rows());
  shape.weights.resize(features.rows());
  for (int stage = 0; stage < a.stages; ++stage) {
    for (State s = 0; s < a.states; ++s)
      for (Row row = features.row_begin(stage, s); row < features.row_end(stage, s); ++row)
        s < features.ordinary() ? declare_mixture(features, row, shape)
                                : declare_anything(features, row, shape);
  }
  return shape;
}

std::unique_ptr<Simulator> factor_simulator(std::unique_ptr<Simulator> rows,
                                            const Model& features) {
  return std::make_unique<FactorSimulator>(std::move(rows), features);
}

}  // namespace redoubt
