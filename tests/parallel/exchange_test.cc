#include "parallel/exchange.h"

#include <gtest/gtest.h>

#include "model/submodel.h"
#include "parallel/collectives.h"
#include "support/on_ranks.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

Problem whole() {
  testing::RandomOptions options;
  options.states = 40;
  return testing::random_problem(5, options);
}

// Runs a body on each rank of every configuration, with the rank's submodel.
template <class Body>
void on_every_partition(const Body& body) {
  const Problem problem = whole();
  for (const testing::Configuration& configuration : testing::configurations()) {
    if (configuration.ranks == 1) continue;
    run_ranks(configuration.ranks, [&](Communicator& ranks) {
      body(testing::part_for(problem, configuration, ranks.rank()).model(), ranks);
    });
  }
}

TEST(Exchange, BringsEveryValueThatARankNeeds) {
  on_every_partition([](const Model& model, Communicator& ranks) {
    Exchange exchange(model, ranks);
    std::vector<double> values(2 * model.states(), -1.0);
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      for (int i = 0; i < 2; ++i) values[2 * s + i] = 10.0 * whole_number(model, s) + i;
    }
    exchange.update({values.data(), 2, 1, 0, 2});
    for (State s = 0; s < model.states(); ++s) {
      for (int i = 0; i < 2; ++i) EXPECT_EQ(values[2 * s + i], 10.0 * whole_number(model, s) + i);
    }
  });
}

TEST(Exchange, ASweepComputesOwnStatesAndBringsTheOthers) {
  on_every_partition([](const Model& model, Communicator& ranks) {
    Exchange exchange(model, ranks);
    Workers workers(2, ranks);
    std::vector<double> values(model.states(), -1.0);
    std::vector<int> times(model.states(), 0);
    exchange.sweep(workers, {1e9}, {values.data(), 1, 1, 0, 1}, [&](State s, std::int64_t, int) {
      values[s] = 3.0 * whole_number(model, s);
      ++times[s];
    });
    for (State s = 0; s < model.states(); ++s) {
      EXPECT_EQ(values[s], 3.0 * whole_number(model, s));
      EXPECT_EQ(times[s], model.owns(s) ? 1 : 0);
    }
  });
}

TEST(Exchange, CollectsAtTheOwnerWhatOthersHave) {
  on_every_partition([](const Model& model, Communicator& ranks) {
    Exchange exchange(model, ranks);
    std::vector<double> values(model.states(), 1.0);  // one for each rank that knows the state
    std::vector<State> known;
    for (State s = 0; s < model.states(); ++s) known.push_back(whole_number(model, s));
    exchange.collect({values.data(), 1, 1, 0, 1},
                     [](double* into, const double* from) { *into += *from; });
    std::vector<int> count(40);
    for (const State s : all_gather_lists(ranks, known)) ++count[s];
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      EXPECT_EQ(values[s], count[whole_number(model, s)]);
    }
  });
}

TEST(Collectives, CombineWhatRanksHave) {
  run_ranks(3, [](Communicator& ranks) {
    const double mine = ranks.rank() + 1.0;
    EXPECT_EQ(max_over_ranks(ranks, mine), 3);
    EXPECT_EQ(min_over_ranks(ranks, mine), 1);
    EXPECT_EQ(sum_over_ranks(ranks, mine), 6);
    EXPECT_TRUE(any_rank(ranks, ranks.rank() == 2));
    EXPECT_FALSE(all_ranks(ranks, ranks.rank() == 2));
    EXPECT_EQ(all_gather_one(ranks, ranks.rank()), (std::vector<int>{0, 1, 2}));
    const std::vector<int> list(ranks.rank(), ranks.rank());  // of different lengths
    EXPECT_EQ(all_gather_lists(ranks, list), (std::vector<int>{1, 2, 2}));
    std::vector<int> told = ranks.rank() == 0 ? std::vector<int>{4, 5} : std::vector<int>();
    broadcast(ranks, told);
    EXPECT_EQ(told, (std::vector<int>{4, 5}));
  });
}

TEST(Collectives, AllToAllDeliversToEveryRank) {
  run_ranks(3, [](Communicator& ranks) {
    std::vector<std::vector<int>> lists;  // to rank r: r + 1 times our own number
    for (int r = 0; r < 3; ++r) lists.emplace_back(r + 1, ranks.rank());
    const auto received = all_to_all(ranks, lists);
    for (int r = 0; r < 3; ++r) EXPECT_EQ(received[r], std::vector<int>(ranks.rank() + 1, r));
    const std::vector<int> items = {0, 1, 2};
    const auto owner = [](int item) { return item; };
    EXPECT_EQ(send_to_owners(ranks, items, owner), std::vector<int>(3, ranks.rank()));
    EXPECT_EQ(ask_owners(ranks, items, owner, [](int item) { return 10 * item; }),
              (std::vector<int>{0, 10, 20}));
  });
}

TEST(Collectives, AFailureOfOneIsAnErrorOfAll) {
  run_ranks(3, [](Communicator& ranks) {
    const auto fail = [&] {
      if (ranks.rank() == 1) throw Error("only here");
    };
    try {
      all_or_none(ranks, fail);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "only here");
    }
  });
}

}  // namespace
}  // namespace redoubt
