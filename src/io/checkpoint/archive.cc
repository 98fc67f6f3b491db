#include "io/checkpoint/archive.h"

#include <algorithm>

#include "io/solution/parts_hdf5.h"
#include "io/solution/stage_pieces.h"
#include "io/solution/stage_slices.h"
#include "io/solution/state_ranges.h"
#include "parallel/collectives.h"

namespace redoubt::internal::io {
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

}  // namespace

void ArchiveWriter::visit(const char* name, std::vector<double>& values) {
  if (out_) out_->write(under_state(name), values);
}

void ArchiveWriter::visit(const char* name, std::vector<std::int64_t>& values) {
  if (out_) out_->write(under_state(name), values);
}

void ArchiveWriter::visit(const char* name, std::vector<std::vector<double>>& lists) {
  if (!out_) return;
  out_->write_parts<double>(under_state(name), lists.size(),
                            [&](std::size_t i) -> const std::vector<double>& { return lists[i]; });
}

void ArchiveWriter::visit(const char* name, Trace& trace) {
  if (out_) write_trace(*out_, under_state(name) + "/", trace);
}

void ArchiveWriter::visit_states(const char* name, std::int64_t each, const ValuesAt& at) {
  const ValuePieces pieces(owners_, each, at);
  const auto sizes = pieces.sizes();
  const auto fetch = [&](std::size_t i) { return pieces.fetch(static_cast<int>(i)); };
  if (out_) return out_->write_pieces<double>(under_state(name), sizes, fetch);
  for (std::size_t i = 0; !counting_ && i < sizes.size(); ++i) {
    if (sizes[i] > 0) fetch(i);
  }
}

void ArchiveWriter::visit_stages(const char* name, Policy& policy, StageStore* store) {
  const StagePieces pieces(policy.stages, owners_.model->own_states(), owners_, store);
  if (out_)
    pieces.write(*out_, under_state(name) + "/");
  else if (!counting_)
    pieces.hand_over();
}

void ArchiveWriter::visit_sum(const char* name, double& share) {
  const double sum = sum_over_ranks(*owners_.ranks, share);
  if (out_) out_->write(under_state(name), std::vector<double>{sum});
}

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

void ArchiveReader::visit_states(const char* name, std::int64_t each, const ValuesAt& at) {
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

void ArchiveReader::visit_stages(const char* name, Policy& policy, StageStore* store) {
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

void ArchiveReader::visit_sum(const char* name, double& share) {
  const auto sum = in_.read<double>(under_state(name));
  share = owners_.ranks->rank() == 0 ? sum.at(0) : 0.0;
}

}  // namespace redoubt::internal::io
