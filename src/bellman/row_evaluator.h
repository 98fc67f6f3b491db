#pragma once

#include <vector>

#include "model/set_traits.h"
#include "redoubt/problem.h"
#include "sets/worst_case.h"

namespace redoubt::internal {

// A quantity that is totalled over an episode, in the sign in which nature minimises it: the
// reward, a utility, a negative cost; the opposite of these where nature is helpful.
struct Channel {
  int signal = -1;  // -1: the reward
  double sign = 1;
  bool operator==(const Channel&) const = default;
};
Channel reward_channel(const Problem& problem);
Channel channel_of(const Problem& problem, int constraint);
std::vector<Channel> channels_of(const Problem& problem);  // the reward, then each constraint

// True when nature may move mass to states that a row does not list.
inline bool lands_anywhere(const Problem& problem) { return lands_anywhere(problem.uncertainty()); }

// What an arrival outside of a row adds to the value of its state, as next values are counted: in
// the units of the next stage.
inline double arrival_worth(const Problem& problem, Channel channel, State state) {
  return channel.sign * problem.model().arrival_value(channel.signal, state) / problem.discount();
}

// What a problem lets nature do to a row, as the lane kernels read it.
struct NatureOfRows {
  const Radius* radius = nullptr;  // null: the set has none
  double strength = 0;             // temperature of a tilt
  bool floor = false;              // there are landings
  bool bounds = false;             // rows are known by bounds

  double radius_of(Row row) const { return radius ? radius->of(row) : strength; }
};
NatureOfRows nature_of_rows(const Problem& problem);

// The worst case of one row of a problem, for many lanes. One for each thread.
//     result = row value + discount * min over P of sum_i P_i (next value_i + outcome value_i /
//     discount)
// The discount stands outside so that the hot path never scales a value, and because `tilt` is
// defined on next values.
class RowEvaluator {
 public:
  explicit RowEvaluator(const Problem& problem);

  bool needs_floor() const { return nature_.floor; }  // there are landings
  double evaluations() const { return evaluations_; }

  // A block for the caller's next values of one outcome, when it has no array to point to. Valid
  // until the next worst() call.
  double* buffer(int outcome, int lanes);

  // next[i] holds the next values of outcome i in every lane; `floor` those of the worst
  // landing (null: none), with what the arrival is worth. Lanes are divided evenly between the
  // channels: with two channels, the first half of the lanes is for channels[0]. `result` and, when
  // asked for, `minimiser` are padded as in sets/worst_case.h.
  void worst(Row row, std::span<const Channel> channels, int lanes, const double* const* next,
             const double* floor, double* result, double* minimiser = nullptr);

 private:
  const double* with_outcome_values(Row row, std::span<const Channel> channels, int lanes,
                                    int outcome, const double* next);

  const Problem* problem_;
  WorstCase kernel_;
  NatureOfRows nature_;
  bool outcome_values_ = false;
  double evaluations_ = 0;
  Scratch scratch_;
  std::vector<std::vector<double>> buffers_, sums_;
  std::vector<const double*> pointers_;
};

}  // namespace redoubt::internal
