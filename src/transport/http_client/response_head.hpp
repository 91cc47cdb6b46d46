/// What the header fields of an HTTP answer say, as far as a client of MCP cares.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

}  // namespace hondana::transport::http_client
