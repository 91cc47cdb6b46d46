/// Unicode normalization: NFC, NFKC and case folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::language {

/// Returns the text in NFKC: unifies full and half width, ligatures and circled digits, and keeps the case of letters.
/// Malformed bytes become U+FFFD. The result is at most 18 times as long as the text.
[[nodiscard]] std::string to_nfkc(std::string_view text);

/// Normalization forms of Unicode. `nfkc_casefold`: see `fold`.
enum class normalization_form : std::uint8_t { nfkc_casefold, nfc, nfkc };

/// Appends the normalized text to `out`. Unless `source_offsets` is null, appends to it, for each byte appended to `out`, the
/// offset of its character in `text`. Malformed bytes stay with `nfc`, and become U+FFFD otherwise. Time: linear, except for
/// long runs of combining marks.
void normalize(std::string_view text, normalization_form form, std::string& out, std::vector<std::size_t>* source_offsets);

}  // namespace hondana::language
