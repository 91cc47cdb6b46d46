/// Layers made of environment variables, command-line flags and flat names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/options.hpp"

namespace hondana::config_files {

/// The values of a layer without a file.
struct named_values {
  shared_values values;
  /// For variables: their names, with secrets masked. The line of a value is the position of its name here, from 1. Empty for
  /// other layers.
  std::vector<std::string> names;
};

/// Limit of values per layer. A warning of the values reports that more were skipped.
inline constexpr std::size_t max_variables = 10'000;

/// The environment of this process.
[[nodiscard]] variables process_environment();

/// Converts variables whose names begin with `prefix`. The rest of the name in lower case is the key; `__` separates its parts.
/// All values are strings. Names with an empty part are skipped with a warning. `masks`: whether to mask secrets.
[[nodiscard]] named_values convert_environment(const variables& variables, std::string_view prefix, bool masks);
/// Converts the variables of a file in the same way, with their lines in the file.
[[nodiscard]] shared_values convert_environment(const values& file, std::string_view prefix);

/// Parses `--server.port=80`, `--server.port 80`, `--verbose` (true) and `-v` (true). The last of repeated flags counts. Other
/// arguments, and those after `--`, are skipped with a warning. The line of a value is the position of its flag, from 1.
[[nodiscard]] shared_values parse_flags(const std::vector<std::string>& arguments, bool masks);

/// Converts `layer_options::values`. Keys that `parse_key` rejects are skipped with a warning. All lines are 0.
[[nodiscard]] shared_values convert_texts(const variables& texts, bool masks);

}  // namespace hondana::config_files
