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

std::size_t skip_escape(std::string_view text, std::size_t offset) noexcept {
  constexpr std::size_t max_sequence_bytes = 256;  // a longer OSC sequence is invalid
  const auto end = std::min(text.size(), offset + max_sequence_bytes);
  if (offset + 1 >= end) return offset + 1;
  if (text[offset + 1] == '[') {
    auto i = offset + 2;
    while (i < end && text[i] >= ' ' && text[i] < '@') ++i;
    return i < end && text[i] >= '@' && text[i] <= '~' ? i + 1 : i;
  }
  if (text[offset + 1] == ']') {
    for (auto i = offset + 2; i < end && text[i] != '\n'; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1B' && i + 1 < end && text[i + 1] == '\\') return i + 2;
    }
    return offset + 2;
  }
  return text[offset + 1] >= ' ' && text[offset + 1] <= '~' ? offset + 2 : offset + 1;
}

bool is_plain_ascii(std::string_view text) noexcept {
  // Without a branch per byte, so that the compiler can vectorize the loop.
  unsigned control_bits = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    control_bits |=
        static_cast<unsigned>((byte < 0x20) & (byte != '\n') & (byte != '\t')) | static_cast<unsigned>(byte >= 0x7F);
  }
  return control_bits == 0;
}

std::string sanitize(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto stop = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(offset), text.end(), is_control) - text.begin());
    json::append_replacing(out, text.substr(offset, stop - offset));
    offset = stop;
    if (offset >= text.size()) break;
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte == 0x1B) {
      offset = skip_escape(text, offset);
      continue;
    }
    if (text[offset] == '\r' && (offset + 1 == text.size() || text[offset + 1] == '\n')) {
      ++offset;
      continue;
    }
    out += "\xE2\x90";
    out += static_cast<char>(byte == 0x7F ? 0xA1 : 0x80 + byte);
    ++offset;
  }
  return out;
}

namespace {

constexpr int max_depth = 3;
constexpr std::size_t min_mask_bytes = 4;  // fewer asterisks can be ordinary text
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";
constexpr std::string_view control_pictures = "\xE2\x90";  // U+2400 to U+243F, followed by one more byte

/// A transformed text, with the position in the record for each byte and for the end.
struct decoded_text {
  std::string text;
  std::vector<std::uint32_t> origins;

  void add(char byte, std::uint32_t origin) {
    text += byte;
    origins.push_back(origin);
  }
  void finish(std::uint32_t origin) { origins.push_back(origin); }
};

constexpr bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The number of bytes of an invisible character at `offset`. 0: the character is visible.
std::size_t invisible_bytes(std::string_view text, std::size_t offset) noexcept {
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte >= 0x20 && byte < 0x7F) return 0;  // nearly all bytes
  if (byte == 0x1B) return skip_escape(text, offset) - offset;
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return 1;
  const auto character = text.substr(offset, 3);
  if (character == replacement_character || (character.size() == 3 && character.starts_with(control_pictures))) return 3;
  return 0;
}

decoded_text remove_invisible(const decoded_text& input) {
  decoded_text out;
  out.text.reserve(input.text.size());
  out.origins.reserve(input.origins.size());
  for (std::size_t offset = 0; offset < input.text.size();) {
    if (const auto invisible = invisible_bytes(input.text, offset); invisible != 0) {
      offset += invisible;
      continue;
    }
    out.add(input.text[offset], input.origins[offset]);
    ++offset;
  }
  out.finish(input.origins.back());
  return out;
}

/// The number of four hexadecimal digits. Above 0xFFFF if they are invalid.
std::uint32_t parse_code_unit(std::string_view text, std::size_t offset) noexcept {
  constexpr std::uint32_t none = 0x10000;
  if (offset + 4 > text.size()) return none;
  std::uint32_t code = 0;
  for (const char c : text.substr(offset, 4)) {
    const char low = ascii::to_lower(c);
    if (c >= '0' && c <= '9') {
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(low - 'a' + 10);
    } else {
      return none;
    }
  }
  return code;
}

