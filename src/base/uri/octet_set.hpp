/// Sets of octets, and the character classes of RFC 3986 section 2 as such sets.
#pragma once

#include <array>
#include <cstdint>
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

}  // namespace hondana::uri
