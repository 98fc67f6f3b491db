#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/policy.h"

namespace redoubt {

// Which total nature works against; each has a nature of its own.
struct Nature {
  enum class Against { nothing, reward, constraint };
  Against against = Against::nothing;  // nothing: the nominal model
  int constraint = 0;
  bool operator==(const Nature&) const = default;
};

// "nominal", "worst-reward", "worst-SIGNAL" for the signal of a constraint, and "chance-SIGNAL" for
// that of a chance constraint.
Nature nature_of(const Problem& problem, std::string_view word);

// Nature's choice for one row: a distribution over its outcomes and, for total variation with reach
// anywhere, over one landing outside of them.
struct RowDistribution {
  std::vector<double> probability;  // of each outcome of the row
  double landing = 0;               // probability of `landing_state`
  State landing_state = -1;         // -1: no mass outside of the row
  double value = 0;  // the worst-case total from this decision on, in nature's sign: costs negative
};

// What nature does against a policy, decision by decision. Building one evaluates the policy and
// keeps the values of every stage: an Error when they do not fit into memory. Problem and policy
// must outlive it. Copies share the values; each thread needs a copy of its own.
class WorstKernel {
 public:
  WorstKernel(const Problem& problem, const Policy& policy, Nature nature,
              const Execution& execution = {});
  WorstKernel(const WorstKernel& other);
  ~WorstKernel();

  // `action` is a position in the state's list. Policies whose memory moves by table answer only
  // for actions that they take. Against a chance constraint, nature's choice depends on the total
  // so far: an Error unless the memory tells it. The answer is valid until the next call.
  const RowDistribution& at(int stage, State state, std::int32_t memory, std::int32_t action);

  // Of a problem that traps(): whether an episode is kept from here on, and nothing is earned any
  // more.
  bool keeps(int stage, State state, std::int32_t memory) const;

 private:
  RowDistribution choose(int stage, State state, std::int32_t memory, std::int32_t action);
  RowDistribution choose_on_augmented(int stage, State state, std::int32_t memory,
                                      std::int32_t action);

  struct Lowered;
  struct Shared;
  struct Own;
  static void find_traps(Shared& shared);

  std::shared_ptr<const Shared> shared_;
  std::unique_ptr<Own> own_;
};

// The same for a policy without memory, for every row at every stage: probability[stage] is in the
// order of the model's outcomes (of that stage, where rows depend on it: the entries of other
// stages keep their nominal value). One stage where the horizon is infinite and the policy
// stationary.
struct MarkovKernel {
  std::vector<std::vector<double>> probability;
  std::vector<std::vector<double>> landing;       // [stage][row]
  std::vector<std::vector<State>> landing_state;  // [stage][row]
};
MarkovKernel worst_kernel(const Problem& problem, const Policy& policy, Nature nature,
                          const Execution& execution = {});

}  // namespace redoubt
