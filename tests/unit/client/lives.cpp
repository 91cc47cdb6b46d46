/// What outlives what: calls and their clients, callbacks and their calls.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;
using std::chrono::milliseconds;

/// Where reads wait until the test lets them go.
class gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  [[nodiscard]] bool has(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return inside_ >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool is_open_ = false;
};

scripted_server::answerer discovered(scripted_server::answerer then) {
  return [then = std::move(then)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    then(of, one);
  };
}

TEST(lives, calls_under_way_fail_as_cancelled_when_their_client_is_destroyed) {
  // The threads of the provider may outlive the test.
  const auto reads = std::make_shared<gate>();
  const auto memos = std::make_shared<memory_provider>("memos", "memo:///");
  ASSERT_TRUE(memos->add({.uri = "memo:///a", .name = "a"}, [reads](const read_request&) -> result<read_result> {
    reads->pass();
    return fail(errc::resource_not_found, "gone");
  }));
  server here = must(server::create());
  ASSERT_TRUE(here.add(memos));
  auto made = client::connect(memory_target{&here}, with_long_times({}));
  ASSERT_TRUE(made) << made.error().public_text;
  auto held = std::make_unique<client>(std::move(*made));
  std::vector<std::future<errc>> calls;
  for (int i = 0; i < 2; ++i)
    calls.push_back(std::async(std::launch::async, [&client = *held] { return client.read("memo:///a").error().code; }));
  EXPECT_TRUE(reads->has(2));
  held.reset();
  for (auto& one : calls) EXPECT_EQ(one.get(), errc::cancelled);
  reads->open();
}

/// Both orders: the answer is there and its caller has not woken yet, and the caller has given up.
TEST(lives, progress_of_a_call_that_is_over_is_told_to_nobody) {
  manual_clock clock;
  scripted_server server(discovered([&clock](scripted_server& of, const heard& one) {
    if (one.method == "tools/list") return clock.advance(milliseconds(50));
    const auto progress = R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
                          std::to_string(one.sent.call) + "}}";
    if (one.method != "resources/list") return;
    of.result(one, R"({"resources":[]})");
    of.say(one.sent.call, progress);
  }));
  opened_engine engine(server);
  std::atomic<int> reports = 0;
  call_options how;
  how.on_progress = [&reports](const progress&) { ++reports; };
  for (int round = 0; round < 50; ++round) EXPECT_TRUE(engine->call({.message = asking::list_resources({}, nullptr)}, how));
  how.timeout = milliseconds(50);
  EXPECT_EQ(engine->call({.message = asking::list_tools({})}, how).error().code, errc::timed_out);
  ASSERT_EQ(server.all("tools/list").size(), 1u);
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
                    std::to_string(server.all("tools/list").front().sent.call) + "}}");
  // Once this is answered, everything before has been heard.
  EXPECT_TRUE(engine->call({.message = asking::list_resources({}, nullptr)}, {}));
  EXPECT_EQ(reports, 0);
}

TEST(lives, a_report_that_throws_ends_neither_the_call_nor_the_process) {
  scripted_server server(discovered([](scripted_server& of, const heard& one) {
    if (one.method != "resources/list") return;
    of.say(one.sent.call, R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
                              std::to_string(one.sent.call) + "}}");
    of.say(one.sent.call, R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})");
    of.result(one, R"({"resources":[]})");
  }));
  std::mutex mutex;
  std::string lines;
  client_options options;
  options.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines += std::string(line) + '\n';
  };
  options.on_message = [](message_direction, std::string_view) { throw std::runtime_error("the disk is full"); };
  options.on_log = [](log_level, std::string_view, const value&) { throw std::runtime_error("no such colour"); };
  {
    opened_engine engine(server, std::move(options));
    call_options how;
    how.on_progress = [](const progress&) { throw std::runtime_error("no such bar"); };
    EXPECT_TRUE(engine->call({.message = asking::list_resources({}, nullptr)}, how));
    const auto has_all = [&] {
      const std::lock_guard lock(mutex);
      return lines.find("the disk is full") != std::string::npos && lines.find("no such colour") != std::string::npos &&
             lines.find("no such bar") != std::string::npos;
    };
    EXPECT_TRUE(hondana_test::eventually(has_all)) << lines;
  }
}

TEST(lives, a_flood_of_log_messages_is_bounded_and_said_once) {
  gate logs;
  std::atomic<int> heard_logs = 0;
  std::atomic<int> drops = 0;
  scripted_server server(discovered([](scripted_server& of, const heard& one) {
    if (one.method != "resources/list") return;
    for (int i = 0; i < 3'000; ++i)
      of.say(one.sent.call, R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})");
    of.result(one, R"({"resources":[]})");
  }));
  client_options options;
  options.on_log = [&](log_level, std::string_view, const value&) {
    logs.pass();
    ++heard_logs;
  };
  options.log = [&](std::string_view line) { drops += line.find("dropped") != std::string_view::npos ? 1 : 0; };
  {
    opened_engine engine(server, std::move(options));
    EXPECT_TRUE(engine->call({.message = asking::list_resources({}, nullptr)}, {}));
    EXPECT_EQ(drops, 1);
    logs.open();
  }
  EXPECT_LE(heard_logs, 1'001);
}

}  // namespace
}  // namespace hondana::test
