/// The syntax of URIs (RFC 3986): character classes, percent-escapes, and the parameters of a query.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::uri {

class octet_set {
 public:
  constexpr octet_set() = default;
  constexpr explicit octet_set(std::string_view members) {
    for (const char member : members) {
      const auto octet = static_cast<unsigned char>(member);
      words_[octet >> 6U] |= std::uint64_t{1} << (octet & 63U);
    }
  }

  [[nodiscard]] constexpr bool has(char member) const noexcept {
    const auto octet = static_cast<unsigned char>(member);
    return ((words_[octet >> 6U] >> (octet & 63U)) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool meets(const octet_set& other) const noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] constexpr octet_set with(const octet_set& other) const noexcept {
    octet_set sum = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) sum.words_[i] |= other.words_[i];
    return sum;
  }
  [[nodiscard]] constexpr octet_set with(std::string_view members) const noexcept { return with(octet_set(members)); }
  [[nodiscard]] constexpr octet_set without(std::string_view members) const noexcept {
    const octet_set other(members);
    octet_set rest = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) rest.words_[i] &= ~other.words_[i];
    return rest;
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

inline constexpr octet_set digits("0123456789");
inline constexpr octet_set letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
inline constexpr octet_set unreserved = letters.with(digits).with("-._~");
inline constexpr octet_set sub_delimiters("!$&'()*+,;=");
/// What is written raw in the path of a `file` URI (RFC 3986 section 3.3: pchar and the slash).
inline constexpr octet_set file_path_characters = unreserved.with(sub_delimiters).with(":@/");
inline constexpr octet_set reserved = sub_delimiters.with(":/?#[]@");

/// The octet of the escape at `at`, or nothing when `text` has no whole escape there.
[[nodiscard]] std::optional<unsigned char> escape_at(std::string_view text, std::size_t at) noexcept;

/// Appends `octet` as an escape with upper-case digits.
void append_escape(std::string& out, unsigned char octet);

/// What a URI spells, for people to look for: each escape decoded but those of slashes, which would be other segments. It is no
/// URI any more. Never longer.
[[nodiscard]] std::string decoded_but_slashes(std::string_view uri);

/// A path in the file system's bytes as the canonical form of a `file` URI writes it; its slashes stay slashes.
[[nodiscard]] std::string escaped_file_path(std::string_view bytes);

/// The length of the well-formed UTF-8 sequence at `at` (RFC 3629: no overlong forms, no surrogates), or 0.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

/// The length at `at` of one code point of text that may hold escapes; an escape or octet that starts no well-formed UTF-8
/// is one by itself. `at` must lie before the end, and every `%` must start a whole escape.
[[nodiscard]] std::size_t escaped_code_point_length(std::string_view text, std::size_t at) noexcept;

/// Gives escapes and raw non-ASCII octets their canonical spelling: upper-case digits, unreserved characters decoded, other
/// octets escaped. Returns `text` itself when it is canonical already, otherwise a view of `storage`; nothing when an escape is
/// broken or stands for NUL.
[[nodiscard]] std::optional<std::string_view> canonical_escapes(std::string_view text, std::string& storage);

/// One parameter as it stands in a URI, escaped.
struct written_parameter {
  std::string_view name{};
  std::string_view value{};  ///< Empty without a `=`.
};

/// Takes the first parameter off `query`, with the `&` behind it: both empty where there is nothing before the `&`.
[[nodiscard]] inline written_parameter take_parameter(std::string_view& query) noexcept {
  const auto one = query.substr(0, query.find('&'));
  query.remove_prefix(std::min(query.size(), one.size() + 1));
  const auto name = one.substr(0, one.find('='));
  return {name, one.substr(std::min(one.size(), name.size() + 1))};
}

}  // namespace hondana::uri
