/// Checks declared media types against the first bytes of content, and recognizes content that a browser would execute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hondana::bytes {

/// The number of bytes at the start of content that type detection examines.
/// Source: the resource header of WHATWG MIME Sniffing, section 5.2.
inline constexpr std::size_t sniffed_bytes = 1445;

/// A media type normalized for comparison: lower case, without parameters and white space.
/// A type of more than 127 characters is shortened in the middle, so that it keeps a suffix such as `+xml`.
class essence {
 public:
  explicit essence(std::string_view type) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr std::ptrdiff_t suffix_bytes = 4;
  std::array<char, 127>
      text_;  // RFC 6838 section 4.2: type and subtype names have at most 127 characters each; known types are shorter
  std::size_t size_ = 0;
};

/// The media type of the binary format whose signature `front` has; empty for other content. The result is static.
/// `front`: the first bytes of the content.
[[nodiscard]] std::string_view sniff_media_type(std::string_view front) noexcept;

/// The media type to report for a whole content: `declared`, unless the first bytes contradict it. Below, a known type is a
/// binary format with signatures in our table.
/// - Binary content of a known type without its signature gets the type of the signature that it has, or otherwise
///   `application/octet-stream`.
/// - Binary content of another type `text/…`, `image/…`, `audio/…`, `video/…` or `font/…` gets the type of the signature that
///   it has. Without one, `text/…` becomes `application/octet-stream`.
/// - Text of a known type, or declared as `application/octet-stream`, gets `text/plain`. Only PDF can be valid text.
/// - Other types, such as `text/x-rust` for text or `application/x-own`, stay as declared. An empty type stays empty.
///
/// `front`: the first `sniffed_bytes` bytes. The result is valid as long as `declared`.
[[nodiscard]] std::string_view effective_media_type(std::string_view declared, std::string_view front, bool is_text) noexcept;

/// The media type to report for a part of a resource, whose first bytes prove nothing.
/// Binary content declared as `text/…` gets `application/octet-stream`. Text declared as `application/octet-stream` gets
/// `text/plain`. Other types stay as declared. The result is valid as long as `declared`.
[[nodiscard]] std::string_view effective_media_type_of_part(std::string_view declared, bool is_text) noexcept;

/// The key of metadata, also in `_meta`, whose value is the media type as which a browser would execute the content.
inline constexpr std::string_view active_content_key = "dev.hondana/active";

/// The type as which a browser would execute a content. `archive`: a web page saved as one message (MHTML).
enum class active_content : std::uint8_t { none, html, xhtml, svg, xml, script, pdf, archive };

/// The media type for `content`; empty for `none`. The result is static.
[[nodiscard]] std::string_view media_type_of(active_content content) noexcept;

/// Classifies a declared media type: HTML, XML types, JavaScript under all of its names, PDF, and MHTML.
/// Source: WHATWG MIME Sniffing, section 4.6 (scriptable MIME type, JavaScript MIME type).
[[nodiscard]] active_content active_content_by_type(std::string_view type) noexcept;

/// Classifies content by its first `sniffed_bytes` bytes, as browsers that sniff content do.
/// Skips byte order marks and white space, and reads UTF-16. Also recognizes SVG and MHTML, which browsers do not sniff.
/// Source: WHATWG MIME Sniffing, section 7.1.
[[nodiscard]] active_content active_content_by_front(std::string_view front) noexcept;

/// Classifies content by its declared type, or, if that is not active, by its first bytes.
[[nodiscard]] active_content detect_active_content(std::string_view type, std::string_view front) noexcept;

}  // namespace hondana::bytes
