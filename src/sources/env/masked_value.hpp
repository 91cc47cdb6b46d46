/// Values as they may be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/near.hpp"

namespace hondana::env {

/// What stands for the whole of a value whose name says that it is secret, whatever its length.
inline constexpr std::string_view whole_mask = "********";

struct masked_value {
  std::string text;
  std::size_t count = 0;  ///< Secrets that were masked.
};

/// The value of a variable without its secrets. By the name, all of it (`told_by`); an empty one stays empty. Else by format
/// (the policy for settings, over `NAME=value` and the value alone, and `find_inner`) and by entropy (`find_drawn`): asterisks
/// over what was found, so that lengths and line ends stay. UTF-8 stays UTF-8. `known`: parts that are known to be secret
/// already. Linear time.
[[nodiscard]] masked_value mask_value(std::string_view name, std::string_view value, std::vector<secrets::span> known = {});

/// Whether the name of a variable has a secret in it itself.
[[nodiscard]] bool is_secret_name(std::string_view name);

}  // namespace hondana::env
