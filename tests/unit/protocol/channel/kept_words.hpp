/// A listener that keeps what it hears of a channel, for tests to wait for.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

#include "deadline.hpp"
#include "protocol/channel/channel.hpp"

namespace hondana_test {

constexpr std::chrono::seconds call_patience = event_deadline;

/// Threads: any. What waits gives up after `call_patience`.
class kept_words final : public hondana::channel::channel_listener {
 public:
  struct received_message {
    hondana::channel::call_id call;
    std::string text;
  };
  struct ended_call {
    hondana::channel::call_id call;
    hondana::channel::termination how;
  };

  void on_message(hondana::channel::call_id call, std::string text) override {
    if (on_received) on_received(call, text);
    const std::lock_guard lock(mutex_);
    messages_.push_back({call, std::move(text)});
    changed_.notify_all();
  }
  void on_progress(hondana::channel::call_id call) override {
    const std::lock_guard lock(mutex_);
    ++progress_[call];
  }
  void on_call_finished(hondana::channel::call_id call, hondana::channel::termination how) override {
    const std::lock_guard lock(mutex_);
    endings_.push_back({call, std::move(how)});
    changed_.notify_all();
  }
  void on_stream_interrupted() override {
    const std::lock_guard lock(mutex_);
    ++interruptions_;
    changed_.notify_all();
  }
  void on_connection_lost(hondana::failure why) override {
    const std::lock_guard lock(mutex_);
    breaks_.push_back(std::move(why));
    changed_.notify_all();
  }

  /// Waits until there are `count`; gives what there is then.
  std::vector<received_message> messages(std::size_t count) { return when_there_are(messages_, count); }
  std::vector<ended_call> endings(std::size_t count) { return when_there_are(endings_, count); }
  std::vector<hondana::failure> breaks(std::size_t count) { return when_there_are(breaks_, count); }
  std::size_t interruptions(std::size_t count) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return interruptions_ >= count; });
    return interruptions_;
  }
  /// The end of `call`; nothing when it does not come.
  std::optional<hondana::channel::termination> ending_of(hondana::channel::call_id call) {
    std::unique_lock lock(mutex_);
    std::optional<hondana::channel::termination> out;
    wait(lock, [&] {
      const auto found = std::find_if(endings_.begin(), endings_.end(), [&](const auto& one) { return one.call == call; });
      if (found != endings_.end()) out = found->how;
      return out.has_value();
    });
    return out;
  }
  /// The failure that `call`, or as the so-manieth the connection, ended with; an internal one when it does not come.
  hondana::failure failure_of(hondana::channel::call_id call) {
    return ending_of(call).value_or(hondana::channel::termination{}).reason;
  }
  hondana::failure break_number(std::size_t count) {
    const auto all = breaks(count);
    return all.size() < count ? hondana::failure{} : all[count - 1];
  }
  /// The first answer to `id`; nothing when it does not come.
  std::optional<hondana::value> answer_to(std::int64_t id) {
    return message_that([&](const hondana::value& one) {
      return one.find("method") == nullptr && one.find("id") != nullptr && *one.find("id") == hondana::value(id);
    });
  }
  /// The first request or notification of the name.
  std::optional<hondana::value> message_with(std::string_view method) {
    return message_that([&](const hondana::value& one) {
      return one.find("method") != nullptr && *one.find("method") == hondana::value(std::string(method));
    });
  }
  std::size_t progress_of(hondana::channel::call_id call) {
    const std::lock_guard lock(mutex_);
    return progress_[call];
  }
  /// Called in `on_message`, on the channel's thread.
  std::function<void(hondana::channel::call_id, const std::string&)> on_received{};

 private:
  template <class Holds>
  void wait(std::unique_lock<std::mutex>& lock, Holds holds) {
    changed_.wait_for(lock, call_patience, holds);
  }
  template <class All>
  All when_there_are(const All& all, std::size_t count) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return all.size() >= count; });
    return all;
  }
  template <class Wanted>
  std::optional<hondana::value> message_that(Wanted is_wanted) {
    std::unique_lock lock(mutex_);
    std::optional<hondana::value> out;
    std::size_t looked_at = 0;
    wait(lock, [&] {
      for (; !out && looked_at < messages_.size(); ++looked_at) {
        auto one = hondana::value::parse(messages_[looked_at].text);
        if (one && is_wanted(*one)) out = std::move(*one);
      }
      return out.has_value();
    });
    return out;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<received_message> messages_;
  std::vector<ended_call> endings_;
  std::vector<hondana::failure> breaks_;
  std::size_t interruptions_ = 0;
  std::map<hondana::channel::call_id, std::size_t> progress_;
};

/// A sink that adds all content to `all`.
inline hondana::channel::content_sink into(std::string& all) {
  return [&all](std::size_t, std::string_view bytes) {
    all += bytes;
    return hondana::result<void>();
  };
}

}  // namespace hondana_test
