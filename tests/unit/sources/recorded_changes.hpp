/// A listener for tests of sources: records the changes that a provider announces and waits for them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "deadline.hpp"

namespace hondana {

/// Records "list" for a change of the list, the URI for one of content, and "alias URI" before that for one under another name.
/// Threads: any.
class recorded_changes final : public change_listener {
 public:
  void list_changed() override { record("list"); }
  void content_changed(std::string_view uri, std::string_view) override { record(std::string(uri)); }
  void alias_changed(std::string_view uri, std::string_view title) override {
    record("alias " + std::string(uri));
    content_changed(uri, title);
  }

  /// Waits until `change` was recorded so often since `forget`.
  [[nodiscard]] bool await(const std::string& change, std::size_t times = 1) {
    std::unique_lock lock(mutex_);
    return recorded_.wait_for(lock, hondana_test::event_deadline, [&] { return count(change) >= times; });
  }
  /// Waits until the list has changed so often, ever.
  [[nodiscard]] bool await_lists(int times) {
    std::unique_lock lock(mutex_);
    return recorded_.wait_for(lock, hondana_test::event_deadline, [&] { return lists_ >= times; });
  }
  /// How often the list has changed, ever.
  [[nodiscard]] int lists() {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  [[nodiscard]] std::size_t times(const std::string& change) {
    const std::lock_guard lock(mutex_);
    return count(change);
  }
  [[nodiscard]] bool has(const std::string& change) { return times(change) > 0; }
  /// Everything since `forget`, in order.
  [[nodiscard]] std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  void record(std::string change) {
    const std::lock_guard lock(mutex_);
    lists_ += change == "list" ? 1 : 0;
    all_.push_back(std::move(change));
    recorded_.notify_all();
  }
  [[nodiscard]] std::size_t count(const std::string& change) const {
    return static_cast<std::size_t>(std::count(all_.begin(), all_.end(), change));
  }

  std::mutex mutex_;
  std::condition_variable recorded_;
  std::vector<std::string> all_;
  int lists_ = 0;
};

}  // namespace hondana
