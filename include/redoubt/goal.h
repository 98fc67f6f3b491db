#pragma once

#include <string>
#include <string_view>

namespace redoubt {

// Words for what constraints and objectives may speak of instead of a signal: what happens to a
// label.
//     reach L                  the probability that an episode comes to a state of L, at the start
//                              or up to the last arrival
//     avoid L                  the probability that it never does
//     M until L                the probability that it does, and is in states of M before
//     steps to L               the decisions until it does, all of them if it does not
//     total of SIGNAL until L  what the signal (or the reward) earns until it does
// A name with blanks in it, or one of the words above, stands in double quotes.
std::string reach(std::string_view label);
std::string avoid(std::string_view label);
std::string until(std::string_view before, std::string_view label);
std::string steps_to(std::string_view label);
std::string total_until(std::string_view signal, std::string_view label);

}  // namespace redoubt
