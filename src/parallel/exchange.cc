#include "parallel/exchange.h"

#include <algorithm>

#include "model/submodel.h"
#include "parallel/collectives.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Enough that most of a layer is under way while the rest is computed; a slice of a small model is
// not worth a message.
constexpr int kMostSlices = 8;
constexpr State kSmallestSlice = 64;

}  // namespace

Exchange::Exchange(const Model& model, Communicator& ranks) : model_(&model), ranks_(&ranks) {
  const auto& part = model.arrays().submodel;
  const int parts = part ? part->ranks : 1;
  require(parts == ranks.size() && (!part || part->rank == ranks.rank()),
          "a problem in {} parts on {} ranks, must have one part for each rank", parts,
          ranks.size());
  if (!part) return;
  for (int r = 0; r < ranks.size(); ++r) {
    if (r != ranks.rank()) peers_.emplace_back().rank = r;
  }
  for (State s = 0; s < model.states(); ++s) {
    const int owner = part->owner[s];
    if (!model.owns(s)) peers_[owner - (owner > ranks.rank())].theirs.push_back(s);
  }
  const auto largest = static_cast<State>(max_over_ranks(ranks, model.own_states()));
  slices_ = std::clamp(largest / kSmallestSlice, 1, kMostSlices);
  learn_what_is_wanted();
  learn_slices();
}

// Everybody tells everybody else what it needs, and learns in which order it will come: that in
// which its owner visits it.
void Exchange::learn_what_is_wanted() {
  const Submodel& part = *model_->arrays().submodel;
  std::vector<std::int64_t> needs(ranks_->size());
  for (const Peer& peer : peers_) needs[peer.rank] = static_cast<std::int64_t>(peer.theirs.size());
  const auto all_needs = all_gather<std::int64_t>(*ranks_, needs);
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  std::vector<std::vector<State>> asked(peers_.size());
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    for (const State s : peer.theirs) asked[p].push_back(part.number[s]);
    peer.wanted.resize(all_needs[std::int64_t{peer.rank} * ranks_->size() + ranks_->rank()]);
    out.push_back({peer.rank, std::as_bytes(std::span(asked[p]))});
    in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.wanted))});
  }
  ranks_->begin(out, in);
  ranks_->finish();
  std::vector<std::vector<State>> told(peers_.size());
  out.clear();
  in.clear();
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    for (State& s : peer.wanted) s = number_in_submodel(part, s);
    std::sort(peer.wanted.begin(), peer.wanted.end());
    for (const State s : peer.wanted) told[p].push_back(part.number[s]);
    out.push_back({peer.rank, std::as_bytes(std::span(told[p]))});
    in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.theirs))});
  }
  ranks_->begin(out, in);
  ranks_->finish();
  for (Peer& peer : peers_) {
    for (State& s : peer.theirs) s = number_in_submodel(part, s);
  }
}

// And in which slice each will come.
void Exchange::learn_slices() {
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (Peer& peer : peers_) {
    for (int slice = 0; slice <= slices_; ++slice) {
      const State turn = slice_begin(slice);
      const State first = turn < model_->own_states() ? model_->own(turn) : model_->states();
      peer.wanted_begin.push_back(std::lower_bound(peer.wanted.begin(), peer.wanted.end(), first) -
                                  peer.wanted.begin());
    }
    peer.theirs_begin.resize(slices_ + 1);
    out.push_back({peer.rank, std::as_bytes(std::span(peer.wanted_begin))});
    in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.theirs_begin))});
  }
  ranks_->begin(out, in);
  ranks_->finish();
}

// Which states, and the values of one slice of them in both directions.
double Exchange::bytes(std::int64_t values) const {
  double bytes = 0;
  for (const Peer& peer : peers_) {
    const auto states = static_cast<double>(peer.theirs.size() + peer.wanted.size());
    bytes += states * (sizeof(State) + sizeof(double) * static_cast<double>(values) / slices_);
  }
  return bytes;
}

