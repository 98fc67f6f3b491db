// States whose rows share one radius.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "redoubt/environments.h"
#include "redoubt/solve.h"
#include "sets/state_lanes.h"
#include "support/set_states.h"
#include "topics.h"

namespace redoubt::bench {

namespace {

using namespace internal;

// Lanes of plain states of one size, and the rows of their actions.
class States {
 public:
  static constexpr int kStates = 32;  // side by side

  States(const Uncertainty& set, int actions, int outcomes, double radius)
      : outcomes_(outcomes), rows_(worst_cases_kernel(set)), lanes_(set, false) {
    std::mt19937_64 random(1);
    lanes_.resize({actions, outcomes}, kStates);
    for (int a = 0; a < actions; ++a) actions_.emplace_back(outcomes);
    for (int lane = 0; lane < kStates; ++lane) {
      const auto state = testing::plain_state(random, actions, outcomes, radius);
      lanes_.set_radius(lane, radius);
      radius_.push_back(radius);
      for (int a = 0; a < actions; ++a) {
        for (int i = 0; i < outcomes; ++i) {
          const double p = state.actions[a].probability[i], v = state.actions[a].value[i];
          lanes_.set(lane, a, i, p, state.actions[a].weight * v);
          actions_[a].probability[i * kStates + lane] = p;
          actions_[a].value[i * kStates + lane] = v;
        }
      }
    }
  }

  void together() {
    lanes_.worst(false);
    benchmark::DoNotOptimize(lanes_.result(0));
    benchmark::ClobberMemory();
  }
  // As the sweep of scope row has them: a row of its own in every lane.
  void row_by_row() {
    double worst[kStates];
    for (const Action& action : actions_) {
      rows_({outcomes_, action.probability.data(), radius_.data(), nullptr, nullptr},
            {kStates, action.pointers.data(), nullptr}, scratch_, worst, nullptr);
      benchmark::DoNotOptimize(worst[0]);
      benchmark::ClobberMemory();
    }
  }

 private:
  struct Action {
    explicit Action(int outcomes) : probability(outcomes * kStates), value(outcomes * kStates) {
      for (int i = 0; i < outcomes; ++i) pointers.push_back(value.data() + i * kStates);
    }
    Action(Action&&) noexcept = default;
    std::vector<double> probability, value;
    std::vector<const double*> pointers;
  };
  int outcomes_;
  WorstCases rows_;
  StateLanes lanes_;
  Scratch scratch_;
  std::vector<Action> actions_;
  std::vector<double> radius_;
};

double by_rows(const Uncertainty& set, double radius) {
  States states(set, 10, 10, radius);
  return ratio([&] { states.together(); }, [&] { states.row_by_row(); });
}

// The exponent of the time, from 10 to 50 of both.
double growth(const Uncertainty& set) {
  States small(set, 10, 10, 0.05), large(set, 50, 50, 0.05);
  return std::log(ratio([&] { large.together(); }, [&] { small.together(); })) / std::log(25);
}

double robust_by_row_scope(const std::string& set) {
  const auto problem = [&](const char* scope) {
    return make(
        fmt::format("garnet(states=200,actions=10,successors=10,horizon=5,seed=1,set={},"
                    "radius=.05,scope={}{})",
                    set, scope, set == "tv" ? ",reach=support" : ""));
  };
  const Problem state = problem("state"), row = problem("row");
  return ratio([&] { robust(state); }, [&] { robust(row); });
}

}  // namespace

void states(Table& table) {
  const std::pair<const char*, Uncertainty> sets[] = {
      {"tv", TV{0.05, Reach::support}}, {"chi2", Chi2{0.05}}, {"kl", KL{0.05}}};
  for (const auto& [name, set] : sets) {
    table.add({fmt::format("states: {}, 10 x 10 together by row, radius 0.05", name), 2.5, 1.5},
              [=] { return by_rows(set, .05); });
    table.add({fmt::format("states: {}, growth in actions x successors", name), 1.15, 1.05},
              [=] { return growth(set); });
    table.add({fmt::format("states: {}, robust by scope row, 10 x 10", name), 6, 3},
              [=] { return robust_by_row_scope(name); });
  }
}

}  // namespace redoubt::bench
