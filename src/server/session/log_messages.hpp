/// Log messages for clients: secrets masked, limited in length and rate.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/input.hpp>

#include "protocol/rpc/message_sink.hpp"

namespace hondana::session {

/// Encodes a `notifications/message`, with secrets masked. A message of more than 64 KiB is replaced by a short one that says
/// so. Spec: server/utilities/logging#security (all revisions): no credentials or secrets.
[[nodiscard]] std::string encode_log_message(log_level level, std::string_view logger, const value& data);

/// Sends the log messages of one request. Spec: server/utilities/logging (all revisions). Threads: any.
class request_log {
 public:
  /// `min_level`: messages of lower levels are dropped.
  request_log(log_level min_level, std::shared_ptr<rpc::response_writer> writer)
      : min_level_(min_level), writer_(std::move(writer)) {}

  /// Sends at most a hundred messages per second; further ones are dropped.
  void send(log_level level, const value& data, std::string_view logger) {
    if (level < min_level_) return;
    auto message = encode_log_message(level, logger, data);
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_clock::now();
    if (now - window_start_ >= std::chrono::seconds(1)) {
      window_start_ = now;
      sent_count_ = 0;
    }
    if (is_closed_ || sent_count_ >= max_per_second) return;
    ++sent_count_;
    writer_->send(std::move(message));
  }

  /// Nothing is sent after this call.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }

 private:
  static constexpr int max_per_second = 100;

  log_level min_level_;
  std::shared_ptr<rpc::response_writer> writer_;
  std::mutex mutex_;
  bool is_closed_ = false;
  int sent_count_ = 0;
  std::chrono::steady_clock::time_point window_start_{};
};

}  // namespace hondana::session
