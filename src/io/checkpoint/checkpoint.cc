#include "redoubt/advanced/checkpoint.h"

#include <algorithm>
#include <chrono>

#include "io/checkpoint/archive.h"
#include "io/solution/seal.h"
#include "parallel/collectives.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

class CheckpointFile : public Checkpoint {
 public:
  CheckpointFile(std::filesystem::path path, double interval)
      : path_(std::move(path)), interval_(interval) {}

  bool restore(const std::string& work, const State& state, const Owners& owners) override {
    const auto seen = all_gather_one<char>(*owners.ranks, std::filesystem::exists(path_) ? 1 : 0);
    const auto count = std::count(seen.begin(), seen.end(), 1);
    if (count == 0) return false;
    require(count == owners.ranks->size(),
            "{}: {} of {} ranks see this file, must be in a folder that all of them share",
            path_.string(), count, owners.ranks->size());
    // Nobody goes on, and writes the next one, before everybody has read this one.
    all_or_none(*owners.ranks, [&] { naming(path_.string(), [&] { read(work, state, owners); }); });
    last_ = Clock::now();
    return true;
  }

  bool is_due() const override {
    return interval_.count() == 0 || Clock::now() - last_ >= std::max(interval_, 9 * cost_);
  }

  void save(const std::string& work, const State& state, const Owners& owners) override {
    const auto begin = Clock::now();
    if (owners.ranks->rank() == 0) {
      write_sealed(path_, [&](hdf5::Output& out) {
        out.write("work", std::vector<char>(work.begin(), work.end()));
        ArchiveWriter writer(&out, owners);
        state(writer);
      });
    } else {
      for (const bool counting : {true, false}) {
        ArchiveWriter sender(nullptr, owners, counting);
        state(sender);
      }
    }
    last_ = Clock::now();
    cost_ = last_ - begin;
  }

  std::shared_ptr<Checkpoint> part(const std::string& name) override {
    auto path = path_;
    path += "." + name;
    return parts_.emplace_back(std::make_shared<CheckpointFile>(path, interval_.count()));
  }

  void remove() override {
    for (const auto& each : parts_) each->remove();
    std::error_code failure;
    std::filesystem::remove(path_, failure);
  }

 private:
  void read(const std::string& work, const State& state, const Owners& owners) const {
    check_seal(path_);
    const hdf5::QuietErrors quiet;
    const hdf5::Input in(path_);
    require(in.has("work"), "is not a checkpoint, must be one or be missing");
    const auto text = in.read<char>("work");
    const std::string found(text.begin(), text.end());
    require(found == work, "holds the state of {}; must be of {}, or be missing", found, work);
    ArchiveReader reader(in, owners);
    state(reader);
  }

  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  std::filesystem::path path_;
  Seconds interval_;
  Seconds cost_{0};  // of the last save
  Clock::time_point last_ = Clock::now();
  std::vector<std::shared_ptr<Checkpoint>> parts_;
};

}  // namespace
}  // namespace internal::io

std::shared_ptr<Checkpoint> checkpoint_file(const std::filesystem::path& path, double interval) {
  require(!path.empty(), "the name of a checkpoint is empty, must be a file");
  require(interval >= 0, "checkpoint_interval = {}, must be at least 0", interval);
  return std::make_shared<io::CheckpointFile>(path, interval);
}

}  // namespace redoubt
