#include "io/solution/stage_pieces.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <type_traits>
#include <vector>

#include "parallel/collectives.h"
#include "policy/stage_arrays.h"
#include "redoubt/policy.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

// Fills room that was left for arrays in a file that another process has made and closed. A failure
// is kept until the end: ranks go on talking to each other until all of them are there.
class PreallocatedWriter {
 public:
  explicit PreallocatedWriter(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0) failure_ = errno;
  }

  // What a value takes in a file: there, nothing lies between its members.
  template <class Value>
  static constexpr std::size_t bytes_of() {
    return sizeof(Value);
  }
  template <class Value>
  void write(const std::vector<Value>& values, std::uint64_t at) {
    write_bytes(values.data(), values.size() * sizeof(Value), at);
  }
  void close() {  // when all of it is on disk; an Error if anything was not written
    if (failure_ == 0 && ::fdatasync(file_) != 0) failure_ = errno;
    require(failure_ == 0, "{}: cannot be written ({})", path_.string(), std::strerror(failure_));
  }

 private:
  void write_bytes(const void* data, std::size_t bytes, std::uint64_t at) {
    if (failure_ == 0 && file_.write(data, bytes, static_cast<std::int64_t>(at)) < bytes)
      failure_ = errno;
  }

  std::filesystem::path path_;
  OpenFile file_;
  int failure_ = 0;  // the number of the first error
};

constexpr std::size_t kMoveBytes = sizeof(std::int32_t) + sizeof(double);
template <>
constexpr std::size_t PreallocatedWriter::bytes_of<MemoryMove>() {
  return kMoveBytes;
}
template <>
inline void PreallocatedWriter::write(const std::vector<MemoryMove>& values, std::uint64_t at) {
  std::vector<char> packed(values.size() * kMoveBytes);
  char* to = packed.data();
  for (const MemoryMove& move : values) {
    std::memcpy(to, &move.memory, sizeof move.memory);
    std::memcpy(to + sizeof move.memory, &move.weight, sizeof move.weight);
    to += kMoveBytes;
  }
  write_bytes(packed.data(), packed.size(), at);
}

// Offsets have one entry more than what they are offsets of.
bool is_landing(const std::string& name) { return name.starts_with("landing"); }
bool is_offsets(const std::string& name) {
  return name == "node_begin" || name == "choice_begin" || name == "move_begin" ||
         name == "landing_begin";
}

std::int64_t slot(const Policy::Stage& stage, std::int64_t choice) {
  if (choice < static_cast<std::int64_t>(stage.outcome_slot.size()))
    return stage.outcome_slot[choice];
  return static_cast<std::int64_t>(stage.move_begin.size()) - 1;
}

// Where the entries of a state, one of `states` of its rank, begin in an array that is not empty.
std::int64_t first_entry(const Policy::Stage& stage, const std::string& name, State state,
                         State states, std::int64_t plan) {
  if (name == "node_begin") return state;
  if (name == "landing_begin") return plan * states + state;
  if (name == "landing_moves") return stage.landing_begin[plan * states + state];
  const std::int64_t node = stage.begin(state);
  if (name == "mixed" || name == "choice_begin") return node;
  const std::int64_t choice = stage.choice_begin[node];
  if (name == "move_begin") return slot(stage, choice);
  if (name == "moves") return stage.move_begin[slot(stage, choice)];
  return choice;
}

// What offsets are the offsets of: a number that does not depend on what comes before.
std::int64_t length(const Policy::Stage& stage, const std::string& name,
                    const std::vector<std::int64_t>& offsets, std::int64_t entry) {
  const std::int64_t next = name == "outcome_slot" ? slot(stage, entry + 1) : offsets[entry + 1];
  require(next >= offsets[entry], "{} {} of a policy comes after {}, must never decrease", name,
          next, offsets[entry]);
  return next - offsets[entry];
}

}  // namespace

StagePieces::StagePieces(const std::vector<Policy::Stage>& stages, State own, const Owners& owners,
                         const StageStore* store)
    : stages_(stages),
      own_(own),
      owners_(owners),
      store_(store),
      ranges_(owners, own, owners.ranks->size()),
      whole_(owners, own, 1) {
  for (int h = 0; h < static_cast<int>(stages.size()); ++h) {
    const auto landings = static_cast<std::int64_t>(stage(h).landing_begin.size());
    const std::int64_t plans = own_ > 0 && landings > 0 ? (landings - 1) / own_ : 0;
    plans_.push_back(
        static_cast<std::int64_t>(max_over_ranks(*owners_.ranks, static_cast<double>(plans))));
  }
  for_each_stage_array(
      [&](const char* name, auto array) { pieces_[name] = pieces_of(name, array); });
}

