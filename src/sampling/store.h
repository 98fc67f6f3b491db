#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "redoubt/simulator.h"

namespace redoubt::internal {

// Samples on disk, kept as they arrive. The file only grows: a header that says whose samples these
// are, then blocks, each with its length and a checksum. A block that a kill cut short is dropped
// when the file is opened again; damage anywhere else is an Error. One process at a time.
class SampleStore {
 public:
  struct Record {
    Row row = 0;
    std::int64_t draw = 0;
    Sample sample;
  };

  // Opens or creates the file, and calls `visit` with every sample in it.
  SampleStore(const std::filesystem::path& path, const SimulatorShape& shape, std::uint64_t seed,
              const std::function<void(const Record&)>& visit);
  ~SampleStore();
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  // From any thread. Reaches the file when a block is full, after a second, or with `flush`.
  void add(Row row, std::int64_t draw, const Sample& sample);
  void flush();

 private:
  using Clock = std::chrono::steady_clock;

  void lock_file();
  void read(const std::function<void(const Record&)>& visit);
  void write(std::string_view bytes);
  void write_block();
  std::string header() const;

  std::filesystem::path path_;
  std::uint64_t seed_, shape_sum_;
  std::size_t signals_;
  int descriptor_ = -1;
  std::mutex mutex_;
  std::string block_;  // records that are not in the file yet
  std::uint32_t block_records_ = 0;
  Clock::time_point last_write_ = Clock::now();
};

}  // namespace redoubt::internal
