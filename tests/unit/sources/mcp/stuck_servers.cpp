/// Mounted servers that stop answering: they are found out, ended, and serve again once they do.
#include <gmock/gmock.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <new>
#include <stop_token>
#include <thread>

#include <hondana/clock.hpp>

#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;

/// A server that does `what` when it is asked for memo:///bad.
mount_options mounted_that(const std::string& what, hearing& log) {
  auto made = mounted_script(
      "*'memo:///bad'*) " + what + R"sh( ;; *'memo:///a'*) answer '{"contents":[{"uri":"memo:///a","text":"good"}]}' ;;)sh",
      log);
  made.call_timeout = milliseconds(5'000);
  return made;
}

/// Moves the clock on until it is so.
template <class Condition>
bool in_time(manual_clock& clock, Condition condition) {
  return hondana_test::eventually([&] {
    if (condition()) return true;
    clock.advance(milliseconds(10));
    return false;
  });
}

result<read_result> read_meanwhile(manual_clock& clock, provider& from, const std::string& uri) {
  auto reads = std::async(std::launch::async, [&] { return from.read(reading_of(uri)); });
  EXPECT_TRUE(in_time(clock, [&] { return reads.wait_for(milliseconds(0)) == std::future_status::ready; }));
  return reads.get();
}

class mounted_stuck : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    that, mounted_stuck,
    testing::Values("kill -STOP $$", "while :; do :; done",
                    R"(printf '{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"text":"half' "$id"; sleep 1000)"));

TEST_P(mounted_stuck, are_ended_and_started_again) {
  manual_clock clock;
  hearing log;
  const auto mounted = mount(mounted_that(GetParam(), log));
  ASSERT_TRUE(read_meanwhile(clock, *mounted, "mcp://team/memo:///a")) << log.text();
  EXPECT_TRUE(mounted->health().is_healthy);
  const auto bad = read_meanwhile(clock, *mounted, "mcp://team/memo:///bad");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::timed_out) << bad.error().public_text;
  ASSERT_TRUE(in_time(clock, [&] { return !mounted->health().is_healthy; })) << log.text();
  EXPECT_THAT(log.text(), AnyOf(HasSubstr("did not answer"), HasSubstr("did not finish the answer")));
  ASSERT_TRUE(in_time(clock, [&] { return mounted->health().is_healthy; })) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("it is restarted when needed"));
  const auto good = read_meanwhile(clock, *mounted, "mcp://team/memo:///a");
  ASSERT_TRUE(good) << good.error().public_text << '\n' << log.text();
}

/// A server that answers memo:///slow once a file is there, and nothing meanwhile.
class mounted_busy : public testing::Test {
 protected:
  mounted_busy() {
    auto options =
        mounted_script("*'memo:///slow'*) while [ ! -e " + until_.string() +
                           R"sh( ]; do sleep 0.02; done; answer '{"contents":[{"uri":"memo:///slow","text":"good"}]}' ;;
*'memo:///stop'*) kill -STOP $$ ;;
*'memo:///a'*) answer '{"contents":[{"uri":"memo:///a","text":"good"}]}' ;;)sh",
                       log_);
    options.call_timeout = milliseconds(100'000);
    mounted_ = mount(options);
    EXPECT_TRUE(read_meanwhile(clock_, *mounted_, "mcp://team/memo:///a"));
  }
  ~mounted_busy() override { std::filesystem::remove(until_); }
  auto reads(const std::string& uri, milliseconds time) {
    auto request = reading_of(uri);
    request.deadline = monotonic_clock::now() + time;
    return std::async(std::launch::async, [this, request] { return mounted_->read(request); });
  }
  /// Meanwhile its health is asked for.
  void pass(std::chrono::seconds time) {
    for (auto step = milliseconds(0); step < time; step += milliseconds(100)) {
      clock_.advance(milliseconds(100));
      static_cast<void>(mounted_->health());
      std::async(std::launch::async, [] {}).wait();  // other threads run meanwhile
    }
  }
  void let_it_answer() { std::ofstream(until_) << "now"; }

  manual_clock clock_;
  hearing log_;
  const std::filesystem::path until_ =
      std::filesystem::temp_directory_path() / ("hondana-busy-" + std::to_string(::getpid()) + "-" + std::to_string(::rand()));
  std::shared_ptr<mcp::mcp_provider> mounted_;
};

