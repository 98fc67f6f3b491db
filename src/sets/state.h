#pragma once

#include "sets/row.h"

// States whose rows share one radius (scope state), a state of its own for every lane. Read by the
// files that are compiled once for each instruction set: see row.h.
namespace redoubt::internal {

// States of equally many actions, with rows of equally many outcomes. All numbers are padded like
// values, those of outcomes laid out [(action * outcomes + outcome) * padded_lanes(lanes) + lane].
// A row that is shorter has outcomes of probability zero behind, with the value of its first one.
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

}  // namespace redoubt::internal
