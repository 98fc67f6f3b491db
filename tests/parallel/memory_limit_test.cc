#include "parallel/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/expect_error.h"
#include "support/folders.h"

namespace redoubt {
using namespace internal;
namespace {

namespace fs = std::filesystem;

// Files as a machine has them under /proc and /sys.
class Machine : public ::testing::Test {
 protected:
  Machine() : root_(testing::own_path("machine")) { fs::remove_all(root_); }
  ~Machine() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double most() const { return machine_memory(root_).most; }
  fs::path root_;
};

TEST_F(Machine, WithoutAnyFilesHasAllOfItsMemory) {
  const double all = most();
  EXPECT_GT(all, 0);
  EXPECT_EQ(machine_memory(root_).held, 0);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(most(), all);
}

TEST_F(Machine, IsLimitedByItsCgroupAndThoseAroundIt) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/memory.max", "max\n");
  write("sys/fs/cgroup/user/memory.max", "3000000\n");
  EXPECT_EQ(most(), 3e6);
  write("sys/fs/cgroup/user/job/memory.max", "2000000\n");
  EXPECT_EQ(most(), 2e6);
  write("sys/fs/cgroup/memory.max", "1000000\n");
  EXPECT_EQ(most(), 1e6);
}

TEST_F(Machine, IsLimitedByACgroupOfTheFirstVersion) {
  write("proc/self/cgroup", "5:cpu:/other\n4:memory:/docker/outside\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000\n");  // as a container sees it
  EXPECT_EQ(most(), 4e6);
}

TEST_F(Machine, HoldsWhatIsResident) {
  write("proc/self/statm", "1000 25 3 4 5 6 7\n");
  EXPECT_EQ(machine_memory(root_).held, 25.0 * static_cast<double>(sysconf(_SC_PAGE_SIZE)));
  EXPECT_GT(machine_memory().held, 1e5);  // of this process
  EXPECT_LT(machine_memory().held, machine_memory().most);
}

constexpr MemoryPlan kPlan = {.model = 1e9, .values = 1e9};

TEST(RequireMemory, CountsWhatIsHeldBesideTheModel) {
  EXPECT_EQ(bytes_with_plan(kPlan, {.most = 8e9, .held = 0}), 2e9);
  EXPECT_EQ(bytes_with_plan(kPlan, {.most = 8e9, .held = 1e9}), 2e9);  // the model
  EXPECT_EQ(bytes_with_plan(kPlan, {.most = 8e9, .held = 4e9}), 5e9);  // and a solution
}

TEST(RequireMemory, RefusesASecondSolveBesideTheFirst) {
  const auto require = [](double held) {
    require_memory(kPlan, one_process(), 4e9, {.most = 8e9, .held = held}, "this solve",
                   "free something");
  };
  EXPECT_NO_THROW(require(1e9));
  EXPECT_NO_THROW(require(3e9));
  EXPECT_EQ(testing::error_of([&] { require(3.5e9); }),
            "this solve needs 2 GB of RAM beside the 2.5 GB that the process holds already, the "
            "limit is 4 GB: free something");
}

TEST(RequireMemory, LetsSmallWorkPassUnlessALimitWasAskedFor) {
  const MemoryPlan small{.values = 1e5};
  EXPECT_NO_THROW(require_memory(small, one_process(), 0));
  EXPECT_NE(testing::error_of([&] { require_memory(small, one_process(), 1e4); }), "");
}

TEST(RequireMemory, IsForThreeQuartersOfTheMachineUnlessAsked) {
  EXPECT_EQ(memory_limit(123), 123);
  EXPECT_EQ(memory_limit(0), 0.75 * machine_memory().most);
  EXPECT_LE(memory_room(), memory_limit(0));
}

}  // namespace
}  // namespace redoubt
