/// Mounted servers that stop answering: they are found out, ended, and serve again once they do.
#include <gmock/gmock.h>

#include <future>

#include <hondana/clock.hpp>

#include "unit/providers/mcp/mounting.hpp"

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
  made.timeout = milliseconds(5'000);
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

result<reading> read_meanwhile(manual_clock& clock, provider& from, const std::string& uri) {
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
  EXPECT_TRUE(mounted->health().ok);
  const auto bad = read_meanwhile(clock, *mounted, "mcp://team/memo:///bad");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::timed_out) << bad.error().public_text;
  ASSERT_TRUE(in_time(clock, [&] { return !mounted->health().ok; })) << log.text();
  EXPECT_THAT(log.text(), AnyOf(HasSubstr("did not answer"), HasSubstr("did not finish an answer")));
  ASSERT_TRUE(in_time(clock, [&] { return mounted->health().ok; })) << log.text();
  EXPECT_THAT(log.text(), HasSubstr("it is started again when it is needed"));
  const auto good = read_meanwhile(clock, *mounted, "mcp://team/memo:///a");
  ASSERT_TRUE(good) << good.error().public_text << '\n' << log.text();
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
  EXPECT_TRUE(mounted->health().ok) << mounted->health().detail;
  EXPECT_EQ(log.text().find("it is started again"), std::string::npos) << log.text();
}

}  // namespace
}  // namespace hondana::test
