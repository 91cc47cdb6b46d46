/// Exit codes of the program, as its help and manual page list them.
#pragma once

#include <array>
#include <string_view>

namespace hondana::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_usage = 1;        ///< Wrong arguments or configuration.
inline constexpr int exit_not_found = 2;    ///< There is no such resource, skill, tool or template.
inline constexpr int exit_auth = 3;         ///< The server requires authentication, or rejects the caller.
inline constexpr int exit_unreachable = 4;  ///< No server at this address, or it did not answer in time.
inline constexpr int exit_server = 5;       ///< The server sent an error or an invalid message, or hondana's own server failed.
inline constexpr int exit_interrupted = 130;
inline constexpr int exit_broken_pipe = 141;  ///< The reader of the output stopped reading; nothing is printed about it.

/// An exit code, and its meaning for the help.
struct exit_code {
  int code;
  std::string_view meaning;
};

/// All exit codes, in ascending order.
inline constexpr std::array exit_code_table{
    exit_code{exit_ok, "ok"},
    exit_code{exit_usage, "wrong arguments or configuration"},
    exit_code{exit_not_found, "not found"},
    exit_code{exit_auth, "not authorized"},
    exit_code{exit_unreachable, "unreachable or timed out"},
    exit_code{exit_server, "server error"},
    exit_code{exit_interrupted, "interrupted"},
    exit_code{exit_broken_pipe, "the reader of the output stopped reading"},
};

}  // namespace hondana::cli
