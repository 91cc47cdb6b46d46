/// Checks declared media types against the first bytes of content, and recognizes what a browser would execute.
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
/// A type longer than 127 characters is shortened, but keeps its last characters, such as `+xml`.
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

/// The media type of the binary format that `front` starts with. Empty when no known format matches. The result is static.
[[nodiscard]] std::string_view sniff_media_type(std::string_view front) noexcept;

/// The media type to report for whole content: `declared`, unless the first bytes contradict it.
/// - Binary content whose first bytes contradict `declared` gets the type of the signature found, or else
///   `application/octet-stream`.
/// - Binary content declared as `text/…`, or as `image/…`, `audio/…`, `video/…` or `font/…` without a known signature, gets the
///   type of the signature found. Otherwise as `effective_media_type_of_part`.
/// - Text declared as a binary format with a known signature gets `text/plain`. Only PDF can be valid text.
/// - Other types (`text/x-rust` for text, `application/x-own`) are accepted as declared. An empty type stays empty.
///
/// `front`: the first `sniffed_bytes` bytes. The result lives as long as `declared`, or is static.
[[nodiscard]] std::string_view effective_media_type(std::string_view declared, std::string_view front, bool is_text) noexcept;

/// Like `effective_media_type`, for a part of a resource. The first bytes of a part prove nothing, so only text and binary are
/// distinguished. Binary content declared as `text/…` gets `application/octet-stream`. Text declared as
/// `application/octet-stream` gets `text/plain`.
[[nodiscard]] std::string_view effective_media_type_of_part(std::string_view declared, bool is_text) noexcept;

/// The metadata key, also in `_meta`, for the media type as which a browser would execute the content.
inline constexpr std::string_view active_content_key = "dev.hondana/active";

/// The kind of executable content that a browser would take the content for.
enum class active_content : std::uint8_t { none, html, xhtml, svg, xml, script, pdf, archive };

/// The media type that represents `content`; empty for `none`. The result is static.
[[nodiscard]] std::string_view media_type_of(active_content content) noexcept;

/// Classifies a declared media type.
/// Covers HTML, XML types, JavaScript under all of its names, PDF, and web pages saved as one message (MHTML).
/// Source: WHATWG MIME Sniffing, section 4.6 (scriptable MIME type, JavaScript MIME type).
[[nodiscard]] active_content active_content_by_type(std::string_view type) noexcept;

/// Classifies content by its first `sniffed_bytes` bytes, as browsers that sniff content do.
/// Skips byte order marks and white space, and reads UTF-16. Also recognizes SVG and pages saved as one message, which browsers
/// do not sniff.
/// Source: WHATWG MIME Sniffing, section 7.1.
[[nodiscard]] active_content active_content_by_front(std::string_view front) noexcept;

/// Classifies by declared type first, then by the first bytes.
[[nodiscard]] active_content detect_active_content(std::string_view type, std::string_view front) noexcept;

}  // namespace hondana::bytes
