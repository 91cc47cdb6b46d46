/// Cleans log text of control characters and invalid UTF-8, and masks secrets that escapes or line breaks hide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/scanner.hpp"

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

/// Whether there may be any: a backslash, or what `answerable` writes for bytes that are no text.
[[nodiscard]] bool may_hide(std::string_view text) noexcept;

/// Writes asterisks over secrets in a text as it is answered, by the policy for settings: over those that are there once
/// escapes of JSON are resolved (of JSON in strings of JSON, too, three deep) and colours, control bytes, their pictures and
/// U+FFFD are left out; `as_it_is`: also over those that stand in it openly. Characters are masked whole. Returns how many
/// were written over that were not masked before. Linear time.
std::size_t mask_hidden(std::string& text, bool as_it_is);

/// A mask that ends where something does not show, such as a colour or a control byte, goes on behind it to the end of the
/// word, since what it hides may. For bytes as they were written, before `answerable`. Linear time.
void extend_masks(std::string& text);

/// A key's first line, as what could stand before a text that nobody has seen: what stands around it is not known.
inline constexpr std::string_view begun_key = "-----BEGIN PRIVATE KEY-----*\n";

/// Adds the lines of private keys that stand in lines of JSON, of logfmt or behind headers, each with other text around it: the
/// base64 alone, between the same bytes as the first line's dashes, so that times and names stay. What is masked is decided by
/// what stands from the key's first line on, at most `reach_ahead` bytes, so it is the same in a part with `margin` bytes
/// around it. `into` is in order and apart afterwards. Linear time.
void find_key_lines(std::string_view text, std::vector<secrets::span>& into);

}  // namespace hondana::records
