/// What a server that refuses says would help.
#pragma once

#include <cstddef>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oauth/scopes.hpp"

namespace hondana::oauth {

struct server_challenge {
  std::string scheme{};  ///< In lower case.
  std::string token68{};
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< Names in lower case, each once.

  /// Null when there is none of that name.
  [[nodiscard]] const std::string* find(std::string_view name) const noexcept;
};

inline constexpr std::size_t longest_challenge_field = 16u << 10;
inline constexpr std::size_t most_challenges = 32;
inline constexpr std::size_t most_challenge_parameters = 64;

/// The challenges in one field `WWW-Authenticate`. Errors: invalid_argument for what is no list of challenges or beyond the
/// limits above. Spec: RFC 9110 sections 11.3 and 11.6.1.
[[nodiscard]] result<std::vector<server_challenge>> read_challenges(std::string_view field);

/// What a `Bearer` challenge says. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
struct bearer_challenge {
  std::string metadata_url{};         ///< `resource_metadata`.
  std::optional<scope_set> scopes{};  ///< Nothing: not said.
  std::string error{};
};

/// The first one in the fields of an answer. Fields that are no challenges, which servers may send as they like, say nothing.
[[nodiscard]] std::optional<bearer_challenge> bearer_in(const std::vector<std::string>& fields);

}  // namespace hondana::oauth
