/// Records as they are answered.
#pragma once

#include <string>
#include <string_view>

namespace hondana::records {

/// Well-formed UTF-8 without NUL and without what terminals obey: their escape sequences (colours, titles) are left out, other
/// control bytes but tabulators and line ends become their pictures (U+2400 and on), what is ill-formed becomes U+FFFD, and a
/// carriage return at the end of a line is left out.
[[nodiscard]] std::string answerable(std::string_view text);

/// Whether `answerable` would leave it as it is; no for texts that are not ASCII, too.
[[nodiscard]] bool is_plain(std::string_view text) noexcept;

}  // namespace hondana::records