State Exchange::slice_begin(int slice) const {
  return static_cast<State>(std::int64_t{model_->own_states()} * slice / slices_);
}

void Exchange::sweep(Workers& group, const Work& work, const LayerView& layer, const Body& body) {
  for (int slice = 0; slice < slices_; ++slice) {
    const State begin = slice_begin(slice), end = slice_begin(slice + 1);
    group.for_each((end - begin) * work.pieces, work.nanoseconds / slices_,
                   [&](std::int64_t first, std::int64_t last, int worker) {
                     for (auto i = first; i < last; ++i)
                       body(model_->own(begin + static_cast<State>(i / work.pieces)),
                            i % work.pieces, worker);
                   });
    pass_on(layer, slice);
  }
  finish(layer, slices_ - 1);
}

void Exchange::sweep_ranges(Workers& group, double nanoseconds, const LayerView& layer,
                            const RangeBody& body) {
  for (int slice = 0; slice < slices_; ++slice) {
    const State begin = slice_begin(slice), end = slice_begin(slice + 1);
    group.for_each(
        end - begin, nanoseconds / slices_, [&](std::int64_t first, std::int64_t last, int worker) {
          body(begin + static_cast<State>(first), begin + static_cast<State>(last), worker);
        });
    pass_on(layer, slice);
  }
  finish(layer, slices_ - 1);
}

// What is computed goes on its way, and what was under way is taken in.
void Exchange::pass_on(const LayerView& layer, int slice) {
  if (slice > 0) finish(layer, slice - 1);
  begin(layer, slice);
}

void Exchange::update(const LayerView& layer) {
  for (int slice = 0; slice < slices_; ++slice) {
    begin(layer, slice);
    finish(layer, slice);
  }
}

void Exchange::begin(const LayerView& layer, int slice) {
  if (peers_.empty()) return;
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (Peer& peer : peers_) {
    const auto first = peer.wanted_begin[slice], last = peer.wanted_begin[slice + 1];
    peer.out.resize((last - first) * layer.values());
    double* to = peer.out.data();
    for (auto w = first; w < last; ++w) {
      for (int i = 0; i < layer.arrays; ++i)
        to = std::copy_n(layer.at(peer.wanted[w], i), layer.count, to);
    }
    const auto coming = peer.theirs_begin[slice + 1] - peer.theirs_begin[slice];
    peer.in.resize(coming * layer.values());
    if (!peer.out.empty()) out.push_back({peer.rank, std::as_bytes(std::span(peer.out))});
    if (!peer.in.empty()) in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.in))});
  }
  ranks_->begin(out, in);
}

void Exchange::finish(const LayerView& layer, int slice) {
  if (peers_.empty()) return;
  ranks_->finish();
  for (const Peer& peer : peers_) {
    const double* from = peer.in.data();
    for (auto t = peer.theirs_begin[slice]; t < peer.theirs_begin[slice + 1]; ++t) {
      for (int i = 0; i < layer.arrays; ++i, from += layer.count)
        std::copy_n(from, layer.count, layer.at(peer.theirs[t], i));
    }
  }
}

void Exchange::collect(const LayerView& layer, const Combine& combine) {
  if (peers_.empty()) return;
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (Peer& peer : peers_) {
    peer.out.clear();
    for (const State s : peer.theirs) {
      for (int i = 0; i < layer.arrays; ++i)
        peer.out.insert(peer.out.end(), layer.at(s, i), layer.at(s, i) + layer.count);
    }
    peer.in.resize(peer.wanted.size() * layer.values());
    out.push_back({peer.rank, std::as_bytes(std::span(peer.out))});
    in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.in))});
  }
  ranks_->begin(out, in);
  ranks_->finish();
  for (const Peer& peer : peers_) {
    const double* from = peer.in.data();
    for (const State s : peer.wanted) {
      for (int i = 0; i < layer.arrays; ++i, from += layer.count) combine(layer.at(s, i), from);
    }
  }
}

}  // namespace redoubt::internal
