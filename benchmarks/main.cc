#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "numerics/isa.h"
#include "topics.h"

// bench [--json FILE] [--filter TEXT]: prints the table; exit status 1 when a floor fails.
int main(int argc, char** argv) {
  using namespace redoubt::bench;
  std::string json, filter;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc || (option != "--json" && option != "--filter")) {
      fmt::print(stderr, "usage: bench [--json FILE] [--filter TEXT]\n");
      return 2;
    }
    (option == "--json" ? json : filter) = argv[i + 1];
  }

  fmt::print("instructions: {}\n", name(redoubt::internal::best_instruction_set()));
  Table table(filter);
  for (const auto topic :
       {vector_math, kl, chi2_and_tv, mixing, accuracy, rcvi, gradient, frontier, certificate,
        building, doors, scale, base_case, peers, states, factors, abstraction})
    topic(table);
  if (filter.starts_with("slabs")) slabs(table);

  if (!json.empty()) std::ofstream(json) << table.json();
  return table.holds() ? 0 : 1;
}
