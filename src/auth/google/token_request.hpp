/// Asks Google's token endpoint for one access token, and explains its refusals.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::google {

struct token_refusal {
  failure why{};
  std::string error{};      ///< As RFC 6749 names it; empty: it gave none.
  bool is_final = false;    ///< The same credentials are of no use, now and later.
  bool may_pass = false;    ///< The same request may succeed in a moment.
  bool is_of_time = false;  ///< The claims' times are not believed.
};

struct refusal_circumstances {
  const credentials& who;
  std::string from{};    ///< "the file that `credentials` names".
  std::string advice{};  ///< "log in with `hondana login --source team`"; may be empty.
  std::string subject{};
  scopes asked{};
};

/// Of an answer that gives no token. Google's own words go, cleaned and cut, into the private text alone.
/// Spec: RFC 6749 section 5.2; Google, "Using OAuth 2.0", "Refresh token expiration", "JWT error codes".
[[nodiscard]] token_refusal token_refusal_of(int status, std::string_view body, const refusal_circumstances& in);

/// The time of a `Date` field. Nothing for what is none. Spec: RFC 9110 section 5.6.7, IMF-fixdate.
[[nodiscard]] std::optional<std::chrono::sys_seconds> date_of(std::string_view field) noexcept;

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
