/// Secrets that escapes, and what does not show, hide from who looks at the bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::records {

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

}  // namespace hondana::records
