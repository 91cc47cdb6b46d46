/// Git wildcard patterns, compiled once and matched without exponential backtracking.
#include "base/ignore/glob.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

  // A range can start only at a single member, not at a class or at the end of another range.
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
      // Without `:]`, the `[` is an ordinary member.
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

std::string_view literal_start(std::string_view pattern) noexcept {
  return pattern.substr(0, std::min(pattern.find_first_of("*?[\\"), pattern.size()));
}

/// Compiles the text of a pattern into the units and segments of one glob.
struct glob::compiler {
  glob& out;
  std::string_view pattern;
  bool whole_path;

  std::size_t at = 0;
  std::uint32_t segment_start = 0;

  void run() {
    // Set when the text has just ended with a pattern for folders, so that no segment is open.
    bool closed = false;
    while (at < pattern.size() && !closed) {
      switch (pattern[at]) {
        case '*':
          closed = stars();
          break;
        case '?':
          push(unit_kind::any, 0);
          ++at;
          break;
        case '[':
          if (!bracket()) return;
          break;
        case '\\':
          if (++at == pattern.size()) {
            out.fault_ = "a \\ at its end that escapes nothing";
            return;
          }
          literal();
          break;
        default:
          literal();
      }
    }
    if (!closed) close_segment();
  }

  void push(unit_kind kind, unsigned char byte, std::uint32_t set = 0) { out.units_.push_back({kind, byte, set}); }

  void literal() {
    const char byte = pattern[at++];
    if (byte == '/' && whole_path)
      close_segment();
    else
      push(unit_kind::byte, static_cast<unsigned char>(byte));
  }

  bool bracket() {
    const auto read = read_byte_class(pattern, at);
    if (!read) {
      out.fault_ = read.error();
      return false;
    }
    push(unit_kind::set, 0, static_cast<std::uint32_t>(out.sets_.size()));
    out.sets_.push_back(read->members);
    at = read->end;
    return true;
  }

  /// Compiles a run of `*`. Returns whether the pattern ended with folders.
  bool stars() {
    const std::size_t begin = at;
    at = std::min(pattern.find_first_not_of('*', at), pattern.size());
    const bool at_end = at == pattern.size();
    const bool slash = !at_end && pattern[at] == '/';
    const bool quoted_slash = pattern.substr(at, 2) == "\\/";
    const bool segment_is_empty = out.units_.size() == segment_start;
    if (!whole_path || at - begin < 2 || !segment_is_empty || !(at_end || slash || quoted_slash)) {
      push(unit_kind::star, 0);
      return false;
    }
    // At the end of the pattern and before a quoted slash, `**` matches at least one folder or name.
    if (!slash) {
      push(unit_kind::star, 0);
      close_segment();
    }
    out.segments_.push_back({segment_start, segment_start, 0, true});
    at += slash ? 1 : quoted_slash ? 2 : 0;
    return at_end;
  }

  void close_segment() {
    const auto end = static_cast<std::uint32_t>(out.units_.size());
    const auto least = std::count_if(out.units_.begin() + segment_start, out.units_.end(),
                                     [](const unit& one) { return one.kind != unit_kind::star; });
    out.segments_.push_back({segment_start, end, static_cast<std::uint32_t>(least), false});
    segment_start = end;
  }
};

glob glob::for_name(std::string_view pattern) {
  glob made;
  compiler{made, pattern, false}.run();
  return made;
}

glob glob::for_text(std::string_view pattern) {
  auto made = for_name(pattern);
  made.is_of_text_ = true;
  return made;
}

glob glob::for_path(std::string_view pattern) {
  glob made;
  made.literal_start_ = ignore::literal_start(pattern);
  compiler{made, pattern.substr(made.literal_start_.size()), true}.run();
  return made;
}

bool glob::accepts(const unit& one, unsigned char byte) const noexcept {
  switch (one.kind) {
    case unit_kind::byte:
      return one.byte == byte;
    case unit_kind::any:
      return true;
    case unit_kind::set:
      return sets_[one.set].test(byte);
    case unit_kind::star:
      break;
  }
  return false;
}

bool glob::matches_segment(const segment& one, std::string_view text, std::uint64_t& steps, std::uint64_t most) const noexcept {
  if (text.size() < one.least) return false;
  std::size_t at = 0;
  std::uint32_t next = one.first;
  // Only the last star needs a retry with more bytes. An earlier star that took more would leave a shorter text for the later
  // ones.
  std::optional<std::uint32_t> retry_unit;
  std::size_t retry_at = 0;
  while (at < text.size()) {
    if (++steps > most) return false;
    if (next != one.last && units_[next].kind == unit_kind::star) {
      if (++next == one.last) return true;
      retry_unit = next;
      retry_at = at;
    } else if (next != one.last && accepts(units_[next], static_cast<unsigned char>(text[at]))) {
      ++next;
      ++at;
    } else if (retry_unit) {
      next = *retry_unit;
      at = ++retry_at;
    } else {
      return false;
    }
  }
  while (next != one.last && units_[next].kind == unit_kind::star) ++next;
  return next == one.last;
}

bool glob::matches(std::string_view text, std::uint64_t& steps, std::uint64_t most) const noexcept {
  if (!fault_.empty() || !text.starts_with(literal_start_)) return false;
  text.remove_prefix(literal_start_.size());
  if (is_of_text_) return matches_segment(segments_.front(), text, steps, most);

  // The same for whole segments: only the last `**` is retried, one folder further each time.
  // Each pair of a pattern segment and a text segment is therefore compared at most once.
  std::size_t next = 0;
  std::optional<std::size_t> at = 0;  // start of the current text segment; none after the last one
  std::optional<std::size_t> retry_segment;
  std::size_t retry_at = 0;
  const auto end_of = [&](std::size_t begin) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    steps += end - begin + 1;
    return end;
  };
  const auto after = [&](std::size_t end) -> std::optional<std::size_t> {
    if (end == text.size()) return std::nullopt;
    return end + 1;
  };
  while (steps <= most) {
    if (next == segments_.size()) {
      if (!at) return true;
    } else if (segments_[next].folders) {
      if (++next == segments_.size()) return true;
      if (!at) continue;
      retry_segment = next;
      retry_at = *at;
      continue;
    } else if (!at) {
      // Starting further right would leave even fewer text segments.
      return false;
    } else {
      const std::size_t end = end_of(*at);
      if (matches_segment(segments_[next], text.substr(*at, end - *at), steps, most)) {
        ++next;
        at = after(end);
        continue;
      }
    }
    if (!retry_segment) return false;
    at = after(end_of(retry_at));
    if (!at) return false;
    next = *retry_segment;
    retry_at = *at;
  }
  return false;
}

}  // namespace hondana::ignore
