#include "redoubt/explore.h"

#include <gtest/gtest.h>

#include <array>

#include "support/expect_error.h"

namespace redoubt {
namespace {

// Two queues; serving one may fail, and what comes to a full one is lost.
struct TwoQueues {
  using State = std::array<int, 2>;
  int size;

  State initial() const { return {0, 0}; }
  std::size_t hash(const State& s) const { return s[0] * 1000003u + s[1]; }
  std::vector<std::string> signal_names() const { return {"lost"}; }
  std::vector<int> actions(const State& s) const {
    std::vector<int> out;
    for (int q : {0, 1}) {
      if (s[q] > 0) out.push_back(q);
    }
    out.push_back(2);  // wait
    return out;
  }
  void step(const State& s, int action, auto&& outcome) const {
    for (const int arrives : {0, 1}) {
      State next = s;
      if (action < 2) --next[action];
      const double lost = next[arrives] == size ? 1 : 0;
      next[arrives] = std::min(size, next[arrives] + 1);
      outcome(arrives == 0 ? 0.25 : 0.75, next, action < 2 ? 1.0 : 0.0, {lost});
    }
  }
  std::vector<std::string> labels(const State& s) const {
    if (s[0] == size && s[1] == size) return {"full"};
    return {};
  }
};

struct Leaking {
  using State = int;
  State initial() const { return 0; }
  std::vector<int> actions(int) const { return {0}; }
  void step(int s, int, auto&& outcome) const { outcome(0.98, s); }
};

TEST(Explore, IsTheModelOfTheFunctions) {
  const TwoQueues queues{3};
  const auto found = explore(queues);
  const Model& m = found.model;
  ASSERT_EQ(m.states(), 16);
  EXPECT_EQ(found.states[0], (TwoQueues::State{0, 0}));
  EXPECT_EQ(found.states[1], (TwoQueues::State{1, 0}));  // the order of meeting
  EXPECT_EQ(m.arrays().signals[0].name, "lost");
  for (State s = 0; s < m.states(); ++s) {
    const auto actions = queues.actions(found.states[s]);
    ASSERT_EQ(m.row_end(0, s) - m.row_begin(0, s), static_cast<Row>(actions.size()));
    for (std::size_t k = 0; k < actions.size(); ++k) {
      const Row row = m.row_begin(0, s) + static_cast<Row>(k);
      EXPECT_EQ(m.arrays().action[row], actions[k]);
      double expected = 0, lost = 0, earned = 0, counted = 0;
      queues.step(
          found.states[s], actions[k],
          [&](double p, const TwoQueues::State&, double r, std::initializer_list<double> l) {
            expected += p * r;
            lost += p * *l.begin();
          });
      for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
        earned += m.arrays().probability[i] * (m.value(-1, row) + m.outcome_value(-1, i));
        counted += m.arrays().probability[i] * (m.value(0, row) + m.outcome_value(0, i));
      }
      EXPECT_DOUBLE_EQ(earned, expected);
      EXPECT_DOUBLE_EQ(counted, lost);
    }
  }
  ASSERT_EQ(m.find_label("full")->states.size(), 1u);
  EXPECT_EQ(found.states[m.find_label("full")->states[0]], (TwoQueues::State{3, 3}));
  EXPECT_EQ(explore(queues).model, m);
}

TEST(Explore, ErrorsNameTheRowAndTheLimit) {
  EXPECT_EQ(testing::error_of([] { explore(TwoQueues{3}, 10); }),
            "more than 10 states can be reached, most_states must be larger");
  EXPECT_EQ(testing::error_of([] { explore(Leaking{}); }),
            "probabilities of (state 0, action 0) sum to 0.98, must sum to 1 within 1e-09");
}

}  // namespace
}  // namespace redoubt
