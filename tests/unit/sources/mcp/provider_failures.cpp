/// Mounted servers that are away, come back, or answer too late.
#include <gmock/gmock.h>

#include <future>

#include "unit/sources/mcp/mounting.hpp"
#include "unit/started/program.hpp"

namespace hondana::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::optional<http_service> listening(server& with, std::uint16_t port = 0) {
  auto made = http_service::start(with, {.port = port, .threads = 1});
  EXPECT_TRUE(made) << (made ? "" : made.error().public_text);
  if (!made) return {};
  return std::optional<http_service>(std::move(*made));
}

mount_options mounted_over_http(std::uint16_t port, hearing& log) {
  mount_options made;
  made.name = "team";
  made.target = http_target{.url = "http://127.0.0.1:" + std::to_string(port) + "/mcp"};
  made.call_timeout = made.list_timeout = patience;
  made.log = [&log](std::string_view line) { log.add(line); };
  return made;
}

TEST(mounted_failures, of_a_server_that_is_not_there_say_which_one_and_what_to_do) {
  memo_server other;
  const auto port = started::free_port();
  hearing log;
  const auto mounted = mount(mounted_over_http(port, log));
  EXPECT_TRUE(mounted->health().is_healthy) << "nothing was asked of it yet";
  EXPECT_THAT(uris_of(*mounted), IsEmpty()) << "lists go on without it";
  const auto got = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_THAT(got.error().public_text, HasSubstr("\"team\""));
  EXPECT_FALSE(mounted->health().is_healthy);
  EXPECT_THAT(mounted->health().detail, HasSubstr("team"));
  const auto surveyed = mounted->inventory(asking<request_context>(), [](const inventory_item&) {});
  ASSERT_FALSE(surveyed);
  EXPECT_THAT(surveyed.error().public_text, HasSubstr("\"team\""));
}

TEST(mounted_failures, of_a_server_that_has_had_too_much_of_us_leave_it_alone_for_as_long_as_it_says) {
  const manual_clock clock;
  server_options options;
  options.limits.per_address = {rate_quota{0.02, 30}, {}, {}};
  options.limits.limits_loopback = true;
  memo_server other(options);
  auto service = listening(other.here);
  ASSERT_TRUE(service);
  hearing log;
  const auto with = mounted_over_http(service->port(), log);
  const auto mounted = mount(with);
  result<read_result> got = mounted->read(reading_of("mcp://team/memo:///a"));
  for (int i = 0; i < 40 && got; ++i) got = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::overloaded) << "it is not whoever asks us who asks too much";
  ASSERT_TRUE(got.error().retry_after);
  EXPECT_GT(*got.error().retry_after, std::chrono::seconds(20));
  const auto again = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().public_text, HasSubstr("The next attempt is within"));
  EXPECT_GT(again.error().retry_after.value_or(std::chrono::milliseconds(0)), std::chrono::seconds(20));
  EXPECT_FALSE(mounted->health().is_healthy);
}

TEST(mounted_failures, of_a_source_there_that_has_too_much_to_do_say_when_and_take_nothing_else_away) {
  memo_server other;
  ASSERT_TRUE(other.memos->add({.uri = "memo:///busy", .name = "busy"}, [](const read_request&) -> result<read_result> {
    failure why{errc::overloaded, "too much", {}};
    why.retry_after = std::chrono::hours(1);
    return tl::unexpected(std::move(why));
  }));
  auto service = listening(other.here);
  ASSERT_TRUE(service);
  hearing log;
  const auto mounted = mount(mounted_over_http(service->port(), log));
  const auto busy = mounted->read(reading_of("mcp://team/memo:///busy"));
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, errc::overloaded) << busy.error().public_text;
  EXPECT_EQ(busy.error().retry_after, std::chrono::hours(1));
  EXPECT_TRUE(mounted->read(reading_of("mcp://team/memo:///a")));
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;

  auto direct = client::connect(http_target{.url = "http://127.0.0.1:" + std::to_string(service->port()) + "/mcp"});
  ASSERT_TRUE(direct) << direct.error().public_text;
  const auto refused = direct->read("memo:///busy");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_EQ(refused.error().retry_after, std::chrono::hours(1));
  ASSERT_TRUE(refused.error().server_error);
  EXPECT_EQ(refused.error().server_error->http_status, 503);
  EXPECT_EQ(refused.error().server_error->code, 503);
  EXPECT_TRUE(direct->read("memo:///a"));
}

