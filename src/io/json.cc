#include "io/file.h"
#include "io/json_model.h"
#include "model/require.h"
#include "redoubt/io.h"

namespace redoubt {

Problem read_json(std::string_view text, std::string_view name) {
  return io::naming(name, [&] {
    const io::Json json = io::parse_json(text);
    const io::Node root(json);
    io::require_format(root, "redoubt-problem", 1);
    root.allow_only({"format", "version", "states", "actions", "horizon", "discount", "start",
                     "transitions", "reward", "signals", "constraints", "uncertainty"});
    Model model = io::read_model(root, text.size(), io::read_horizon(root));
    Terms terms = io::read_terms(root, model.arrays());
    return Problem(std::move(model), std::move(terms));
  });
}

}  // namespace redoubt
