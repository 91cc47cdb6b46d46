/// Going over from one way of watching a URI to the other while it changes.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "server/session/session.hpp"

namespace hondana::session {
namespace {

using namespace std::chrono_literals;

class empty_source final : public provider {
 public:
  std::string name() const override { return "empty"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request&) override { return fail(errc::resource_not_found, "Resource not found"); }
};

class one_context final : public snapshot_source {
 public:
  explicit one_context(std::shared_ptr<const server_snapshot> only) : only_(std::move(only)) {}
  std::shared_ptr<const server_snapshot> current() const override { return only_; }

 private:
  std::shared_ptr<const server_snapshot> only_;
};

class no_ears final : public rpc::response_writer {
 public:
  void answer(rpc::outgoing_response) override {}
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string) override { return rpc::send_outcome::accepted; }
};

class woken_by_news final : public rpc::source_listener {
 public:
  void notify() override {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }
  bool is_woken() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return std::exchange(is_woken_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
};

/// How many of the changes that come while a subscription goes over from one way to the other are never told.
int untold_changes(int times) {
  const manual_clock clock;  // stands still: lookups take five seconds at most
  const auto timers = std::make_shared<executor::timers>();
  const auto made =
      catalog::catalog::make({std::make_shared<catalog::source>(std::make_shared<empty_source>(), 100)}, {}, timers);
  const auto with = std::make_shared<server_snapshot>();
  with->catalog = made.value();
  with->gate = std::make_shared<const gate::gate>();
  with->feed = std::make_shared<catalog::change_feed>();
  with->lookups = std::make_shared<catalog::entry_lookups>(16, timers);
  with->lookups->set_catalog(with->catalog);
  with->server_info.has_subscriptions = true;
  const auto talk = session::open(std::make_shared<one_context>(with));
  const auto out = std::make_shared<no_ears>();
  const auto send = [&](const std::string& method, const std::string& params) {
    talk->receive(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params + "}}", {}, out);
  };
  send("initialize", R"("protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"})");
  const std::string ways[] = {R"("uri":"memo:///a")", R"("uris":["memo:///a"])"};
  send("resources/subscribe", ways[0]);
  const auto news = std::make_shared<woken_by_news>();
  const auto stream = talk->notification_stream();
  stream->set_listener(news);

  std::barrier<> both(2);
  std::jthread changing([&] {
    for (int i = 0; i < times; ++i) {
      both.arrive_and_wait();
      // At any moment of what the other does now.
      const auto when = std::chrono::steady_clock::now() + (i * 7 % 1'000) * 30ns;
      while (std::chrono::steady_clock::now() < when) continue;
      with->feed->publish({model::change::change_kind::content, "memo:///a", {}});
      both.arrive_and_wait();
    }
  });
  int untold = 0;
  for (int i = 0; i < times; ++i) {
    both.arrive_and_wait();
    send("resources/subscribe", ways[(i + 1) % 2]);
    both.arrive_and_wait();
    // Told at once, or when it has been looked up.
    bool is_told = false;
    while (untold == 0 && !is_told && news->is_woken()) {
      while (stream->next()) is_told = true;
    }
    untold += is_told || untold != 0 ? 0 : 1;
  }
  talk->close();
  return untold;
}

TEST(switching, from_one_way_of_watching_to_the_other_loses_no_change_in_between) { EXPECT_EQ(untold_changes(300), 0); }

TEST(switching_timing, many_times_loses_no_change_in_between) { EXPECT_EQ(untold_changes(20'000), 0); }

}  // namespace
}  // namespace hondana::session
