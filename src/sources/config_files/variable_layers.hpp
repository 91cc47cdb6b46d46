/// Layers made of environment variables, command-line flags and flat names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/options.hpp"

namespace hondana::config_files {

/// What does not stand in a file. The line of each value is the number of its name among `names`, from 1.
struct named_values {
  shared_values what;
  std::vector<std::string> names;  ///< Of variables, masked where they are secrets; empty for others.
};

/// No more of one kind are taken; the remarks say so.
inline constexpr std::size_t most_variables = 10'000;

/// The environment of this process.
[[nodiscard]] variables process_environment();

/// Variables that begin with `prefix`: what follows in lower case, where `__` separates the parts of a key. All are texts. What
/// has no parts, or an empty one, is left out with a remark.
[[nodiscard]] named_values of_environment(const variables& all, std::string_view prefix, bool masks);
/// The same of the variables of a file, which keep their lines.
[[nodiscard]] shared_values of_environment(const values& file, std::string_view prefix);

/// `--server.port=80`, `--server.port 80`, `--verbose` (true) and `-v`; of one that is given twice the last counts. What
/// follows none of them, and what stands behind `--`, is left out with a remark. The line is the number of the argument.
[[nodiscard]] shared_values of_flags(const std::vector<std::string>& arguments, bool masks);

/// Texts by key.
[[nodiscard]] shared_values of_texts(const variables& by_key, bool masks);

}  // namespace hondana::config_files
