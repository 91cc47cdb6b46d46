/// One access token from Google's token endpoint.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"
#include "auth/google/scopes.hpp"
#include "auth/google/token_refusals.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::google {

struct granted {
  std::string token;
  std::chrono::seconds life;  ///< From when the request was sent; more than 0.
  bool is_for_more = false;   ///< Than was asked for.
};

struct token_request {
  const credentials& who;
  scopes asked{};
  std::string subject{};
  std::chrono::sys_seconds now{};  ///< For a service account's claims.
};

struct failed_request {
  token_refusal refusal{};
  std::optional<std::chrono::sys_seconds> date{};  ///< Of the server, where it said it.
};

/// `at`: of the token endpoint. Errors: see `token_refusal_of`; those of requests, which may pass unless they are the caller's
/// end of it; unauthorized for a log-in that is for less than was asked.
[[nodiscard]] tl::expected<granted, failed_request> ask_for_token(const token_request& what, const endpoint::endpoint& at,
                                                                  const refusal_circumstances& in,
                                                                  std::chrono::steady_clock::time_point until,
                                                                  const std::stop_token& stop);

/// A JWT that stands for the service account. Errors: internal. Spec: RFC 7523 section 2.1; Google, "Using OAuth 2.0 for Server
/// to Server Applications".
[[nodiscard]] result<std::string> assertion_of(const service_account& who, const token_request& what);

}  // namespace hondana::google