const Policy::Stage& StagePieces::stage(int h) const {
  const Policy::Stage& here = stages_[h];
  if (!here.mixed.empty() || !here.choice_begin.empty()) return here;
  if (store_ == nullptr || !store_->has(h)) return here;  // not made yet
  if (loaded_ != h) stage_ = store_->get(h), loaded_ = h;
  return stage_;
}

template <class Array>
std::vector<StagePieces::Piece> StagePieces::pieces_of(const std::string& name,
                                                       Array Policy::Stage::*array) const {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> own, one_more;
  for (int h = 0; h < static_cast<int>(stages_.size()); ++h) {
    const auto& entries = stage(h).*array;
    if (alone()) {
      pieces.push_back({h});
      own.push_back(static_cast<std::int64_t>(entries.size()));
      continue;
    }
    std::vector<Piece> of_stage;
    if (is_landing(name)) of_stage = landing_pieces(h);
    for (int r = 0; !is_landing(name) && r < ranges_.count(); ++r) of_stage.push_back({h, r});
    for (const Piece& piece : of_stage) {
      pieces.push_back(piece);
      own.push_back(own_size(piece, name, entries.empty()));
      one_more.push_back(is_offsets(name) && piece.first() && !entries.empty());
    }
  }
  const auto all = all_gather<std::int64_t>(*owners_.ranks, own);
  for (std::size_t i = 0; i < all.size(); ++i) pieces[i % pieces.size()].size += all[i];
  // A rank without states may lack what all others have.
  const auto entries_more = all_gather<std::int64_t>(*owners_.ranks, one_more);
  std::vector<bool> counted(pieces.size());
  for (std::size_t i = 0; i < entries_more.size(); ++i) {
    const std::size_t piece = i % pieces.size();
    if (entries_more[i] == 0 || counted[piece]) continue;
    counted[piece] = true;
    ++pieces[piece].size;
  }
  return pieces;
}

// As many plans at a time as make it worth a message.
std::vector<StagePieces::Piece> StagePieces::landing_pieces(int stage) const {
  constexpr std::int64_t kMostSlots = 1 << 16;  // of plans and states
  const std::int64_t batch = std::max<std::int64_t>(1, kMostSlots / whole_.states(0));
  std::vector<Piece> pieces;
  for (std::int64_t plan = 0; plan < plans_[stage]; plan += batch)
    pieces.push_back({stage, 0, plan, std::min(plan + batch, plans_[stage])});
  return pieces;
}

const StateRanges& StagePieces::ranges_of(const std::string& name) const {
  return is_landing(name) ? whole_ : ranges_;
}

// What a rank has of a piece, but for the entry that offsets have more.
std::int64_t StagePieces::own_size(const Piece& piece, const std::string& name, bool empty) const {
  if (empty) return 0;
  const Policy::Stage& here = stage(piece.stage);
  const auto [begin, end] = ranges_of(name).own(piece.range);
  if (begin == end) return 0;
  return first_entry(here, name, end, own_, piece.plan_end - 1) -
         first_entry(here, name, begin, own_, piece.plan);
}

// The values of a piece, on the rank that writes it.
template <class Array>
std::vector<typename Array::value_type> StagePieces::fetch(const Piece& piece,
                                                           const std::string& name,
                                                           Array Policy::Stage::*array,
                                                           int writer) const {
  using Value = typename Array::value_type;
  const Policy::Stage& here = stage(piece.stage);
  const Array& entries = here.*array;
  if (alone()) return {entries.begin(), entries.end()};
  const auto [begin, end] = ranges_of(name).own(piece.range);
  std::vector<std::int64_t> counts;
  std::vector<Value> values;
  for (std::int64_t plan = piece.plan; plan < piece.plan_end; ++plan) {
    for (State s = begin; s < end; ++s) {
      const bool none = entries.empty();
      const auto first = none ? 0 : first_entry(here, name, s, own_, plan),
                 last = none ? 0 : first_entry(here, name, s + 1, own_, plan);
      counts.push_back(last - first);
      for (auto e = first; e < last; ++e) {
        if constexpr (std::is_same_v<Value, std::int64_t>)
          values.push_back(length(here, name, entries, e));
        else
          values.push_back(entries[e]);
      }
    }
  }
  if constexpr (std::is_same_v<Value, std::int64_t>) count_lengths(piece, name, values);
  values = ranges_of(name).on_rank(writer, piece.range, std::move(counts), std::move(values));
  if constexpr (std::is_same_v<Value, std::int64_t>)
    if (owners_.ranks->rank() == writer) values = to_offsets(piece, name, values);
  return values;
}

