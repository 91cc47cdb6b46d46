/// Removes control characters and invalid UTF-8 from log texts, and masks secrets that escapes or line breaks hide.
#include "sources/logs/records/masking.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::records {
namespace {

constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

}  // namespace

std::size_t behind_escape(std::string_view text, std::size_t at) noexcept {
  constexpr std::size_t longest = 256;  // a longer OSC sequence is invalid
  const auto end = std::min(text.size(), at + longest);
  if (at + 1 >= end) return at + 1;
  if (text[at + 1] == '[') {
    auto i = at + 2;
    while (i < end && text[i] >= ' ' && text[i] < '@') ++i;
    return i < end && text[i] >= '@' && text[i] <= '~' ? i + 1 : i;
  }
  if (text[at + 1] == ']') {
    for (auto i = at + 2; i < end && text[i] != '\n'; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1B' && i + 1 < end && text[i + 1] == '\\') return i + 2;
    }
    return at + 2;
  }
  return text[at + 1] >= ' ' && text[at + 1] <= '~' ? at + 2 : at + 1;
}

bool is_plain(std::string_view text) noexcept {
  // Without a branch per byte, so that the compiler can vectorize the loop.
  unsigned bad = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bad |= static_cast<unsigned>((byte < 0x20) & (byte != '\n') & (byte != '\t')) | static_cast<unsigned>(byte >= 0x7F);
  }
  return bad == 0;
}

std::string answerable(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const auto stop = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_control) - text.begin());
    json::append_replacing(out, text.substr(at, stop - at));
    at = stop;
    if (at >= text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1B) {
      at = behind_escape(text, at);
      continue;
    }
    if (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] == '\n')) {
      ++at;
      continue;
    }
    out += "\xE2\x90";
    out += static_cast<char>(byte == 0x7F ? 0xA1 : 0x80 + byte);
    ++at;
  }
  return out;
}

namespace {

constexpr int deepest = 3;
constexpr std::size_t least_mask = 4;  // fewer asterisks can be ordinary text
constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view pictures = "\xE2\x90";  // U+2400 to U+243F, followed by one more byte

/// A transformed text, with the position in the record for each byte and for the end.
struct laid_bare {
  std::string text;
  std::vector<std::uint32_t> from;

  void add(char byte, std::uint32_t origin) {
    text += byte;
    from.push_back(origin);
  }
  void end(std::uint32_t origin) { from.push_back(origin); }
};

constexpr bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The number of bytes of an invisible character at `at`. 0: the character is visible.
std::size_t unseen_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == 0x1B) return behind_escape(text, at) - at;
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return 1;
  const auto rest = text.substr(at, 3);
  if (rest == replacement || (rest.size() == 3 && rest.starts_with(pictures))) return 3;
  return 0;
}

laid_bare without_unseen(const laid_bare& of) {
  laid_bare out;
  out.text.reserve(of.text.size());
  out.from.reserve(of.from.size());
  for (std::size_t at = 0; at < of.text.size();) {
    if (const auto unseen = unseen_at(of.text, at); unseen != 0) {
      at += unseen;
      continue;
    }
    out.add(of.text[at], of.from[at]);
    ++at;
  }
  out.end(of.from.back());
  return out;
}

/// The number of four hexadecimal digits. Above 0xFFFF if they are invalid.
std::uint32_t unit_at(std::string_view text, std::size_t at) noexcept {
  constexpr std::uint32_t none = 0x10000;
  if (at + 4 > text.size()) return none;
  std::uint32_t sum = 0;
  for (const char c : text.substr(at, 4)) {
    const char low = ascii::lower(c);
    if (c >= '0' && c <= '9') {
      sum = sum * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      sum = sum * 16 + static_cast<std::uint32_t>(low - 'a' + 10);
    } else {
      return none;
    }
  }
  return sum;
}

/// Resolves escapes. Those of non-ASCII characters become one byte that does not occur in secrets.
laid_bare unescaped(const laid_bare& of) {
  constexpr std::string_view written = "nrtbf";
  constexpr std::string_view meant = "\n\r\t\b\f";
  const std::string_view text = of.text;
  laid_bare out;
  out.text.reserve(text.size());
  out.from.reserve(of.from.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto origin = of.from[at];
    if (text[at] != '\\' || at + 1 == text.size()) {
      out.add(text[at++], origin);
      continue;
    }
    const char what = text[at + 1];
    const auto unit = what == 'u' ? unit_at(text, at + 2) : 0x10000;
    if (unit <= 0xFFFF) {
      out.add(unit < 0x80 ? static_cast<char>(unit) : '\x80', origin);
      at += 6;
      continue;
    }
    const auto known = written.find(what);
    out.add(known == std::string_view::npos ? what : meant[known], origin);
    at += 2;
  }
  out.end(of.from.back());
  return out;
}

