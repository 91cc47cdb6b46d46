/// Whose something is.
#pragma once

#include <hondana/provider.hpp>

namespace hondana::transport::http_server {

/// Whether it is `owner`, by the same program, for which others of his do not speak.
[[nodiscard]] bool is_same_caller(const caller& owner, const caller& who);

/// Whether two callers, as seen now, see the same.
[[nodiscard]] bool has_one_view(const caller& one, const caller& other);

}  // namespace hondana::transport::http_server
