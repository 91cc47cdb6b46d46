/// Sources and records that cannot keep up, over HTTP: a status and a time where there still is a status to choose.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using namespace std::chrono_literals;
using hondana_test::answer;
using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::client;
using hondana_test::guarded;
using hondana_test::initialize;
using hondana_test::library;
using hondana_test::post;
using hondana_test::protected_post;
using testing::HasSubstr;

std::string header_of(const answer& got, const std::string& name) {
  const auto found = got.fields.find(name);
  return found == got.fields.end() ? std::string() : found->second;
}

hondana::result<hondana::read_result> busy_for(std::optional<std::chrono::milliseconds> retry) {
  hondana::failure why{hondana::errc::overloaded, "There is too much to do.", {}};
  why.retry_after = retry;
  return tl::unexpected(std::move(why));
}

/// "memo:///busy" says when to come back, "memo:///vague" does not, "memo:///begun" says something before.
void fill(guarded& with) {
  with.source->entries["memo:///busy"] = [](const auto&) { return busy_for(2500ms); };
  with.source->entries["memo:///vague"] = [](const auto&) { return busy_for({}); };
  with.source->entries["memo:///begun"] = [](const hondana::read_request& request) {
    request.report_progress({1, 2, "half of it"});
    return busy_for(2500ms);
  };
}

std::string legacy_read_of(const std::string& uri, int id = 1) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"resources/read","params":{"uri":")" + uri + "\"}}";
}

TEST(http_overload, of_a_source_is_a_status_with_a_time) {
  guarded with;
  fill(with);
  const auto busy = ask(with, protected_post("alice", library::read("memo:///busy")));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(header_of(busy, "retry-after"), "3");
  EXPECT_EQ(header_of(busy, "content-type"), "application/json");
  EXPECT_THAT(busy.body, HasSubstr(R"("id":1,"error":{"code":503,"message":"The source \"shelf\" failed: There is too much)"));
  EXPECT_THAT(busy.body, HasSubstr(R"("data":{"retryAfterMs":2500}})"));
  const auto vague = ask(with, protected_post("alice", library::read("memo:///vague")));
  EXPECT_EQ(vague.status, 503);
  EXPECT_EQ(header_of(vague, "retry-after"), "");
  EXPECT_EQ(ask(with, protected_post("alice")).status, 200);
}

TEST(http_overload, ends_no_session_and_has_no_status_in_a_batch) {
  guarded with;
  fill(with);
  auto hello = initialize();
  hello.replace(hello.find("2025-11-25"), 10, "2025-03-26");
  const auto id = header_of(ask(with, post(hello, bearer("alice"))), "mcp-session-id");
  ASSERT_FALSE(id.empty());
  const auto in_session = [&](const std::string& message) {
    return ask(with, post(message, bearer("alice") + "Mcp-Session-Id: " + id + "\r\n"));
  };
  const auto busy = in_session(legacy_read_of("memo:///busy"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(header_of(busy, "retry-after"), "3");
  const auto both = in_session("[" + legacy_read_of("memo:///busy", 4) + "," + legacy_read_of("memo:///who", 5) + "]");
  EXPECT_EQ(both.status, 200);
  EXPECT_EQ(header_of(both, "retry-after"), "");
  EXPECT_THAT(both.body, HasSubstr(R"("id":4,"error":{"code":503)"));
  EXPECT_THAT(both.body, HasSubstr(R"("id":5,"result")"));
}

TEST(http_overload, within_a_stream_is_the_last_event) {
  guarded with;
  fill(with);
  auto message = library::read("memo:///begun");
  message.insert(message.find(R"("_meta":{)") + 9, R"("progressToken":"p",)");
  const auto got = ask(with, protected_post("alice", message));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(header_of(got, "content-type"), "text/event-stream");
  EXPECT_THAT(got.body, HasSubstr("half of it"));
  EXPECT_THAT(got.body, HasSubstr(R"("id":1,"error":{"code":503)"));
}

/// Spec: RFC 9112 8: a message that is cut off is incomplete.
TEST(http_overload, of_a_source_with_one_thread_and_one_place_refuses_answers_at_their_beginning_and_cuts_none_off) {
  const hondana::manual_clock clock;
  hondana_test::library with;
  with.source->entries["memo:///long"] = [](const auto&) -> hondana::result<hondana::read_result> {
    hondana::read_result out;
    hondana::resource_content one;
    one.data = std::make_shared<hondana_test::letters>(2u << 20, std::make_shared<std::atomic<std::uint64_t>>(0));
    out.contents.push_back(std::move(one));
    return out;
  };
  hondana::server_options narrow;
  narrow.limits.sources[with.source.get()] = {.max_concurrency = 1, .max_queued_calls = 1};
  ASSERT_TRUE(with.server.replace(narrow, {with.source}));
  // What each peer has of its own must not hold a whole answer, or none would wait for another.
  std::vector<client> peers;
  for (int i = 0; i < 24; ++i) peers.emplace_back(with.port(), 4096);
  std::size_t whole = 0;
  std::vector<std::thread> readers;
  std::mutex counting;
  for (auto& peer : peers) {
    readers.emplace_back([&peer, &whole, &counting] {
      for (int again = 0; again < 8; ++again) {
        if (!peer.send(post(library::read("memo:///long")))) return;
        const auto got = peer.receive();
        const std::lock_guard lock(counting);
        EXPECT_TRUE(got.is_complete) << got.status << ": an answer was cut off after " << got.body.size() << " bytes";
        if (got.status == 503) {
          EXPECT_THAT(got.body,
                      HasSubstr(R"("id":1,"error":{"code":503,"message":"The source \"shelf\" already has 1 request )"));
          EXPECT_EQ(header_of(got, "retry-after"), "1");
          continue;
        }
        EXPECT_EQ(got.status, 200);
        EXPECT_GT(got.body.size(), 2u << 20);
        ++whole;
      }
    });
  }
  for (auto& one : readers) one.join();
  EXPECT_GT(whole, 0u);
}

/// Takes nothing.
class full_record final : public hondana::auditor {
 public:
  hondana::result<std::uint64_t> record_decision(const hondana::audit_decision&) override {
    hondana::failure why{hondana::errc::overloaded, "The record is full.", {}};
    why.retry_after = 500ms;
    return tl::unexpected(std::move(why));
  }
  void record_completion(std::uint64_t, const hondana::audit_completion&) override {}
};

TEST(http_overload, of_the_record_is_a_status_with_a_time) {
  hondana::server_options options;
  options.audit = std::make_shared<full_record>();
  guarded with(options);
  const auto refused = ask(with, protected_post("alice"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(header_of(refused, "retry-after"), "1");
  EXPECT_THAT(refused.body, HasSubstr(R"("id":1,"error":{"code":503,"message":"The record is full.")"));
}

}  // namespace
