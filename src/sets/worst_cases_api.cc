#include <algorithm>

#include "model/set_traits.h"
#include "redoubt/worst_case.h"
#include "sets/check_rows.h"
#include "sets/row_checks.h"
#include "sets/rows_abreast.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

namespace {

void check_structure(const Uncertainty& set, const ManyRows& rows, std::size_t values) {
  const bool interval = needs_bounds(set);
  require(!rows.begin.empty() && rows.begin.front() == 0,
          "begin must have one entry for each row and one more, the first of them 0");
  const auto entries = static_cast<std::size_t>(rows.begin.back());
  for (std::size_t row = 0; row + 1 < rows.begin.size(); ++row)
    require(rows.begin[row] <= rows.begin[row + 1], "begin[{}] = {}, must be at least {}", row + 1,
            rows.begin[row + 1], rows.begin[row]);
  const auto given = [&](const char* name, std::size_t count) {
    require(count == entries, "{} entries of {}, must be {}", count, name, entries);
  };
  given("column", rows.column.size());
  if (interval) {
    given("lower", rows.lower.size());
    given("upper", rows.upper.size());
  } else {
    given("probability", rows.probability.size());
  }
  const auto limit = std::min<std::size_t>(values, std::uint32_t{1} << 31);
  if (row_checks().below(rows.column.data(), rows.begin.back(), static_cast<std::uint32_t>(limit)))
    return;
  for (std::size_t i = 0; i < entries; ++i)
    require(rows.column[i] >= 0 && static_cast<std::size_t>(rows.column[i]) < values,
            "column[{}] = {}, must be in 0..{}", i, rows.column[i],
            static_cast<std::int64_t>(values) - 1);
}

// Rows as the kernels read them: the given arrays or, where they have zeros or sum to one but
// nearly, copies of them.
class Rows {
 public:
  Rows(const Uncertainty& set, const ManyRows& rows) : rows_(rows), interval_(needs_bounds(set)) {
    const bool as_given = are_right() || check();
    if (!as_given) copy();
    const std::span<const double> radii = radii_of(set);
    require(radii.empty() || radii.size() + 1 == rows.begin.size(),
            "{} radii for {} rows, must be one for each row", radii.size(), rows.begin.size() - 1);
    for (const double radius : radii) check_radius(radius);
    stored_.row_outcomes = as_given ? rows.begin.data() : begin_.data();
    stored_.next = as_given ? rows.column.data() : column_.data();
    stored_.probability = as_given ? rows.probability.data() : probability_.data();
    if (interval_) {
      stored_.lower = as_given ? rows.lower.data() : lower_.data();
      stored_.upper = as_given ? rows.upper.data() : upper_.data();
    }
    if (radii.empty())
      stored_.same_radius = radius_of(set);
    else
      stored_.radius = radii.data();
  }

  const StoredRows& stored() const { return stored_; }

  // From the entries that were kept to those that were given.
  std::vector<double> spread(std::vector<double> kept) const {
    if (entry_.empty()) return kept;
    std::vector<double> given(rows_.column.size(), 0.0);
    for (std::size_t i = 0; i < entry_.size(); ++i) given[entry_[i]] = kept[i];
    return given;
  }

 private:
  std::span<const double> of_row(std::span<const double> numbers, std::size_t row) const {
    return numbers.subspan(rows_.begin[row], rows_.begin[row + 1] - rows_.begin[row]);
  }

  bool are_right() const {
    const auto count = static_cast<std::int64_t>(rows_.begin.size()) - 1;
    return !interval_ &&
           row_checks().distributions(rows_.begin.data(), count, rows_.probability.data());
  }

  // True when the rows can be used as they are. An Error names the first that breaks a rule.
  bool check() const {
    bool as_given = true;
    for (std::size_t row = 0; row + 1 < rows_.begin.size(); ++row) {
      try {
        as_given &= check(row);
      } catch (const Error& error) {
        throw Error(fmt::format("row {}: {}", row, error.what()));
      }
    }
    return as_given;
  }

  bool check(std::size_t row) const {
    if (interval_) {
      const auto upper = of_row(rows_.upper, row);
      check_bounds(of_row(rows_.lower, row), upper);
      return std::find(upper.begin(), upper.end(), 0.0) == upper.end();
    }
    const RowMass mass = check_probabilities(of_row(rows_.probability, row));
    return mass.is_one && !mass.has_zeros;
  }

  void copy() {
    begin_.push_back(0);
    for (std::size_t row = 0; row + 1 < rows_.begin.size(); ++row) {
      double sum = 0;
      if (!interval_)
        for (const double p : of_row(rows_.probability, row)) sum += p;
      for (auto i = rows_.begin[row]; i < rows_.begin[row + 1]; ++i) {
        if ((interval_ ? rows_.upper[i] : rows_.probability[i]) == 0) continue;
        entry_.push_back(i);
        column_.push_back(rows_.column[i]);
        if (interval_) {
          lower_.push_back(rows_.lower[i]);
          upper_.push_back(rows_.upper[i]);
        } else {
          probability_.push_back(rows_.probability[i] / sum);
        }
      }
      begin_.push_back(static_cast<std::int64_t>(entry_.size()));
    }
  }

  const ManyRows& rows_;
  bool interval_;
  StoredRows stored_;
  std::vector<std::int64_t> begin_, entry_;
  std::vector<std::int32_t> column_;
  std::vector<double> probability_, lower_, upper_;
};

}  // namespace

WorstCasesOf worst_cases(const Uncertainty& uncertainty, const ManyRows& given,
                         std::span<const double> values, bool with_distribution) {
  require_row_scope(uncertainty, "the worst cases of rows");
  check_structure(uncertainty, given, values.size());
  check_values(values);
  const auto count = static_cast<std::int64_t>(given.begin.size()) - 1;
  WorstCasesOf result;
  result.value.resize(count);
  if (count == 0) return result;
  const Rows rows(uncertainty, given);
  const bool anywhere = lands_anywhere(uncertainty);
  std::vector<double> floor(given.floor.begin(), given.floor.end());
  if (anywhere && floor.empty()) floor.push_back(*std::min_element(values.begin(), values.end()));
  require(!anywhere || floor.size() == 1 || floor.size() == result.value.size(),
          "{} values of the floor for {} rows, must be one, or one for each row", floor.size(),
          count);
  check_values(floor);

  RowsAbreast abreast(uncertainty);
  LandingFloor landings;
  if (anywhere) landings = {floor.data(), floor.size() > 1};
  if (!with_distribution) {
    abreast.worst(rows.stored(), {.count = count}, values.data(), landings, result.value.data());
    return result;
  }
  // With room behind each row for the mass that lands outside of it.
  std::vector<std::int64_t> begin(count + 1);
  const std::int64_t* first = rows.stored().row_outcomes;
  for (std::int64_t row = 0; row <= count; ++row) begin[row] = first[row] + (anywhere ? row : 0);
  std::vector<double> all(begin.back());
  const RowsAbreast::Distributions to{begin.data(), all.data()};
  abreast.worst(rows.stored(), {.count = count}, values.data(), landings, result.value.data(), &to);
  if (!anywhere) {
    result.distribution = rows.spread(std::move(all));
    return result;
  }
  std::vector<double> kept;
  kept.reserve(first[count]);
  for (std::int64_t row = 0; row < count; ++row) {
    kept.insert(kept.end(), all.begin() + begin[row], all.begin() + begin[row + 1] - 1);
    result.outside.push_back(all[begin[row + 1] - 1]);
  }
  result.distribution = rows.spread(std::move(kept));
  return result;
}

}  // namespace redoubt
