/// The program's exit codes, as documented in its help.
#pragma once

namespace hondana::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_usage = 1;   ///< Wrong arguments or configuration.
inline constexpr int exit_server = 5;  ///< The server could not start, or had to stop.

}  // namespace hondana::cli
