/// Who hears of changes in tests of sources.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "deadline.hpp"

namespace hondana {

/// Notes what it is told, and waits for it.
class ear final : public change_listener {
 public:
  void list_changed() override {
    const std::lock_guard lock(mutex_);
    ++lists_;
    changed_.notify_all();
  }
  void content_changed(std::string_view uri, std::string_view) override {
    const std::lock_guard lock(mutex_);
    told_.emplace_back(uri);
    changed_.notify_all();
  }
  void alias_changed(std::string_view uri, std::string_view title) override {
    {
      const std::lock_guard lock(mutex_);
      aliases_.emplace_back(uri);
    }
    content_changed(uri, title);
  }
  /// Whether it was told of `uri` as another name, ever.
  bool is_alias(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    return std::find(aliases_.begin(), aliases_.end(), uri) != aliases_.end();
  }
  bool hears(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline,
                             [&] { return std::find(told_.begin(), told_.end(), uri) != told_.end(); });
  }
  /// Waits until it is told of `uri`; then as `take`.
  std::vector<std::string> until(const std::string& uri) {
    EXPECT_TRUE(hears(uri)) << uri;
    return take();
  }
  bool hears_lists(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return lists_ >= count; });
  }
  int lists() {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  /// What it was told since the last call, each once.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    std::sort(told_.begin(), told_.end());
    told_.erase(std::unique(told_.begin(), told_.end()), told_.end());
    return std::exchange(told_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  std::vector<std::string> aliases_;
  int lists_ = 0;
};

}  // namespace hondana