TEST_F(mounted_busy, servers_are_left_alone_while_a_call_is_within_its_time) {
  auto slow = reads("mcp://team/memo:///slow", milliseconds(100'000));
  pass(std::chrono::seconds(60));
  EXPECT_TRUE(mounted_->health().is_healthy) << mounted_->health().detail;
  EXPECT_THAT(mounted_->health().detail, HasSubstr("busy: no answer for "));
  let_it_answer();
  const auto got = slow.get();
  ASSERT_TRUE(got) << got.error().public_text << '\n' << log_.text();
  EXPECT_EQ(log_.text().find("did not answer a ping"), std::string::npos) << log_.text();
}

TEST_F(mounted_busy, servers_are_left_alone_when_a_caller_gives_up_early) {
  auto slow = reads("mcp://team/memo:///slow", milliseconds(1'000));
  pass(std::chrono::seconds(60));
  EXPECT_FALSE(slow.get());
  let_it_answer();
  auto good = reads("mcp://team/memo:///a", milliseconds(30'000));
  EXPECT_TRUE(good.get()) << log_.text();
  EXPECT_EQ(log_.text().find("did not answer a ping"), std::string::npos) << log_.text();
}

TEST_F(mounted_busy, servers_that_never_answer_are_ended_when_their_time_is_over) {
  const auto begin = monotonic_clock::now();
  auto stuck = reads("mcp://team/memo:///stop", milliseconds(1'000));
  // Asked once a step: the server is started again and is well soon after.
  bool is_well = true;
  while ((is_well = mounted_->health().is_healthy) && monotonic_clock::now() - begin < milliseconds(110'000))
    pass(std::chrono::seconds(1));
  EXPECT_FALSE(is_well);
  EXPECT_FALSE(stuck.get());
  const std::string ended = "did not answer a ping, and was stopped";
  EXPECT_TRUE(in_time(clock_, [&] { return log_.text().find(ended) != std::string::npos; })) << log_.text();
  EXPECT_GE(monotonic_clock::now() - begin, milliseconds(100'000));
}

TEST(mounted_failures, of_one_request_that_ends_the_connection_pass_with_a_ping) {
  const manual_clock clock;  // no pause ends by itself
  hearing log;
  const auto mounted = mount(mounted_that("exit 1", log));
  ASSERT_TRUE(mounted->read(reading_of("mcp://team/memo:///a"))) << log.text();
  const auto bad = mounted->read(reading_of("mcp://team/memo:///bad"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::source_unavailable) << bad.error().public_text;
  EXPECT_TRUE(hondana_test::eventually([&] { return mounted->read(reading_of("mcp://team/memo:///a")).has_value(); }))
      << log.text();
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
}

TEST(mounted_failures, of_its_own_thread_are_passed_over) {
  hearing log;
  auto options = mounted_that("exit 1", log);
  std::atomic<int> thrown{0};
  options.log = [&](std::string_view line) {
    log.add(line);
    if (line.find("connected to") != std::string_view::npos && thrown++ == 0) throw std::bad_alloc();
  };
  const auto mounted = mount(options);
  EXPECT_TRUE(hondana_test::eventually([&] { return mounted->read(reading_of("mcp://team/memo:///a")).has_value(); }))
      << log.text();
  EXPECT_EQ(thrown, 1);
}

TEST(mounted_failures, do_not_include_more_calls_than_the_client_takes) {
  hearing log;
  auto options = mounted_that("echo asked >&2", log);
  options.call_timeout = patience;
  options.list_ttl = milliseconds(1);
  const auto mounted = mount(options);
  ASSERT_FALSE(uris_of(*mounted).empty()) << log.text();
  std::stop_source enough;
  std::atomic<bool> is_full{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 1'010; ++i) {
    readers.emplace_back([&] {
      auto request = reading_of("mcp://team/memo:///bad");
      request.stop = enough.get_token();
      const auto got = mounted->read(request);
      if (!got && got.error().code == errc::overloaded) is_full = true;
    });
  }
  EXPECT_TRUE(hondana_test::eventually([&] { return is_full.load(); }));
  EXPECT_FALSE(uris_of(*mounted).empty());
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
  enough.request_stop();
  for (auto& one : readers) one.join();
}

TEST(mounted_slow, servers_that_answer_a_ping_are_left_alone) {
  manual_clock clock;
  hearing log;
  const auto mounted = mount(mounted_that("echo asked >&2", log));
  ASSERT_TRUE(read_meanwhile(clock, *mounted, "mcp://team/memo:///a"));
  const auto bad = read_meanwhile(clock, *mounted, "mcp://team/memo:///bad");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::timed_out) << bad.error().public_text;
  ASSERT_TRUE(read_meanwhile(clock, *mounted, "mcp://team/memo:///a"));
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
  EXPECT_EQ(log.text().find("it is restarted"), std::string::npos) << log.text();
}

}  // namespace
}  // namespace hondana::test
