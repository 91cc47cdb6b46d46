/// Whether content can be of the type it is declared as: by the first bytes that every file of a format has.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace hondana::bytes {

/// How much of the front of content is looked at, in bytes. Source: the resource header of WHATWG MIME Sniffing, section 5.2.
inline constexpr std::size_t front_bytes = 1445;

/// A media type as types are compared: without parameters and white space, in lower case. What is too long for one is cut
/// before its last bytes.
class essence {
 public:
  explicit essence(std::string_view type) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr std::ptrdiff_t ending = 4;
  std::array<char, 127>
      text_;  // RFC 6838 section 4.2: types, and subtypes, have at most 127 characters; those known are shorter
  std::size_t size_ = 0;
};

/// The media type that the first bytes of a binary format tell; empty: none of those known. Static.
[[nodiscard]] std::string_view type_of_signature(std::string_view front) noexcept;

/// The type to tell for whole content: the declared one unless its first bytes belie it. A binary format's type without its
/// first bytes gives way to that of those there are, or else to `application/octet-stream`; for text, to `text/plain`.
/// So do `text/…` and types of pictures, sound, video and fonts that are in no table. What no first bytes could tell
/// (`text/x-rust`, `application/x-own`) is taken at its word. An empty type stays empty. The result lives as long as
/// `declared`, or is static.
[[nodiscard]] std::string_view agreeing_type(std::string_view declared, std::string_view front, bool is_text) noexcept;

/// The same for what may be a part of something, whose first bytes tell nothing: only text and binary are told apart.
[[nodiscard]] std::string_view agreeing_type_of_part(std::string_view declared, bool is_text) noexcept;

}  // namespace hondana::bytes
