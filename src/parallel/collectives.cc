#include "parallel/collectives.h"

#include <array>

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
