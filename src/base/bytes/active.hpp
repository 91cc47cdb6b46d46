/// What a browser would run: types that carry scripts, and content that a browser would take for one of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace hondana::bytes {

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
