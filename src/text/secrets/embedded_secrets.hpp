/// Passwords inside values: in URLs, connection strings and command lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// What is looked into.
enum class inner : std::uint8_t {
  variable,  ///< The value of a variable, which nobody needs to see: whatever may be one is.
  /// A text of configuration: neither what stands for a secret (`--token $TOKEN`, `{{ password }}`, `/run/secrets/db`) nor what
  /// prose has behind a colon. Of `-u bob:HERE` for curl the password, too.
  setting,
};

/// Appends whatever stands as the password in a URL (`scheme://user:HERE@host`), drawn users without one, what parameters,
/// settings and switches with telling names have (`?sig=HERE&`, `Password=HERE;`, `"secret": "HERE"`, `--token HERE`), however
/// much it looks like a word. Linear time.
void find_inner(std::string_view value, std::vector<span>& into, inner what = inner::variable);

/// Whether a switch of a command line has a secret as the next argument: `--token`, `-password`.
[[nodiscard]] bool is_telling_switch(std::string_view argument);

/// Whether a switch of curl has `user:password` as the next argument: `-u`, also behind others (`-su`), `--user`.
[[nodiscard]] bool is_user_switch(std::string_view name) noexcept;

/// Whether this stands for a secret and is none: a template, a variable, a path, a URL, the name of a file.
[[nodiscard]] bool stands_for_secret(std::string_view value) noexcept;

/// Where the password of curl's `user:password` begins; npos where there is none, or it stands for one.
[[nodiscard]] std::size_t behind_user(std::string_view credentials) noexcept;

}  // namespace hondana::secrets
