#include "support/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "redoubt/advanced/file.h"
#include "redoubt/io.h"
#include "support/folders.h"

namespace redoubt {
using namespace internal;
namespace {

using std::filesystem::path;

// A folder of its own for each test.
class NewFiles : public ::testing::Test {
 protected:
  NewFiles() : folder(testing::binary_folder() / "files" / info()->name()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  static const ::testing::TestInfo* info() {
    return ::testing::UnitTest::GetInstance()->current_test_info();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      list.push_back(entry.path().filename().string());
    std::sort(list.begin(), list.end());
    return list;
  }
  using Names = std::vector<std::string>;
  path folder;
};

TEST_F(NewFiles, ReplaceTheOldOneWholeOrNotAtAll) {
  write_file(folder / "a", "old");
  {
    NewFile file(folder / "a");
    file.write("half");
    EXPECT_EQ(read_file(folder / "a"), "old");
  }  // given up
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(names(), Names{"a"});
  write_file(folder / "a", "new");
  EXPECT_EQ(read_file(folder / "a"), "new");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(NewFiles, OfTheDeadAreRemovedAndOfTheLivingKept) {
  std::ofstream(folder / "a.123-0.unfinished") << "left by a kill";
  std::ofstream(folder / "a.tmp") << "of somebody else";
  std::ofstream(folder / "b.123-0.unfinished") << "of another file";
  const NewFile living(folder / "a");
  write_file(folder / "a", "new");
  EXPECT_TRUE(std::filesystem::exists(living.path()));
  EXPECT_EQ(names(),
            (Names{"a", living.path().filename().string(), "a.tmp", "b.123-0.unfinished"}));
}

TEST_F(NewFiles, WrittenByManyAtOnceAreWholeAlways) {
  const std::string one(1 << 16, '1'), two(1 << 16, '2');
  write_file(folder / "a", one);
  std::atomic<bool> writing = true;
  std::vector<std::thread> writers;
  for (const std::string* text : {&one, &two, &one, &two})
    writers.emplace_back([&, text] {
      for (int i = 0; i < 50; ++i) write_file(folder / "a", *text);
    });
  std::thread reader([&] {
    while (writing) {
      const std::string seen = read_file(folder / "a");
      EXPECT_TRUE(seen == one || seen == two);
    }
  });
  for (std::thread& writer : writers) writer.join();
  writing = false;
  reader.join();
  EXPECT_EQ(names(), Names{"a"});
}

}  // namespace
}  // namespace redoubt
