#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parallel/stopwatch.h"
#include "redoubt/learn.h"
#include "sampling/questions.h"
#include "sampling/row_counts.h"
#include "sampling/store.h"

namespace redoubt::internal {

// Samples as they come: from the store where it has them, otherwise from the simulator.
class Drawing {
 public:
  Drawing(Simulator& simulator, const LearnOptions& options, int threads);

  const RowCounts& counts() const { return counts_; }
  std::int64_t queries = 0, reused = 0;

  // Until every row has as many samples as `to` says. Errors say where samples are kept.
  void draw(const std::vector<std::int64_t>& to, Stopwatch& watch);

 private:
  void ask(const std::vector<std::int64_t>& to, Stopwatch& watch);

  const SimulatorShape& shape_;
  Questions questions_;
  RowCounts counts_;
  std::vector<std::map<std::int64_t, Sample>> kept_;  // of the store, of each row
  std::string path_;
  std::optional<SampleStore> store_;
  std::mutex mutex_;
};

}  // namespace redoubt::internal
