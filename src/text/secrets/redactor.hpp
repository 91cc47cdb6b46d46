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

/// Characters of more than one byte, all as wide as the others (a pair of surrogates counts as two).
enum class width : std::uint8_t { utf16_le, utf16_be, utf32_le, utf32_be };
inline constexpr std::array all_widths{width::utf16_le, width::utf16_be, width::utf32_le, width::utf32_be};

[[nodiscard]] constexpr std::size_t bytes_of(width one) noexcept {
  return one == width::utf16_le || one == width::utf16_be ? 2 : 4;
}
/// Which byte of an ASCII character is not NUL.
[[nodiscard]] constexpr std::size_t ascii_byte_of(width one) noexcept {
  return one == width::utf16_be ? 1 : one == width::utf32_be ? 3 : 0;
}

/// How much of the front of a source says how it is written.
inline constexpr std::size_t front_bytes = 512;

/// In what widths a text may be written, or a part of it: it may have bytes besides.
class widths {
 public:
  void add(width one) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit_of(one)); }
  [[nodiscard]] bool has(width one) const noexcept { return (bits_ & bit_of(one)) != 0; }
  [[nodiscard]] bool any() const noexcept { return bits_ != 0; }
  /// Of the widest character.
  [[nodiscard]] std::size_t most_bytes() const noexcept {
    return !any() ? 1 : has(width::utf32_le) || has(width::utf32_be) ? 4 : 2;
  }

  /// Whether a mark says so, or NULs in half of the characters or more; else it is no more than possible.
  bool is_evident = false;

 private:
  static constexpr unsigned bit_of(width one) noexcept { return 1u << static_cast<unsigned>(one); }
  std::uint8_t bits_ = 0;
};

/// What the front says, by its byte order mark or by what it may be at all, which may be several: Japanese has NULs only where
/// ASCII or an ideographic space stands, so there may be none in the front. What is plain UTF-8 there is taken for that.
[[nodiscard]] widths widths_of(std::string_view front) noexcept;

/// Of a row of ASCII in wider characters that is always found.
inline constexpr std::size_t row_bytes = 24;

/// In what widths a dozen characters of ASCII stand in a row somewhere in `text`, at a multiple of their bytes (UTF-16 also one
/// byte off, as the other order): whatever the front says, a program may have appended what it writes otherwise.
[[nodiscard]] widths widths_within(std::string_view text) noexcept;

/// Its units as bytes, those that are no ASCII as one that nothing looks for.
[[nodiscard]] std::string narrowed(std::string_view wide, width how);

/// Of the widest characters: parts of a source begin with one when they begin so many bytes, times any number, behind it.
inline constexpr std::size_t unit_bytes = 4;

/// Masks by one policy what is written in one way, or what may be written in several. Lengths stay as they are, and so do line
/// ends. Wider characters that the front does not speak of are found, too, as far as a margin in bytes decides about them.
/// Time: linear; what has no NUL is gone through once.
/// Threads: immutable.
class redactor {
 public:
  /// Masks nothing.
  redactor() = default;
  /// `front`: the first `front_bytes` of the source, or all of it.
  redactor(policy how, std::string_view front) noexcept : how_(how), widths_(widths_of(front)) {}

  [[nodiscard]] bool is_on() const noexcept { return how_ != policy::none; }
  /// So many bytes around a part decide about it.
  [[nodiscard]] std::size_t around() const noexcept { return widths_.most_bytes() * margin; }

  /// Where secrets are in `text`, which begins with the source or a multiple of `unit_bytes` behind its beginning.
  void find(std::string_view text, std::vector<span>& into) const;
  /// Writes asterisks over all secrets in `text` and counts them.
  std::size_t mask(std::span<char> text) const;
  /// The same of a part of a source: what of `text` lies from `begin` up to `end`, with `around()` bytes more at either end, or
  /// all that there is. A secret counts where it begins, and where `is_first` also when it began before. Bytes outside of the
  /// part are left in any state.
  std::size_t mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const;

 private:
  /// Secrets in bytes, and in wider characters. A text of such characters may have others in it, such as a log that one program
  /// began and another went on with.
  struct places {
    std::vector<span> narrow;
    std::vector<std::pair<width, std::vector<span>>> wide;

    /// In order and apart.
    [[nodiscard]] std::vector<span> all() const;
  };
  [[nodiscard]] places look_at(std::string_view text) const;
  void blot(std::span<char> text, const places& found) const noexcept;

  policy how_ = policy::none;
  widths widths_;
};

/// A line for people, such as one of a log: by the policy for settings.
[[nodiscard]] std::string redact_text(std::string_view text);

/// A URI for a log: what `redact_text` masks, any password, and what parameters with telling names have.
[[nodiscard]] std::string redact_uri(std::string_view uri);

/// What `_meta` says of content in which so many secrets were masked.
[[nodiscard]] metadata facts_of(std::size_t masked);

/// The same value with the secrets in its texts and in the names of its members masked, each by itself and, by the policy for
/// settings, by the member that it stands in. What is no text stays as it is.
[[nodiscard]] value redact_value(const value& what, policy how);

}  // namespace hondana::secrets
