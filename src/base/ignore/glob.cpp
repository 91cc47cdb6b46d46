/// Git wildcard patterns, compiled once and matched without exponential backtracking.
#include "base/ignore/glob.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace hondana::ignore {
namespace {

constexpr std::string_view unclosed_bracket = "a [ without a closing ]";
constexpr std::string_view unknown_class = "an unknown [:class:]";

void add_range(byte_set& set, unsigned char low, unsigned char high) {
  for (unsigned value = low; value <= high; ++value) set.set(value);
}

bool add_class(byte_set& set, std::string_view name) {
  using range = std::pair<unsigned char, unsigned char>;
  struct class_ranges {
    std::string_view name;
    std::array<range, 4> ranges;
    std::size_t count;
  };
  static constexpr std::array<class_ranges, 12> table{{
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
  for (const class_ranges& entry : table) {
    if (entry.name != name) continue;
    for (std::size_t i = 0; i < entry.count; ++i) add_range(set, entry.ranges[i].first, entry.ranges[i].second);
    return true;
  }
  return false;
}

}  // namespace

tl::expected<byte_class, std::string_view> parse_byte_class(std::string_view pattern, std::size_t open) {
  byte_class result;
  std::size_t position = open + 1;
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(pattern[i]); };
  const bool is_negated = position < pattern.size() && (pattern[position] == '!' || pattern[position] == '^');
  if (is_negated) ++position;

  // A range can start only at a single member, not at a class or at the end of another range.
  constexpr int no_range = -1;
  int range_start = no_range;
  for (bool first = true;; first = false) {
    if (position >= pattern.size()) return tl::unexpected(unclosed_bracket);
    unsigned char member = byte_at(position);
    if (member == ']' && !first) break;

    if (member == '-' && range_start != no_range && position + 1 < pattern.size() && pattern[position + 1] != ']') {
      ++position;
      if (pattern[position] == '\\') ++position;
      if (position >= pattern.size()) return tl::unexpected(unclosed_bracket);
      add_range(result.members, static_cast<unsigned char>(range_start), byte_at(position));
      range_start = no_range;
      ++position;
      continue;
    }
    if (member == '[' && position + 1 < pattern.size() && pattern[position + 1] == ':') {
      const std::size_t name = position + 2;
      const std::size_t close = pattern.find(']', name);
      if (close == std::string_view::npos) return tl::unexpected(unclosed_bracket);
      // Without `:]`, the `[` is an ordinary member.
      if (close > name && pattern[close - 1] == ':') {
        if (!add_class(result.members, pattern.substr(name, close - 1 - name))) return tl::unexpected(unknown_class);
        range_start = no_range;
        position = close + 1;
        continue;
      }
    }
    if (member == '\\') {
      ++position;
      if (position >= pattern.size()) return tl::unexpected(unclosed_bracket);
      member = byte_at(position);
    }
    result.members.set(member);
    range_start = member;
    ++position;
  }
  if (is_negated) result.members.flip();
  result.end = position + 1;
  return result;
}

std::string_view literal_start(std::string_view pattern) noexcept {
  return pattern.substr(0, std::min(pattern.find_first_of("*?[\\"), pattern.size()));
}

/// Compiles the text of a pattern into the units and segments of one glob.
struct glob::compiler {
  glob& target;
  std::string_view pattern;
  bool is_path;

  std::size_t position = 0;
  std::uint32_t segment_start = 0;

  void run() {
    // Set when the text has just ended with a pattern for folders, so that no segment is open.
    bool is_closed = false;
    while (position < pattern.size() && !is_closed) {
      switch (pattern[position]) {
        case '*':
          is_closed = parse_stars();
          break;
        case '?':
          push(unit_kind::any, 0);
          ++position;
          break;
        case '[':
          if (!parse_bracket()) return;
          break;
        case '\\':
          if (++position == pattern.size()) {
            target.error_ = "a \\ at its end that escapes nothing";
            return;
          }
          parse_literal();
          break;
        default:
          parse_literal();
      }
    }
    if (!is_closed) close_segment();
  }

  void push(unit_kind kind, unsigned char byte, std::uint32_t set = 0) { target.units_.push_back({kind, byte, set}); }

  void parse_literal() {
    const char byte = pattern[position++];
    if (byte == '/' && is_path)
      close_segment();
    else
      push(unit_kind::byte, static_cast<unsigned char>(byte));
  }

  bool parse_bracket() {
    const auto parsed = parse_byte_class(pattern, position);
    if (!parsed) {
      target.error_ = parsed.error();
      return false;
    }
    push(unit_kind::set, 0, static_cast<std::uint32_t>(target.sets_.size()));
    target.sets_.push_back(parsed->members);
    position = parsed->end;
    return true;
  }

