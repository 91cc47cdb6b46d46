/// What standard output and standard error are connected to.
#pragma once

#include <cstddef>

namespace hondana::cli {

struct screen {
  bool shows_output = false;   ///< Standard output is a terminal.
  bool shows_errors = false;   ///< Standard error is one.
  bool reads_answers = false;  ///< Standard input and standard error are: somebody can be asked.
  bool in_colour = false;      ///< Of the output: a terminal that is not dumb, and NO_COLOR does not forbid it.
  std::size_t width = 80;      ///< Columns of the terminal of the output, else of that of the errors.
};

/// As it is now. Spec: https://no-color.org.
[[nodiscard]] screen present_screen();

}  // namespace hondana::cli
