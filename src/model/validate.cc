#include "model/validate.h"

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <new>
#include <utility>

#include "support/array_memory.h"
#include "support/thread_pool.h"

namespace redoubt::internal {
namespace {

constexpr std::size_t kBlock =
    512;  // entries that are looked at together: the nearest cache holds them

// Loops that no value ends early: compilers make vector instructions of them.

// NaN may pass for positive: the sum of its row shows it.
bool all_positive(std::span<const double> probability) {
  std::uint64_t signs = 0;
  for (const double p : probability) {
    const auto bits = std::bit_cast<std::uint64_t>(p);
    signs |= bits | (bits - 1);  // zero has no sign of its own
  }
  return static_cast<std::int64_t>(signs) >= 0;
}

// The exponent of what is not finite is the largest there is: one more, and it becomes a sign.
bool all_finite(std::span<const double> values) {
  std::uint64_t signs = 0;
  for (const double v : values) {
    const auto magnitude = std::bit_cast<std::uint64_t>(v) & ~(std::uint64_t{1} << 63);
    signs |= magnitude + (std::uint64_t{1} << 52);
  }
  return static_cast<std::int64_t>(signs) >= 0;
}

// Places at which a number does not increase.
std::int64_t steps_back(std::span<const std::int32_t> numbers) {
  std::int32_t steps = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) steps += numbers[i] <= numbers[i - 1];
  return steps;
}

template <class Offset>
bool all_of_length(std::span<const Offset> offsets, Offset outcomes) {
  Offset differ = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    differ |= (offsets[i] - offsets[i - 1]) ^ outcomes;
  return differ == 0;
}

bool sums_to_one(const double* probability, std::int64_t outcomes) {
  return std::abs(row_sum(probability, outcomes) - 1) <= rounding_of_sum(outcomes);
}

template <int outcomes>
bool short_rows_sum_to_one(const double* probability, std::size_t rows) {
  bool good = true;
  for (std::size_t r = 0; r < rows; ++r) good &= sums_to_one(probability + r * outcomes, outcomes);
  return good;
}

constexpr std::int64_t kShort = 16;
// By the number of outcomes, less one: rows that have equally many, and not many, are added up
// without a decision for each row.
constexpr auto kShortRows = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array{short_rows_sum_to_one<i + 1>...};
}
(std::make_index_sequence<kShort>());

// `probability` are the outcomes of the rows between the offsets.
template <class Offset>
bool rows_sum_to_one(std::span<const double> probability, std::span<const Offset> offsets) {
  const Offset outcomes = offsets[1] - offsets[0];
  if (outcomes >= 1 && outcomes <= kShort && all_of_length(offsets, outcomes))
    return kShortRows[outcomes - 1](probability.data(), offsets.size() - 1);
  bool good = true;
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    good &=
        sums_to_one(probability.data() + (offsets[r] - offsets[0]), offsets[r + 1] - offsets[r]);
  return good;
}

// True when next states increase within each row, and all are states.
template <class Offset>
bool rows_increase(std::span<const State> next, std::span<const Offset> offsets, State states) {
  if (next.empty()) return false;
  std::int64_t back = steps_back(next);
  // Where they increase, the first and the last of a row are enough: a sign says that the one is
  // too small or the other too large.
  std::uint32_t outside = 0;
  const auto look_at = [&](State first, State last) {
    outside |= static_cast<std::uint32_t>(first) |
               (static_cast<std::uint32_t>(states - 1) - static_cast<std::uint32_t>(last));
  };
  look_at(next.front(), next.back());
  for (std::size_t r = 1; r + 1 < offsets.size(); ++r) {
    const auto i = static_cast<std::size_t>(offsets[r] - offsets[0]);
    if (i == 0 || i == next.size()) return false;  // a row without outcomes
    back -= next[i] <= next[i - 1];                // from one row to the next they may step back
    look_at(next[i], next[i - 1]);
  }
  return back == 0 && static_cast<std::int32_t>(outside) >= 0;
}

bool actions_increase(const ModelArrays& a) {
  std::int64_t back = steps_back(a.action);
  for (std::size_t slot = 0; slot + 1 < a.state_rows.size(); ++slot) {
    const Row r = a.state_rows[slot];
    if (r > 0 && r < a.state_rows[slot + 1]) back -= a.action[r] <= a.action[r - 1];
  }
  return back == 0;
}

