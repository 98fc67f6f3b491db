#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "processes.h"

namespace redoubt {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 30;  // bytes of a message: MPI counts in int

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;  // only the main thread of a rank ever calls MPI
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &meeting_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * size_);
    std::vector<std::byte> pieces;  // of all ranks: what is longer than a message comes in several
    for (std::size_t at = 0; at < mine.size(); at += kLongest) {
      const std::size_t count = std::min(kLongest, mine.size() - at);
      pieces.resize(count * size_);
      MPI_Allgather(mine.data() + at, static_cast<int>(count), MPI_BYTE, pieces.data(),
                    static_cast<int>(count), MPI_BYTE, MPI_COMM_WORLD);
      for (int r = 0; r < size_; ++r)
        std::copy_n(pieces.data() + r * count, count, all.data() + r * mine.size() + at);
    }
    return all;
  }

  void begin(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    for (const Incoming& message : incoming) {
      for_each_piece(message.bytes, [&](auto* bytes, int count, MPI_Request* request) {
        MPI_Irecv(bytes, count, MPI_BYTE, message.from, 0, MPI_COMM_WORLD, request);
      });
    }
    for (const Outgoing& message : outgoing) {
      for_each_piece(message.bytes, [&](auto* bytes, int count, MPI_Request* request) {
        MPI_Isend(bytes, count, MPI_BYTE, message.to, 0, MPI_COMM_WORLD, request);
      });
    }
  }

  void finish() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  bool meet(std::chrono::milliseconds patience) const {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(meeting_, &barrier);
    const auto late = std::chrono::steady_clock::now() + patience;
    for (int done = 0;;) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
      if (done) return true;
      if (std::chrono::steady_clock::now() > late) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  template <class Span, class Start>
  void for_each_piece(Span bytes, Start start) {
    for (std::size_t at = 0; at < bytes.size(); at += kLongest) {
      MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
      start(bytes.data() + at, static_cast<int>(std::min(kLongest, bytes.size() - at)), &request);
    }
  }

  int rank_ = 0, size_ = 1;
  MPI_Comm meeting_ = MPI_COMM_NULL;  // of ranks that have failed, apart from all other messages
  std::vector<MPI_Request> requests_;
};

MpiCommunicator& communicator() {
  static MpiCommunicator all;
  return all;
}

}  // namespace

Communicator& processes() { return communicator(); }

bool everyone_is_here() {
  return communicator().size() == 1 || communicator().meet(std::chrono::milliseconds(2000));
}

void end_processes() { MPI_Finalize(); }

void abandon(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::abort();  // not reached: MPI_Abort does not return
}

}  // namespace redoubt
