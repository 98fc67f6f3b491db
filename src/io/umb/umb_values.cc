#include "io/umb/umb_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/array_memory.h"
#include "support/require.h"

namespace redoubt::internal::io::umb {
namespace {

constexpr std::int64_t kChunk = 1 << 20;  // bytes of an array that are in memory as they are stored

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

Type read_type(const JsonNode& node) {
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

std::size_t stride_of(const Type& type) { return type.bytes * (type.interval ? 2 : 1); }

}  // namespace

bool is_interval(const JsonNode& type) { return read_type(type).interval; }

std::int64_t size_of(const Ranges& ranges) {
  std::int64_t size = 0;
  for (const Range& range : ranges) size += range.size();
  return size;
}

void add_range(Ranges& ranges, const Range& range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

Members::Members(TarReader& archive) : archive_(archive) {
  for (const auto& [name, member] : archive.members()) bytes_ += member.size;
}

std::string Members::text(const std::string& name) {
  const auto found = archive_.members().find(name);
  require(found != archive_.members().end(), "{} is missing, must be in the archive", name);
  std::string content(found->second.size, '\0');
  archive_.read(name, 0, content);
  return content;
}

void Members::check_size(const std::string& name, std::int64_t count,
                         std::int64_t bits_each) const {
  const auto found = archive_.members().find(name);
  require(found != archive_.members().end(), "{} is missing, must be in the archive", name);
  // Counts are at most 2^40 and sizes 2^20 bits: no overflow.
  const std::int64_t bytes = count * bits_each / 8;
  require(found->second.size == bytes, "{} has {} bytes, must have {}", name, found->second.size,
          bytes);
}

void Members::check_values(const std::string& name, std::int64_t count,
                           const JsonNode& type) const {
  check_size(name, count, static_cast<std::int64_t>(8 * stride_of(read_type(type))));
}

void Members::check_offsets(const std::string& name, std::int64_t count, std::int64_t total) const {
  if (has(name)) return check_size(name, count + 1, 64);
  require(count == total, "{} is missing, must be given: it maps {} to {}", name, count, total);
}

template <class Visit>
void Members::for_each(const std::string& name, std::int64_t bytes_each, const Ranges& ranges,
                       Visit visit) {
  const std::int64_t most = std::max<std::int64_t>(1, kChunk / bytes_each);
  std::string chunk;
  for (const Range& range : ranges) {
    for (std::int64_t first = range.begin; first < range.end; first += most) {
      const std::int64_t last = std::min(first + most, range.end);
      chunk.resize((last - first) * bytes_each);
      archive_.read(name, first * bytes_each, chunk);
      const char* from = chunk.data();
      for (std::int64_t i = first; i < last; ++i, from += bytes_each) visit(i, from);
    }
  }
}

template <class Visit>
void Members::for_each_offset(const std::string& name, std::int64_t count, std::int64_t total,
                              const Range& range, Visit visit) {
  check_offsets(name, count, total);
  if (!has(name)) {
    for (std::int64_t i = range.begin; i <= range.end; ++i) visit(i, i);
    return;
  }
  std::int64_t before = 0;
  for_each(name, 8, {{range.begin, range.end + 1}}, [&](std::int64_t i, const char* from) {
    const auto value = load_number<std::uint64_t>(from);
    const auto step = value - static_cast<std::uint64_t>(before);  // large where it decreases
    if (i > 0 && i < count && step <= static_cast<std::uint64_t>(total - before)) [[likely]] {
      before = static_cast<std::int64_t>(value);
      return visit(i, before);
    }
    require(value <= static_cast<std::uint64_t>(total), "{}[{}] = {}, must be at most {}", name, i,
            value, total);
    const auto now = static_cast<std::int64_t>(value);
    require(now >= before && (i > 0 || now == 0), "{}[{}] = {}, must begin at 0 and never decrease",
            name, i, value);
    require(i < count || now == total, "{} ends at {}, must end at {}", name, now, total);
    visit(i, now);
    before = now;
  });
}

std::vector<std::int64_t> Members::offsets(const std::string& name, std::int64_t count,
                                           std::int64_t total, const Range& range) {
  check_offsets(name, count, total);
  std::vector<std::int64_t> out;
  resize_with_large_pages(out, range.size() + 1);
  std::int64_t* to = out.data();
  for_each_offset(name, count, total, range,
                  [&](std::int64_t, std::int64_t value) { *to++ = value; });
  return out;
}

// One offset, checked by itself only.
std::int64_t Members::offset(const std::string& name, std::int64_t total, std::int64_t i) {
  std::uint64_t value = 0;
  for_each(name, 8, {{i, i + 1}},
           [&](std::int64_t, const char* from) { value = load_number<std::uint64_t>(from); });
  require(value <= static_cast<std::uint64_t>(total), "{}[{}] = {}, must be at most {}", name, i,
          value, total);
  return static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> Members::lower_bounds(const std::string& name, std::int64_t count,
                                                std::int64_t total,
                                                const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> found;
  check_offsets(name, count, total);
  if (!has(name)) return values;  // every offset is its own number
  if (!archive_.is_plain()) {
    // Offsets are checked by whoever reads what they are for: some of them nobody needs.
    for_each(name, 8, {{0, count + 1}}, [&](std::int64_t i, const char* from) {
      const auto value = load_number<std::uint64_t>(from);
      while (found.size() < values.size() &&
             static_cast<std::uint64_t>(values[found.size()]) <= value)
        found.push_back(i);
    });
    found.resize(values.size(), count);
    return found;
  }
  for (const std::int64_t value : values) {
    std::int64_t low = found.empty() ? 0 : found.back(), high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (offset(name, total, middle) < value)
        low = middle + 1;
      else
        high = middle;
    }
    found.push_back(low);
  }
  return found;
}

template <class Stored>
std::vector<std::int32_t> Members::numbers(const std::string& name, std::int64_t count,
                                           std::int64_t limit, const Ranges& ranges) {
  if (!has(name)) return std::vector<std::int32_t>(size_of(ranges), 0);
  check_size(name, count, 8 * sizeof(Stored));
  std::vector<std::int32_t> out;
  resize_with_large_pages(out, size_of(ranges));
  std::int32_t* to = out.data();
  for_each(name, sizeof(Stored), ranges, [&](std::int64_t i, const char* from) {
    const auto value = load_number<Stored>(from);
    if (value >= static_cast<std::uint64_t>(limit)) [[unlikely]]
      throw Error(fmt::format("{}[{}] = {}, must be below {}", name, i, value, limit));
    *to++ = static_cast<std::int32_t>(value);
  });
  return out;
}
template std::vector<std::int32_t> Members::numbers<std::uint32_t>(const std::string&, std::int64_t,
                                                                   std::int64_t, const Ranges&);
template std::vector<std::int32_t> Members::numbers<std::uint64_t>(const std::string&, std::int64_t,
                                                                   std::int64_t, const Ranges&);

std::vector<State> Members::bits(const std::string& name, std::int64_t count) {
  std::vector<State> set;
  if (!has(name)) return set;
  check_size(name, (count + 63) / 64, 64);
  for_each(name, 1, {{0, (count + 7) / 8}}, [&](std::int64_t byte, const char* from) {
    for (auto bits = static_cast<unsigned char>(*from); bits != 0; bits &= bits - 1) {
      const std::int64_t i = 8 * byte + std::countr_zero(bits);
      if (i < count) set.push_back(static_cast<State>(i));
    }
  });
  return set;
}

Values Members::values(const std::string& name, std::int64_t count, const JsonNode& type,
                       const Ranges& ranges) {
  const Type each = read_type(type);
  check_values(name, count, type);
  Values out;
  if (each.kind == Kind::real && !each.interval) {  // as they are
    resize_with_large_pages(out.lower, size_of(ranges));
    std::span<char> to(reinterpret_cast<char*>(out.lower.data()), 8 * out.lower.size());
    for (const Range& range : ranges) {
      archive_.read(name, 8 * range.begin, to.first(8 * range.size()));
      to = to.subspan(8 * range.size());
    }
    return out;
  }
  out.lower.reserve(size_of(ranges));
  if (each.interval) out.upper.reserve(size_of(ranges));
  for_each(name, static_cast<std::int64_t>(stride_of(each)), ranges,
           [&](std::int64_t, const char* from) {
             out.lower.push_back(load_value(from, each));
             if (each.interval) out.upper.push_back(load_value(from + each.bytes, each));
           });
  return out;
}

}  // namespace redoubt::internal::io::umb