// An array that is looked at block by block, and copied on the way where it is not in its place
// yet: what has just been read for a copy is still in the nearest cache.
template <class Value>
class Source {
 public:
  Source(std::span<const Value> given, std::vector<Value>& place)
      : given_(given), copy_(given.data() == place.data() ? nullptr : &place) {
    if (copy_) reserve_with_large_pages(*copy_, given.size());
  }
  std::size_t size() const { return given_.size(); }
  // Entries begin..end-1, which come after those that were taken last.
  std::span<const Value> take(std::size_t begin, std::size_t end) const {
    if (copy_) copy_->insert(copy_->end(), given_.begin() + begin, given_.begin() + end);
    return given_.subspan(begin, end - begin);
  }

 private:
  std::span<const Value> given_;
  std::vector<Value>* copy_;
};

// True when the rule holds for every block of rows: their outcomes and their offsets.
template <class Value, class Offset, class Rule>
bool every_block(const Source<Value>& source, std::span<const Offset> offsets, const Rule& rule) {
  const std::size_t rows = offsets.size() - 1;
  const std::size_t step = std::max<std::size_t>(1, kBlock * rows / (source.size() + 1));
  bool good = true;
  for (std::size_t first = 0; first < rows; first += step) {
    const auto block = offsets.subspan(first, std::min(step, rows - first) + 1);
    const auto values = source.take(block.front(), block.back());
    good = good && rule(values, block);
  }
  return good;
}

bool is_finite(const Source<double>& source) {
  bool good = true;
  for (std::size_t first = 0; first < source.size(); first += kBlock)
    good &= all_finite(source.take(first, std::min(first + kBlock, source.size())));
  return good;
}

using Tasks = std::vector<std::function<bool()>>;

// True when all of them are; on two threads where the work is worth it.
bool all_hold(const Tasks& tasks, bool worthwhile) {
  std::atomic<bool> good = true;
  ThreadPool pool(worthwhile ? 2 : 1);
  pool.for_each(static_cast<std::int64_t>(tasks.size()), 1, [&](auto task, auto, int) {
    if (!tasks[task]()) good = false;
  });
  return good;
}

template <class Offset>
void add_outcomes(Tasks& tasks, ModelArrays& a, const ModelViews& views,
                  std::span<const Offset> offsets) {
  tasks.push_back([offsets, probability = Source(views.probability, a.probability)] {
    return every_block(probability, offsets, [](auto values, auto block) {
      return all_positive(values) && rows_sum_to_one(values, block);
    });
  });
  tasks.push_back([offsets, next = Source(views.next, a.next), states = a.states] {
    return every_block(next, offsets, [states](auto values, auto block) {
      return rows_increase(values, block, states);
    });
  });
  if constexpr (std::is_same_v<Offset, std::int64_t>) {
    if (offsets.data() == a.row_outcomes.data()) return;
  }
  reserve_with_large_pages(a.row_outcomes, offsets.size());
  tasks.push_back([offsets, &a] {
    a.row_outcomes.assign(offsets.begin(), offsets.end());
    return true;
  });
}

// The C library keeps as much freed memory as twice the largest block that was ever freed, and
// gives the rest back to the system, from which it comes page by page: getting pages takes longer
// than filling them. The arrays of a model are freed together, so they count as one block.
void keep_when_freed(const ModelArrays& a, const ModelViews& views) {
  const std::size_t bytes = views.next.size() * (sizeof(State) + sizeof(double)) +
                            a.action.size() * sizeof(double) * (2 + views.signals.size());
  ::operator delete(::operator new(bytes));
}

}  // namespace

bool copy_and_check(ModelArrays& a, const ModelViews& views) {
  if (views.next.data() != a.next.data()) keep_when_freed(a, views);
  Tasks tasks;  // the longest first
  std::visit([&](const auto offsets) { add_outcomes(tasks, a, views, offsets); },
             views.row_outcomes);
  const auto add_values = [&](std::span<const double> values, std::vector<double>& place) {
    tasks.push_back([source = Source(values, place)] { return is_finite(source); });
  };
  add_values(views.reward, a.reward);
  add_values(a.outcome_reward, a.outcome_reward);
  for (std::size_t s = 0; s < a.signals.size(); ++s) {
    add_values(views.signals[s], a.signals[s].row);
    add_values(a.signals[s].outcome, a.signals[s].outcome);
  }
  tasks.push_back([&a] { return actions_increase(a); });
  constexpr std::size_t kWorthwhile = 100'000;  // outcomes
  return all_hold(tasks, views.next.size() >= kWorthwhile);
}

std::size_t first_not_finite(std::span<const double> values) {
  if (all_finite(values)) return values.size();
  const auto finite = [](double v) { return std::isfinite(v); };
  return std::find_if_not(values.begin(), values.end(), finite) - values.begin();
}

}  // namespace redoubt::internal
