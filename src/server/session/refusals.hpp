/// Rejections of HTTP requests outside any session, and their lines in the log.
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

/// The text of an error response to something that has no id: without one, or as peers of the revision in `headers` want it.
/// Spec: basic/transports#sending-messages-to-the-server (4).
[[nodiscard]] std::string error_text(int http_status, std::string_view why,
                                     const std::optional<rpc::http_headers>& headers = std::nullopt);
/// The same of a failure, with what it says of trying again.
[[nodiscard]] std::string error_text(const failure& why, const std::optional<rpc::http_headers>& headers);
/// The first as a delivery, written as peers of the revision in `headers` want it.
[[nodiscard]] rpc::delivery refuse(int http_status, std::string_view why, const rpc::http_headers& headers);

/// Why a request of any kind cannot be taken: its version header names no revision of ours.
[[nodiscard]] std::optional<rpc::delivery> refuse_version(const rpc::http_headers& headers);
/// Whether a message stands for itself, whatever session its headers name.
[[nodiscard]] bool needs_no_session(const rpc::http_headers& headers) noexcept;

/// Threads: any.
class refusal_log {
 public:
  using clock = monotonic_clock;
  /// Lines at once; after that one a second.
  static constexpr std::size_t at_once = 20;

  /// The line to write, without an end; nothing when there were too many lately. The next one says how many were left out.
  /// `address`: empty where there is none. `identity`: empty where it is not known. Neither it nor `why` may hold a token.
  [[nodiscard]] std::optional<std::string> line(int status, std::string_view address, std::string_view identity,
                                                std::string_view why, clock::time_point now = clock::now());

 private:
  std::mutex mutex_;
  std::size_t left_ = at_once;
  clock::time_point filled_{};
  std::size_t left_out_ = 0;
};

}  // namespace hondana::session
