/// Removes control characters and invalid UTF-8 from log texts, and masks secrets that escapes or line breaks hide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/scanner.hpp"

namespace hondana::records {

/// Makes a text safe to return: valid UTF-8 without NUL and without effect on terminals. Removes escape sequences (colors,
/// titles), and carriage returns at line ends. Replaces other control characters, except tabs and line feeds, by symbols
/// (U+2400 and following), and invalid UTF-8 by U+FFFD.
[[nodiscard]] std::string sanitize(std::string_view text);

/// The position after the escape sequence at `offset`: CSI up to its final byte, OSC up to BEL or ST, others two bytes. OSC
/// sequences must end within 256 bytes.
[[nodiscard]] std::size_t skip_escape(std::string_view text, std::size_t offset) noexcept;

/// Whether `sanitize` would not change the text. Also false for texts that are not ASCII.
[[nodiscard]] bool is_plain_ascii(std::string_view text) noexcept;

/// Whether `mask_hidden_secrets` may find anything: the text has a backslash, or a symbol that `sanitize` inserts.
[[nodiscard]] bool may_hide_secrets(std::string_view text) noexcept;

/// Masks secrets that appear only after a transformation. These are resolving JSON escapes (up to three levels of JSON in JSON
/// strings) and removing colors, control bytes, their symbols and U+FFFD. With `masks_visible`, also masks secrets that are
/// directly visible. Whole characters are masked. Returns the number of secrets that were not masked before. Linear time.
std::size_t mask_hidden_secrets(std::string& text, bool masks_visible);

/// Extends each mask that ends at an invisible character, such as a color or control byte, to the end of the word, since the
/// secret may continue there. Apply this to original bytes, before `sanitize`. Linear time.
void extend_masks(std::string& text);

/// The first line of a private key, in place of preceding text that was not read. The asterisk means that the text around the
/// label is unknown.
inline constexpr std::string_view open_key_line = "-----BEGIN PRIVATE KEY-----*\n";

/// Adds the lines of private keys that are embedded in other text: in JSON, in logfmt or after headers. Adds only the base64,
/// between the same characters as those around the dashes of the first line, so that times and names stay visible.
/// The result depends only on the text from a key's first line on, at most `secrets::context_bytes_after` bytes. So it is the
/// same for a part of a text with `secrets::margin` bytes around it. Afterwards, `spans` is in order and without overlaps.
/// Linear time.
void find_key_lines(std::string_view text, std::vector<secrets::span>& spans);

}  // namespace hondana::records
