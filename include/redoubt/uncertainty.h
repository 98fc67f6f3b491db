#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace redoubt {

// How far nature may move a row from its nominal distribution, or the rows of a state together: one
// number everywhere, or one for each row or state.
struct Radius {
  double all = 0;
  std::vector<double> rows;  // one for each row of the model; empty: `all` holds everywhere
  // Scope state: one for each state, or each state of each stage where rows depend on it. Either
  // list will do; a Problem has both, with the same radius for all rows of a state.
  std::vector<double> states = {};

  Radius(double value = 0) : all(value) {}                           // NOLINT: a number is a radius
  Radius(std::vector<double> per_row) : rows(std::move(per_row)) {}  // NOLINT
  static Radius of_states(std::vector<double> per_state) {
    Radius radius;
    radius.states = std::move(per_state);
    return radius;
  }
  double of(std::int64_t row) const { return rows.empty() ? all : rows[row]; }
  bool operator==(const Radius&) const = default;
};

// Where total variation may put the mass that it moves.
enum class Reach {
  anywhere,  // in any state of the model, as in the paper; such an arrival earns the row's own
             // reward and signals, and what the model says of arrivals in the state
  support,   // only on outcomes that the nominal row already has
};

// What shares one radius.
enum class Scope {
  row,    // every row has its own: (s, a)-rectangular
  state,  // the rows of a state, at a stage, share it: the distances of all its rows add up to at
          // most the radius (s-rectangular). Nature knows the memory of the policy and its
          // distribution over the actions, not the action that is drawn.
};

// The uncertainty sets. P is nature's choice, p the nominal row.
struct Nominal {  // no uncertainty: P = p
  bool operator==(const Nominal&) const = default;
};
struct TV {  // total variation: 1/2 sum |P - p| <= radius. Peers that speak of an L1 budget use
             // twice this radius.
  Radius radius;
  Reach reach = Reach::anywhere;
  Scope scope = Scope::row;
  bool operator==(const TV&) const = default;
};
struct Chi2 {  // sum (P - p)^2 / p <= radius
  Radius radius;
  Scope scope = Scope::row;
  bool operator==(const Chi2&) const = default;
};
struct KL {  // sum P log(P / p) <= radius
  Radius radius;
  Scope scope = Scope::row;
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

// A ball around a row that is itself known only by bounds: every P within the radius of some row p
// that keeps the bounds of the model, lower <= p <= upper. What is known of a row from data is of
// this kind. With radius 0 it is `Interval`.
struct Composed {
  enum class Ball { tv, chi2, kl };
  Ball ball = Ball::kl;
  Radius radius;
  Reach reach = Reach::anywhere;  // of tv
  bool operator==(const Composed&) const = default;
};

using Uncertainty = std::variant<Nominal, TV, Chi2, KL, Tilt, Interval, Composed>;

// "none", "tv", "chi2", "kl", "tilt", "interval", "interval-tv", "interval-chi2", "interval-kl"
std::string_view name(const Uncertainty& uncertainty);

// A set around known rows, around rows that are known by the bounds of the model. The set must be
// none, tv, chi2 or kl: an Error.
Uncertainty composed(const Uncertainty& set);

Scope scope_of(const Uncertainty& uncertainty);  // of sets that have none: row
std::string_view name(Scope scope);              // "row", "state"

// What a set is called and what it takes. Whoever reads a set from a file, a flag or a parameter
// goes by this table.
struct SetKind {
  struct Numbers {
    Radius radius;
    Reach reach = Reach::anywhere;
    Scope scope = Scope::row;
    double temperature = 1;
  };

  std::string_view name;
  Uncertainty (*make)(const Numbers& numbers);  // looks only at what the set takes
  bool radius = false, reach = false, temperature = false, scope = false;

  static std::span<const SetKind> all();
  static const SetKind* find(std::string_view name);  // null: there is no such set
  static std::vector<std::string> names();
};

}  // namespace redoubt
