#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "redoubt/advanced/ranks.h"

// Collective operations of ranks. Values are combined rank by rank, the same everywhere.
namespace redoubt::internal {

// Everybody's values, rank by rank.
template <class Value>
std::vector<Value> all_gather(Communicator& ranks, std::span<const Value> mine) {
  const std::vector<std::byte> bytes = ranks.gather(std::as_bytes(mine));
  std::vector<Value> all(bytes.size() / sizeof(Value));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
template <class Value>
std::vector<Value> all_gather_one(Communicator& ranks, Value mine) {
  return all_gather<Value>(ranks, std::span<const Value>(&mine, 1));
}

// The same where ranks have different numbers of them.
template <class Value>
std::vector<Value> all_gather_lists(Communicator& ranks, std::vector<Value> mine) {
  const auto counts = all_gather_one(ranks, mine.size());
  mine.resize(*std::max_element(counts.begin(), counts.end()));
  const std::vector<Value> padded = all_gather<Value>(ranks, mine);
  std::vector<Value> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto first = padded.begin() + static_cast<std::ptrdiff_t>(r * mine.size());
    all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(counts[r]));
  }
  return all;
}

inline double max_over_ranks(Communicator& ranks, double mine) {
  const auto all = all_gather_one(ranks, mine);
  return *std::max_element(all.begin(), all.end());
}
inline double min_over_ranks(Communicator& ranks, double mine) {
  const auto all = all_gather_one(ranks, mine);
  return *std::min_element(all.begin(), all.end());
}
inline double sum_over_ranks(Communicator& ranks, double mine) {
  double sum = 0;
  for (const double value : all_gather_one(ranks, mine)) sum += value;
  return sum;
}
inline bool any_rank(Communicator& ranks, bool mine) { return max_over_ranks(ranks, mine) > 0; }
inline bool all_ranks(Communicator& ranks, bool mine) { return min_over_ranks(ranks, mine) > 0; }

// Each entry becomes the least of all ranks' entries.
void min_over_ranks(Communicator& ranks, std::span<double> values);

// Everybody's values on one rank, rank by rank; nothing on the others.
template <class Value>
std::vector<std::vector<Value>> gather_to(Communicator& ranks, int to,
                                          std::span<const Value> mine) {
  const auto counts = all_gather_one(ranks, mine.size());
  std::vector<std::vector<Value>> all;
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  if (ranks.rank() != to) {
    out.push_back({to, std::as_bytes(mine)});
  } else {
    for (const std::size_t count : counts) all.emplace_back(count);
    std::copy(mine.begin(), mine.end(), all[to].begin());
    for (int r = 0; r < ranks.size(); ++r)
      if (r != to) in.push_back({r, std::as_writable_bytes(std::span(all[r]))});
  }
  ranks.begin(out, in);
  ranks.finish();
  return all;
}

// What the first rank has, on every rank.
template <class Value>
void broadcast(Communicator& ranks, std::vector<Value>& values) {
  values.resize(all_gather_one(ranks, values.size())[0]);
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (int r = 1; ranks.rank() == 0 && r < ranks.size(); ++r)
    out.push_back({r, std::as_bytes(std::span(values))});
  if (ranks.rank() > 0) in.push_back({0, std::as_writable_bytes(std::span(values))});
  ranks.begin(out, in);
  ranks.finish();
}

// Runs a body that may fail on some ranks only, such as reading a submodel: then every rank
// throws what the first of them to fail has thrown.
void all_or_none(Communicator& ranks, const std::function<void()>& body);

// Sends lists[r] to rank r, which may be this one. Returns what each rank has sent here.
template <class Value>
std::vector<std::vector<Value>> all_to_all(Communicator& ranks,
                                           std::vector<std::vector<Value>> lists) {
  std::vector<std::size_t> sizes;
  for (const auto& list : lists) sizes.push_back(list.size());
  const auto all_sizes = all_gather<std::size_t>(ranks, sizes);
  std::vector<std::vector<Value>> received(ranks.size());
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) {
      received[r] = std::move(lists[r]);
      continue;
    }
    received[r].resize(all_sizes[static_cast<std::size_t>(r) * ranks.size() + ranks.rank()]);
    if (!lists[r].empty()) out.push_back({r, std::as_bytes(std::span(lists[r]))});
    if (!received[r].empty()) in.push_back({r, std::as_writable_bytes(std::span(received[r]))});
  }
  ranks.begin(out, in);
  ranks.finish();
  return received;
}

// Sends items to their owners, and returns those that this rank owns, sender by sender.
template <class Item, class OwnerOf>
std::vector<Item> send_to_owners(Communicator& ranks, const std::vector<Item>& items,
                                 OwnerOf owner_of) {
  std::vector<std::vector<Item>> lists(ranks.size());
  for (const Item& item : items) lists[owner_of(item)].push_back(item);
  std::vector<Item> mine;
  for (auto& list : all_to_all(ranks, std::move(lists)))
    mine.insert(mine.end(), list.begin(), list.end());
  return mine;
}

// What answer(item) is on the rank that owns the item, for each of these.
template <class Item, class OwnerOf, class Answer>
auto ask_owners(Communicator& ranks, const std::vector<Item>& items, OwnerOf owner_of,
                Answer answer) {
  using Value = decltype(answer(items.front()));
  std::vector<std::vector<Item>> questions(ranks.size());
  for (const Item& item : items) questions[owner_of(item)].push_back(item);
  std::vector<std::vector<Value>> answers(ranks.size());
  const auto asked = all_to_all(ranks, std::move(questions));
  for (std::size_t r = 0; r < asked.size(); ++r) {
    for (const Item& item : asked[r]) answers[r].push_back(answer(item));
  }
  const auto answered = all_to_all(ranks, std::move(answers));
  std::vector<std::size_t> next(ranks.size());  // answer of each rank
  std::vector<Value> values;
  values.reserve(items.size());
  for (const Item& item : items) {
    const auto owner = static_cast<std::size_t>(owner_of(item));
    values.push_back(answered[owner][next[owner]++]);
  }
  return values;
}

// Each state has `count` things, and those of all ranks' states are numbered in the order of the
// states: the number of each state's first. `states` are the rank's own, in the numbers of the
// whole model, which has `all` states; they increase.
std::vector<std::int64_t> first_numbers(Communicator& ranks, std::span<const State> states,
                                        std::span<const std::int64_t> count, State all);

// The rank that owns each state of the whole model, on every rank.
std::vector<std::int32_t> owners_of_all(Communicator& ranks, const Model& part);

}  // namespace redoubt::internal
