/// Records as they are answered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::records {

/// Well-formed UTF-8 without NUL and without what terminals obey: their escape sequences (colours, titles) are left out, other
/// control bytes but tabulators and line ends become their pictures (U+2400 and on), what is ill-formed becomes U+FFFD, and a
/// carriage return at the end of a line is left out.
[[nodiscard]] std::string answerable(std::string_view text);

/// Behind an escape sequence that begins at `at`: CSI up to its final byte, OSC up to BEL or ST, others two bytes. What does
/// not end within 256 bytes is none.
[[nodiscard]] std::size_t behind_escape(std::string_view text, std::size_t at) noexcept;

/// Whether `answerable` would leave it as it is; no for texts that are not ASCII, too.
[[nodiscard]] bool is_plain(std::string_view text) noexcept;

}  // namespace hondana::records
