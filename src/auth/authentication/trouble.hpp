/// Telling of what fails once, and not each time.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace hondana::authentication {

/// Threads: any.
class trouble {
 public:
  explicit trouble(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  void fails(const std::string& line) {
    if (exchange(line) != line && log_) log_(line);
  }
  void works(std::string_view line) {
    if (!exchange({}).empty() && log_) log_(line);
  }

 private:
  std::string exchange(std::string line) {
    const std::lock_guard lock(mutex_);
    return std::exchange(last_, std::move(line));
  }

  const std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::string last_;
};

}  // namespace hondana::authentication
