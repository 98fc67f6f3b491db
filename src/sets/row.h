#pragma once

#include <cstddef>
#include <cstdint>

// One row and the lanes of values that its outcomes lead to. This header is also read by the files
// that are compiled once for each instruction set, hence no standard containers: see
// numerics/lanes.h.
namespace redoubt::internal {

inline constexpr int kLaneBlock = 8;  // lanes are computed in groups of this many

constexpr int padded_lanes(int lanes) { return (lanes + kLaneBlock - 1) / kLaneBlock * kLaneBlock; }

// A row as nature sees it. Probabilities are positive and sum to one (interval sets may have
// zeros).
struct NominalRow {
  int outcomes = 0;
  const double* probability = nullptr;
  double radius = 0;              // tv, chi2, kl; the temperature for tilt
  const double* lower = nullptr;  // interval only
  const double* upper = nullptr;
};

// Rows of equally many outcomes, a row of its own for every lane. All numbers are padded like
// values (see below), those of outcomes laid out [outcome * padded_lanes(lanes) + lane].
struct LaneRows {
  int outcomes = 0;
  const double* probability = nullptr;
  const double* radius = nullptr;  // [lane]
  const double* lower = nullptr;
  const double* upper = nullptr;
};

// values[i] points to the value of outcome i in every lane, contiguous. Reading up to
// padded_lanes(lanes) must be valid and find finite numbers; so must writing the results. `floor`
// is the value, per lane, of the worst landing place outside the row's outcomes (tv with reach
// anywhere), or null when there is none.
struct LaneValues {
  int lanes = 0;
  const double* const* values = nullptr;
  const double* floor = nullptr;
};

// How much work the lane kernel of kl did. An evaluation is one pass of exponentials over the
// outcomes of a block of lanes.
struct Work {
  std::int64_t blocks = 0;  // with at least one lane that is not solved by inspection
  std::int64_t evaluations = 0;
};

// Room that a lane kernel may use, one for each thread; grows on first use, then never allocates.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

  double* doubles(std::size_t count);       // valid until the next call
  double* more_doubles(std::size_t count);  // the same, for a kernel that calls another

  Work work;

 private:
  struct Room {
    double* memory = nullptr;
    std::size_t capacity = 0;
  };
  static double* grown(Room& room, std::size_t count);
  Room room_, more_;
};

// worst[lane] = min over P in the set of sum_i P_i values[i][lane].
// When `minimiser` is not null it receives a P that attains it: minimiser[i * padded_lanes(lanes) +
// lane], with one more entry, i = outcomes, for the mass on the floor (zero when there is no
// floor).
using WorstCase = void (*)(const NominalRow& row, const LaneValues& values, Scratch& scratch,
                           double* worst, double* minimiser);

// The same where every lane has a row of its own.
using WorstCases = void (*)(const LaneRows& rows, const LaneValues& values, Scratch& scratch,
                            double* worst, double* minimiser);

// Some rows: those of a list, or without one `count` rows from `first` on.
struct RowChoice {
  std::int64_t count = 0;
  std::int64_t first = 0;
  const std::int64_t* list = nullptr;
};
inline std::int64_t row_of(const RowChoice& chosen, std::int64_t number) {
  return chosen.list != nullptr ? chosen.list[number] : chosen.first + number;
}

// Rows of equally many outcomes in compressed storage, one for each of `lanes` lanes, a multiple of
// the block: the outcomes of a lane's row are number begin[lane] and those behind it.
struct RowsInStorage {
  int outcomes = 0;
  int lanes = 0;
  const std::int64_t* begin = nullptr;
};

// Brings them side by side: to[outcome * lanes + lane] = the number of the outcome, or the value
// that it leads to.
struct LayOut {
  void (*numbers)(const RowsInStorage& rows, const double* numbers, double* to);
  void (*values)(const RowsInStorage& rows, const std::int32_t* next, const double* values,
                 double* to);
};

// A sparse matrix in compressed row storage.
struct SparseRows {
  const std::int64_t* row_outcomes = nullptr;
  const std::int32_t* next = nullptr;
  const double* probability = nullptr;
};

// result[i] = earned[i] + discount * sum of probability * values[next] over the outcomes of the
// chosen row number i: the product of a sparse matrix and a vector.
using ExpectedValues = void (*)(const SparseRows& matrix, const RowChoice& chosen,
                                const double* earned, double discount, const double* values,
                                double* result);

