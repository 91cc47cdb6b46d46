/// Who listens to a log, and telling them.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <hondana/provider.hpp>

#include "base/executor/timers.hpp"

namespace hondana::logs {

/// Tells one listener that the content of one resource has changed: at once, and then no more often than every `between`; what
/// comes in that time is told at its end. Threads: any.
class telling : public std::enable_shared_from_this<telling> {
 public:
  static constexpr std::chrono::milliseconds between{20};

  telling(std::string uri, std::string title) : uri_(std::move(uri)), title_(std::move(title)) {}

  void tell_to(std::shared_ptr<change_listener> to);
  void turn(bool on);
  void tell();

 private:
  void tell_late();

  const std::string uri_, title_;
  executor::timers timers_;
  std::mutex mutex_;
  std::shared_ptr<change_listener> to_;
  bool is_on_ = false;
  bool is_late_ = false;  // a timer is set
  executor::clock::time_point told_{};
};

}  // namespace hondana::logs
