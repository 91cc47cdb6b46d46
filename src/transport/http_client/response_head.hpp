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

/// Of the header fields of one answer, and of those of all informational ones before it.
inline constexpr std::size_t max_head_bytes = 64u << 10;
/// Of the body of an answer that is no success.
inline constexpr std::size_t max_error_body_bytes = 64u << 10;
inline constexpr std::size_t max_session_id_bytes = 1024;

/// A status line and the fields of interest. Values come from the server and are never trusted to be well-formed.
struct response_head {
  int status = 0;
  std::string content_type{};
  std::string content_encoding{};
  std::string content_range{};
  std::string date{};
  std::string location{};
  std::optional<std::string> session_id{};  ///< `Mcp-Session-Id`, whatever it holds.
  std::string retry_after{};
  std::string cache_control{};            ///< All fields of the name as one list.
  std::vector<std::string> challenges{};  ///< `WWW-Authenticate`, one element a field.

  [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
  /// Content-Type without parameters, in lower case.
  [[nodiscard]] std::string media_type() const;
  /// The `charset` parameter of Content-Type in lower case; empty: there is none.
  [[nodiscard]] std::string charset() const;
};

/// Takes the lines of a head one by one.
class head_reader {
 public:
  enum class state : std::uint8_t { reading, complete, too_long };

  /// `line` with or without its end. What follows a complete head (trailers) is counted and otherwise ignored.
  state take(std::string_view line);
  [[nodiscard]] const response_head& head() const noexcept { return head_; }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  response_head head_{};
  std::size_t bytes_ = 0;
  bool is_complete_ = false;
};

/// Without blanks and tabs around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// A token of RFC 9110 5.6.2, such as the name of a header field.
[[nodiscard]] bool is_field_name(std::string_view text) noexcept;
/// Free of control characters but tabs, so that it stays one line.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;
/// Visible ASCII, 1 to 1024 characters. Spec: basic/transports#session-management.
[[nodiscard]] bool is_session_id(std::string_view text) noexcept;
/// `max-age` of a Cache-Control, at most a year; 0 for `no-store` and `no-cache`; nothing when it says neither.
[[nodiscard]] std::optional<std::chrono::seconds> max_age_in(std::string_view cache_control);
/// Seconds or a date, as the time from `now` on; at most a day, never negative. Nothing for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text,
                                                                         std::chrono::system_clock::time_point now);

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