TEST(mounted_failures, end_when_the_server_comes) {
  memo_server other;
  const auto port = started::free_port();
  hearing log;
  hearing news;
  const auto mounted = mount(mounted_over_http(port, log));
  mounted->set_listener(std::make_shared<note_taker>(news));
  EXPECT_THAT(uris_of(*mounted), IsEmpty());
  EXPECT_FALSE(mounted->health().is_healthy);
  const auto service = listening(other.here, port);
  ASSERT_TRUE(service);
  ASSERT_TRUE(news.hears("list")) << log.text();
  EXPECT_EQ(uris_of(*mounted).size(), 3u);
  const auto got = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
  mounted->set_listener(nullptr);
}

TEST(mounted_failures, of_a_server_that_restarts_pass_with_its_changes) {
  hearing log;
  hearing news;
  const auto port = started::free_port();
  std::shared_ptr<mcp::mcp_provider> mounted;
  {
    memo_server other;
    const auto service = listening(other.here, port);
    ASSERT_TRUE(service);
    mounted = mount(mounted_over_http(port, log));
    mounted->set_listener(std::make_shared<note_taker>(news));
    EXPECT_EQ(uris_of(*mounted).size(), 3u);
    mounted->watch("mcp://team/memo:///a");
    ASSERT_TRUE(news.hears("content mcp://team/memo:///a ")) << log.text();
  }
  const auto away = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, errc::source_unavailable) << away.error().public_text;
  EXPECT_FALSE(mounted->health().is_healthy);
  const auto before = news.count();
  memo_server other;
  other.add("memo:///a", "changed meanwhile");
  other.add("memo:///new", "came meanwhile");
  const auto service = listening(other.here, port);
  ASSERT_TRUE(service);
  ASSERT_TRUE(news.hears("list", before)) << log.text();
  ASSERT_TRUE(news.hears("content mcp://team/memo:///a ", before)) << log.text();
  EXPECT_EQ(uris_of(*mounted).size(), 4u);
  const auto got = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(bytes_of(got->contents[0]), "changed meanwhile");
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
  const auto then = news.count();
  ASSERT_TRUE(other.here.notify_resource_updated("memo:///a"));
  EXPECT_TRUE(news.hears("content mcp://team/memo:///a ", then)) << log.text();
  mounted->set_listener(nullptr);
}

TEST(mounted_failures, of_a_server_that_comes_back_and_tells_less_leave_no_list_as_it_was) {
  hearing log;
  hearing news;
  const auto port = started::free_port();
  std::shared_ptr<mcp::mcp_provider> mounted;
  {
    memo_server other;
    const auto service = listening(other.here, port);
    ASSERT_TRUE(service);
    auto options = mounted_over_http(port, log);
    options.list_ttl = std::chrono::milliseconds(0);
    mounted = mount(options);
    mounted->set_listener(std::make_shared<note_taker>(news));
    mounted->watch("mcp://team/memo:///a");
    ASSERT_TRUE(news.hears("content mcp://team/memo:///a ")) << log.text();
    EXPECT_EQ(uris_of(*mounted).size(), 3u);
  }
  const auto before = news.count();
  server_options quiet;
  quiet.supports_list_changes = false;
  memo_server other(quiet);
  other.add("memo:///new", "came meanwhile");
  const auto service = listening(other.here, port);
  ASSERT_TRUE(service);
  ASSERT_TRUE(news.hears("list", before)) << log.text();
  ASSERT_TRUE(news.hears("content mcp://team/memo:///a ", before)) << log.text();
  EXPECT_EQ(uris_of(*mounted).size(), 4u);
  for (int i = 0; i < 10; ++i) {
    other.add("memo:///later" + std::to_string(i), "x");
    ASSERT_EQ(uris_of(*mounted).size(), 5u + static_cast<std::size_t>(i)) << "nothing is told, so it is asked";
  }
  mounted->set_listener(nullptr);
}

