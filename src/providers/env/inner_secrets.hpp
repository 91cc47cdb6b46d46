/// Passwords within values: in URLs, connection strings and command lines.
#pragma once

#include <string_view>
#include <vector>

#include "secrets/near.hpp"

namespace hondana::env {

/// Appends whatever stands as the password in a URL (`scheme://user:HERE@host`), drawn users without one, what parameters,
/// settings and switches with telling names have (`?sig=HERE&`, `Password=HERE;`, `"secret": "HERE"`, `--token HERE`), however
/// much it looks like a word. Linear time.
void find_inner(std::string_view value, std::vector<secrets::span>& into);

}  // namespace hondana::env
