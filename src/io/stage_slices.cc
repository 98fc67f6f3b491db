#include "io/stage_slices.h"

#include "model/require.h"

namespace redoubt::io {
namespace {

bool has_stage(const std::vector<std::int64_t>& begin, std::size_t stage) {
  return stage + 1 < begin.size() && begin[stage + 1] > begin[stage];
}

}  // namespace

StageSlices::StageSlices(const hdf5::Input& in, std::string prefix)
    : in_(in), prefix_(std::move(prefix)) {
  for (const char* table : {"node_begin", "outcome_slot"})
    require(!in.has(prefix_ + table),
            "a policy that moves its memory by table, must be read on one rank");
  memory_ = in.read<std::int32_t>(prefix_ + "memory");
  mixed_ = in.read<std::int64_t>(prefix_ + "mixed_begin");
  first_ = in.read<std::int64_t>(prefix_ + "choice_begin_begin");
  action_ = in.read<std::int64_t>(prefix_ + "choice_action_begin");
}

Policy::Stage StageSlices::read(int h, State begin, State end) const {
  Policy::Stage stage;
  stage.memory = memory_[h];
  const std::int64_t node = std::int64_t{begin} * stage.memory,
                     nodes = std::int64_t{end - begin} * stage.memory;
  if (has_stage(mixed_, h)) {
    stage.mixed = in_.read_range<MixedChoice>(prefix_ + "mixed", mixed_[h] + node, nodes);
    return stage;
  }
  if (!has_stage(first_, h)) return stage;
  stage.choice_begin =
      in_.read_range<std::int64_t>(prefix_ + "choice_begin", first_[h] + node, nodes + 1);
  const std::int64_t choice = stage.choice_begin.front(),
                     choices = stage.choice_begin.back() - choice;
  for (std::int64_t& at : stage.choice_begin) at -= choice;
  if (choices == 0) return stage;  // states that have nothing to decide
  require(has_stage(action_, h), "stage {} has no actions", h);
  stage.choice_action =
      in_.read_range<std::int32_t>(prefix_ + "choice_action", action_[h] + choice, choices);
  stage.choice_weight =
      in_.read_range<double>(prefix_ + "choice_weight", action_[h] + choice, choices);
  return stage;
}

}  // namespace redoubt::io