/// Resolves escapes. Those of non-ASCII characters become one byte that does not occur in secrets.
decoded_text unescape(const decoded_text& input) {
  constexpr std::string_view escape_letters = "nrtbf";
  constexpr std::string_view escape_values = "\n\r\t\b\f";
  const std::string_view text = input.text;
  decoded_text out;
  out.text.reserve(text.size());
  out.origins.reserve(input.origins.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const auto origin = input.origins[offset];
    if (text[offset] != '\\' || offset + 1 == text.size()) {
      out.add(text[offset++], origin);
      continue;
    }
    const char letter = text[offset + 1];
    const auto unit = letter == 'u' ? parse_code_unit(text, offset + 2) : 0x10000;
    if (unit <= 0xFFFF) {
      out.add(unit < 0x80 ? static_cast<char>(unit) : '\x80', origin);
      offset += 6;
      continue;
    }
    const auto index = escape_letters.find(letter);
    out.add(index == std::string_view::npos ? letter : escape_values[index], origin);
    offset += 2;
  }
  out.finish(input.origins.back());
  return out;
}

/// Calls `visit` for the bytes after masks that end at an invisible character.
template <class Visitor>
void for_each_extension(std::string_view text, const Visitor& visit) {
  std::size_t asterisks = 0;
  bool is_masked = false;  // whether the last visible character was masked
  bool is_after_invisible = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const auto invisible = invisible_bytes(text, offset);
    const auto is_high = static_cast<unsigned char>(text[offset]) >= 0x80;
    if (invisible != 0 || (is_high && is_masked)) {
      is_after_invisible = is_masked;
      asterisks = 0;
      offset += std::max<std::size_t>(invisible, 1);
      continue;
    }
    if (text[offset] == '*') {
      is_masked = is_masked || ++asterisks >= min_mask_bytes;
    } else {
      asterisks = 0;
      is_masked = is_masked && is_after_invisible && secrets::is_in(secrets::byte_set::item, text[offset]);
      if (is_masked) visit(offset);
    }
    is_after_invisible = is_after_invisible && is_masked;
    ++offset;
  }
}

std::size_t mask_decoded(const decoded_text& decoded, std::string& text) {
  std::vector<secrets::span> matches;
  secrets::find(decoded.text, secrets::masking_policy::settings, matches);
  std::size_t count = 0;
  for (const auto& match : matches) {
    std::size_t begin = decoded.origins[match.begin];
    std::size_t end = decoded.origins[match.end];
    while (begin > 0 && is_continuation(text[begin])) --begin;
    while (end < text.size() && is_continuation(text[end])) ++end;
    bool is_new = false;
    for (auto offset = begin; offset < end; ++offset) {
      if (text[offset] == '\n' || text[offset] == '\r' || text[offset] == '*') continue;
      text[offset] = '*';
      is_new = true;
    }
    if (is_new) ++count;
  }
  return count;
}

}  // namespace

bool may_hide_secrets(std::string_view text) noexcept {
  return text.find('\\') != std::string_view::npos || text.find(control_pictures) != std::string_view::npos ||
         text.find(replacement_character) != std::string_view::npos;
}

void extend_masks(std::string& text) {
  const auto original = text;
  for_each_extension(original, [&text](std::size_t offset) { text[offset] = '*'; });
}

std::size_t mask_hidden_secrets(std::string& text, bool masks_visible) {
  decoded_text decoded;
  decoded.text = text;
  decoded.origins.resize(text.size() + 1);
  for (std::size_t i = 0; i < decoded.origins.size(); ++i) decoded.origins[i] = static_cast<std::uint32_t>(i);
  std::size_t count = masks_visible ? mask_decoded(decoded, text) : 0;
  for (int depth = 0;; ++depth) {
    for_each_extension(decoded.text, [&](std::size_t offset) {
      const auto end = std::max<std::size_t>(decoded.origins[offset + 1], decoded.origins[offset] + 1);
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(decoded.origins[offset]),
                text.begin() + static_cast<std::ptrdiff_t>(end), '*');
    });
    auto visible = remove_invisible(decoded);
    if (depth > 0 || visible.text.size() != decoded.text.size()) count += mask_decoded(visible, text);
    if (depth == max_depth || visible.text.find('\\') == std::string::npos) return count;
    decoded = unescape(visible);
  }
}

