/// What tests of watches hear, and how their servers tell it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "deadline.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {

/// Collects changes for a test to wait for.
class ear {
 public:
  watch_handler handler() {
    return [this](const watch_event& news) {
      const std::lock_guard lock(mutex_);
      all_.push_back(news);
      changed_.notify_all();
    };
  }
  template <class Wanted>
  bool waits_for(Wanted wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return std::any_of(all_.begin(), all_.end(), wanted); });
  }
  bool hears(watch_event_kind kind, const std::string& uri = {}, bool was_missed = false) {
    return waits_for(
        [&](const watch_event& one) { return one.kind == kind && one.uri == uri && one.was_missed == was_missed; });
  }
  bool was_lost() {
    return has([](const watch_event& one) { return one.kind == watch_event_kind::connection_lost; });
  }
  template <class Wanted>
  bool has(Wanted wanted) {
    const std::lock_guard lock(mutex_);
    return std::any_of(all_.begin(), all_.end(), wanted);
  }
  template <class Wanted>
  std::ptrdiff_t count(Wanted wanted) {
    const std::lock_guard lock(mutex_);
    return std::count_if(all_.begin(), all_.end(), wanted);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<watch_event> all_;
};

inline std::string tagged(const scripted_server::heard& stream, const std::string& method, const std::string& more) {
  return R"({"jsonrpc":"2.0","method":")" + method + R"(","params":{)" + more + (more.empty() ? "" : ",") +
         R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + std::to_string(stream.sent.call) + "}}}";
}

/// Takes on everything that is asked for.
inline void acknowledge(scripted_server& of, const scripted_server::heard& one) {
  of.say(one.sent.call,
         tagged(one, "notifications/subscriptions/acknowledged", "\"notifications\":" + one.param("notifications")->to_text()));
}

}  // namespace hondana::test
