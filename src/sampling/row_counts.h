#pragma once

#include <vector>

#include "redoubt/simulator.h"

namespace redoubt::internal {

// What samples say of rows: how often each outcome that a row can have was seen, and what it earns.
// The outcomes are those that the simulator declares, or every state; so they do not depend on what
// was seen, and neither do the events of which a confidence speaks. Does not depend on the order of
// the samples.
class RowCounts {
 public:
  // Of one quantity: none seen yet, the same in all samples, or not.
  struct Value {
    enum class Known { nothing, fixed, varies };
    Known known = Known::nothing;
    double value = 0;
  };
  struct Outcome {
    State next = 0;
    std::int64_t count = 0;
    std::vector<Value> values;  // of the reward, then of each signal
  };

  explicit RowCounts(const SimulatorShape& shape);

  // An Error where the sample is none that the simulator declares.
  void add(Row row, const Sample& sample, std::int64_t count = 1);

  const SimulatorShape& shape() const { return shape_; }
  const std::vector<Outcome>& outcomes(Row row) const { return rows_[row]; }
  std::int64_t samples(Row row) const { return samples_[row]; }

 private:
  Outcome& outcome_of(Row row, const Sample& sample);

  const SimulatorShape& shape_;
  std::vector<std::vector<Outcome>> rows_;
  std::vector<std::int64_t> samples_;
};

}  // namespace redoubt::internal
