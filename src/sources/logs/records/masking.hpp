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

/// Returns the position after the escape sequence that begins at `offset`: CSI up to its final byte, OSC up to BEL or ST,
/// others two bytes. OSC sequences must end within 256 bytes.
[[nodiscard]] std::size_t skip_escape(std::string_view text, std::size_t offset) noexcept;

/// Whether the text is ASCII that `sanitize` would not change.
[[nodiscard]] bool is_plain_ascii(std::string_view text) noexcept;

/// Whether `mask_hidden_secrets` may find anything in a sanitized text: it has a backslash, or a symbol that `sanitize`
/// inserts.
[[nodiscard]] bool may_hide_secrets(std::string_view text) noexcept;

/// Masks secrets that appear only after a transformation. These are resolving JSON escapes (up to three levels of JSON in JSON
/// strings) and removing colors, control bytes, their symbols and U+FFFD. With `masks_visible`, also masks secrets that are
/// directly visible. Whole characters are masked. Returns the number of secrets that were not masked before. Linear time.
std::size_t mask_hidden_secrets(std::string& text, bool masks_visible);

/// Extends each mask that ends at an invisible character, such as a color or control byte, to the end of the word, since the
/// secret may continue there. Must be called before `sanitize`, which removes these characters. Linear time.
void extend_masks(std::string& text);

/// Stands for text before a file that could not be read, and that may contain the first line of a private key. The asterisk
/// tells `find_key_lines` that the characters around that line are unknown.
inline constexpr std::string_view open_key_line = "-----BEGIN PRIVATE KEY-----*\n";

/// Adds to `spans` the base64 of private keys whose lines are embedded in other text: in JSON, in logfmt or after headers. The
/// same characters must surround it as the dashes of the key's first line. So times and names stay visible.
/// The result depends only on the text from a key's first line on, at most `secrets::context_bytes_after` bytes. So it is the
/// same for a part of a text with `secrets::margin` bytes around it. If it adds any, `spans` is in order and without overlaps
/// afterwards. Linear time.
void find_key_lines(std::string_view text, std::vector<secrets::span>& spans);

}  // namespace hondana::records
