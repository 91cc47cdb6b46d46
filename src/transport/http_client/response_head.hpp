/// Header fields of HTTP answers: status, media type, Retry-After, WWW-Authenticate.
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

/// Limit of the header of one answer, including all informational answers before it. Bytes.
inline constexpr std::size_t max_head_bytes = 64u << 10;
/// Limit of the body of an HTTP error. Bytes.
inline constexpr std::size_t max_error_body_bytes = 64u << 10;
inline constexpr std::size_t max_session_id_bytes = 1024;

/// A status line and the fields in use. Values come from the server and may be malformed.
struct response_head {
  int status = 0;
  std::string content_type{};
  std::string content_encoding{};
  std::string content_range{};
  std::string date{};
  std::string location{};
  std::optional<std::string> session_id{};  ///< `Mcp-Session-Id`, not validated.
  std::string retry_after{};
  std::string cache_control{};            ///< All fields of that name, joined to one list.
  std::vector<std::string> challenges{};  ///< `WWW-Authenticate`, one element for each field.

  [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
  /// Content-Type without parameters, in lower case.
  [[nodiscard]] std::string media_type() const;
  /// The `charset` parameter of Content-Type in lower case; empty if absent.
  [[nodiscard]] std::string charset() const;
};

/// Parses a header line by line.
class head_reader {
 public:
  enum class state : std::uint8_t { reading, complete, too_long };

  /// `line` may end with CRLF. Lines after a complete header (trailers) are only counted.
  state feed(std::string_view line);
  [[nodiscard]] const response_head& head() const noexcept { return head_; }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  response_head head_{};
  std::size_t bytes_ = 0;
  bool is_complete_ = false;
};

/// The text without leading and trailing blanks and tabs.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// Whether it is a token of RFC 9110 5.6.2, such as the name of a header field.
[[nodiscard]] bool is_field_name(std::string_view text) noexcept;
/// Whether it has no control characters except tabs, so that it stays one line.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;
/// Whether it is 1 to 1024 characters of visible ASCII. Spec: basic/transports#session-management.
[[nodiscard]] bool is_session_id(std::string_view text) noexcept;
/// `max-age` of a Cache-Control, at most one year; 0 for `no-store` and `no-cache`; empty if it has neither.
[[nodiscard]] std::optional<std::chrono::seconds> parse_max_age(std::string_view cache_control);
/// Parses seconds or a date, as the time from `now`: at most one day, never negative. Empty for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text,
                                                                         std::chrono::system_clock::time_point now);

/// One challenge of a `WWW-Authenticate` field.
struct auth_challenge {
  std::string scheme{};                                           ///< In lower case: "bearer".
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< Names in lower case, values without quotes.

  /// The first parameter of that name; empty: none.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};

/// The challenges of all fields, in order: at most 32, each with at most 32 parameters. Malformed parts are skipped up to the
/// next comma. Spec: RFC 9110 11.6.1.
[[nodiscard]] std::vector<auth_challenge> parse_challenges(const std::vector<std::string>& fields);

/// Whether the challenges of a 403 ask for a token with more scopes. Spec: RFC 6750 3.1.
[[nodiscard]] bool requests_more_scopes(const std::vector<std::string>& fields);

/// The server's reason for a rejection, truncated to 300 bytes: `error_description` of a challenge, otherwise the message of a
/// JSON-RPC error in the body. Empty: none. It may contain control characters. `secret`: the token that the request carried; it
/// is removed from the text.
[[nodiscard]] std::string extract_reason(const std::vector<std::string>& fields, std::string_view body,
                                         std::string_view secret = {});

}  // namespace hondana::transport::http_client