/// Calls `each` for the bytes after masks that end at an invisible character.
template <class Each>
void each_extension(std::string_view text, const Each& each) {
  std::size_t asterisks = 0;
  bool is_masked = false;  // whether the last visible character was masked
  bool is_behind = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto unseen = unseen_at(text, at);
    const auto high = static_cast<unsigned char>(text[at]) >= 0x80;
    if (unseen != 0 || (high && is_masked)) {
      is_behind = is_masked;
      asterisks = 0;
      at += std::max<std::size_t>(unseen, 1);
      continue;
    }
    if (text[at] == '*') {
      is_masked = is_masked || ++asterisks >= least_mask;
    } else {
      asterisks = 0;
      is_masked = is_masked && is_behind && secrets::is(secrets::kind::item, text[at]);
      if (is_masked) each(at);
    }
    is_behind = is_behind && is_masked;
    ++at;
  }
}

std::size_t find_and_mask(const laid_bare& in, std::string& text) {
  std::vector<secrets::span> found;
  secrets::find(in.text, secrets::policy::settings, found);
  std::size_t count = 0;
  for (const auto& one : found) {
    std::size_t begin = in.from[one.begin];
    std::size_t end = in.from[one.end];
    while (begin > 0 && is_continuation(text[begin])) --begin;
    while (end < text.size() && is_continuation(text[end])) ++end;
    bool is_new = false;
    for (auto at = begin; at < end; ++at) {
      if (text[at] == '\n' || text[at] == '\r' || text[at] == '*') continue;
      text[at] = '*';
      is_new = true;
    }
    if (is_new) ++count;
  }
  return count;
}

}  // namespace

bool may_hide(std::string_view text) noexcept {
  return text.find('\\') != std::string_view::npos || text.find(pictures) != std::string_view::npos ||
         text.find(replacement) != std::string_view::npos;
}

void extend_masks(std::string& text) {
  const auto before = text;
  each_extension(before, [&text](std::size_t at) { text[at] = '*'; });
}

std::size_t mask_hidden(std::string& text, bool as_it_is) {
  laid_bare now;
  now.text = text;
  now.from.resize(text.size() + 1);
  for (std::size_t i = 0; i < now.from.size(); ++i) now.from[i] = static_cast<std::uint32_t>(i);
  std::size_t count = as_it_is ? find_and_mask(now, text) : 0;
  for (int depth = 0;; ++depth) {
    each_extension(now.text, [&](std::size_t at) {
      const auto end = std::max<std::size_t>(now.from[at + 1], now.from[at] + 1);
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(now.from[at]), text.begin() + static_cast<std::ptrdiff_t>(end), '*');
    });
    auto seen = without_unseen(now);
    if (depth > 0 || seen.text.size() != now.text.size()) count += find_and_mask(seen, text);
    if (depth == deepest || seen.text.find('\\') == std::string::npos) return count;
    now = unescaped(seen);
  }
}

namespace {

using secrets::span;

constexpr std::size_t least_piece = 24;         // of base64 in a line of a key
constexpr std::size_t most_foreign_lines = 16;  // that are not part of the key, between two of its lines
constexpr std::size_t longest_label = 64;

/// The position of a label such as `BEGIN RSA PRIVATE KEY` from `from` on. `word` is its first word with the blank.
std::size_t label_from(std::string_view text, std::string_view word, std::size_t from) noexcept {
  for (auto at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto label = text.substr(at, longest_label);
    const auto line = label.substr(0, label.find('\n'));
    const bool is_of_key =
        line.find("PRIVATE KEY") != std::string_view::npos || line.find("SECRET KEY") != std::string_view::npos;
    if (is_of_key && at >= 3 && text.substr(at - 3, 2) == "--") return at;
  }
  return std::string_view::npos;
}

constexpr bool is_of_piece(char c) noexcept { return c != '=' && secrets::is(secrets::kind::base64, c); }

/// A run of base64 with its padding. An equals sign before it does not belong to it, nor does the end of a color sequence.
struct piece {
  span where{};
  std::size_t number = 0;  // index in its line

  [[nodiscard]] bool is_there() const noexcept { return where.end > where.begin; }
};

/// Iterates over the pieces of a line.
class pieces {
 public:
  explicit pieces(std::string_view line) noexcept : line_(line) {}

