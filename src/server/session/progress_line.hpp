/// Progress of one request as notifications: increasing, not too often, silent after the answer.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "protocol/model/operation.hpp"
#include "protocol/rpc/outlet.hpp"
#include "protocol/wire/choose.hpp"

namespace hondana::session {

/// Spec: basic/utilities/progress (all revisions). Threads: any.
class progress_line {
 public:
  progress_line(model::token token, std::shared_ptr<rpc::outlet> out) : token_(std::move(token)), out_(std::move(out)) {}

  /// Sends at most ten notifications a second, and only when `now.done` has grown.
  void report(const progress& now) {
    const std::lock_guard lock(mutex_);
    const auto at = monotonic_clock::now();
    if (closed_ || (sent_any_ && (now.done <= last_done_ || at - last_at_ < std::chrono::milliseconds(100)))) return;
    sent_any_ = true;
    last_done_ = now.done;
    last_at_ = at;
    out_->send(wire::progress_notification(token_, now));
  }

  /// Nothing is sent after this.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::mutex mutex_;
  model::token token_;
  std::shared_ptr<rpc::outlet> out_;
  bool closed_ = false;
  bool sent_any_ = false;
  double last_done_ = 0;
  std::chrono::steady_clock::time_point last_at_;
};

}  // namespace hondana::session
