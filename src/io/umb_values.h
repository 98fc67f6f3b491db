#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/json_node.h"

namespace redoubt::io::umb {

// Numbers of a file, as doubles; intervals have both ends.
struct Values {
  std::vector<double> lower, upper;  // upper is empty unless the type is an interval
};

// The binary files of an archive, taken out as they are read.
class Members {
 public:
  explicit Members(std::map<std::string, std::string> files);

  std::size_t bytes() const { return bytes_; }  // of all files
  bool has(const std::string& name) const { return files_.contains(name); }
  std::string text(const std::string& name);

  // n + 1 offsets that begin at 0, never decrease and end at `total`; without the file, one each.
  std::vector<std::int64_t> offsets(const std::string& name, std::int64_t count,
                                    std::int64_t total);
  // Whole numbers below `limit`; without the file, zeros.
  template <class Stored>
  std::vector<std::int32_t> numbers(const std::string& name, std::int64_t count,
                                    std::int64_t limit);
  std::vector<char> bits(const std::string& name, std::int64_t count);
  // Of the type that index.json gives, such as {"type": "double", "size": 64}.
  Values values(const std::string& name, std::int64_t count, const Node& type);

 private:
  std::string take(const std::string& name, std::int64_t count, std::size_t bits_each);
  std::map<std::string, std::string> files_;
  std::size_t bytes_ = 0;
};

}  // namespace redoubt::io::umb
