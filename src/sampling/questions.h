#pragma once

#include <functional>
#include <span>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/simulator.h"

namespace redoubt::internal {

// Draws begin..end-1 of a row.
struct DrawRange {
  Row row = 0;
  std::int64_t begin = 0, end = 0;
};

// An Error that says what is wrong with a sample, unless it fits the shape.
void check_sample(const SimulatorShape& shape, const Sample& sample);

// Asks a simulator for draws, from several threads where it allows that. A query depends on the
// seed, its row and its draw only.
class Questions {
 public:
  Questions(Simulator& simulator, std::uint64_t seed, int threads);

  int workers() const { return workers_.count(); }

  // `present` says which draws need not be asked for. Answers are checked and handed over one by
  // one, with the number of the thread that has them; an error of the check names the query.
  using Present = std::function<bool(Row row, std::int64_t draw)>;
  using Receive = std::function<void(const Query& query, const Sample& sample, int worker)>;
  void ask(const std::vector<DrawRange>& ranges, const Present& present, const Receive& receive);

 private:
  void ask_some(std::span<const DrawRange> ranges, const Present& present, const Receive& receive,
                int worker);

  Simulator& simulator_;
  std::uint64_t seed_;
  Workers workers_;
  std::vector<std::size_t> slots_;  // (stage, state) of each row
};

}  // namespace redoubt::internal
