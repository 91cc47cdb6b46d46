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

/// A `notifications/message` with secrets masked, by the policy for logs. A message of more than 64 KiB is replaced by a note.
/// Spec: server/utilities/logging#security (all revisions): no credentials or secrets.
[[nodiscard]] std::string log_text(log_level level, std::string_view logger, const value& data);

/// Sends log messages of one request. Spec: server/utilities/logging (all revisions). Threads: any.
class log_line {
 public:
  log_line(log_level least, std::shared_ptr<rpc::outlet> out) : least_(least), out_(std::move(out)) {}

  /// Sends at most a hundred messages per second; further ones are dropped.
  void send(log_level level, const value& data, std::string_view logger) {
    if (level < least_) return;
    auto message = log_text(level, logger, data);
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_clock::now();
    if (now - since_ >= std::chrono::seconds(1)) {
      since_ = now;
      sent_ = 0;
    }
    if (closed_ || sent_ >= most_a_second) return;
    ++sent_;
    out_->send(std::move(message));
  }

  /// Nothing is sent after this call.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  static constexpr int most_a_second = 100;

  log_level least_;
  std::shared_ptr<rpc::outlet> out_;
  std::mutex mutex_;
  bool closed_ = false;
  int sent_ = 0;
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace hondana::session
