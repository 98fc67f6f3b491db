#pragma once

#include <fmt/format.h>

#include "redoubt/model.h"

namespace redoubt::internal {

// A row in the text of an error. The name is put together only when the text is: checks run over
// every row and outcome, and nearly all of them hold.
struct RowName {
  const Model& model;
  Row row;
};

}  // namespace redoubt::internal

template <>
struct fmt::formatter<redoubt::internal::RowName> : fmt::formatter<std::string> {
  auto format(const redoubt::internal::RowName& name, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(name.model.row_name(name.row), context);
  }
};
