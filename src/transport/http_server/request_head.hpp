/// The header of an HTTP request, and checks of its fields.
///
/// Values come from the peer and may be malformed; the checks treat malformed values as not allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::transport::http_server {

struct header_field {
  std::string_view name;
  std::string_view value;  ///< Without outer white space.
};

/// Request line and header fields. The views are valid until the parser is reset.
struct request_head {
  std::string_view method;
  std::string_view target;
  std::vector<header_field> fields;  ///< In order of arrival; fields of a trailer are dropped.
  bool is_http_1_0 = false;
  bool keep_alive = false;  ///< The connection may stay open after the answer.
  bool has_body = false;    ///< A chunked body, or a Content-Length above 0.
  std::optional<std::uint64_t> content_length;

  struct occurrences {
    std::size_t count = 0;
    std::string_view first;  ///< The first value; empty if `count` is 0.
  };
  /// Returns how often a field occurs, and its first value. Compares names without regard to ASCII case.
  [[nodiscard]] occurrences find(std::string_view name) const noexcept;
  /// Returns all values of a field as one list, joined by commas; empty optional if it is absent.
  [[nodiscard]] std::optional<std::string> joined_values(std::string_view name) const;
};

}  // namespace hondana::transport::http_server

// Checks of the fields that decide about access and about the form of the answer.

namespace hondana::transport::http_server {

/// Whether `text` is a token, such as the name of a header field. Spec: RFC 9110 5.6.2.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Whether `authority` (`host[:port]`) names this machine, with any port: localhost, the literals 127.0.0.1 and [::1], or the
/// literal `bound_address`, on which the server listens. Spec: basic/transports#security-warning (DNS rebinding).
[[nodiscard]] bool is_local_authority(std::string_view authority, std::string_view bound_address) noexcept;

/// Whether an Origin is a page of this machine: http or https, and a local authority. False for `null`.
[[nodiscard]] bool is_local_origin(std::string_view origin, std::string_view bound_address) noexcept;

/// Whether a Content-Type is application/json, without charset or with UTF-8.
[[nodiscard]] bool is_json_content(std::string_view content_type) noexcept;

// `accept`: all values of the field, joined by commas.

/// Whether an Accept allows application/json: the most specific matching range has a weight above 0. An empty Accept allows
/// everything. Spec: RFC 9110 12.5.1.
[[nodiscard]] bool accepts_json(std::string_view accept) noexcept;
/// Like `accepts_json`, for text/event-stream.
[[nodiscard]] bool accepts_events(std::string_view accept) noexcept;
/// Whether an Accept names application/openmetrics-text in a supported version, with no lower weight than any other range.
[[nodiscard]] bool prefers_open_metrics(std::string_view accept) noexcept;

}  // namespace hondana::transport::http_server
