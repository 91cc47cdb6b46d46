/// Standard output, and standard error for people.
#pragma once

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

}  // namespace hondana::cli
