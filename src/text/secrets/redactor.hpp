/// Masks the secrets of a text, a URI or a JSON value, in UTF-8, UTF-16 and UTF-32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/resource.hpp>
#include <hondana/value.hpp>

#include "text/secrets/scanner.hpp"

namespace hondana::secrets {

/// Encodings with characters of a fixed width of more than one byte (a surrogate pair counts as two).
enum class width : std::uint8_t { utf16_le, utf16_be, utf32_le, utf32_be };
inline constexpr std::array all_widths{width::utf16_le, width::utf16_be, width::utf32_le, width::utf32_be};

[[nodiscard]] constexpr std::size_t bytes_of(width one) noexcept {
  return one == width::utf16_le || one == width::utf16_be ? 2 : 4;
}
/// The index of the byte of an ASCII character that is not NUL.
[[nodiscard]] constexpr std::size_t ascii_byte_of(width one) noexcept {
  return one == width::utf16_be ? 1 : one == width::utf32_be ? 3 : 0;
}

/// The number of bytes at the beginning of a source that determine its encoding.
inline constexpr std::size_t front_bytes = 512;

/// The widths in which a text, or a part of it, may be encoded. It may also contain single bytes.
class widths {
 public:
  void add(width one) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit_of(one)); }
  [[nodiscard]] bool has(width one) const noexcept { return (bits_ & bit_of(one)) != 0; }
  [[nodiscard]] bool any() const noexcept { return bits_ != 0; }
  /// The size of the widest character.
  [[nodiscard]] std::size_t most_bytes() const noexcept {
    return !any() ? 1 : has(width::utf32_le) || has(width::utf32_be) ? 4 : 2;
  }

  /// A byte order mark or many NULs (in at least half of the characters) show the width; otherwise it is only possible.
  bool is_evident = false;

 private:
  static constexpr unsigned bit_of(width one) noexcept { return 1u << static_cast<unsigned>(one); }
  std::uint8_t bits_ = 0;
};

/// The widths that the beginning of a source indicates: by its byte order mark, or all that are possible. Several may be
/// possible, because Japanese text has NULs only in ASCII and ideographic spaces. Plain UTF-8 has none.
[[nodiscard]] widths widths_of(std::string_view front) noexcept;

/// Length in bytes of a row of ASCII in wider characters that is always found.
inline constexpr std::size_t row_bytes = 24;

/// The widths in which at least a dozen ASCII characters are in a row in `text`. A row begins at a multiple of the character
/// size; UTF-16 may also be one byte off, as the other byte order. Needed because a program may append text in another
/// encoding.
[[nodiscard]] widths widths_within(std::string_view text) noexcept;

/// Its units as bytes; units that are not ASCII become a byte that no pattern contains.
[[nodiscard]] std::string narrowed(std::string_view wide, width how);

/// The size of the widest characters. A part of a source must begin at a multiple of it.
inline constexpr std::size_t unit_bytes = 4;

/// Masks a text by a policy, in one or several possible encodings. Keeps lengths and line endings. Also finds wider characters
/// that the beginning does not indicate, as far as a margin in bytes suffices. Time: linear; text without NUL is scanned once.
/// Threads: any; immutable.
class redactor {
 public:
  /// Masks nothing.
  redactor() = default;
  /// `front`: the first `front_bytes` of the source, or all of it.
  redactor(policy how, std::string_view front) noexcept : how_(how), widths_(widths_of(front)) {}

  [[nodiscard]] bool is_on() const noexcept { return how_ != policy::none; }
  /// The number of bytes on each side of a part that decide about it.
  [[nodiscard]] std::size_t around() const noexcept { return widths_.most_bytes() * margin; }

  /// Finds the secrets in `text`, which begins at a multiple of `unit_bytes` in the source.
  void find(std::string_view text, std::vector<span>& into) const;
  /// Overwrites all secrets in `text` with asterisks and returns their number.
  std::size_t mask(std::span<char> text) const;
  /// Masks the part of `text` from `begin` to `end`. `text` must have `around()` more bytes on both sides, or reach to the end
  /// of the source. Returns the number of secrets that begin in the part; with `is_first`, also of one that began before it.
  /// Bytes outside the part are unspecified afterwards.
  std::size_t mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const;

 private:
  /// Secrets in bytes, and in wider characters. A text may contain both, such as a log that two programs have written.
  struct places {
    std::vector<span> narrow;
    std::vector<std::pair<width, std::vector<span>>> wide;

    /// Sorted and disjoint.
    [[nodiscard]] std::vector<span> all() const;
  };
  [[nodiscard]] places look_at(std::string_view text) const;
  void blot(std::span<char> text, const places& found) const noexcept;

  policy how_ = policy::none;
  widths widths_;
};

/// Masks a line for people, such as one of a log, by the policy for settings.
[[nodiscard]] std::string redact_text(std::string_view text);

/// Masks a URI for a log: everything that `redact_text` masks, any password, and values of parameters with telling names.
[[nodiscard]] std::string redact_uri(std::string_view uri);

/// The member of `_meta` for content with this number of masked secrets.
[[nodiscard]] metadata facts_of(std::size_t masked);

/// Masks secrets in the texts and member names of a value: each by itself and, by the policy for settings, by the name of its
/// member. Other values stay unchanged.
[[nodiscard]] value redact_value(const value& what, policy how);

}  // namespace hondana::secrets
