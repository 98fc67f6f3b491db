#include "redoubt/estimate.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <optional>

#include "sampling/questions.h"
#include "sampling/store.h"
#include "sampling/tally.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr std::int64_t kReported = 1024;  // samples between two looks at the clock

// Which samples there are already.
class Present {
 public:
  Present(Row rows, std::int64_t samples) : samples_(samples), flags_(rows * samples, false) {}
  // False when the sample is not asked for in this run, or was there before.
  bool mark(Row row, std::int64_t draw) {
    if (draw >= samples_ || flags_[row * samples_ + draw]) return false;
    flags_[row * samples_ + draw] = true;
    return true;
  }
  bool has(Row row, std::int64_t draw) const { return flags_[row * samples_ + draw]; }

 private:
  std::int64_t samples_;
  std::vector<bool> flags_;
};

class Run {
 public:
  Run(Simulator& simulator, const EstimateOptions& options, const Execution& execution)
      : simulator_(simulator),
        shape_(simulator.shape()),
        options_(options),
        execution_(execution),
        total_(asked_rows() * options.samples),
        questions_(simulator, options.seed, execution.threads),
        before_(shape_) {
    if (!options.store.empty()) open_store();
  }

  Estimate operator()() {
    try {
      return ask_all();
    } catch (const Stopped& stop) {
      throw Stopped(stop.what() + kept());
    } catch (const Error& error) {
      throw Error(error.what() + kept());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  Row asked_rows() const {
    Row count = 0;
    for (Row row = 0; row < shape_.rows(); ++row) count += shape_.asks(row);
    return count;
  }

  void open_store() {
    present_.emplace(shape_.rows(), options_.samples);
    store_.emplace(options_.store, shape_, options_.seed,
                   [this](const SampleStore::Record& record) {
                     require(record.row >= 0 && record.row < shape_.rows() && record.draw >= 0,
                             "{}: holds a sample of row {}, must be of a row in 0..{}",
                             options_.store.string(), record.row, shape_.rows() - 1);
                     if (!present_->mark(record.row, record.draw)) return;
                     check_sample(shape_, record.sample);
                     before_.add(record.row, record.sample);
                     ++reused_;
                   });
  }

  Estimate ask_all() {
    std::vector<Tally> tallies(questions_.workers(), Tally(shape_));
    std::vector<DrawRange> ranges;
    for (Row row = 0; row < shape_.rows(); ++row)
      if (shape_.asks(row)) ranges.push_back({row, 0, options_.samples});
    questions_.ask(
        ranges, [&](Row row, std::int64_t draw) { return present_ && present_->has(row, draw); },
        [&](const Query& query, const Sample& sample, int worker) {
          tallies[worker].add(query.row, sample);
          if (store_) store_->add(query.row, query.draw, sample);
          const auto done = reused_ + ++asked_;
          if (worker == 0) report(done);
        });
    if (store_) store_->flush();
    for (const Tally& tally : tallies) before_.add(tally);
    Estimate estimate = before_.finish();
    estimate.queries = asked_;
    estimate.reused = reused_;
    return estimate;
  }

  // From the calling thread only, and not for every sample: clocks are slower than samples.
  void report(std::int64_t done) {
    if (simulator_.is_concurrent() && ++unreported_ % kReported != 0) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const bool go_on = !execution_.progress ||
                       execution_.progress(static_cast<double>(done) / static_cast<double>(total_));
    if (!go_on || seconds > execution_.time_limit)
      throw Stopped(fmt::format("estimate was stopped after {} of {} samples", done, total_));
  }

  std::string kept() {
    if (!store_) return "";
    store_->flush();
    return fmt::format("; {} of {} samples are kept in {}", reused_ + asked_, total_,
                       options_.store.string());
  }

  Simulator& simulator_;
  const SimulatorShape& shape_;
  const EstimateOptions& options_;
  const Execution& execution_;
  std::int64_t total_;
  Questions questions_;
  Tally before_;  // what was in the store
  std::optional<Present> present_;
  std::optional<SampleStore> store_;
  std::int64_t reused_ = 0, unreported_ = 0;
  std::atomic<std::int64_t> asked_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Estimate estimate(Simulator& simulator, const EstimateOptions& options,
                  const Execution& execution) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  require(options.samples >= 1 && options.samples <= most, "samples = {}, must be in 1..{}",
          options.samples, most);
  require(execution.threads >= 1, "threads = {}, must be at least 1", execution.threads);
  simulator.shape().check();
  return Run(simulator, options, execution)();
}

}  // namespace redoubt
