#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace redoubt::app {

// Exit status of the program.
inline constexpr int kFine = 0;        // certified or feasible
inline constexpr int kBadOutcome = 1;  // violated, infeasible or stopped
inline constexpr int kBadInput = 2;    // nothing was done

// What a verb does once its options have been read; returns the exit status.
using Action = std::function<int()>;

// Each verb adds its options to its part of the command line and returns what to do with them. One
// file each, and one line in main.cc.
Action make_verb(CLI::App& verb);
Action envs_verb(CLI::App& verb);
Action info_verb(CLI::App& verb);
Action solve_verb(CLI::App& verb);
Action frontier_verb(CLI::App& verb);
Action evaluate_verb(CLI::App& verb);
Action compare_verb(CLI::App& verb);
Action estimate_verb(CLI::App& verb);
Action samples_verb(CLI::App& verb);
Action verify_verb(CLI::App& verb);
Action simulate_verb(CLI::App& verb);
Action convert_verb(CLI::App& verb);

}  // namespace redoubt::app
