#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "model/submodel.h"
#include "redoubt/advanced/checkpoint.h"

namespace redoubt::internal::io {

// Values of states on their way into one file, where states have the numbers of the whole model
// whoever owns them. They come range by range to the rank that writes the range, which never holds
// more than one range of what others own.
class StateRanges {
 public:
  // `own` states are those of the owners' model; without one, they are all there are.
  StateRanges(const Owners& owners, State own, std::int64_t count);

  int count() const { return static_cast<int>(begin_.size()) - 1; }
  State states(int range) const { return begin_[range + 1] - begin_[range]; }  // of all ranks

  // Which of our own states are in a range: these places among them.
  struct Places {
    State begin = 0, end = 0;
  };
  Places own(int range) const;

  // Every rank gives what its own states of the range have, `counts` of the values for each of
  // them, one after the other. The writer, a rank, gets those of all states of the range, in order.
  // A rank may go through its states several times, as often as all others: the writer gets what
  // all states have the first time, then the second.
  template <class Value>
  std::vector<Value> on_rank(int writer, int range, std::vector<std::int64_t> counts,
                             std::vector<Value> values) const {
    if (owners_.ranks->size() == 1) return values;
    for (std::int64_t& count : counts) count *= sizeof(Value);
    const auto bytes = bring(writer, range, counts, std::as_bytes(std::span(values)));
    values.resize(bytes.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  struct Share {  // of a state in the bytes of a range
    std::int64_t order = 0;
    std::int64_t bytes = 0;
  };
  std::vector<std::byte> bring(int writer, int range, std::span<const std::int64_t> sizes,
                               std::span<const std::byte> values) const;
  static std::vector<std::byte> in_order(const std::vector<std::vector<Share>>& shares,
                                         const std::vector<std::vector<std::byte>>& values);
  State number(State place) const;

  Owners owners_;
  State own_;
  std::vector<State> begin_;  // of each range, in the whole model; and the end
};

// Calls visit(begin, end, first, last) for ranges of at most `most` states of the whole model that
// together have all those that the model owns. Of these a range has model.own(first) up to
// model.own(last - 1), with which it ends.
template <class Visit>
void for_each_range_of_own(const Model& model, std::int64_t most, Visit visit) {
  const auto number = [&](State place) { return whole_number(model, model.own(place)); };
  for (State first = 0, last; first < model.own_states(); first = last) {
    const State begin = number(first);
    for (last = first + 1; last < model.own_states() && number(last) - begin < most;) ++last;
    visit(begin, number(last - 1) + 1, first, last);
  }
}

}  // namespace redoubt::internal::io