// Moves on by the lengths of a piece, of which each rank has some.
void StagePieces::count_lengths(const Piece& piece, const std::string& name,
                                const std::vector<std::int64_t>& lengths) const {
  if (std::pair now(name, piece.stage); now != total_of_) {
    next_total_ = 0;
    total_of_ = std::move(now);
  }
  total_ = next_total_;
  std::int64_t own = 0;
  for (const std::int64_t length : lengths) own += length;
  for (const std::int64_t part : all_gather_one(*owners_.ranks, own)) next_total_ += part;
}

// Lengths become offsets again, with what the pieces before it have had.
std::vector<std::int64_t> StagePieces::to_offsets(const Piece& piece, const std::string& name,
                                                  const std::vector<std::int64_t>& lengths) const {
  std::int64_t total = total_;
  std::vector<std::int64_t> offsets;
  offsets.reserve(lengths.size() + 1);
  if (is_offsets(name) && piece.first()) offsets.push_back(0);
  for (const std::int64_t length : lengths) {
    if (!is_offsets(name)) offsets.push_back(total);
    total += length;
    if (is_offsets(name)) offsets.push_back(total);
  }
  return offsets;
}

void StagePieces::write_memory(hdf5::Output& out, const std::string& prefix) const {
  std::vector<std::int32_t> memory;
  for (const Policy::Stage& stage : stages_) memory.push_back(stage.memory);
  out.write(prefix + "memory", memory);
}

std::vector<std::size_t> StagePieces::sizes_of_stages(const std::string& name) const {
  std::vector<std::size_t> sizes(stages_.size());
  for (const Piece& piece : pieces_.at(name)) sizes[piece.stage] += piece.size;
  return sizes;
}

void StagePieces::write(hdf5::Output& out, const std::string& prefix) const {
  write_memory(out, prefix);
  for_each_stage_array([&]<class Array>(const char* name, Array Policy::Stage::*array) {
    using Value = typename Array::value_type;
    const std::vector<Piece>& pieces = pieces_.at(name);
    std::vector<std::size_t> sizes;
    for (const Piece& piece : pieces) sizes.push_back(piece.size);
    out.write_pieces<Value>(prefix + name, sizes,
                            [&](std::size_t i) { return fetch(pieces[i], name, array, 0); });
    out.write_offsets(prefix + name, sizes_of_stages(name));
  });
}

void StagePieces::hand_over() const {
  for_each_stage_array([&](const char* name, auto array) {
    for (const Piece& piece : pieces_.at(name)) {
      if (piece.size > 0) fetch(piece, name, array, 0);
    }
  });
}

void StagePieces::leave_room(hdf5::Output& out, const std::string& prefix) const {
  write_memory(out, prefix);
  rooms_.clear();
  for_each_stage_array([&]<class Array>(const char* name, Array Policy::Stage::*) {
    const auto sizes = sizes_of_stages(name);
    const auto total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    rooms_.push_back(out.leave_room<typename Array::value_type>(prefix + name, total));
    out.write_offsets(prefix + name, sizes);
  });
}

void StagePieces::fill(const std::filesystem::path& path) const {
  Communicator& ranks = *owners_.ranks;
  const std::string own = path.string();
  std::vector<char> name(own.begin(), own.end());
  broadcast(ranks, name);
  broadcast(ranks, rooms_);
  PreallocatedWriter file(std::string(name.begin(), name.end()));
  auto room = rooms_.begin();
  for_each_stage_array([&]<class Array>(const char* array_name, Array Policy::Stage::*array) {
    using Value = typename Array::value_type;
    std::uint64_t at = *room++;
    int next_writer = 0;
    for (const Piece& piece : pieces_.at(array_name)) {
      const int writer = next_writer++ % ranks.size();
      if (piece.size == 0) continue;
      const std::vector<Value> values = fetch(piece, array_name, array, writer);
      if (ranks.rank() == writer) file.write(values, at);
      at += piece.size * PreallocatedWriter::bytes_of<Value>();
    }
  });
  all_or_none(ranks, [&] { file.close(); });
}

}  // namespace redoubt::internal::io
