/// A load generator for servers over standard input and output.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "../figures/figures.hpp"
#include "../process/child.hpp"

namespace stdio_bench {

/// What is asked again and again: a message of `method` with `params`, each with an id of its own.
struct question {
  std::string method;
  std::string params;                     ///< A JSON object, with its braces.
  std::string_view mark = "\"result\":";  ///< What the beginning of an answer holds if it is one.
};

/// The handshake of 2025-11-25. Throws when it is refused.
void greet(bench::child& server);
/// One message, with its line feed. `number`: below a million; ids all have the same width, so that answers do.
[[nodiscard]] std::string message_of(const question& what, unsigned number);
/// Bytes of one answer, with its line feed. Throws when it is none.
[[nodiscard]] std::size_t answer_bytes(const bench::child& server, const question& what);

/// Keeps `in_flight` questions under way for `time` and awaits the answers to all of them. Throws when an answer is none, has
/// not `bytes` bytes or answers nothing that was asked.
[[nodiscard]] bench::outcome generate(const bench::child& server, const question& what, std::size_t bytes, unsigned in_flight,
                                      std::chrono::milliseconds time);

/// One run after a short one that warms up.
void measure(const bench::child& server, const question& what, std::size_t bytes, unsigned in_flight,
             std::chrono::milliseconds time, bench::figures& into);

/// The limit: reads what comes, blocking, and writes it back. Returns when `in` ends.
void echo(int in, int out);

}  // namespace stdio_bench
