/// What a server says in `WWW-Authenticate`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::transport::http_client {

struct auth_challenge {
  std::string scheme{};                                           ///< In lower case: "bearer".
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< Names in lower case, values without quotes.

  /// The first parameter of that name; empty: none.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};

/// The challenges of all fields, in order; at most 32, of at most 32 parameters each. What is malformed is skipped up to the
/// next comma. Spec: RFC 9110 11.6.1.
[[nodiscard]] std::vector<auth_challenge> challenges_in(const std::vector<std::string>& fields);

/// A 403 that another token would turn into a success. Spec: RFC 6750 3.1.
[[nodiscard]] bool wants_more_scopes(const std::vector<std::string>& fields);

/// Why a server refuses, in its own words, cut at 300 bytes: `error_description` of a challenge, or else the message of a
/// JSON-RPC error in the body. Empty: it does not say. What a terminal must not see may be in it, but not `secret`, which the
/// server was sent and may send back.
[[nodiscard]] std::string reason_in(const std::vector<std::string>& fields, std::string_view body,
                                    std::string_view secret = {});

}  // namespace hondana::transport::http_client