  /// Compiles a run of `*`. Returns whether the pattern ended with folders.
  bool parse_stars() {
    const std::size_t begin = position;
    position = std::min(pattern.find_first_not_of('*', position), pattern.size());
    const bool is_at_end = position == pattern.size();
    const bool has_slash = !is_at_end && pattern[position] == '/';
    const bool has_quoted_slash = pattern.substr(position, 2) == "\\/";
    const bool segment_is_empty = target.units_.size() == segment_start;
    if (!is_path || position - begin < 2 || !segment_is_empty || !(is_at_end || has_slash || has_quoted_slash)) {
      push(unit_kind::star, 0);
      return false;
    }
    // At the end of the pattern and before a quoted slash, `**` matches at least one folder or name.
    if (!has_slash) {
      push(unit_kind::star, 0);
      close_segment();
    }
    target.segments_.push_back({segment_start, segment_start, 0, true});
    position += has_slash ? 1 : has_quoted_slash ? 2 : 0;
    return is_at_end;
  }

  void close_segment() {
    const auto end = static_cast<std::uint32_t>(target.units_.size());
    const auto min_bytes = std::count_if(target.units_.begin() + segment_start, target.units_.end(),
                                         [](const unit& element) { return element.kind != unit_kind::star; });
    target.segments_.push_back({segment_start, end, static_cast<std::uint32_t>(min_bytes), false});
    segment_start = end;
  }
};

glob glob::for_name(std::string_view pattern) {
  glob result;
  compiler{result, pattern, false}.run();
  return result;
}

glob glob::for_text(std::string_view pattern) {
  auto result = for_name(pattern);
  result.is_text_pattern_ = true;
  return result;
}

glob glob::for_path(std::string_view pattern) {
  glob result;
  result.literal_start_ = ignore::literal_start(pattern);
  compiler{result, pattern.substr(result.literal_start_.size()), true}.run();
  return result;
}

bool glob::accepts(const unit& element, unsigned char byte) const noexcept {
  switch (element.kind) {
    case unit_kind::byte:
      return element.byte == byte;
    case unit_kind::any:
      return true;
    case unit_kind::set:
      return sets_[element.set].test(byte);
    case unit_kind::star:
      break;
  }
  return false;
}

bool glob::matches_segment(const segment& part, std::string_view text, std::uint64_t& steps,
                           std::uint64_t max_steps) const noexcept {
  if (text.size() < part.min_bytes) return false;
  std::size_t position = 0;
  std::uint32_t next = part.first;
  // Only the last star needs a retry with more bytes. An earlier star that took more would leave a shorter text for the later
  // ones.
  std::optional<std::uint32_t> retry_unit;
  std::size_t retry_position = 0;
  while (position < text.size()) {
    if (++steps > max_steps) return false;
    if (next != part.last && units_[next].kind == unit_kind::star) {
      if (++next == part.last) return true;
      retry_unit = next;
      retry_position = position;
    } else if (next != part.last && accepts(units_[next], static_cast<unsigned char>(text[position]))) {
      ++next;
      ++position;
    } else if (retry_unit) {
      next = *retry_unit;
      position = ++retry_position;
    } else {
      return false;
    }
  }
  while (next != part.last && units_[next].kind == unit_kind::star) ++next;
  return next == part.last;
}

bool glob::matches(std::string_view text, std::uint64_t& steps, std::uint64_t max_steps) const noexcept {
  if (!error_.empty() || !text.starts_with(literal_start_)) return false;
  text.remove_prefix(literal_start_.size());
  if (is_text_pattern_) return matches_segment(segments_.front(), text, steps, max_steps);

  // The same for whole segments: only the last `**` is retried, one folder further each time.
  // Each pair of a pattern segment and a text segment is therefore compared at most once.
  std::size_t next = 0;
  std::optional<std::size_t> start = 0;  // start of the current text segment; none after the last one
  std::optional<std::size_t> retry_segment;
  std::size_t retry_position = 0;
  const auto segment_end = [&](std::size_t begin) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    steps += end - begin + 1;
    return end;
  };
  const auto next_start = [&](std::size_t end) -> std::optional<std::size_t> {
    if (end == text.size()) return std::nullopt;
    return end + 1;
  };
  while (steps <= max_steps) {
    if (next == segments_.size()) {
      if (!start) return true;
    } else if (segments_[next].spans_folders) {
      if (++next == segments_.size()) return true;
      if (!start) continue;
      retry_segment = next;
      retry_position = *start;
      continue;
    } else if (!start) {
      // Starting further right would leave even fewer text segments.
      return false;
    } else {
      const std::size_t end = segment_end(*start);
      if (matches_segment(segments_[next], text.substr(*start, end - *start), steps, max_steps)) {
        ++next;
        start = next_start(end);
        continue;
      }
    }
    if (!retry_segment) return false;
    start = next_start(segment_end(retry_position));
    if (!start) return false;
    next = *retry_segment;
    retry_position = *start;
  }
  return false;
}

}  // namespace hondana::ignore
