#include <algorithm>
#include <numeric>

#include "redoubt/error.h"

namespace redoubt {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_matches(std::string_view word,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> near;
  for (const std::string& candidate : known) {
    if (edit_distance(word, candidate) <= 2) near.push_back(candidate);
  }
  return near;
}

}  // namespace redoubt
