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
struct token_rejection {
  failure reason{};
  std::string error_code{};     ///< The `error` that Google sent, such as "invalid_grant"; empty: none.
  bool is_final = false;        ///< The same credentials will not work later either.
  bool is_transient = false;    ///< The same request may succeed soon.
  bool is_clock_error = false;  ///< Google rejects the times in the claims of a service account.
};

/// What the message of a rejection mentions.
struct rejection_context {
  const credentials& identity;
  std::string origin{};   ///< See `found_credentials::origin`.
  std::string advice{};   ///< See `credential_locations::advice`; may be empty.
  std::string subject{};  ///< See `token_settings::subject`.
  scopes requested{};
};

/// Explains an answer without a token. The code of `reason` is source_unavailable if Google is busy or unavailable,
/// protocol_error without `error`, otherwise unauthorized. Google's own text goes only into the private text, cleaned and
/// truncated. Spec: RFC 6749 section 5.2; Google, "Using OAuth 2.0", "Refresh token expiration", "JWT error codes".
[[nodiscard]] token_rejection explain_rejection(int status, std::string_view body, const rejection_context& context);

/// Parses a `Date` header field; empty if it is malformed. Spec: RFC 9110 section 5.6.7, IMF-fixdate.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view field) noexcept;

/// An issued access token.
struct issued_token {
  std::string token;
  std::chrono::seconds lifetime;  ///< Counts from the time of the request; greater than 0.
  bool is_excessive = false;      ///< See `coverage`.
};

struct token_request {
  const credentials& identity;
  scopes requested{};
  std::string subject{};           ///< See `token_settings::subject`.
  std::chrono::sys_seconds now{};  ///< For the claims of a service account.
};

/// Why a request failed, and the server's time, to correct a wrong clock.
struct failed_request {
  token_rejection rejection{};
  std::optional<std::chrono::sys_seconds> date{};  ///< The server's `Date`, if it sent one.
};

/// Sends one request to `token_endpoint`. Blocks. Errors: those of `explain_rejection`; those of `endpoint::send`, with
/// `is_transient` for source_unavailable and timed_out; unauthorized if fewer scopes were granted than requested.
[[nodiscard]] tl::expected<issued_token, failed_request> request_token(const token_request& request,
                                                                       const endpoint::endpoint& token_endpoint,
                                                                       const rejection_context& context,
                                                                       std::chrono::steady_clock::time_point deadline,
                                                                       const std::stop_token& stop);

/// Makes the signed JWT by which a service account requests a token. Errors: internal. Spec: RFC 7523 section 2.1; Google,
/// "Using OAuth 2.0 for Server to Server Applications".
[[nodiscard]] result<std::string> make_assertion(const service_account& account, const token_request& request);

}  // namespace hondana::google
