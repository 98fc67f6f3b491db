#include "io/umb_values.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "model/require.h"

namespace redoubt::io::umb {
namespace {

template <class Stored>
Stored load_number(const char* from) {
  Stored value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A little-endian integer of any whole number of 64-bit words.
long double load_integer(const char* from, std::size_t bytes, bool is_signed) {
  long double value = 0;
  for (std::size_t word = bytes / 8; word-- > 0;) {
    const auto bits = load_number<std::uint64_t>(from + 8 * word);
    const bool top = word + 1 == bytes / 8;
    value = std::ldexp(value, 64) + (top && is_signed
                                         ? static_cast<long double>(static_cast<std::int64_t>(bits))
                                         : static_cast<long double>(bits));
  }
  return value;
}

enum class Kind { real, integer, natural, rational };

struct Type {
  Kind kind;
  bool interval;
  std::size_t bytes;  // of one number; an interval has two
};

Type read_type(const Node& node) {
  std::string name = node.at("type").text();
  const bool interval = name.ends_with("-interval");
  if (interval) name.resize(name.size() - std::string("-interval").size());
  Type type{Kind::real, interval, 8};
  if (name == "int")
    type.kind = Kind::integer;
  else if (name == "uint")
    type.kind = Kind::natural;
  else if (name == "rational")
    type.kind = Kind::rational, type.bytes = 16;
  else if (name != "double")
    node.at("type").fail("must be double, rational, int or uint, or an interval of them");
  const auto size = node.find("size");
  if (!size) return type;
  const auto unit = static_cast<std::int64_t>(8 * type.bytes * (interval ? 2 : 1));
  const auto bits = size->integer(1, 1 << 20);
  if (bits % unit != 0 || (type.kind != Kind::rational && bits != unit))
    size->fail(
        fmt::format("must be {}{}", type.kind == Kind::rational ? "a multiple of " : "", unit));
  type.bytes = static_cast<std::size_t>(bits) / 8 / (interval ? 2 : 1);
  return type;
}

double load_value(const char* from, const Type& type) {
  switch (type.kind) {
    case Kind::real:
      return load_number<double>(from);
    case Kind::integer:
      return static_cast<double>(load_number<std::int64_t>(from));
    case Kind::natural:
      return static_cast<double>(load_number<std::uint64_t>(from));
    case Kind::rational:
      break;
  }
  const std::size_t half = type.bytes / 2;
  return static_cast<double>(load_integer(from, half, true) /
                             load_integer(from + half, half, false));
}

}  // namespace

Members::Members(std::map<std::string, std::string> files) : files_(std::move(files)) {
  for (const auto& [name, content] : files_) bytes_ += content.size();
}

std::string Members::text(const std::string& name) {
  const auto found = files_.find(name);
  require(found != files_.end(), "{} is missing, must be in the archive", name);
  std::string content = std::move(found->second);
  files_.erase(found);
  return content;
}

std::string Members::take(const std::string& name, std::int64_t count, std::size_t bits_each) {
  std::string content = text(name);
  // Counts are below 2^31 and sizes below 2^20 bits: no overflow.
  const auto bytes = static_cast<std::size_t>(count) * bits_each / 8;
  require(content.size() == bytes, "{} has {} bytes, must have {}", name, content.size(), bytes);
  return content;
}

std::vector<std::int64_t> Members::offsets(const std::string& name, std::int64_t count,
                                           std::int64_t total) {
  std::vector<std::int64_t> out;
  if (!has(name)) {
    require(count == total, "{} is missing, must be given: it maps {} to {}", name, count, total);
    out.resize(count + 1);
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  const std::string content = take(name, count + 1, 64);
  out.resize(count + 1);
  for (std::int64_t i = 0; i <= count; ++i) {
    const auto value = load_number<std::uint64_t>(content.data() + 8 * i);
    require(value <= static_cast<std::uint64_t>(total), "{}[{}] = {}, must be at most {}", name, i,
            value, total);
    out[i] = static_cast<std::int64_t>(value);
    require(out[i] >= (i == 0 ? 0 : out[i - 1]) && (i > 0 || out[0] == 0),
            "{}[{}] = {}, must begin at 0 and never decrease", name, i, value);
  }
  require(out.back() == total, "{} ends at {}, must end at {}", name, out.back(), total);
  return out;
}

template <class Stored>
std::vector<std::int32_t> Members::numbers(const std::string& name, std::int64_t count,
                                           std::int64_t limit) {
  if (!has(name)) return std::vector<std::int32_t>(count, 0);
  const std::string content = take(name, count, 8 * sizeof(Stored));
  std::vector<std::int32_t> out(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = load_number<Stored>(content.data() + sizeof(Stored) * i);
    require(value < static_cast<std::uint64_t>(limit), "{}[{}] = {}, must be below {}", name, i,
            value, limit);
    out[i] = static_cast<std::int32_t>(value);
  }
  return out;
}
template std::vector<std::int32_t> Members::numbers<std::uint32_t>(const std::string&, std::int64_t,
                                                                   std::int64_t);
template std::vector<std::int32_t> Members::numbers<std::uint64_t>(const std::string&, std::int64_t,
                                                                   std::int64_t);

std::vector<char> Members::bits(const std::string& name, std::int64_t count) {
  std::vector<char> out(count, 0);
  if (!has(name)) return out;
  const std::string content = take(name, (count + 63) / 64, 64);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<char>((static_cast<unsigned char>(content[i / 8]) >> (i % 8)) & 1);
  return out;
}

Values Members::values(const std::string& name, std::int64_t count, const Node& node) {
  const Type type = read_type(node);
  const std::size_t stride = type.bytes * (type.interval ? 2 : 1);
  const std::string content = take(name, count, 8 * stride);
  Values out;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* from = content.data() + stride * i;
    out.lower.push_back(load_value(from, type));
    if (type.interval) out.upper.push_back(load_value(from + type.bytes, type));
  }
  return out;
}

}  // namespace redoubt::io::umb
