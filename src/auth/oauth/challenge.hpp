/// What a server that refuses says would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// What a `Bearer` challenge says. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
struct bearer_challenge {
  std::string metadata_url{};         ///< `resource_metadata`; empty: not said.
  std::optional<scope_set> scopes{};  ///< Nothing: not said, or not readable.
};

/// The first in the fields `WWW-Authenticate` of an answer; one that says nothing when there is none.
[[nodiscard]] bearer_challenge bearer_in(const std::vector<std::string>& fields);

}  // namespace hondana::oauth
