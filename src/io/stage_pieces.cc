#include "io/stage_pieces.h"

#include <numeric>

#include "io/on_first_rank.h"
#include "io/stage_arrays.h"
#include "model/agree.h"
#include "model/require.h"

namespace redoubt::io {
namespace {

bool is_offsets(const std::string& name) { return name == "choice_begin"; }

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
      // The first offset is the last one of the rank before.
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

// Choices that ranks before this one have at a stage.
std::size_t StagePieces::shift(int h, int rank) const {
  const auto first = sizes_.at("choice_action").begin() + h * ranks_.size();
  return std::accumulate(first, first + rank, std::size_t{0});
}

template <class Value>
std::vector<Value> StagePieces::own(int h, const char* name,
                                    std::vector<Value> Policy::Stage::*array) const {
  std::vector<Value> values = stage(h).*array;
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    if (is_offsets(name) && ranks_.rank() > 0 && !values.empty()) {
      values.erase(values.begin());
      for (std::int64_t& value : values)
        value += static_cast<std::int64_t>(shift(h, ranks_.rank()));
    }
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
