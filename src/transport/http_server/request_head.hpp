/// The head of an HTTP request, and the values of its header fields.
///
/// Values come from the peer and are never trusted to be well-formed; one that cannot be read counts as not allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::transport::http_server {

struct field {
  std::string_view name;
  std::string_view value;  ///< Without outer white space.
};

/// Views live until the parser that made them is reset.
struct request_head {
  std::string_view method;
  std::string_view target;
  std::vector<field> fields;  ///< In order of arrival; those of a trailer are dropped.
  bool is_http_1_0 = false;
  bool keep_alive = false;
  bool has_body = false;  ///< Something follows the head: a chunked body or a Content-Length above 0.
  std::optional<std::uint64_t> content_length;

  struct occurrences {
    std::size_t count = 0;
    std::string_view first;
  };
  /// How often a field occurs, and its first value. Names are compared without regard to ASCII case.
  [[nodiscard]] occurrences find(std::string_view name) const noexcept;
  /// All values of a field as one list, with commas between them; nothing when it is not there.
  [[nodiscard]] std::optional<std::string> all_of(std::string_view name) const;
};

}  // namespace hondana::transport::http_server

// Reads the values of the header fields that decide who may ask and in which form.
//
// Values come from the peer and are never trusted to be well-formed; what cannot be read counts as not allowed.

namespace hondana::transport::http_server {

/// Whether `text` is a token, such as the name of a header field. Spec: RFC 9110 5.6.2.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Whether `host[:port]` names this machine: localhost, a literal 127.0.0.1 or [::1], or the literal address the server is
/// bound to; any port. Spec: basic/transports#security-warning (DNS rebinding).
[[nodiscard]] bool names_this_machine(std::string_view authority, std::string_view bound_address) noexcept;

/// Whether an Origin is a page served by this machine: http or https, and a host as above. `null` is not.
[[nodiscard]] bool is_local_origin(std::string_view origin, std::string_view bound_address) noexcept;

/// Whether a Content-Type is application/json, in UTF-8 when it has a charset.
[[nodiscard]] bool is_json_content(std::string_view content_type) noexcept;

/// Whether a list of media ranges admits application/json: the most specific range that matches it has a weight above 0.
/// An empty list admits everything. Spec: RFC 9110 12.5.1.
[[nodiscard]] bool admits_json(std::string_view accept) noexcept;
/// The same for text/event-stream.
[[nodiscard]] bool admits_events(std::string_view accept) noexcept;
/// Whether it names application/openmetrics-text in a version of ours, with no lesser weight than any other type.
[[nodiscard]] bool prefers_open_metrics(std::string_view accept) noexcept;

}  // namespace hondana::transport::http_server
