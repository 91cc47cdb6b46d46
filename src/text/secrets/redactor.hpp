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
enum class wide_encoding : std::uint8_t { utf16_le, utf16_be, utf32_le, utf32_be };
inline constexpr std::array all_wide_encodings{wide_encoding::utf16_le, wide_encoding::utf16_be, wide_encoding::utf32_le,
                                               wide_encoding::utf32_be};

[[nodiscard]] constexpr std::size_t unit_size(wide_encoding encoding) noexcept {
  return encoding == wide_encoding::utf16_le || encoding == wide_encoding::utf16_be ? 2 : 4;
}
/// Returns the index, in a character, of the byte of an ASCII character that is not NUL.
[[nodiscard]] constexpr std::size_t ascii_byte_index(wide_encoding encoding) noexcept {
  return encoding == wide_encoding::utf16_be ? 1 : encoding == wide_encoding::utf32_be ? 3 : 0;
}

/// The number of bytes at the beginning of a source that determine its encoding.
inline constexpr std::size_t front_bytes = 512;

/// The wide encodings that a text, or a part of it, may have. It may also contain single bytes.
class wide_encodings {
 public:
  void add(wide_encoding encoding) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit_of(encoding)); }
  [[nodiscard]] bool contains(wide_encoding encoding) const noexcept { return (bits_ & bit_of(encoding)) != 0; }
  [[nodiscard]] bool any() const noexcept { return bits_ != 0; }
  /// The size of the widest character.
  [[nodiscard]] std::size_t max_unit_size() const noexcept {
    return !any() ? 1 : contains(wide_encoding::utf32_le) || contains(wide_encoding::utf32_be) ? 4 : 2;
  }

  /// Whether a byte order mark or many NULs (in at least half of the characters) show the encoding. Otherwise it is only
  /// possible.
  bool is_evident = false;

 private:
  static constexpr unsigned bit_of(wide_encoding encoding) noexcept { return 1u << static_cast<unsigned>(encoding); }
  std::uint8_t bits_ = 0;
};

/// Returns the encodings that the beginning of a source indicates: by its byte order mark, or all that are possible. Several
/// may be possible, because Japanese text has NULs only in ASCII and ideographic spaces. Plain UTF-8 has none.
[[nodiscard]] wide_encodings detect_encodings(std::string_view front) noexcept;

/// Length in bytes of a row of ASCII in wider characters that `find_encodings` always finds.
inline constexpr std::size_t row_bytes = 24;

/// Returns the encodings in which at least a dozen ASCII characters are in a row in `text`. A row begins at a multiple of the
/// character size; UTF-16 may also be one byte off, as the other byte order. Needed because a program may append text in
/// another encoding.
[[nodiscard]] wide_encodings find_encodings(std::string_view text) noexcept;

/// Returns a byte for each character of `wide`. Characters that are not ASCII become a byte that no pattern contains.
[[nodiscard]] std::string narrow(std::string_view wide, wide_encoding encoding);

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
  redactor(masking_policy policy, std::string_view front) noexcept : policy_(policy), encodings_(detect_encodings(front)) {}

  [[nodiscard]] bool is_enabled() const noexcept { return policy_ != masking_policy::none; }
  /// The number of bytes on each side of a part that decide about it.
  [[nodiscard]] std::size_t margin_bytes() const noexcept { return encodings_.max_unit_size() * margin; }

  /// Sets `spans` to the secrets in `text`, sorted and disjoint. `text` must begin at a multiple of `unit_bytes` in the source.
  void find(std::string_view text, std::vector<span>& spans) const;
  /// Overwrites all secrets in `text` with asterisks, and returns their number.
  std::size_t mask(std::span<char> text) const;
  /// Masks the part of `text` from `begin` to `end`. `text` must have `margin_bytes()` more bytes on both sides, or reach to
  /// the end of the source. Returns the number of secrets that begin in the part; with `is_first`, also of one that began
  /// before it. Bytes outside the part are unspecified afterwards.
  std::size_t mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const;

 private:
  /// Secrets in bytes, and in wider characters. A text may contain both, such as a log that two programs have written.
  struct secret_ranges {
    std::vector<span> narrow;
    std::vector<std::pair<wide_encoding, std::vector<span>>> wide;

    /// Returns all ranges, sorted and disjoint.
    [[nodiscard]] std::vector<span> merged() const;
  };
  [[nodiscard]] secret_ranges scan(std::string_view text) const;
  void overwrite(std::span<char> text, const secret_ranges& matches) const noexcept;

  masking_policy policy_ = masking_policy::none;
  wide_encodings encodings_;
};

/// Masks a line for people, such as one of a log, by the policy for settings.
[[nodiscard]] std::string redact_text(std::string_view text);

/// Masks a URI for a log: everything that `redact_text` masks, any password, and values of parameters with sensitive names.
[[nodiscard]] std::string redact_uri(std::string_view uri);

/// Returns the member of `_meta` for content with this number of masked secrets; for 0 nothing.
[[nodiscard]] metadata redaction_metadata(std::size_t count);

/// Masks secrets in the texts and member names of a value. A text is examined by itself and after the name of its member, which
/// matters to the policy for settings. Other values stay unchanged.
[[nodiscard]] value redact_value(const value& input, masking_policy policy);

}  // namespace hondana::secrets
