/// What files of variables are called in URIs.
#pragma once

#include <string>
#include <string_view>

namespace hondana::env {

/// Whether this is 1 to 40 of a-z, 0-9 and `-`, no `-` at an end.
[[nodiscard]] bool is_slug(std::string_view text) noexcept;

/// After the name of a file without "env" and dots: `prod` for `prod.env` and `.env.prod`, `app-local` for `app.env.local`.
/// `env` where nothing is left.
[[nodiscard]] std::string slug_of(std::string_view path);

}  // namespace hondana::env