namespace {

using secrets::span;

constexpr std::size_t min_piece_bytes = 24;    // of base64 in a line of a key
constexpr std::size_t max_foreign_lines = 16;  // that are not part of the key, between two of its lines
constexpr std::size_t max_label_bytes = 64;

/// The position of a label such as `BEGIN RSA PRIVATE KEY` from `start` on. `keyword` is its first word with the blank.
std::size_t find_label(std::string_view text, std::string_view keyword, std::size_t start) noexcept {
  for (auto offset = text.find(keyword, start); offset != std::string_view::npos; offset = text.find(keyword, offset + 1)) {
    const auto label = text.substr(offset, max_label_bytes);
    const auto line = label.substr(0, label.find('\n'));
    const bool is_key_label =
        line.find("PRIVATE KEY") != std::string_view::npos || line.find("SECRET KEY") != std::string_view::npos;
    if (is_key_label && offset >= 3 && text.substr(offset - 3, 2) == "--") return offset;
  }
  return std::string_view::npos;
}

constexpr bool is_piece_char(char c) noexcept { return c != '=' && secrets::is_in(secrets::byte_set::base64, c); }

/// A run of base64 with its padding. An equals sign before it does not belong to it, nor does the end of a color sequence.
struct base64_piece {
  span range{};
  std::size_t index = 0;  // index in its line

  [[nodiscard]] bool is_present() const noexcept { return range.end > range.begin; }
};

/// Iterates over the pieces of a line.
class piece_reader {
 public:
  explicit piece_reader(std::string_view line) noexcept : line_(line) {}

  [[nodiscard]] base64_piece next() noexcept {
    while (offset_ < line_.size() && !is_piece_char(line_[offset_])) ++offset_;
    base64_piece piece{{offset_, offset_}, count_++};
    while (offset_ < line_.size() && is_piece_char(line_[offset_])) ++offset_;
    piece.range.end = offset_;
    for (int i = 0; i < 2 && piece.range.end < line_.size() && line_[piece.range.end] == '='; ++i) ++piece.range.end;
    if (piece.range.begin > 0 && line_[piece.range.begin - 1] == '[') {
      auto color_end = piece.range.begin;
      while (color_end < offset_ && line_[color_end] >= '0' && line_[color_end] <= '9') ++color_end;
      if (color_end < offset_ && line_[color_end] == 'm') piece.range.begin = color_end + 1;
    }
    return piece;
  }

 private:
  std::string_view line_;
  std::size_t offset_ = 0, count_ = 0;
};

/// Base64 of keys has letters of both cases. Trace IDs, paths and words usually have one case only.
bool is_key_material(std::string_view piece) noexcept {
  if (piece.size() < min_piece_bytes) return false;
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::any_of(piece.begin(), piece.end(), is_lower) && std::any_of(piece.begin(), piece.end(), is_upper);
}

char char_at(std::string_view line, std::size_t offset) noexcept {
  return offset < line.size() && line[offset] != '\r' && line[offset] != '\n' ? line[offset] : '\0';
}

/// The characters around a part of a line.
struct delimiter_pair {
  char before = '\0';
  char after = '\0';

