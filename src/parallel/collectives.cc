#include "parallel/collectives.h"

#include <array>
#include <numeric>

#include "model/submodel.h"
#include "redoubt/error.h"

namespace redoubt {
using namespace internal;
namespace {

class OneProcess : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    return {mine.begin(), mine.end()};
  }
  void begin(std::span<const Outgoing>, std::span<const Incoming>) override {}
  void finish() override {}
};

}  // namespace

Communicator& one_process() {
  static OneProcess process;
  return process;
}

void internal::min_over_ranks(Communicator& ranks, std::span<double> values) {
  if (ranks.size() == 1) return;
  const auto all = all_gather<double>(ranks, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = all[i];
    for (std::size_t at = i + values.size(); at < all.size(); at += values.size())
      values[i] = std::min(values[i], all[at]);
  }
}

void internal::all_or_none(Communicator& ranks, const std::function<void()>& body) {
  if (ranks.size() == 1) return body();
  struct Outcome {
    bool failed = false;
    std::array<char, 1000> text = {};
  } mine;
  try {
    body();
  } catch (const std::exception& error) {
    mine.failed = true;
    std::strncpy(mine.text.data(), error.what(), mine.text.size() - 1);
  }
  for (const Outcome& outcome : all_gather_one(ranks, mine)) {
    if (outcome.failed) throw Error(outcome.text.data());
  }
}

}  // namespace redoubt

namespace redoubt::internal {

// Each rank adds up the counts of one range of all states, whoever owns them.
std::vector<std::int64_t> first_numbers(Communicator& ranks, std::span<const State> states,
                                        std::span<const std::int64_t> count, State all) {
  struct Count {
    std::int64_t state = 0, things = 0;
  };
  const State range = all / ranks.size() + 1;
  const std::int64_t begin = std::int64_t{range} * ranks.rank();
  std::vector<std::vector<Count>> counts(ranks.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    counts[states[i] / range].push_back({states[i], count[i]});
  const auto given = all_to_all(ranks, std::move(counts));
  std::vector<std::int64_t> first(range + 1, 0);
  for (const auto& list : given) {
    for (const Count& one : list) first[one.state - begin + 1] = one.things;
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  const auto totals = all_gather_one(ranks, first.back());
  const auto before =
      std::accumulate(totals.begin(), totals.begin() + ranks.rank(), std::int64_t{0});
  std::vector<std::vector<std::int64_t>> answers(ranks.size());
  for (std::size_t r = 0; r < given.size(); ++r) {
    for (const Count& one : given[r]) answers[r].push_back(before + first[one.state - begin]);
  }
  std::vector<std::int64_t> numbers;  // ranges increase, and so do the states that were asked for
  for (const auto& list : all_to_all(ranks, std::move(answers)))
    numbers.insert(numbers.end(), list.begin(), list.end());
  return numbers;
}

std::vector<std::int32_t> owners_of_all(Communicator& ranks, const Model& part) {
  std::vector<State> mine;
  for (State s = 0; s < part.own_states(); ++s) mine.push_back(whole_number(part, part.own(s)));
  const auto counts = all_gather_one(ranks, part.own_states());
  const std::vector<State> states = all_gather_lists(ranks, std::move(mine));
  std::vector<std::int32_t> owner(part.all_states());
  auto state = states.begin();
  for (int r = 0; r < ranks.size(); ++r) {
    for (State s = 0; s < counts[r]; ++s) owner[*state++] = r;
  }
  return owner;
}

}  // namespace redoubt::internal