TEST(mounted_failures, of_programs_that_are_not_there_are_told) {
  hearing log;
  mount_options options;
  options.name = "team";
  options.target = child_target{.command = {"/nowhere/at/all"}};
  options.log = [&log](std::string_view line) { log.add(line); };
  const auto mounted = mount(options);
  const auto got = mounted->read(reading_of("mcp://team/memo:///a"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable) << got.error().public_text;
  EXPECT_TRUE(log.hears("/nowhere/at/all")) << log.text();
}

TEST(mounted_programs, that_print_a_key_to_their_standard_error_print_none_to_our_log) {
  // Put together here, so that it stands in no file.
  const auto key = std::string("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6");
  const auto label = std::string(" PRIVATE KEY-----");
  hearing log;
  mount_options options;
  options.name = "team";
  options.target = child_target{.command = {"/bin/sh", "-c", "printf '%s\\n' \"$@\" >&2", "sh", "-----BEGIN" + label, key,
                                            key + "==", "-----END" + label, "password=aB3dE5fG7!x", "all is said"}};
  options.redact = false;  // of contents; the log never tells
  options.log = [&log](std::string_view line) { log.add(line); };
  const auto mounted = mount(options);
  EXPECT_FALSE(mounted->read(reading_of("mcp://team/memo:///a")));
  ASSERT_TRUE(log.hears("says: all is said")) << log.text();
  EXPECT_TRUE(log.hears("says: -----BEGIN")) << log.text();
  EXPECT_TRUE(log.hears("says: password=***********")) << log.text();
  EXPECT_EQ(log.text().find(key.substr(0, 20)), std::string::npos) << log.text();
}

TEST(mounted_failures, tell_our_log_no_password_even_if_callers_are_told_it) {
  hearing log;
  auto options = mounted_script(R"sh(
    *'"method":"resources/list"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"%s"}}\n' "$id" \
        'cannot connect to postgres://u:hunter22x@db/x' ;;
)sh",
                                log);
  options.redact = false;
  const auto mounted = mount(options);
  (void)mounted->read(reading_of("mcp://team/memo:///a"));
  EXPECT_TRUE(log.hears("cannot connect to postgres://u:*********@db/x")) << log.text();
  EXPECT_EQ(log.text().find("hunter22x"), std::string::npos) << log.text();
}

TEST(mounted_failures, of_one_read_leave_the_others_alone) {
  memo_server other;
  ASSERT_TRUE(other.memos->add({.uri = "memo:///broken", .name = "broken"}, [](const read_request&) -> result<read_result> {
    return fail(errc::source_unavailable, "the disk is away");
  }));
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  const auto broken = mounted->read(reading_of("mcp://team/memo:///broken"));
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().public_text, HasSubstr("\"team\""));
  EXPECT_TRUE(mounted->read(reading_of("mcp://team/memo:///a")));
  EXPECT_TRUE(mounted->health().is_healthy) << mounted->health().detail;
}

TEST(mounted_failures, of_slow_reads_are_told_in_time) {
  manual_clock clock;
  hearing reads;
  memo_server other;
  const auto is_slow = [&reads](const read_request& request) -> result<read_result> {
    reads.add("slow");
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    (void)monotonic_clock::wait_until(never, lock, request.stop, request.deadline, [] { return false; });
    return fail(errc::timed_out, "too late");
  };
  ASSERT_TRUE(other.memos->add({.uri = "memo:///slow", .name = "slow"}, is_slow));
  hearing log;
  auto options = mounted_from(other.here, log);
  options.call_timeout = std::chrono::milliseconds(200);
  const auto mounted = mount(options);
  auto asked = std::async(std::launch::async, [&] { return mounted->read(reading_of("mcp://team/memo:///slow")); });
  EXPECT_TRUE(reads.hears("slow")) << log.text();
  clock.advance(std::chrono::milliseconds(200));
  const auto got = asked.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out) << got.error().public_text;
  EXPECT_THAT(got.error().public_text, HasSubstr("\"team\""));
}

TEST(mounted_failures, a_mount_that_cannot_be_is_refused_at_once) {
  mount_options options;
  options.name = "No Slug";
  const auto made = make_mcp_provider(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_THAT(made.error().public_text, HasSubstr("mount_options::name"));
}

}  // namespace
}  // namespace hondana::test
