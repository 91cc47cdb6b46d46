/// What a caller passes to be called while its call lasts, and no longer.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/client_types.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::outbound {

/// Stands between a channel and what the caller passed, which has gone once the call is over, whatever comes late. What is
/// passed runs under its lock, so that closing waits for it. Threads: any.
class call_gate {
 public:
  call_gate(channel::content_sink content, std::function<void(const progress&)> report)
      : content_(std::move(content)), report_(std::move(report)) {}

  result<void> pass(std::size_t item, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    if (!is_open_) return fail(errc::cancelled, "the call has ended");
    try {
      return content_(item, bytes);
    } catch (const std::exception& error) {
      return fail(errc::internal, "the content writer failed", error.what());
    }
  }
  /// Errors: internal, when the application's function throws.
  result<void> tell(const progress& now) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || !report_) return {};
    try {
      report_(now);
    } catch (const std::exception& error) {
      return fail(errc::internal, std::string("the progress handler failed: ") + error.what());
    }
    return {};
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  [[nodiscard]] bool takes_content() const noexcept { return static_cast<bool>(content_); }

 private:
  std::mutex mutex_;
  bool is_open_ = true;
  const channel::content_sink content_;
  const std::function<void(const progress&)> report_;
};

/// Closes the gate on every way out of a call.
class gate_keeper {
 public:
  explicit gate_keeper(std::shared_ptr<call_gate> gate) : gate_(std::move(gate)) {}
  ~gate_keeper() { gate_->close(); }
  gate_keeper(const gate_keeper&) = delete;
  gate_keeper& operator=(const gate_keeper&) = delete;
  [[nodiscard]] channel::content_sink sink() const {
    if (!gate_->takes_content()) return {};
    return [gate = gate_](std::size_t item, std::string_view bytes) { return gate->pass(item, bytes); };
  }

 private:
  std::shared_ptr<call_gate> gate_;
};

}  // namespace hondana::outbound
