/// Unicode normalization: NFC, NFKC and case folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// NFKC: full and half width, ligatures and circled digits are one; the case of letters stays. Malformed bytes become U+FFFD.
/// Never longer than 18 times the text.
[[nodiscard]] std::string compatible(std::string_view text);

/// `compared` is NFKC_Casefold, with dashes that stand for long vowel marks between katakana made such marks; `shown` is NFC;
/// `compatible` is NFKC.
enum class form : std::uint8_t { compared, shown, compatible };

/// Appends a text in a form to `out`, and to `sources`, unless that is null, where in `text` each byte's character begins.
/// What is not UTF-8 stays to be shown, and becomes U+FFFD otherwise. Time: linear, but for heaps of combining marks.
void normalise(std::string_view text, form which, std::string& out, std::vector<std::size_t>* sources);

}  // namespace hondana::language
