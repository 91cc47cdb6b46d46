/// Standard output and standard error: printing, hiding control characters, and quoting for shells.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::cli {

/// Writes to standard output. `finish_output` and `is_output_closed` report write errors. Threads: any.
void print(std::string_view text);
/// Prints one JSON value as a line, escaped for terminals like `escape_json`.
void print_json(std::string_view text);
/// Flushes buffered output.
void flush_output();
/// Whether the reader of standard output has closed it, so that further output is pointless.
[[nodiscard]] bool is_output_closed();
/// The exit code after all output: `code`, or another one after a write error. Prints the error unless the reader has closed
/// the output.
[[nodiscard]] int finish_output(int code);

/// Prints an error for people: what was tried, why it failed, what to do.
void print_error(const failure& error);
/// Prints a line for people, with the prefix `hondana: `.
void print_message(std::string_view line);

/// `text` with `?` for every character that a terminal could interpret as a command or that reorders text. These are the
/// control characters of ASCII and Latin-1 (U+0080 to U+009F), and bidirectional marks.
[[nodiscard]] std::string sanitize(std::string_view text);

/// Like `sanitize` for several lines: tabs and newlines stay, CR LF becomes `\n`.
[[nodiscard]] std::string sanitize_lines(std::string_view text);

/// Like `sanitize` in one line: runs of white space become one space.
[[nodiscard]] std::string sanitize_line(std::string_view text);

/// JSON text with escapes (`\u009b`) for the characters that `sanitize` hides. The value stays the same, and is harmless on a
/// terminal.
[[nodiscard]] std::string escape_json(std::string_view text);

/// Puts the word into single quotes if a shell needs quotes.
[[nodiscard]] std::string shell_quote(std::string_view word);

}  // namespace hondana::cli
