#pragma once

#include <span>
#include <vector>

#include "redoubt/ranks.h"

namespace redoubt::io {

// Brings `count` values of one rank to the first one, which writes the files; every rank calls it.
// The first rank gets them, the others what they have given.
template <class Value>
std::vector<Value> on_first_rank(Communicator& ranks, int from, std::vector<Value> own,
                                 std::size_t count) {
  if (from == 0) return own;
  std::vector<Communicator::Outgoing> out;
  std::vector<Communicator::Incoming> in;
  if (ranks.rank() == from) out.push_back({0, std::as_bytes(std::span(own))});
  if (ranks.rank() == 0) {
    own.resize(count);
    in.push_back({from, std::as_writable_bytes(std::span(own))});
  }
  ranks.begin(out, in);
  ranks.finish();
  return own;
}

}  // namespace redoubt::io
