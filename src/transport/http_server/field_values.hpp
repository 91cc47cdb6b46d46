/// Reads the values of the header fields that decide who may ask and in which form.
///
/// Values come from the peer and are never trusted to be well-formed; what cannot be read counts as not allowed.
#pragma once

#include <string_view>

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
