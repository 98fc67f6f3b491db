#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace redoubt {

// How far nature may move a row from its nominal distribution: one number for all rows, or one for
// each.
struct Radius {
  double all = 0;
  std::vector<double> rows;  // one for each row of the model; empty: `all` holds everywhere

  Radius(double value = 0) : all(value) {}                           // NOLINT: a number is a radius
  Radius(std::vector<double> per_row) : rows(std::move(per_row)) {}  // NOLINT
  double of(std::int64_t row) const { return rows.empty() ? all : rows[row]; }
  bool operator==(const Radius&) const = default;
};

// Where total variation may put the mass that it moves.
enum class Reach {
  anywhere,  // in any state of the model, as in the paper; such an arrival earns the row's own
             // reward and signals, and what the model says of arrivals in the state
  support,   // only on outcomes that the nominal row already has
};

// The uncertainty sets. P is nature's choice, p the nominal row.
struct Nominal {  // no uncertainty: P = p
  bool operator==(const Nominal&) const = default;
};
struct TV {  // total variation: 1/2 sum |P - p| <= radius. Peers that speak of an L1 budget use
             // twice this radius.
  Radius radius;
  Reach reach = Reach::anywhere;
  bool operator==(const TV&) const = default;
};
struct Chi2 {  // sum (P - p)^2 / p <= radius
  Radius radius;
  bool operator==(const Chi2&) const = default;
};
struct KL {  // sum P log(P / p) <= radius
  Radius radius;
  bool operator==(const KL&) const = default;
};
// P proportional to p exp(-value / temperature). Not a ball and not monotone: a model of its own,
// kept because the experiments of the literature use it, never a synonym for a radius.
struct Tilt {
  double temperature = 1;
  bool operator==(const Tilt&) const = default;
};
struct Interval {  // lower <= P <= upper for each outcome; the bounds are part of the model
  bool operator==(const Interval&) const = default;
};

using Uncertainty = std::variant<Nominal, TV, Chi2, KL, Tilt, Interval>;

std::string_view name(
    const Uncertainty& uncertainty);  // "none", "tv", "chi2", "kl", "tilt", "interval"

// What a set is called and what it takes. Whoever reads a set from a file, a flag or a parameter
// goes by this table.
struct SetKind {
  struct Numbers {
    Radius radius;
    Reach reach = Reach::anywhere;
    double temperature = 1;
  };

  std::string_view name;
  Uncertainty (*make)(const Numbers& numbers);  // looks only at what the set takes
  bool radius = false, reach = false, temperature = false;

  static std::span<const SetKind> all();  // in the order of the alternatives of Uncertainty
  static const SetKind* find(std::string_view name);  // null: there is no such set
  static std::vector<std::string> names();
};

}  // namespace redoubt
