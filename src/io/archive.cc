#include "io/archive.h"

#include <algorithm>

#include "io/on_first_rank.h"
#include "io/parts_hdf5.h"
#include "io/stage_pieces.h"
#include "io/stage_slices.h"
#include "model/agree.h"
#include "model/require.h"

namespace redoubt::io {
namespace {

constexpr std::int64_t kPieceValues = 1 << 22;  // of other ranks in memory at a time

std::string under_state(const char* name) { return std::string("state/") + name; }

// The values of all states, `each` for every one, in pieces of one rank that are not too large.
struct Pieces {
  std::vector<std::size_t> sizes;
  std::vector<int> rank;
  std::vector<std::int64_t> at;  // in the values of that rank
};

Pieces pieces_of(const Owners& owners, std::int64_t each) {
  Pieces pieces;
  for (int r = 0; r < owners.ranks->size(); ++r) {
    const auto all = (owners.blocks[r + 1] - owners.blocks[r]) * each;
    for (std::int64_t at = 0; at < all; at += kPieceValues) {
      pieces.sizes.push_back(std::min(kPieceValues, all - at));
      pieces.rank.push_back(r);
      pieces.at.push_back(at);
    }
  }
  return pieces;
}

template <class Value>
std::vector<Value> piece(const Pieces& pieces, std::size_t i, std::span<Value> own,
                         Communicator& ranks) {
  std::vector<Value> values;
  if (ranks.rank() == pieces.rank[i]) {
    const auto mine = own.subspan(pieces.at[i], pieces.sizes[i]);
    values.assign(mine.begin(), mine.end());
  }
  return on_first_rank(ranks, pieces.rank[i], std::move(values), pieces.sizes[i]);
}

template <class Value>
void write_states(hdf5::Output& out, const std::string& name, const Owners& owners,
                  std::span<Value> own, std::int64_t each) {
  const Pieces pieces = pieces_of(owners, each);
  out.write_pieces<Value>(name, pieces.sizes,
                          [&](std::size_t i) { return piece(pieces, i, own, *owners.ranks); });
}

template <class Value>
void send_states(const Owners& owners, std::span<Value> own, std::int64_t each) {
  const Pieces pieces = pieces_of(owners, each);
  for (std::size_t i = 0; i < pieces.sizes.size(); ++i) piece(pieces, i, own, *owners.ranks);
}

template <class Value>
void read_states(const hdf5::Input& in, const std::string& name, const Owners& owners,
                 std::span<Value> own, std::int64_t each) {
  if (own.empty()) return;
  const auto first = owners.blocks[owners.ranks->rank()];
  const auto values =
      in.read_range<Value>(name, first * each, static_cast<std::int64_t>(own.size()));
  std::copy(values.begin(), values.end(), own.begin());
}

}  // namespace

void ArchiveWriter::visit(const char* name, std::vector<double>& values) {
  out_.write(under_state(name), values);
}

void ArchiveWriter::visit(const char* name, std::vector<std::int64_t>& values) {
  out_.write(under_state(name), values);
}

void ArchiveWriter::visit(const char* name, std::vector<std::vector<double>>& lists) {
  out_.write_parts<double>(under_state(name), lists.size(),
                           [&](std::size_t i) -> const std::vector<double>& { return lists[i]; });
}

void ArchiveWriter::visit(const char* name, Trace& trace) {
  write_trace(out_, under_state(name) + "/", trace);
}

void ArchiveWriter::visit_states(const char* name, std::span<double> own, std::int64_t each) {
  write_states(out_, under_state(name), owners_, own, each);
}

void ArchiveWriter::visit_stages(const char* name, Policy& policy, StageStore* store) {
  StagePieces(policy.stages, *owners_.ranks, store).write(out_, under_state(name) + "/");
}

void ArchiveWriter::visit_sum(const char* name, double& share) {
  out_.write(under_state(name), std::vector<double>{agree_on_sum(*owners_.ranks, share)});
}

void ArchiveSender::visit_states(const char*, std::span<double> own, std::int64_t each) {
  if (!counting_) send_states(owners_, own, each);
}

void ArchiveSender::visit_stages(const char*, Policy& policy, StageStore* store) {
  const StagePieces pieces(policy.stages, *owners_.ranks, store);
  if (!counting_) pieces.hand_over();
}

void ArchiveSender::visit_sum(const char*, double& share) { agree_on_sum(*owners_.ranks, share); }

void ArchiveReader::visit(const char* name, std::vector<double>& values) {
  values = in_.read<double>(under_state(name));
}

void ArchiveReader::visit(const char* name, std::vector<std::int64_t>& values) {
  values = in_.read<std::int64_t>(under_state(name));
}

void ArchiveReader::visit(const char* name, std::vector<std::vector<double>>& lists) {
  lists = in_.read_lists<double>(under_state(name));
}

void ArchiveReader::visit(const char* name, Trace& trace) {
  trace = read_trace(in_, under_state(name) + "/");
}

void ArchiveReader::visit_states(const char* name, std::span<double> own, std::int64_t each) {
  read_states(in_, under_state(name), owners_, own, each);
}

void ArchiveReader::visit_stages(const char* name, Policy& policy, StageStore* store) {
  const int rank = owners_.ranks->rank();
  const StageSlices slices(in_, under_state(name) + "/", owners_.blocks.back(), 0);  // no tables
  policy.stages.assign(slices.count(), {});
  for (int h = 0; h < slices.count(); ++h) {
    Policy::Stage stage = slices.read(h, owners_.blocks[rank], owners_.blocks[rank + 1]);
    policy.stages[h].memory = stage.memory;
    if (store)
      store->put(h, stage);
    else
      policy.stages[h] = std::move(stage);
  }
}

void ArchiveReader::visit_sum(const char* name, double& share) {
  const auto sum = in_.read<double>(under_state(name));
  share = owners_.ranks->rank() == 0 ? sum.at(0) : 0.0;
}

}  // namespace redoubt::io
