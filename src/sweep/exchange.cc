#include "sweep/exchange.h"

#include <algorithm>

#include "model/agree.h"
#include "model/require.h"

namespace redoubt {
namespace {

// Enough that most of a layer is under way while the rest is computed; a slice of a small model is
// not worth a message.
constexpr int kMostSlices = 8;
constexpr State kSmallestSlice = 64;

}  // namespace

Exchange::Exchange(const Model& model, Communicator& ranks) : model_(&model), ranks_(&ranks) {
  const auto& part = model.arrays().part;
  require((part ? static_cast<int>(part->blocks.size()) - 1 : 1) == ranks.size() &&
              (!part || part->rank == ranks.rank()),
          "a problem in {} parts on {} ranks, must have one part for each rank",
          part ? part->blocks.size() - 1 : 1, ranks.size());
  if (!part) return;
  State largest = 0;
  std::vector<std::int64_t> needs(ranks.size());
  for (int r = 0; r < ranks.size(); ++r) {
    const auto place = [&](State s) {
      return static_cast<State>(std::lower_bound(part->number.begin(), part->number.end(), s) -
                                part->number.begin());
    };
    const State first = place(part->blocks[r]), last = place(part->blocks[r + 1]);
    largest = std::max(largest, part->blocks[r + 1] - part->blocks[r]);
    if (r == ranks.rank()) continue;
    needs[r] = last - first;
    peers_.push_back({r, first, last, {}, {}, {}});
  }
  slices_ = std::clamp(largest / kSmallestSlice, 1, kMostSlices);

  // Everybody tells everybody else what it needs.
  const auto all_needs = gather_values<std::int64_t>(ranks, needs);
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (Peer& peer : peers_) {
    peer.wanted.resize(all_needs[std::int64_t{peer.rank} * ranks.size() + ranks.rank()]);
    in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.wanted))});
    out.push_back(
        {peer.rank,
         std::as_bytes(std::span(part->number).subspan(peer.first, peer.last - peer.first))});
  }
  ranks.begin(out, in);
  ranks.finish();
  for (Peer& peer : peers_) {
    for (State& s : peer.wanted) s += model.own_begin() - part->blocks[ranks.rank()];
  }
}

State Exchange::slice_begin(int rank, int slice) const {
  const auto& blocks = model_->arrays().part->blocks;
  const std::int64_t states = blocks[rank + 1] - blocks[rank];
  return blocks[rank] + static_cast<State>(states * slice / slices_);
}

// The states of our own slice that the peer wants, as places in its list.
std::pair<std::size_t, std::size_t> Exchange::wanted_in(const Peer& peer, int slice) const {
  const auto& blocks = model_->arrays().part->blocks;
  const State shift = model_->own_begin() - blocks[ranks_->rank()];
  const auto place = [&](int k) {
    return std::lower_bound(peer.wanted.begin(), peer.wanted.end(),
                            slice_begin(ranks_->rank(), k) + shift) -
           peer.wanted.begin();
  };
  return {place(slice), place(slice + 1)};
}

// The states here that are in the peer's slice.
std::pair<State, State> Exchange::owned_in(const Peer& peer, int slice) const {
  const auto& number = model_->arrays().part->number;
  const auto place = [&](int k) {
    const auto first = number.begin() + peer.first, last = number.begin() + peer.last;
    return static_cast<State>(std::lower_bound(first, last, slice_begin(peer.rank, k)) -
                              number.begin());
  };
  return {place(slice), place(slice + 1)};
}

void Exchange::sweep(Workers& group, const Work& work, const LayerView& layer, const Body& body) {
  for (int slice = 0; slice < slices_; ++slice) {
    State begin = model_->own_begin(), end = model_->own_end();
    if (slices_ > 1) {
      const State shift = begin - model_->arrays().part->blocks[ranks_->rank()];
      begin = slice_begin(ranks_->rank(), slice) + shift;
      end = slice_begin(ranks_->rank(), slice + 1) + shift;
    }
    group.for_each((end - begin) * work.pieces, work.nanoseconds / slices_,
                   [&](std::int64_t first, std::int64_t last, int worker) {
                     for (auto i = first; i < last; ++i)
                       body(begin + static_cast<State>(i / work.pieces), i % work.pieces, worker);
                   });
    if (slice > 0) finish(layer, slice - 1);
    this->begin(layer, slice);
  }
  finish(layer, slices_ - 1);
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
    const auto [first, last] = wanted_in(peer, slice);
    peer.out.resize((last - first) * layer.values());
    double* to = peer.out.data();
    for (auto w = first; w < last; ++w) {
      for (int i = 0; i < layer.arrays; ++i)
        to = std::copy_n(layer.at(peer.wanted[w], i), layer.count, to);
    }
    const auto [ghost, ghost_end] = owned_in(peer, slice);
    peer.in.resize((ghost_end - ghost) * layer.values());
    if (!peer.out.empty()) out.push_back({peer.rank, std::as_bytes(std::span(peer.out))});
    if (!peer.in.empty()) in.push_back({peer.rank, std::as_writable_bytes(std::span(peer.in))});
  }
  ranks_->begin(out, in);
}

void Exchange::finish(const LayerView& layer, int slice) {
  if (peers_.empty()) return;
  ranks_->finish();
  for (const Peer& peer : peers_) {
    const auto [first, last] = owned_in(peer, slice);
    const double* from = peer.in.data();
    for (State s = first; s < last; ++s) {
      for (int i = 0; i < layer.arrays; ++i, from += layer.count)
        std::copy_n(from, layer.count, layer.at(s, i));
    }
  }
}

void Exchange::collect(const LayerView& layer, const Combine& combine) {
  if (peers_.empty()) return;
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (Peer& peer : peers_) {
    peer.out.clear();
    for (State s = peer.first; s < peer.last; ++s) {
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

}  // namespace redoubt
