/// The syntax of URIs (RFC 3986): character classes, percent-escapes, and query parameters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::uri {

/// A set of octets with constant-time lookup.
class octet_set {
 public:
  constexpr octet_set() = default;
  constexpr explicit octet_set(std::string_view members) {
    for (const char member : members) {
      const auto octet = static_cast<unsigned char>(member);
      words_[octet >> 6U] |= std::uint64_t{1} << (octet & 63U);
    }
  }

  [[nodiscard]] constexpr bool contains(char member) const noexcept {
    const auto octet = static_cast<unsigned char>(member);
    return ((words_[octet >> 6U] >> (octet & 63U)) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool intersects(const octet_set& other) const noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] constexpr octet_set including(const octet_set& other) const noexcept {
    octet_set result = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] |= other.words_[i];
    return result;
  }
  [[nodiscard]] constexpr octet_set including(std::string_view members) const noexcept { return including(octet_set(members)); }
  [[nodiscard]] constexpr octet_set excluding(std::string_view members) const noexcept {
    const octet_set other(members);
    octet_set result = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.words_[i];
    return result;
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

inline constexpr octet_set digits("0123456789");
inline constexpr octet_set letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
inline constexpr octet_set unreserved = letters.including(digits).including("-._~");
inline constexpr octet_set sub_delimiters("!$&'()*+,;=");
/// The characters that may occur unescaped in the path of a `file` URI (RFC 3986 section 3.3: pchar and the slash).
inline constexpr octet_set file_path_characters = unreserved.including(sub_delimiters).including(":@/");
inline constexpr octet_set reserved = sub_delimiters.including(":/?#[]@");

/// The octet that the percent-escape at `position` encodes; nullopt if `text` has no complete escape there.
[[nodiscard]] std::optional<unsigned char> escape_at(std::string_view text, std::size_t position) noexcept;

/// Appends `octet` as a percent-escape with upper-case digits.
void append_escape(std::string& out, unsigned char octet);

/// Decodes all escapes of `uri` except those of slashes, which would add segments. Malformed escapes stay as they are.
/// The result is for display and text search and is not a URI.
[[nodiscard]] std::string decode_except_slashes(std::string_view uri);

/// Escapes a file system path for the path of a canonical `file` URI. Does not escape slashes.
[[nodiscard]] std::string escape_file_path(std::string_view bytes);

/// The length in bytes of the well-formed UTF-8 sequence at `position` (RFC 3629: no overlong forms, no surrogates).
/// 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t position) noexcept;

/// The length in bytes of the code point at `position`, which is raw or consists of escapes: 3 for `%41`, 6 for `%C3%A9`.
/// An escape or raw octet that does not start well-formed UTF-8 counts as one code point.
/// `position` must be before the end, and each `%` in `text` must start a complete escape.
[[nodiscard]] std::size_t escaped_code_point_length(std::string_view text, std::size_t position) noexcept;

/// Makes the escapes of `text` canonical: upper-case digits, unreserved characters decoded, non-ASCII octets escaped.
/// Returns `text` itself if it is already canonical, otherwise a view of `storage`.
/// Returns nullopt if an escape is malformed or encodes NUL.
[[nodiscard]] std::optional<std::string_view> canonical_escapes(std::string_view text, std::string& storage);

/// A query parameter as it occurs in a URI, with escapes.
struct raw_parameter {
  std::string_view name{};
  std::string_view value{};  ///< Empty if there is no `=`.
};

/// Removes the first parameter and the `&` after it from `query`, and returns the parameter, as views of the query.
/// Name and value are empty if `query` is empty or starts with `&`.
[[nodiscard]] inline raw_parameter pop_parameter(std::string_view& query) noexcept {
  const auto parameter = query.substr(0, query.find('&'));
  query.remove_prefix(std::min(query.size(), parameter.size() + 1));
  const auto name = parameter.substr(0, parameter.find('='));
  return {name, parameter.substr(std::min(parameter.size(), name.size() + 1))};
}

}  // namespace hondana::uri
