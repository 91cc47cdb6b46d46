/// Standard input, output and error: reading, printing, hiding control characters, and quoting for shells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::cli {

/// Reads standard input to its end. Errors: source_unavailable; `too_large` for more than `max_bytes` bytes.
[[nodiscard]] result<std::string> read_standard_input(std::size_t max_bytes, const failure& too_large);

/// Writes to standard output; no effect after a write error. `finish_output` and `is_output_closed` report write errors.
/// Threads: any.
void print(std::string_view text);
/// Prints one JSON value as a line, with `escape_json`.
void print_json(std::string_view text);
/// Flushes buffered output.
void flush_output();
/// Whether the reader of standard output has closed it, so that further output is pointless.
[[nodiscard]] bool is_output_closed();
/// Flushes all output and returns the exit code: `code`, or another one after a write error. Prints the error unless the reader
/// has closed the output.
[[nodiscard]] int finish_output(int code);

/// Prints a failure on standard error: its public text, and the private text if that adds something.
void print_error(const failure& error);
/// Prints a line on standard error, with the prefix `hondana: `. Control characters are replaced as by `sanitize_lines`.
void print_message(std::string_view line);

/// Returns `text` with `?` for every character that a terminal could interpret as a command or that reorders text. These are
/// the control characters of ASCII and Latin-1 (U+0080 to U+009F), bidirectional marks, and line and paragraph separators.
[[nodiscard]] std::string sanitize(std::string_view text);

/// Like `sanitize`, but tabs and newlines stay, and CR LF becomes `\n`.
[[nodiscard]] std::string sanitize_lines(std::string_view text);

/// Like `sanitize`, after runs of white space were replaced by one space each, and removed at both ends.
[[nodiscard]] std::string sanitize_line(std::string_view text);

/// Returns JSON text with escapes (`\u009b`) for the characters that `sanitize` replaces. Newlines between values stay. The
/// value stays the same, and is harmless on a terminal.
[[nodiscard]] std::string escape_json(std::string_view text);

/// Puts the word into single quotes if a shell needs quotes.
[[nodiscard]] std::string shell_quote(std::string_view word);

}  // namespace hondana::cli
