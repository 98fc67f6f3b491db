#pragma once

#include <span>
#include <vector>

#include "parallel/collectives.h"

// Lists of different lengths that ranks send to each other; every rank calls these together.
namespace redoubt::internal {

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
