/// Checks declared media types against the first bytes of content, and recognizes what a browser would execute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// The fact among the metadata of entries and contents, and in `_meta`: the media type as which a browser would run them.
inline constexpr std::string_view active_key = "dev.hondana/active";

/// As what a browser would run it.
enum class active : std::uint8_t { no, html, xhtml, svg, xml, script, pdf, archive };

/// The media type that stands for it; empty for `no`. Static.
[[nodiscard]] std::string_view type_of(active what) noexcept;

/// By the declared type: HTML, everything in XML, JavaScript under each of its names, PDF, and web pages saved as one message.
/// Source: WHATWG MIME Sniffing, section 4.6 (scriptable MIME type, JavaScript MIME type).
[[nodiscard]] active active_by_type(std::string_view type) noexcept;

/// By the front of content, as browsers that guess do it, and a little more widely: byte order marks, UTF-16 and white space
/// are passed over, and pictures in SVG and pages saved as one message are known too. Looks at `front_bytes` at most.
/// Source: WHATWG MIME Sniffing, section 7.1.
[[nodiscard]] active active_by_front(std::string_view front) noexcept;

/// By either; the type has the first word.
[[nodiscard]] active active_as(std::string_view type, std::string_view front) noexcept;

}  // namespace hondana::bytes
