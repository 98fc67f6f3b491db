#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "policy/stage_arrays.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/stage_store.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Stages one after the other, in a file without a name: it goes with the process that made it,
// however that ends.
class StageFile : public StageStore {
 public:
  explicit StageFile(const std::filesystem::path& folder) : folder_(folder) {
    std::string name = (folder / ".redoubt-stages-XXXXXX").string();
    file_ = OpenFile(::mkostemp(name.data(), O_CLOEXEC));
    check(file_ >= 0, "written");
    check(::unlink(name.c_str()) == 0, "written");
  }

  void put(int stage, const Policy::Stage& decisions) override {
    Entry& entry = entries_[stage];
    entry = {decisions.memory, {}};
    for_each_stage_array([&](const char*, auto array) {
      const auto& values = decisions.*array;
      entry.arrays.push_back({end_, values.size()});
      const std::size_t bytes = values.size() * sizeof values[0];
      check(file_.write(values.data(), bytes, end_) == bytes, "written");
      end_ += static_cast<std::int64_t>(bytes);
    });
  }

  bool has(int stage) const override { return entries_.contains(stage); }

  Policy::Stage get(int stage) const override {
    const auto found = entries_.find(stage);
    require(found != entries_.end(), "stage {} of the policy was never stored", stage);
    Policy::Stage decisions;
    decisions.memory = found->second.memory;
    std::size_t next = 0;
    for_each_stage_array([&](const char*, auto array) {
      const auto& [at, count] = found->second.arrays[next++];
      std::vector<typename std::decay_t<decltype(decisions.*array)>::value_type> values(count);
      const std::size_t bytes = count * sizeof values[0];
      check(file_.read(values.data(), bytes, at) == bytes, "read");
      decisions.*array = std::move(values);
    });
    return decisions;
  }

 private:
  struct Place {
    std::int64_t at = 0;
    std::size_t count = 0;
  };
  struct Entry {
    std::int32_t memory = 1;
    std::vector<Place> arrays;
  };

  void check(bool done, const char* what) const {
    require(done, "{}: stages of the policy cannot be {} ({})", folder_.string(), what,
            std::strerror(errno));
  }

  std::filesystem::path folder_;
  OpenFile file_;
  std::int64_t end_ = 0;
  std::map<int, Entry> entries_;
};

}  // namespace

std::unique_ptr<StageStore> stages_on_disk(const std::filesystem::path& folder) {
  return std::make_unique<StageFile>(folder);
}

}  // namespace redoubt
