#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "io/solution/stage_arrays.h"
#include "redoubt/advanced/io.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/io.h"
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
    file_ = ::mkostemp(name.data(), O_CLOEXEC);
    check(file_ >= 0, "written");
    check(::unlink(name.c_str()) == 0, "written");
  }
  StageFile(const StageFile&) = delete;
  StageFile& operator=(const StageFile&) = delete;
  ~StageFile() override { ::close(file_); }

  void put(int stage, const Policy::Stage& decisions) override {
    Entry& entry = entries_[stage];
    entry = {decisions.memory, {}};
    io::for_each_stage_array([&](const char*, auto array) {
      const auto& values = decisions.*array;
      entry.arrays.push_back({end_, values.size()});
      write(values.data(), values.size() * sizeof values[0]);
    });
  }

  bool has(int stage) const override { return entries_.contains(stage); }

  Policy::Stage get(int stage) const override {
    const auto found = entries_.find(stage);
    require(found != entries_.end(), "stage {} of the policy was never stored", stage);
    Policy::Stage decisions;
    decisions.memory = found->second.memory;
    std::size_t next = 0;
    io::for_each_stage_array([&](const char*, auto array) {
      const auto& [at, count] = found->second.arrays[next++];
      std::vector<typename std::decay_t<decltype(decisions.*array)>::value_type> values(count);
      read(values.data(), count * sizeof values[0], at);
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

  void write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const auto done = ::pwrite(file_, from, bytes, end_);
      if (done < 0 && errno == EINTR) continue;
      check(done > 0, "written");
      from += done, end_ += done, bytes -= static_cast<std::size_t>(done);
    }
  }

  void read(void* data, std::size_t bytes, std::int64_t at) const {
    char* to = static_cast<char*>(data);
    while (bytes > 0) {
      const auto done = ::pread(file_, to, bytes, at);
      if (done < 0 && errno == EINTR) continue;
      check(done > 0, "read");
      to += done, at += done, bytes -= static_cast<std::size_t>(done);
    }
  }

  void check(bool done, const char* what) const {
    require(done, "{}: stages of the policy cannot be {} ({})", folder_.string(), what,
            std::strerror(errno));
  }

  std::filesystem::path folder_;
  int file_ = -1;
  std::int64_t end_ = 0;
  std::map<int, Entry> entries_;
};

}  // namespace

std::unique_ptr<StageStore> stages_on_disk(const std::filesystem::path& folder) {
  return std::make_unique<StageFile>(folder);
}

}  // namespace redoubt
