/// Parses the headers of HTTP answers: status, media type, Retry-After, WWW-Authenticate and others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::transport::http_client {

/// Limit of the header of one answer, including informational answers before it and the trailer after its body. Bytes.
inline constexpr std::size_t max_head_bytes = 64u << 10;
/// Limit of the body of an HTTP error. Bytes.
inline constexpr std::size_t max_error_body_bytes = 64u << 10;
inline constexpr std::size_t max_session_id_bytes = 1024;

/// The header of an answer, as far as it is used. Values come from the server and may be malformed; empty: absent.
struct response_head {
  int status = 0;
  std::string content_type{};
  std::string content_encoding{};  ///< In lower case.
  std::string content_range{};
  std::string date{};
  std::string location{};
  std::optional<std::string> session_id{};  ///< `Mcp-Session-Id`, not validated.
  std::string retry_after{};
  std::string cache_control{};            ///< All fields of that name, joined to one list.
  std::vector<std::string> challenges{};  ///< `WWW-Authenticate`, one element for each field.

  [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
  /// Whether the status is one that names another URL in `location`: 301, 302, 303, 307 or 308.
  [[nodiscard]] bool is_redirect() const noexcept { return (status >= 301 && status <= 303) || status == 307 || status == 308; }
  /// Content-Type without parameters, in lower case.
  [[nodiscard]] std::string media_type() const;
  /// The `charset` parameter of Content-Type in lower case; empty if absent.
  [[nodiscard]] std::string charset() const;
};

/// Parses a header line by line. Skips informational answers (1xx) before it.
class head_reader {
 public:
  enum class state : std::uint8_t { reading, complete, too_long };

  /// Parses one line, with or without CRLF. Lines after a complete header (a trailer) are only counted. Returns the new state.
  state feed(std::string_view line);
  [[nodiscard]] const response_head& head() const noexcept { return head_; }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  [[nodiscard]] bool is_too_long() const noexcept { return bytes_ > max_head_bytes; }

 private:
  response_head head_{};
  std::size_t bytes_ = 0;
  bool is_complete_ = false;
};

/// Returns the text without leading blanks and tabs, and without trailing blanks, tabs and line ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// Whether `text` is a token of RFC 9110 5.6.2, such as the name of a header field.
[[nodiscard]] bool is_field_name(std::string_view text) noexcept;
/// Whether `text` has no control characters except tabs, so that it stays one line.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;
/// Whether `text` is 1 to 1024 characters of visible ASCII. Spec: basic/transports#session-management.
[[nodiscard]] bool is_session_id(std::string_view text) noexcept;
/// Returns the `max-age` in a `Cache-Control`, at most one year; 0 for `no-store` and `no-cache`; empty if it has none of them.
[[nodiscard]] std::optional<std::chrono::seconds> parse_max_age(std::string_view cache_control);
/// Parses a `Retry-After`, seconds or a date. Returns the time from `now`: 0 to one day. Empty for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text,
                                                                         std::chrono::system_clock::time_point now);

/// One challenge of a `WWW-Authenticate` field.
struct auth_challenge {
  std::string scheme{};                                           ///< In lower case: "bearer".
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< Names in lower case, values without quotes.

  /// Returns the value of the first parameter with that name; empty: none.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};

/// Parses the challenges of all `WWW-Authenticate` fields, in order: at most 32, each with at most 32 parameters. Skips
/// malformed parts up to the next comma. Spec: RFC 9110 11.6.1.
[[nodiscard]] std::vector<auth_challenge> parse_challenges(const std::vector<std::string>& fields);

/// Whether the `WWW-Authenticate` fields of a 403 ask for a token with more scopes (`insufficient_scope`). Spec: RFC 6750 3.1.
[[nodiscard]] bool requests_more_scopes(const std::vector<std::string>& fields);

/// Returns the server's reason for a rejection, truncated to 300 bytes: `error_description` in the `WWW-Authenticate` fields,
/// otherwise the message of a JSON-RPC error in the body. Empty: none. It may contain control characters. `secret`: the token
/// of the request, which is removed from the text.
[[nodiscard]] std::string extract_reason(const std::vector<std::string>& fields, std::string_view body,
                                         std::string_view secret = {});

}  // namespace hondana::transport::http_client