  static delimiter_pair around(std::string_view line, const span& range) noexcept {
    return {range.begin == 0 ? '\0' : char_at(line, range.begin - 1), char_at(line, range.end)};
  }
  bool operator==(const delimiter_pair&) const = default;
};

/// The characters around the dashes of a label. Nothing if they are unknown.
std::optional<delimiter_pair> label_delimiters(std::string_view text, std::size_t label) noexcept {
  auto begin = label;
  while (begin > 0 && label - begin < max_label_bytes && (text[begin - 1] == '-' || (begin == label && text[begin - 1] == ' ')))
    --begin;
  const auto dashes = text.substr(label, max_label_bytes + 16).find("---");
  if (dashes == std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of('-', label + dashes), text.size());
  const auto delimiters = delimiter_pair::around(text, {begin, end});
  if (delimiters.after == '*') return std::nullopt;
  return delimiters;
}

/// Finds the lines of a key after its first one.
class key_line_finder {
 public:
  key_line_finder(std::string_view text, std::size_t offset, std::optional<delimiter_pair> delimiters,
                  std::vector<span>& spans) noexcept
      : text_(text), offset_(offset), delimiters_(delimiters), spans_(spans) {}

  void scan(std::size_t line_begin) {
    while (line_begin < text_.size() && foreign_lines_ <= max_foreign_lines) {
      const auto end = std::min(text_.find('\n', line_begin), text_.size());
      const auto line = text_.substr(line_begin, end - line_begin);
      const auto end_label = find_label(line, "END ", 0);
      if (!mask_pieces(line.substr(0, end_label), line_begin) && !mask_last_piece(line.substr(0, end_label), line_begin))
        ++foreign_lines_;
      if (end_label != std::string_view::npos) return;
      line_begin = end + 1;
    }
  }

 private:
  void mask(const span& range, std::size_t line_begin) {
    spans_.push_back({offset_ + line_begin + range.begin, offset_ + line_begin + range.end});
  }

  bool mask_pieces(std::string_view line, std::size_t line_begin) {
    piece_reader reader(line);
    bool has_match = false;
    for (auto piece = reader.next(); piece.is_present() || piece.range.begin < line.size(); piece = reader.next()) {
      const auto delimiters = delimiter_pair::around(line, piece.range);
      if (!is_key_material(line.substr(piece.range.begin, piece.range.end - piece.range.begin)) ||
          (delimiters_ && *delimiters_ != delimiters))
        continue;
      mask(piece.range, line_begin);
      has_match = true;
      piece_index_ = piece.index;
      last_delimiters_ = delimiters;
    }
    if (has_match) foreign_lines_ = 0;
    return has_match;
  }
  /// The last line of a key may be short. It is at the same position as the other lines.
  bool mask_last_piece(std::string_view line, std::size_t line_begin) {
    if (!piece_index_) return false;
    piece_reader reader(line);
    for (auto piece = reader.next(); piece.is_present() || piece.range.begin < line.size(); piece = reader.next()) {
      if (piece.index < *piece_index_) continue;
      if (piece.is_present() && delimiter_pair::around(line, piece.range) == last_delimiters_) mask(piece.range, line_begin);
      break;
    }
    return false;
  }

  std::string_view text_;
  std::size_t offset_;
  std::optional<delimiter_pair> delimiters_;
  std::vector<span>& spans_;
  std::size_t foreign_lines_ = 0;
  std::optional<std::size_t> piece_index_{};
  delimiter_pair last_delimiters_{};
};

}  // namespace

void find_key_lines(std::string_view text, std::vector<span>& spans) {
  const auto initial_size = spans.size();
  for (auto begin = find_label(text, "BEGIN ", 0); begin != std::string_view::npos;) {
    const auto next = find_label(text, "BEGIN ", begin + 1);
    // A key ends where the next one begins, so that no text is examined twice.
    const auto end = std::min({next, text.size(), begin + secrets::context_bytes_after});
    const auto line_end = text.substr(0, end).find('\n', begin);
    const bool is_single_line = find_label(text.substr(0, std::min(line_end, end)), "END ", begin) != std::string_view::npos;
    if (line_end < end && !is_single_line)
      key_line_finder(text.substr(begin, end - begin), begin, label_delimiters(text, begin), spans).scan(line_end + 1 - begin);
    begin = next;
  }
  if (spans.size() != initial_size) secrets::merge_spans(spans);
}

}  // namespace hondana::records
