#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "redoubt/advanced/ranks.h"
#include "redoubt/error.h"

namespace redoubt {
namespace {

// Where all ranks wait for each other, asleep: std::barrier spins, which takes the processor from
// those that are waited for when there are more threads than cores.
class Barrier {
 public:
  explicit Barrier(int count) : missing_(count), count_(count) {}

  void wait() {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (--missing_ == 0) return open();
    all_here_.wait(lock, [&] { return round_ != round; });
  }
  void leave() {  // for good: nobody waits for this one again
    const std::lock_guard lock(mutex_);
    --count_;
    if (--missing_ == 0) open();
  }

 private:
  void open() {
    missing_ = count_;
    ++round_;
    all_here_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable all_here_;
  int missing_, count_;
  std::int64_t round_ = 0;
};

// What the threads of run_ranks share: a place for each rank's bytes and messages, and a barrier.
// A rank that fails leaves, and `failed` tells the others.
struct Square {
  explicit Square(int count) : barrier(count), bytes(count), outgoing(count) {}

  void wait() {
    barrier.wait();
    if (failed) throw Error("another rank has failed");
  }

  Barrier barrier;
  std::atomic<bool> failed = false;
  std::vector<std::span<const std::byte>> bytes;
  std::vector<std::vector<Communicator::Outgoing>> outgoing;
};

class LocalRank : public Communicator {
 public:
  LocalRank(Square& square, int rank) : square_(square), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(square_.bytes.size()); }

  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    square_.bytes[rank_] = mine;
    square_.wait();
    std::vector<std::byte> all;
    for (const auto& bytes : square_.bytes) all.insert(all.end(), bytes.begin(), bytes.end());
    square_.wait();
    return all;
  }

  void begin(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    square_.outgoing[rank_].assign(outgoing.begin(), outgoing.end());
    incoming_.assign(incoming.begin(), incoming.end());
  }

  void finish() override {
    square_.wait();
    for (const Incoming& message : incoming_) {
      for (const Outgoing& sent : square_.outgoing[message.from]) {
        if (sent.to == rank_)
          std::copy_n(sent.bytes.data(), message.bytes.size(), message.bytes.data());
      }
    }
    incoming_.clear();
    square_.wait();
  }

 private:
  Square& square_;
  int rank_;
  std::vector<Incoming> incoming_;
};

}  // namespace

void run_ranks(int count, const std::function<void(Communicator&)>& body) {
  Square square(count);
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](int rank) {
    LocalRank communicator(square, rank);
    try {
      body(communicator);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      square.failed = true;
    }
    square.barrier.leave();
  };
  std::vector<std::thread> others;
  for (int rank = 1; rank < count; ++rank) others.emplace_back(run, rank);
  run(0);
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace redoubt
