#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/support.h"
#include "redoubt/advanced/merged_states.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// A total that is asked for, in the sign in which it is to be large.
struct AskedTotal {
  std::string name;
  int signal = -1;  // -1: the reward
  double sign = 1;
};

// States from which others must be reached with certainty: a total that counts until then is
// infinite otherwise.
struct Unfinished {
  std::vector<char> states;  // of each state; empty: none
  bool may_miss = true;      // infinite totals are costs: no policy of any worth has one
};

// A model for totals without a discount and without a horizon, and the terms for it.
struct WithEnds {
  Model model;
  Terms terms;
  // Of each state, the (first) one of the given model that it stands for; empty: they are the same.
  std::vector<State> state;
  bool proper = true;                    // every policy comes to an end, whatever nature does
  bool traps = false;                    // not, but whoever is kept for ever is kept for nothing
  std::shared_ptr<MergedStates> merged;  // null: the states and rows are the same
};

// End components that pay nothing are collapsed, where nature can neither leave nor change them:
// each is one state then, which has all rows that lead out of it and, unless something must still
// be reached, one that stays for ever. Rows after which what must be reached may be missed are left
// out. None: nothing had to be done. An Error that names the states of an end component in which a
// total may grow, or which pays nothing where others cost.
std::optional<WithEnds> with_ends(const Model& model, const Terms& terms,
                                  const std::vector<AskedTotal>& totals,
                                  const Unfinished& unfinished);

// Whether no outcome of any row ever takes anything from a total.
bool only_adds(const Model& model, const Support& support, const AskedTotal& total);

// Of each state, whether nature can keep an episode for ever, without anything being earned, that
// takes rows of which use(row) is true, each of them with positive probability.
std::vector<char> kept_for_nothing(const Model& model, const Support& support,
                                   const AskedTotal& total, const std::vector<char>& use);

}  // namespace redoubt::internal
