#include "evaluation/whole_kernel.h"

#include "model/submodel.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

// Where each list begins, of lists of these lengths, and the end.
std::vector<std::int64_t> begins(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> found = {0};
  for (const std::int64_t length : lengths) found.push_back(found.back() + length);
  return found;
}

}  // namespace

WholeKernel::WholeKernel(const Model& model, Communicator& ranks, const std::vector<Row>& rows_of,
                         const std::vector<std::int64_t>& begin, const std::vector<State>& next)
    : ranks_(&ranks) {
  if (alone()) {
    state_rows_ = begins(rows_of);
    begin_ = begin;
    next_ = next;
    return;
  }
  std::vector<State> own;
  std::vector<std::int64_t> lengths;
  for (State place = 0; place < model.own_states(); ++place)
    own.push_back(whole_number(model, model.own(place)));
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) lengths.push_back(begin[r + 1] - begin[r]);
  const std::vector<State> states = all_gather_lists(ranks, own);
  const std::vector<std::int64_t> rows_at = begins(all_gather_lists(ranks, rows_of));
  const std::vector<std::int64_t> entries_at = begins(all_gather_lists(ranks, lengths));
  std::vector<std::int64_t> place(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) place[states[i]] = static_cast<std::int64_t>(i);
  state_rows_ = begin_ = {0};
  for (const std::int64_t at : place) {
    for (std::int64_t row = rows_at[at]; row < rows_at[at + 1]; ++row) {
      row_from_.push_back(row);
      for (std::int64_t k = entries_at[row]; k < entries_at[row + 1]; ++k) entry_from_.push_back(k);
      begin_.push_back(static_cast<std::int64_t>(entry_from_.size()));
    }
    state_rows_.push_back(static_cast<Row>(row_from_.size()));
  }
}

template <class Value>
std::span<const Value> WholeKernel::gather(const std::vector<Value>& own,
                                           const std::vector<std::int64_t>& from,
                                           std::vector<Value>& all) const {
  if (alone()) return own;
  const std::vector<Value> lists = all_gather_lists(*ranks_, own);
  all.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) all[i] = lists[from[i]];
  return all;
}

void WholeKernel::set(const std::vector<State>& next, const std::vector<double>& probability,
                      const std::vector<double>& earned) {
  next_ = gather(next, entry_from_, all_next_);
  probability_ = gather(probability, entry_from_, all_probability_);
  earned_ = gather(earned, row_from_, all_earned_);
}

std::vector<char> WholeKernel::of_all_rows(const std::vector<char>& own) const {
  std::vector<char> all;
  const std::span<const char> found = gather(own, row_from_, all);
  return {found.begin(), found.end()};
}

}  // namespace redoubt::internal
