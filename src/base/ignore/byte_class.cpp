/// Reads bracket expressions into bit sets, with git's rules for ranges, quoting and named classes.
#include "base/ignore/byte_class.hpp"

#include <array>
#include <utility>

namespace hondana::ignore {
namespace {

constexpr std::string_view no_end = "a [ without a closing ]";
constexpr std::string_view unknown_class = "an unknown [:class:]";

void add_range(byte_set& set, unsigned char low, unsigned char high) {
  for (unsigned value = low; value <= high; ++value) set.set(value);
}

bool add_named(byte_set& set, std::string_view name) {
  using range = std::pair<unsigned char, unsigned char>;
  struct named {
    std::string_view name;
    std::array<range, 4> ranges;
    std::size_t count;
  };
  static constexpr std::array<named, 12> table{{
      {"alnum", {range{'0', '9'}, range{'A', 'Z'}, range{'a', 'z'}}, 3},
      {"alpha", {range{'A', 'Z'}, range{'a', 'z'}}, 2},
      {"blank", {range{' ', ' '}, range{'\t', '\t'}}, 2},
      {"cntrl", {range{0x00, 0x1f}, range{0x7f, 0x7f}}, 2},
      {"digit", {range{'0', '9'}}, 1},
      {"graph", {range{0x21, 0x7e}}, 1},
      {"lower", {range{'a', 'z'}}, 1},
      {"print", {range{0x20, 0x7e}}, 1},
      {"punct", {range{'!', '/'}, range{':', '@'}, range{'[', '`'}, range{'{', '~'}}, 4},
      {"space", {range{' ', ' '}, range{'\t', '\n'}, range{'\r', '\r'}}, 3},
      {"upper", {range{'A', 'Z'}}, 1},
      {"xdigit", {range{'0', '9'}, range{'A', 'F'}, range{'a', 'f'}}, 3},
  }};
  for (const named& one : table) {
    if (one.name != name) continue;
    for (std::size_t i = 0; i < one.count; ++i) add_range(set, one.ranges[i].first, one.ranges[i].second);
    return true;
  }
  return false;
}

}  // namespace

tl::expected<byte_class, std::string_view> read_byte_class(std::string_view pattern, std::size_t open) {
  byte_class read;
  std::size_t at = open + 1;
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(pattern[i]); };
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;

  // A range can start only at a member that stands alone, never at a class or at the end of another range.
  constexpr int nowhere = -1;
  int range_start = nowhere;
  for (bool first = true;; first = false) {
    if (at >= pattern.size()) return tl::unexpected(no_end);
    unsigned char member = byte_at(at);
    if (member == ']' && !first) break;

    if (member == '-' && range_start != nowhere && at + 1 < pattern.size() && pattern[at + 1] != ']') {
      ++at;
      if (pattern[at] == '\\') ++at;
      if (at >= pattern.size()) return tl::unexpected(no_end);
      add_range(read.members, static_cast<unsigned char>(range_start), byte_at(at));
      range_start = nowhere;
      ++at;
      continue;
    }
    if (member == '[' && at + 1 < pattern.size() && pattern[at + 1] == ':') {
      const std::size_t name = at + 2;
      const std::size_t close = pattern.find(']', name);
      if (close == std::string_view::npos) return tl::unexpected(no_end);
      // Without `:]` the `[` is an ordinary member.
      if (close > name && pattern[close - 1] == ':') {
        if (!add_named(read.members, pattern.substr(name, close - 1 - name))) return tl::unexpected(unknown_class);
        range_start = nowhere;
        at = close + 1;
        continue;
      }
    }
    if (member == '\\') {
      ++at;
      if (at >= pattern.size()) return tl::unexpected(no_end);
      member = byte_at(at);
    }
    read.members.set(member);
    range_start = member;
    ++at;
  }
  if (negated) read.members.flip();
  read.end = at + 1;
  return read;
}

}  // namespace hondana::ignore
