/// Unicode normalization: NFC, NFKC and case folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// NFKC: unifies full and half width, ligatures and circled digits, and keeps the case of letters. Malformed bytes become
/// U+FFFD. The result is at most 18 times as long as the text.
[[nodiscard]] std::string compatible(std::string_view text);

/// `compared`: NFKC_Casefold; dashes used as long vowel marks between katakana become such marks. `shown`: NFC. `compatible`:
/// NFKC.
enum class form : std::uint8_t { compared, shown, compatible };

/// Appends the normalized text to `out`. Unless `sources` is null, appends for each byte the offset in `text` of its character.
/// Malformed bytes stay with `shown`, and become U+FFFD otherwise. Time: linear, except for long runs of combining marks.
void normalise(std::string_view text, form which, std::string& out, std::vector<std::size_t>* sources);

}  // namespace hondana::language
