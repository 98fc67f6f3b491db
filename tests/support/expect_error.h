#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redoubt/error.h"

namespace redoubt::testing {

// The text of the Error that `action` throws; fails the test when it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace redoubt::testing
