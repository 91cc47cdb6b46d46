/// Log messages for peers: without secrets, not too long, and not too many.
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

/// A `notifications/message` with the secrets masked, by the policy for logs. One of more than 64 KiB is a note that says so.
/// Spec: server/utilities/logging#security (all revisions): no credentials or secrets.
[[nodiscard]] std::string log_text(log_level level, std::string_view logger, const value& data);

/// Spec: server/utilities/logging (all revisions). Threads: any.
class log_line {
 public:
  log_line(log_level least, std::shared_ptr<rpc::outlet> out) : least_(least), out_(std::move(out)) {}

  /// Sends at most a hundred messages a second; more are dropped.
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

  /// Nothing is sent after this.
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
