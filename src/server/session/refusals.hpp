/// Rejections of HTTP requests outside of sessions, and their lines in the log.
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

/// The text of an error response without an id, in the form of the revision in `headers`. Spec:
/// basic/transports#sending-messages-to-the-server (4).
[[nodiscard]] std::string error_text(int http_status, std::string_view why,
                                     const std::optional<rpc::http_headers>& headers = std::nullopt);
/// The same for a failure, including its retry time.
[[nodiscard]] std::string error_text(const failure& why, const std::optional<rpc::http_headers>& headers);
/// The first form as a delivery.
[[nodiscard]] rpc::delivery refuse(int http_status, std::string_view why, const rpc::http_headers& headers);

/// The error for an unsupported version header; nullopt if the version is supported.
[[nodiscard]] std::optional<rpc::delivery> refuse_version(const rpc::http_headers& headers);
/// Whether a message is stateless, even if its headers name a session.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;

/// Formats log lines about rejections, and limits their rate. Threads: any.
class refusal_log {
 public:
  using clock = monotonic_clock;
  /// Size of a burst; after that, one line per second.
  static constexpr std::size_t at_once = 20;

  /// The line to write, without a newline. nullopt if there were too many; the next line then has the number of omitted ones.
  /// `address`: empty if there is none. `identity`: empty if unknown. Neither `identity` nor `why` may contain a token.
  [[nodiscard]] std::optional<std::string> line(int status, std::string_view address, std::string_view identity,
                                                std::string_view why, clock::time_point now = clock::now());

 private:
  std::mutex mutex_;
  std::size_t left_ = at_once;
  clock::time_point filled_{};
  std::size_t left_out_ = 0;
};

}  // namespace hondana::session
