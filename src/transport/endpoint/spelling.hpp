/// How requests are spelled: their URLs, forms, header lines and secrets.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::endpoint {

using fields = std::vector<std::pair<std::string, std::string>>;

/// `name=value&…`, both percent-encoded.
[[nodiscard]] std::string form_of(const fields& query);

/// `base` (whose own query stays in front) with `path` behind its path. Errors: invalid_argument for a path that does not begin
/// with `/`, has dot segments, however they are escaped, or characters that a path has not; and for more than 8192 bytes.
[[nodiscard]] result<std::string> url_with(std::string_view base, std::string_view path, const fields& query);

/// The one line of a file that holds a secret, without its end. Errors: as `disk::read_private`; invalid_argument for what is
/// empty, longer than 16 KiB, several lines, or has control characters. Only the private texts name the path.
[[nodiscard]] result<std::string> secret_in(const std::string& path, std::string_view setting);

}  // namespace hondana::endpoint
