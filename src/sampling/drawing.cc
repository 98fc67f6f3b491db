#include "sampling/drawing.h"

#include "support/require.h"

namespace redoubt::internal {

Drawing::Drawing(Simulator& simulator, const LearnOptions& options, int threads)
    : shape_(simulator.shape()),
      questions_(simulator, options.seed, threads),
      counts_(shape_),
      kept_(shape_.rows()) {
  if (options.store.empty()) return;
  path_ = options.store.string();
  store_.emplace(options.store, shape_, options.seed, [&](const SampleStore::Record& record) {
    require(record.row >= 0 && record.row < shape_.rows() && record.draw >= 0,
            "{}: holds a sample of row {}, must be of a row in 0..{}", path_, record.row,
            shape_.rows() - 1);
    check_sample(shape_, record.sample);
    kept_[record.row].emplace(record.draw, record.sample);
  });
}

void Drawing::draw(const std::vector<std::int64_t>& to, Stopwatch& watch) {
  try {
    ask(to, watch);
  } catch (const Stopped&) {
    if (store_) store_->flush();
    throw;
  } catch (const Error& error) {
    if (!store_) throw;
    store_->flush();
    throw Error(fmt::format("{}; samples so far are kept in {}", error.what(), path_));
  }
  if (store_) store_->flush();
}

void Drawing::ask(const std::vector<std::int64_t>& to, Stopwatch& watch) {
  std::vector<DrawRange> ranges;
  for (Row row = 0; row < shape_.rows(); ++row) {
    const std::int64_t from = counts_.samples(row);
    for (auto draw = from; draw < to[row]; ++draw) {
      const auto found = kept_[row].find(draw);
      if (found == kept_[row].end()) continue;
      counts_.add(row, found->second);
      ++reused;
    }
    if (from < to[row]) ranges.push_back({row, from, to[row]});
  }
  questions_.ask(
      ranges, [&](Row row, std::int64_t draw) { return kept_[row].contains(draw); },
      [&](const Query& query, const Sample& sample, int worker) {
        {
          const std::lock_guard lock(mutex_);
          counts_.add(query.row, sample);
          ++queries;
        }
        if (store_) store_->add(query.row, query.draw, sample);
        if (worker == 0) watch.check();
      });
}

}  // namespace redoubt::internal
