#include "io/stage_pieces.h"

#include <numeric>

#include "io/on_first_rank.h"
#include "io/stage_arrays.h"
#include "model/agree.h"
#include "model/require.h"

namespace redoubt::io {
namespace {

// Offsets have one entry more than what they are offsets of, and the first one of a rank is the
// last one of the rank before.
bool is_offsets(const std::string& name) {
  return name == "node_begin" || name == "choice_begin" || name == "move_begin";
}

}  // namespace

StagePieces::StagePieces(const std::vector<Policy::Stage>& list, Communicator& ranks,
                         const StageStore* store)
    : stages_(list), ranks_(ranks), store_(store) {
  const auto stages = list.size();
  std::map<std::string, std::vector<std::uint64_t>> mine;
  for_each_stage_array([&](const char* name, auto) { mine[name]; });  // also without a stage
  for (std::size_t h = 0; h < stages; ++h) {
    for_each_stage_array([&](const char* name, auto array) {
      const auto size = (stage(static_cast<int>(h)).*array).size();
      mine[name].push_back(is_offsets(name) && size > 0 && ranks_.rank() > 0 ? size - 1 : size);
    });
  }
  for (const auto& [name, sizes] : mine) {
    const auto all = gather_values<std::uint64_t>(ranks_, sizes);
    Sizes& ordered = sizes_[name];
    for (std::size_t h = 0; h < stages; ++h) {
      for (int r = 0; r < ranks_.size(); ++r) ordered.push_back(all[r * stages + h]);
    }
  }
}

const Policy::Stage& StagePieces::stage(int h) const {
  const Policy::Stage& here = stages_[h];
  if (!here.mixed.empty() || !here.choice_begin.empty()) return here;
  if (store_ == nullptr || !store_->has(h)) return here;  // not made yet
  if (loaded_ != h) stage_ = store_->get(h), loaded_ = h;
  return stage_;
}

// How many entries of an array, or of what it has the offsets of, the ranks before this one have at
// a stage.
std::int64_t StagePieces::before(int h, const char* name) const {
  const auto first = sizes_.at(name).begin() + h * ranks_.size();
  const auto sum = std::accumulate(first, first + ranks_.rank(), std::size_t{0});
  return static_cast<std::int64_t>(sum) - (is_offsets(name) && sum > 0 ? 1 : 0);
}

// What this rank's numbers in an array grow by when others' entries come before its own.
std::int64_t StagePieces::shift(int h, const std::string& name) const {
  if (name == "node_begin") return before(h, "choice_begin");
  if (name == "choice_begin") return before(h, "choice_action");
  if (name == "outcome_slot") return before(h, "move_begin");
  if (name == "move_begin") return before(h, "moves");
  return 0;
}

template <class Value>
std::vector<Value> StagePieces::own(int h, const char* name,
                                    std::vector<Value> Policy::Stage::*array) const {
  std::vector<Value> values = stage(h).*array;
  if (ranks_.rank() == 0 || values.empty()) return values;
  if (is_offsets(name)) values.erase(values.begin());
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    const std::int64_t more = shift(h, name);
    for (std::int64_t& value : values) value += more;
  }
  return values;
}

// Piece i, on the rank that writes.
template <class Value>
std::vector<Value> StagePieces::piece(std::size_t i, const char* name,
                                      std::vector<Value> Policy::Stage::*array) const {
  const int h = static_cast<int>(i / ranks_.size()), rank = static_cast<int>(i % ranks_.size());
  std::vector<Value> values;
  if (rank == ranks_.rank()) values = own(h, name, array);
  return on_first_rank(ranks_, rank, std::move(values), sizes_.at(name)[i]);
}

void StagePieces::write(hdf5::Output& out, const std::string& prefix) const {
  std::vector<std::int32_t> memory;
  for (const Policy::Stage& stage : stages_) memory.push_back(stage.memory);
  out.write(prefix + "memory", memory);
  for_each_stage_array(
      [&]<class Value>(const char* name, std::vector<Value> Policy::Stage::*array) {
        const Sizes& sizes = sizes_.at(name);
        out.write_pieces<Value>(prefix + name, sizes,
                                [&](std::size_t i) { return piece(i, name, array); });
        Sizes whole(stages_.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) whole[i / ranks_.size()] += sizes[i];
        out.write_offsets(prefix + name, whole);
      });
}

void StagePieces::hand_over() const {
  for_each_stage_array([&](const char* name, auto array) {
    const Sizes& sizes = sizes_.at(name);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > 0) piece(i, name, array);
    }
  });
}

}  // namespace redoubt::io
