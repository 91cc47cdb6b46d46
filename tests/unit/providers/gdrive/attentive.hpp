/// Who hears of changes of a Drive in tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "deadline.hpp"

namespace hondana::gdrive {

/// Notes what it is told, and waits for it.
class attentive final : public change_listener {
 public:
  void list_changed() override { note("list"); }
  void content_changed(std::string_view uri, std::string_view) override { note(std::string(uri)); }
  void alias_changed(std::string_view uri, std::string_view title) override {
    note("alias " + std::string(uri));
    content_changed(uri, title);
  }
  [[nodiscard]] bool hears(const std::string& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline,
                             [&] { return std::find(told_.begin(), told_.end(), what) != told_.end(); });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    told_.clear();
  }
  [[nodiscard]] bool has_heard(const std::string& what) { return times_heard(what) > 0; }
  [[nodiscard]] std::ptrdiff_t times_heard(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return std::count(told_.begin(), told_.end(), what);
  }

 private:
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    told_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
};

}  // namespace hondana::gdrive
