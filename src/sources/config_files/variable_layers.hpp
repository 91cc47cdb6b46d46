/// Layers made of environment variables, command-line flags and flat names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/options.hpp"

namespace hondana::config_files {

/// Values that are not from a file. The line of each value is the index of its name in `names`, from 1.
struct named_values {
  shared_values values;
  std::vector<std::string> names;  ///< Of variables, with secrets masked; empty for other layers.
};

/// Limit of values per layer. Warnings report skipped ones.
inline constexpr std::size_t max_variables = 10'000;

/// The environment of this process.
[[nodiscard]] variables process_environment();

/// Converts variables that begin with `prefix`. The rest of the name in lower case is the key; `__` separates its parts. All
/// values are strings. Names with an empty part are skipped with a warning.
[[nodiscard]] named_values convert_environment(const variables& variables, std::string_view prefix, bool masks);
/// The same for the variables of a file, which keep their line numbers.
[[nodiscard]] shared_values convert_environment(const values& file, std::string_view prefix);

/// Parses `--server.port=80`, `--server.port 80`, `--verbose` (true) and `-v`. The last of repeated flags counts. Other
/// arguments, and those after `--`, are skipped with a warning. The line of a value is the index of its argument.
[[nodiscard]] shared_values parse_flags(const std::vector<std::string>& arguments, bool masks);

/// Converts strings by key.
[[nodiscard]] shared_values convert_texts(const variables& texts, bool masks);

}  // namespace hondana::config_files
