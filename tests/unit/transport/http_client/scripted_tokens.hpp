/// A source of tokens that says what a test says.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <hondana/token_source.hpp>

#include "deadline.hpp"

namespace hondana_test {

class scripted_tokens final : public hondana::token_source {
 public:
  /// `plays` answers an `obtain`: what it gives is the token from then on.
  using script = std::function<hondana::result<std::string>(const hondana::rejected_token&, const std::stop_token&)>;

  explicit scripted_tokens(std::optional<std::string> first, script plays) : now_(std::move(first)), plays_(std::move(plays)) {}

  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    if (throws_ > 0) {
      --throws_;
      throw std::runtime_error("no token");
    }
    return now_;
  }

  /// The next `count` calls of `token` throw.
  void throw_next(int count) {
    const std::lock_guard lock(mutex_);
    throws_ = count;
  }
  /// How many calls of `token` have yet to throw.
  [[nodiscard]] int throws_left() {
    const std::lock_guard lock(mutex_);
    return throws_;
  }

  hondana::result<void> obtain(const hondana::rejected_token& why, const std::stop_token& stop) override {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(why);
      changed_.notify_all();
    }
    auto got = plays_(why, stop);
    const std::lock_guard lock(mutex_);
    if (!got) return tl::unexpected(got.error());
    now_ = *got;
    return {};
  }

  /// Waits until `obtain` has been called `count` times, and gives all calls.
  [[nodiscard]] std::vector<hondana::rejected_token> asked(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, event_deadline, [&] { return asked_.size() >= count; });
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> now_;
  int throws_ = 0;
  script plays_;
  std::vector<hondana::rejected_token> asked_;
};

/// Waits until somebody asks it to stop; false when nobody has in time.
inline bool waits_for(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  return !changed.wait_for(lock, stop, event_deadline, [] { return false; }) && stop.stop_requested();
}

}  // namespace hondana_test
