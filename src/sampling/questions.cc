#include "sampling/questions.h"

#include <algorithm>
#include <cmath>

#include "numerics/philox.h"
#include "sampling/query_name.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr std::int64_t kBlock = 1024;  // draws of a row that are handed to a thread at once
constexpr double kNanosecondsPerQuery = 100.0;  // of a simulator that threads may share

std::uint64_t query_seed(std::uint64_t seed, Row row, std::int64_t draw) {
  return RandomStream(seed, static_cast<std::uint64_t>(row), static_cast<std::uint32_t>(draw))
             .bits() >>
         11;
}

}  // namespace

void check_sample(const SimulatorShape& shape, const Sample& sample) {
  require(sample.next >= 0 && sample.next < shape.states, "next = {}, must be in 0..{}",
          sample.next, shape.states - 1);
  require(std::isfinite(sample.reward), "reward = {}, must be finite", sample.reward);
  require(sample.signals.size() == shape.signals.size(), "{} signals, must be {}",
          sample.signals.size(), shape.signals.size());
  for (std::size_t s = 0; s < sample.signals.size(); ++s) {
    require(std::isfinite(sample.signals[s]), "signal '{}' = {}, must be finite", shape.signals[s],
            sample.signals[s]);
  }
}

Questions::Questions(Simulator& simulator, std::uint64_t seed, int threads)
    : simulator_(simulator), seed_(seed), workers_(simulator.is_concurrent() ? threads : 1) {
  const SimulatorShape& shape = simulator.shape();
  for (std::size_t slot = 0; slot + 1 < shape.state_rows.size(); ++slot)
    slots_.insert(slots_.end(), shape.state_rows[slot + 1] - shape.state_rows[slot], slot);
}

void Questions::ask(const std::vector<DrawRange>& ranges, const Present& present,
                    const Receive& receive) {
  if (!simulator_.is_concurrent()) return ask_some(ranges, present, receive, 0);
  std::vector<DrawRange> blocks;
  std::int64_t draws = 0;
  for (const DrawRange& range : ranges) {
    draws += range.end - range.begin;
    for (auto begin = range.begin; begin < range.end; begin += kBlock)
      blocks.push_back({range.row, begin, std::min(range.end, begin + kBlock)});
  }
  workers_.for_each(
      static_cast<std::int64_t>(blocks.size()), static_cast<double>(draws) * kNanosecondsPerQuery,
      [&](std::int64_t begin, std::int64_t end, int worker) {
        ask_some(std::span(blocks).subspan(begin, end - begin), present, receive, worker);
      });
}

void Questions::ask_some(std::span<const DrawRange> ranges, const Present& present,
                         const Receive& receive, int worker) {
  const SimulatorShape& shape = simulator_.shape();
  std::size_t at = 0;
  std::int64_t draw = ranges.empty() ? 0 : ranges[0].begin;
  const auto next = [&](Query& query) {
    while (at < ranges.size()) {
      while (draw < ranges[at].end && present(ranges[at].row, draw)) ++draw;
      if (draw < ranges[at].end) break;
      if (++at < ranges.size()) draw = ranges[at].begin;
    }
    if (at == ranges.size()) return false;
    const Row row = ranges[at].row;
    const auto slot = static_cast<std::int64_t>(slots_[row]);
    query = {row,
             draw,
             static_cast<int>(slot / shape.states),
             static_cast<State>(slot % shape.states),
             shape.action[row],
             query_seed(seed_, row, draw)};
    ++draw;
    return true;
  };
  simulator_.answer(next, [&](const Query& query, const Sample& sample) {
    try {
      check_sample(shape, sample);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", query_name(shape, query), error.what()));
    }
    receive(query, sample, worker);
  });
}

}  // namespace redoubt::internal
