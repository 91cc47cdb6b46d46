/// Requests one access token from Google's token endpoint, and explains its rejections.
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

/// Why no access token was issued, and whether a retry makes sense.
struct token_refusal {
  failure why{};
  std::string error{};      ///< The error code of RFC 6749; empty: none was sent.
  bool is_final = false;    ///< The same credentials will not work later either.
  bool may_pass = false;    ///< The same request may succeed soon.
  bool is_of_time = false;  ///< The endpoint rejects the times in the claims.
};

/// What the message of a rejection mentions.
struct refusal_circumstances {
  const credentials& who;
  std::string from{};    ///< "the file that `credentials` names".
  std::string advice{};  ///< "log in with `hondana login --source team`"; may be empty.
  std::string subject{};
  scopes asked{};
};

/// Explains an answer without a token. Google's own text goes only into the private text, cleaned and truncated. Spec: RFC 6749
/// section 5.2; Google, "Using OAuth 2.0", "Refresh token expiration", "JWT error codes".
[[nodiscard]] token_refusal token_refusal_of(int status, std::string_view body, const refusal_circumstances& in);

/// Parses a `Date` field; empty if it is malformed. Spec: RFC 9110 section 5.6.7, IMF-fixdate.
[[nodiscard]] std::optional<std::chrono::sys_seconds> date_of(std::string_view field) noexcept;

/// An issued access token.
struct granted {
  std::string token;
  std::chrono::seconds life;  ///< From the time of the request; greater than 0.
  bool is_for_more = false;   ///< More scopes were granted than requested.
};

struct token_request {
  const credentials& who;
  scopes asked{};
  std::string subject{};
  std::chrono::sys_seconds now{};  ///< For the claims of a service account.
};

/// A rejection, and the server's time to correct a wrong clock.
struct failed_request {
  token_refusal refusal{};
  std::optional<std::chrono::sys_seconds> date{};  ///< The server's `Date`, if it sent one.
};

/// Sends one request. `at`: the token endpoint. Errors: see `token_refusal_of`; those of requests, with `may_pass` for
/// source_unavailable and timed_out; unauthorized for a login with fewer scopes than requested.
[[nodiscard]] tl::expected<granted, failed_request> ask_for_token(const token_request& what, const endpoint::endpoint& at,
                                                                  const refusal_circumstances& in,
                                                                  std::chrono::steady_clock::time_point until,
                                                                  const std::stop_token& stop);

/// The signed JWT of a service account. Errors: internal. Spec: RFC 7523 section 2.1; Google, "Using OAuth 2.0 for Server to
/// Server Applications".
[[nodiscard]] result<std::string> assertion_of(const service_account& who, const token_request& what);

}  // namespace hondana::google
