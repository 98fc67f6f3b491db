#pragma once

#include "command_line.h"

namespace redoubt::app {

// Exit status of the program.
inline constexpr int kFine = 0;        // certified or feasible
inline constexpr int kBadOutcome = 1;  // violated, infeasible or stopped
inline constexpr int kBadInput = 2;    // nothing was done

// Each verb adds its options to its part of the command line and returns what to do with them. One
// file each, and one line in main.cc.
Action make_verb(CommandLine& verb);
Action envs_verb(CommandLine& verb);
Action info_verb(CommandLine& verb);
Action solve_verb(CommandLine& verb);
Action frontier_verb(CommandLine& verb);
Action evaluate_verb(CommandLine& verb);
Action compare_verb(CommandLine& verb);
Action estimate_verb(CommandLine& verb);
Action learn_verb(CommandLine& verb);
Action samples_verb(CommandLine& verb);
Action verify_verb(CommandLine& verb);
Action simulate_verb(CommandLine& verb);
Action act_verb(CommandLine& verb);
Action aggregate_verb(CommandLine& verb);
Action report_verb(CommandLine& verb);
Action convert_verb(CommandLine& verb);

}  // namespace redoubt::app
