/// Text from elsewhere as it may be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hondana::cli {

/// `text` with `?` for everything a terminal could take for a command or that would reorder what is shown: control characters
/// of ASCII and of Latin-1 (U+0080 to U+009F), and the marks of bidirectional text.
[[nodiscard]] std::string visible(std::string_view text);

/// The same of several lines: tabs and line ends stay, those of DOS as `\n`.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// The same in one line: runs of white space become one space.
[[nodiscard]] std::string visible_in_line(std::string_view text);

/// JSON text with escapes (`\u009b`) for what `visible` hides: the same value, and harmless on a terminal.
[[nodiscard]] std::string visible_json(std::string_view text);

}  // namespace hondana::cli
