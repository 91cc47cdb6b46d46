/// Passwords inside values: in URLs, connection strings and command lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// The kind of value to search.
enum class value_kind : std::uint8_t {
  variable,  ///< The value of an environment variable: mask any possible secret, because readers do not need it.
  /// A text of a configuration file. Not masked: references to secrets (`--token $TOKEN`, `{{ password }}`, `/run/secrets/db`)
  /// and prose after a colon. Masked additionally: the password in curl's `-u bob:HERE`.
  setting,
};

/// Appends the passwords in a value to `spans`, even if they look like words. Time: linear. Finds passwords in URLs
/// (`scheme://user:HERE@host`), random user names without a password, and values of parameters, settings and switches with
/// sensitive names (`?sig=HERE&`, `Password=HERE;`, `"secret": "HERE"`, `--token HERE`).
void find_embedded(std::string_view value, std::vector<span>& spans, value_kind kind = value_kind::variable);

/// Whether the argument after this command line switch is a secret: `--token`, `-password`.
[[nodiscard]] bool is_sensitive_switch(std::string_view argument);

/// Whether the argument after this switch of curl is `user:password`: `-u`, also after others (`-su`), `--user`.
[[nodiscard]] bool is_user_switch(std::string_view name) noexcept;

/// Whether the value is empty, or refers to a secret without being one: a template, a variable, a path, a URL, or a file name.
[[nodiscard]] bool is_secret_reference(std::string_view value) noexcept;

/// Returns the position of the password in curl's `user:password`; npos if there is none, or only a reference to one.
[[nodiscard]] std::size_t find_curl_password(std::string_view credentials) noexcept;

}  // namespace hondana::secrets
