#include "io/solution/state_ranges.h"

#include <algorithm>

#include "parallel/collectives.h"

namespace redoubt::internal::io {

StateRanges::StateRanges(const Owners& owners, State own, std::int64_t count)
    : owners_(owners), own_(own) {
  const std::int64_t all = owners.model ? owners.model->all_states() : own;
  for (std::int64_t r = 0; r <= count; ++r) begin_.push_back(static_cast<State>(all * r / count));
}

State StateRanges::number(State place) const {
  return owners_.model ? whole_number(*owners_.model, owners_.model->own(place)) : place;
}

StateRanges::Places StateRanges::own(int range) const {
  const auto first_from = [&](State state) {
    State low = 0, high = own_;
    while (low < high) {
      const State middle = low + (high - low) / 2;
      if (number(middle) < state)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {first_from(begin_[range]), first_from(begin_[range + 1])};
}

std::vector<std::byte> StateRanges::bring(int writer, int range,
                                          std::span<const std::int64_t> sizes,
                                          std::span<const std::byte> values) const {
  Communicator& ranks = *owners_.ranks;
  std::vector<Share> mine;
  const auto [begin, end] = own(range);
  const std::int64_t all = begin_.back();
  std::int64_t time = 0;
  for (State place = begin; const std::int64_t size : sizes) {
    mine.push_back({time * all + number(place), size});
    if (++place == end) place = begin, ++time;
  }
  const auto shares = gather_to<Share>(ranks, writer, mine);
  const auto bytes = gather_to(ranks, writer, values);
  return in_order(shares, bytes);
}

std::vector<std::byte> StateRanges::in_order(const std::vector<std::vector<Share>>& shares,
                                             const std::vector<std::vector<std::byte>>& values) {
  struct Place {
    std::int64_t order = 0;
    std::size_t list = 0;
    std::int64_t at = 0, bytes = 0;
  };
  std::vector<Place> places;
  std::size_t total = 0;
  for (std::size_t r = 0; r < shares.size(); ++r) {
    std::int64_t at = 0;
    for (const Share& share : shares[r]) {
      places.push_back({share.order, r, at, share.bytes});
      at += share.bytes;
    }
    total += values[r].size();
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.order < b.order; });
  std::vector<std::byte> all;
  all.reserve(total);
  for (const Place& place : places) {
    const auto from = values[place.list].begin() + place.at;
    all.insert(all.end(), from, from + place.bytes);
  }
  return all;
}

}  // namespace redoubt::internal::io
