/// What help and manual page both tell besides commands and flags.
#pragma once

#include <span>
#include <string_view>

namespace hondana::cli {

/// A heading with terms and what they mean.
struct topic {
  struct term {
    std::string_view name;
    std::string_view meaning;
  };
  std::string_view title;
  std::string_view lead;  ///< Before the terms; may be empty.
  std::span<const term> terms;
};

/// One sentence: what the program is.
extern const std::string_view program_summary;
/// The three commands that people use most.
[[nodiscard]] const topic& first_commands();
/// What TARGET may be.
[[nodiscard]] const topic& targets();
/// Variables of the environment and files that matter.
[[nodiscard]] std::span<const topic> surroundings();

}  // namespace hondana::cli
