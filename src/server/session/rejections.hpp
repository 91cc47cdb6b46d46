/// Rejections of messages outside of sessions, and their lines in the log.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"

namespace hondana::session {

/// The JSON of an error response without an id, for a message that is rejected with `http_status`. `headers`: select its
/// protocol revision; nullopt: none. Spec: basic/transports#sending-messages-to-the-server (4).
[[nodiscard]] std::string error_text(int http_status, std::string_view reason,
                                     const std::optional<rpc::http_headers>& headers = std::nullopt);
/// The JSON of an error response without an id for a failure, including its retry time.
[[nodiscard]] std::string error_text(const failure& error, const std::optional<rpc::http_headers>& headers);
/// A response with the JSON of `error_text`.
[[nodiscard]] rpc::outgoing_response reject(int http_status, std::string_view reason, const rpc::http_headers& headers);

/// The error response for an unsupported version header; nullopt if the version is supported.
[[nodiscard]] std::optional<rpc::outgoing_response> reject_version(const rpc::http_headers& headers);
/// Whether a message is stateless, even if its headers name a session.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;

/// Formats log lines about rejections, and limits their rate. Threads: any.
class rejection_log {
 public:
  using clock = monotonic_clock;
  /// Lines that may be written at once; after that, one line per second.
  static constexpr std::size_t burst = 20;

  /// The line to write, without a newline. nullopt if there were too many; the next line then has the number of omitted ones.
  /// `status`: HTTP status. `address`: empty if there is none. `identity`: empty if unknown. Neither `identity` nor `reason`
  /// may contain a token.
  [[nodiscard]] std::optional<std::string> make_line(int status, std::string_view address, std::string_view identity,
                                                     std::string_view reason, clock::time_point now = clock::now());

 private:
  std::mutex mutex_;
  std::size_t tokens_ = burst;
  clock::time_point refilled_at_{};
  std::size_t suppressed_ = 0;
};

}  // namespace hondana::session