// Rows whose worth differs by no more than this, relative to it and to the largest value of a
// decision, differ by rounding only.
inline constexpr double kSameWorth = 1e-13;

// States that take the best of their rows: state number i has those from begin[i] up to begin[i +
// 1], and row r earns earned[r].
struct RowsOfStates {
  const std::int64_t* begin = nullptr;
  const double* earned = nullptr;
  double discount = 1;
  double unit = 1;     // the largest value of a decision
  bool least = false;  // the best row is the one with the least value
};

// Action elimination. When all rows of a state are looked at, the best is ahead of the second best
// by some lead; until[state] is that lead and the drift by then. The worths of two rows move apart
// by no more than the drift grows, so while until[state] is beyond the drift and a margin for
// rounding, no other row can have become the best.
struct ActionElimination {
  double* until = nullptr;  // by state number; null: every row is looked at
  double drift = 0;
  double passed = 0;  // the drift and the margin

  bool skips(std::int64_t state) const { return until != nullptr && until[state] > passed; }
};

// For `count` states, those of a list or without one from number `first` on: what the best row is
// worth (0 without rows), and the position among the state's rows of the first that is worth as
// much but for rounding (-1 without rows). True when these rows are the best ones to the bit.
// `room` is for as many numbers as a state has rows. Where other rows are eliminated, `position`
// has the best one.
struct StateChoice {
  std::int32_t count = 0;
  std::int32_t first = 0;
  const std::int32_t* list = nullptr;
};
using BestExpected = bool (*)(const SparseRows& matrix, const RowsOfStates& states,
                              const StateChoice& chosen, const ActionElimination& elimination,
                              const double* values, double* room, double* best,
                              std::int32_t* position);

// States whose rows share one radius (scope state), a state of its own for every lane: of equally
// many actions, with rows of equally many outcomes. All numbers are padded like values, those of
// outcomes laid out [(action * outcomes + outcome) * padded_lanes(lanes) + lane]. A row that is
// shorter has outcomes of probability zero behind, with the value of its first one.
struct LaneStates {
  int actions = 0, outcomes = 0;
  const double* probability = nullptr;
  const double* radius = nullptr;  // [lane]
};

// values as probabilities are laid out; `floor` is the value of the worst landing of each action,
// [action][lane], or null when there are none.
struct StateValues {
  int lanes = 0;
  const double* values = nullptr;
  const double* floor = nullptr;
};

// worst[lane] = min over P of sum over actions and outcomes of P * value, where the distances of
// the rows of P from the nominal ones add up to at most the radius. (Values are those of outcomes
// times the probability of their action.) `minimiser`, when it is not null, receives such a P, laid
// out like the values, and behind them the mass on the floor of each action, [action][lane].
using WorstOfStates = void (*)(const LaneStates& states, const StateValues& values,
                               Scratch& scratch, double* worst, double* minimiser);

// best[lane] = max over weights of the actions of that minimum, with the values of outcomes as they
// are; weight, [action][lane], attains it. `alone` is the worst case of each action that is taken
// with certainty, [action][lane].
using BestOfStates = void (*)(const LaneStates& states, const StateValues& values,
                              const double* alone, Scratch& scratch, double* best, double* weight);

// Copies of the rows of states that have equally many, of equally many outcomes each, few of both:
// number n of a state's rows or outcomes, of the state number i here, is entry n * states + i.
// Outcomes that a row does not have come last, with probability 0.
struct AlikeStates {
  static constexpr std::int32_t kMost = 256;
  static constexpr int kMostRows = 4, kMostOutcomes = 8;
  std::int32_t states = 0;  // at most kMost of them
  std::int32_t rows = 0;
  std::int32_t outcomes = 0;  // of each row
  const std::int32_t* next = nullptr;
  const double* probability = nullptr;
  const double* earned = nullptr;       // by each row
  const std::int32_t* place = nullptr;  // of each state: where what is found goes
};
// What the best of their rows are worth, and which these are, as BestExpected: the same bits.
using BestAlike = bool (*)(const AlikeStates& states, double discount, double unit, bool least,
                           const double* values, double* best, std::int32_t* position);

}  // namespace redoubt::internal