  [[nodiscard]] piece next() noexcept {
    while (at_ < line_.size() && !is_of_piece(line_[at_])) ++at_;
    piece out{{at_, at_}, number_++};
    while (at_ < line_.size() && is_of_piece(line_[at_])) ++at_;
    out.where.end = at_;
    for (int i = 0; i < 2 && out.where.end < line_.size() && line_[out.where.end] == '='; ++i) ++out.where.end;
    if (out.where.begin > 0 && line_[out.where.begin - 1] == '[') {
      auto colour = out.where.begin;
      while (colour < at_ && line_[colour] >= '0' && line_[colour] <= '9') ++colour;
      if (colour < at_ && line_[colour] == 'm') out.where.begin = colour + 1;
    }
    return out;
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0, number_ = 0;
};

/// Base64 of keys has letters of both cases. Trace IDs, paths and words usually have one case only.
bool is_of_key(std::string_view piece) noexcept {
  if (piece.size() < least_piece) return false;
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::any_of(piece.begin(), piece.end(), is_small) && std::any_of(piece.begin(), piece.end(), is_capital);
}

char at_or_nul(std::string_view line, std::size_t at) noexcept {
  return at < line.size() && line[at] != '\r' && line[at] != '\n' ? line[at] : '\0';
}

/// The characters around a part of a line.
struct frame_of_part {
  char before = '\0';
  char behind = '\0';

  static frame_of_part of(std::string_view line, const span& part) noexcept {
    return {part.begin == 0 ? '\0' : at_or_nul(line, part.begin - 1), at_or_nul(line, part.end)};
  }
  bool operator==(const frame_of_part&) const = default;
};

/// The characters around the dashes of a label. Nothing if they are unknown.
std::optional<frame_of_part> frame_of_label(std::string_view text, std::size_t label) noexcept {
  auto begin = label;
  while (begin > 0 && label - begin < longest_label && (text[begin - 1] == '-' || (begin == label && text[begin - 1] == ' ')))
    --begin;
  const auto dashes = text.substr(label, longest_label + 16).find("---");
  if (dashes == std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of('-', label + dashes), text.size());
  const auto out = frame_of_part::of(text, {begin, end});
  if (out.behind == '*') return std::nullopt;
  return out;
}

/// Finds the lines of a key after its first one.
class lines_of_key {
 public:
  lines_of_key(std::string_view text, std::size_t offset, std::optional<frame_of_part> frame, std::vector<span>& into) noexcept
      : text_(text), offset_(offset), frame_(frame), into_(into) {}

  void take(std::size_t at) {
    while (at < text_.size() && foreign_ <= most_foreign_lines) {
      const auto end = std::min(text_.find('\n', at), text_.size());
      const auto line = text_.substr(at, end - at);
      const auto last = label_from(line, "END ", 0);
      if (!take_line(line.substr(0, last), at) && !take_short(line.substr(0, last), at)) ++foreign_;
      if (last != std::string_view::npos) return;
      at = end + 1;
    }
  }

 private:
  void mask(const span& where, std::size_t at) { into_.push_back({offset_ + at + where.begin, offset_ + at + where.end}); }

  bool take_line(std::string_view line, std::size_t at) {
    pieces in(line);
    bool is_any = false;
    for (auto one = in.next(); one.is_there() || one.where.begin < line.size(); one = in.next()) {
      const auto frame = frame_of_part::of(line, one.where);
      if (!is_of_key(line.substr(one.where.begin, one.where.end - one.where.begin)) || (frame_ && *frame_ != frame)) continue;
      mask(one.where, at);
      is_any = true;
      number_ = one.number;
      last_ = frame;
    }
    if (is_any) foreign_ = 0;
    return is_any;
  }
  /// The last line of a key may be short. It is at the same position as the other lines.
  bool take_short(std::string_view line, std::size_t at) {
    if (!number_) return false;
    pieces in(line);
    for (auto one = in.next(); one.is_there() || one.where.begin < line.size(); one = in.next()) {
      if (one.number < *number_) continue;
      if (one.is_there() && frame_of_part::of(line, one.where) == last_) mask(one.where, at);
      break;
    }
    return false;
  }

  std::string_view text_;
  std::size_t offset_;
  std::optional<frame_of_part> frame_;
  std::vector<span>& into_;
  std::size_t foreign_ = 0;
  std::optional<std::size_t> number_{};
  frame_of_part last_{};
};

}  // namespace

void find_key_lines(std::string_view text, std::vector<span>& into) {
  const auto known = into.size();
  for (auto begin = label_from(text, "BEGIN ", 0); begin != std::string_view::npos;) {
    const auto next = label_from(text, "BEGIN ", begin + 1);
    // A key ends where the next one begins, so that no text is examined twice.
    const auto end = std::min({next, text.size(), begin + secrets::reach_ahead});
    const auto first = text.substr(0, end).find('\n', begin);
    const bool is_of_one_line = label_from(text.substr(0, std::min(first, end)), "END ", begin) != std::string_view::npos;
    if (first < end && !is_of_one_line)
      lines_of_key(text.substr(begin, end - begin), begin, frame_of_label(text, begin), into).take(first + 1 - begin);
    begin = next;
  }
  if (into.size() != known) secrets::unite(into);
}

}  // namespace hondana::records
