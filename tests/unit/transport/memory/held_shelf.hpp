/// A source whose reads wait until they are let go, and a server of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"

namespace hondana::test {

/// Reads wait for `open`, or until whoever asked has gone; "memo:///now" is read at once.
class held final : public provider, public template_source, public watch_source {
 public:
  std::string name() const override { return "held"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  std::vector<resource_template> templates() const override { return {{"memo:///{name}", "memo"}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request& request) override {
    if (request.uri == "memo:///now") return text_read_result("now");
    const std::stop_callback wake(request.stop, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock waiting(mutex_);
    ++begun_;
    last_deadline_ = request.deadline;
    changed_.notify_all();
    changed_.wait(waiting, [&] { return is_open_ || request.stop.stop_requested(); });
    if (request.stop.stop_requested()) ++stopped_;
    changed_.notify_all();
    return text_read_result(request.caller.identity);
  }
  void watch(const std::string&) override { count(attached_, 1); }
  void unwatch(const std::string&) override { count(attached_, -1); }

  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  bool has_begun(int calls) { return reaches(begun_, calls); }
  bool has_stopped(int calls) { return reaches(stopped_, calls); }
  bool is_attached(int times) { return reaches(attached_, times); }
  std::chrono::steady_clock::time_point last_deadline() {
    const std::lock_guard lock(mutex_);
    return last_deadline_;
  }

 private:
  void count(int& what, int by) {
    const std::lock_guard lock(mutex_);
    what += by;
    changed_.notify_all();
  }
  bool reaches(const int& what, int wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return what == wanted; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int begun_ = 0;
  int stopped_ = 0;
  int attached_ = 0;
  std::chrono::steady_clock::time_point last_deadline_{};
};

/// Its clock stands still: neither deadlines nor changes that were held back disturb a conversation.
struct held_shelf {
  explicit held_shelf(server_options with) : all(must(server::create(std::move(with)))) {
    if (const auto added = all.add(source); !added) throw std::runtime_error(added.error().public_text);
  }
  ~held_shelf() { source->open(); }
  held_shelf(const held_shelf&) = delete;
  held_shelf& operator=(const held_shelf&) = delete;

  manual_clock clock;
  std::shared_ptr<held> source = std::make_shared<held>();
  server all;
};

inline server_options with_limits(server_limits limits) {
  server_options out;
  out.limits = std::move(limits);
  return out;
}

}  // namespace hondana::test
