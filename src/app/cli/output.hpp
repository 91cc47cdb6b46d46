/// Standard output and standard error: printing, hiding control characters, and quoting for shells.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::cli {

/// Writes to standard output. What could not be written shows in `finish_output` and `output_is_gone`. Threads: any.
void print(std::string_view text);
/// Prints one JSON value as a line, harmless on a terminal.
void print_json(std::string_view text);
/// Sends what is buffered on its way.
void flush_output();
/// Whether whoever read the output does not any more, so that there is no point in going on.
[[nodiscard]] bool output_is_gone();
/// The exit code after everything has been printed: `code`, unless not everything reached where it was to go. It is silent
/// about readers that stopped.
[[nodiscard]] int finish_output(int code);

/// Prints an error for people: what was tried, why it failed, what to do.
void complain(const failure& why);
/// Prints a line for people, with `hondana: ` before it.
void say(std::string_view line);

/// `text` with `?` for everything a terminal could take for a command or that would reorder what is shown: control characters
/// of ASCII and of Latin-1 (U+0080 to U+009F), and the marks of bidirectional text.
[[nodiscard]] std::string visible(std::string_view text);

/// The same of several lines: tabs and line ends stay, those of DOS as `\n`.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// The same in one line: runs of white space become one space.
[[nodiscard]] std::string visible_in_line(std::string_view text);

/// JSON text with escapes (`\u009b`) for what `visible` hides: the same value, and harmless on a terminal.
[[nodiscard]] std::string visible_json(std::string_view text);

/// In single quotes where it needs any.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace hondana::cli
