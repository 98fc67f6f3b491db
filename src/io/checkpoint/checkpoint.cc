#include "redoubt/advanced/checkpoint.h"

#include <algorithm>
#include <chrono>

#include "io/solution/hdf5.h"
#include "io/solution/parts_hdf5.h"
#include "io/solution/seal.h"
#include "io/solution/stage_pieces.h"
#include "io/solution/stage_slices.h"
#include "io/solution/state_ranges.h"
#include "parallel/collectives.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

constexpr std::int64_t kPieceValues = 1 << 22;  // of other ranks in memory at a time

std::string under_state(const char* name) { return std::string("state/") + name; }

// The values of all states, `each` for every one, in pieces that are not too large.
class ValuePieces {
 public:
  ValuePieces(const Owners& owners, std::int64_t each, const Archive::ValuesAt& at)
      : ranges_(owners, owners.model->own_states(),
                1 + owners.model->all_states() * each / kPieceValues),
        each_(each),
        at_(at) {}

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes(ranges_.count());
    for (int r = 0; r < ranges_.count(); ++r) sizes[r] = ranges_.states(r) * each_;
    return sizes;
  }
  std::vector<double> fetch(int range) const {  // on every rank; the first one gets it
    std::vector<double> values;
    const auto [begin, end] = ranges_.own(range);
    for (State s = begin; s < end; ++s) values.insert(values.end(), at_(s), at_(s) + each_);
    return ranges_.on_rank(0, range, std::vector<std::int64_t>(end - begin, each_),
                           std::move(values));
  }

 private:
  StateRanges ranges_;
  std::int64_t each_;
  const Archive::ValuesAt& at_;
};

// The state of work in a file. The first rank writes what all of them have; each reads its own.
//
// On the first rank, with a file; and without one on every other rank, which makes the same visits
// at the same time: one in which the first only counts, and one in which it takes the values.
class ArchiveWriter : public Archive {
 public:
  ArchiveWriter(hdf5::Output* out, const Owners& owners, bool counting = false)
      : out_(out), owners_(owners), counting_(counting) {}

  void visit(const char* name, std::vector<double>& values) override {
    if (out_) out_->write(under_state(name), values);
  }

  void visit(const char* name, std::vector<std::int64_t>& values) override {
    if (out_) out_->write(under_state(name), values);
  }

  void visit(const char* name, std::vector<std::vector<double>>& lists) override {
    if (!out_) return;
    out_->write_parts<double>(
        under_state(name), lists.size(),
        [&](std::size_t i) -> const std::vector<double>& { return lists[i]; });
  }

  void visit(const char* name, Trace& trace) override {
    if (out_) write_trace(*out_, under_state(name) + "/", trace);
  }

  void visit_states(const char* name, std::int64_t each, const ValuesAt& at) override {
    const ValuePieces pieces(owners_, each, at);
    const auto sizes = pieces.sizes();
    const auto fetch = [&](std::size_t i) { return pieces.fetch(static_cast<int>(i)); };
    if (out_) return out_->write_pieces<double>(under_state(name), sizes, fetch);
    for (std::size_t i = 0; !counting_ && i < sizes.size(); ++i) {
      if (sizes[i] > 0) fetch(i);
    }
  }

  void visit_stages(const char* name, Policy& policy, StageStore* store) override {
    const StagePieces pieces(policy.stages, owners_.model->own_states(), owners_, store);
    if (out_)
      pieces.write(*out_, under_state(name) + "/");
    else if (!counting_)
      pieces.hand_over();
  }

  void visit_sum(const char* name, double& share) override {
    const double sum = sum_over_ranks(*owners_.ranks, share);
    if (out_) out_->write(under_state(name), std::vector<double>{sum});
  }

 private:
  hdf5::Output* out_;
  const Owners& owners_;
  bool counting_;
};

// On every rank, of which none waits for another: one may fail alone.
class ArchiveReader : public Archive {
 public:
  ArchiveReader(const hdf5::Input& in, const Owners& owners) : in_(in), owners_(owners) {}

  void visit(const char* name, std::vector<double>& values) override {
    values = in_.read<double>(under_state(name));
  }

  void visit(const char* name, std::vector<std::int64_t>& values) override {
    values = in_.read<std::int64_t>(under_state(name));
  }

  void visit(const char* name, std::vector<std::vector<double>>& lists) override {
    lists = in_.read_lists<double>(under_state(name));
  }

  void visit(const char* name, Trace& trace) override {
    trace = read_trace(in_, under_state(name) + "/");
  }

  void visit_states(const char* name, std::int64_t each, const ValuesAt& at) override {
    if (each == 0) return;
    const Model& model = *owners_.model;
    const auto most = std::max<std::int64_t>(1, kPieceValues / each);
    for_each_range_of_own(model, most, [&](State begin, State end, State first, State last) {
      const auto values =
          in_.read_range<double>(under_state(name), begin * each, (end - begin) * each);
      for (State place = first; place < last; ++place) {
        const State number = whole_number(model, model.own(place));
        std::copy_n(values.begin() + (number - begin) * each, each, at(place));
      }
    });
  }

  void visit_stages(const char* name, Policy& policy, StageStore* store) override {
    const Model& model = *owners_.model;
    const StageSlices slices(in_, under_state(name) + "/", model.all_states(), 0);  // no tables
    policy.stages.assign(slices.count(), {});
    for (int h = 0; h < slices.count(); ++h) {
      Policy::Stage stage = slices.read_own(h, model);
      policy.stages[h].memory = stage.memory;
      if (store)
        store->put(h, stage);
      else
        policy.stages[h] = std::move(stage);
    }
  }

  void visit_sum(const char* name, double& share) override {
    const auto sum = in_.read<double>(under_state(name));
    share = owners_.ranks->rank() == 0 ? sum.at(0) : 0.0;
  }

 private:
  const hdf5::Input& in_;
  const Owners& owners_;
};

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
