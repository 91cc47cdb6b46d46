/// Finding out what a server speaks, with servers that say it in every way there is.
#include <gtest/gtest.h>

#include <future>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

constexpr const char* logging_self = R"({"protocolVersion":"2025-11-25","capabilities":{"resources":{},"logging":{}},)"
                                     R"("serverInfo":{"name":"scripted","version":"1"}})";

using heard = scripted_server::heard;
using std::chrono::milliseconds;

TEST(opening, stays_modern_with_a_server_that_discovers_itself) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") of.result(one, modern_self);
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  EXPECT_TRUE(engine->server().is_modern);
  EXPECT_EQ(engine->server().revision, "2026-07-28");
  EXPECT_EQ(engine->server().name, "scripted");
  EXPECT_TRUE(server.all("initialize").empty());
  const auto asked = server.all("server/discover").front();
  const auto* meta = asked.param("_meta");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(*meta->find("io.modelcontextprotocol/protocolVersion"), value("2026-07-28"));
  EXPECT_NE(meta->find("io.modelcontextprotocol/clientCapabilities"), nullptr);
}

/// Spec: basic/transports/stdio#backward-compatibility: never keyed to one code.
TEST(opening, falls_back_to_a_handshake_on_any_error_that_is_no_modern_one) {
  for (const int code : {-32601, -32602, -32600, -32000, -32002, 0, 1, -1}) {
    scripted_server server([code](scripted_server& of, const heard& one) {
      if (one.method == "server/discover") of.error(one, code, "what?");
      if (one.method == "initialize") of.result(one, older_self("2025-11-25"));
    });
    opened_engine engine(server);
    const auto opened = engine->open();
    ASSERT_TRUE(opened) << code << ": " << opened.error().public_text;
    EXPECT_FALSE(engine->server().is_modern);
    EXPECT_TRUE(server.waits_for("notifications/initialized", 1));
  }
}

TEST(opening, falls_back_to_a_handshake_when_the_first_question_is_never_answered) {
  manual_clock clock;
  scripted_server server([&clock](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") clock.advance(milliseconds(50));
    if (one.method == "initialize") of.result(one, older_self("2024-11-05"));
  });
  client_options options;
  options.probe_timeout = milliseconds(50);
  opened_engine engine(server, std::move(options));
  ASSERT_TRUE(engine->open());
  EXPECT_EQ(engine->server().revision, "2024-11-05");
}

TEST(opening, is_not_taken_in_by_a_server_that_answers_everything_with_an_empty_result) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-06-18"));
    if (one.sent.call != 0) of.result(one, "{}");
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  EXPECT_EQ(engine->server().revision, "2025-06-18");
}

TEST(opening, does_not_fall_back_on_recognised_modern_errors) {
  for (const int code : {-32020, -32021}) {
    scripted_server server([code](scripted_server& of, const heard& one) { of.error(one, code, "modern", R"({"a":1})"); });
    opened_engine engine(server);
    const auto opened = engine->open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().server_error->code, code);
    EXPECT_TRUE(server.all("initialize").empty());
  }
}

TEST(opening, takes_the_version_that_a_modern_server_names) {
  int refusals = 0;
  scripted_server server([&refusals](scripted_server& of, const heard& one) {
    if (one.method != "server/discover") return;
    if (refusals++ == 0)
      return of.error(one, -32022, "Unsupported", R"({"supported":["2099-01-01","2026-07-28"],"requested":"x"})");
    of.result(one, modern_self);
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  EXPECT_TRUE(engine->server().is_modern);
  EXPECT_TRUE(server.all("initialize").empty());
}

TEST(opening, says_which_versions_there_are_when_none_is_shared) {
  scripted_server server([](scripted_server& of, const heard& one) {
    of.error(one, -32022, "Unsupported", R"({"supported":["2099-01-01"],"requested":"x"})");
  });
  opened_engine engine(server);
  const auto opened = engine->open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::unsupported);
  EXPECT_NE(opened.error().public_text.find("2099-01-01"), std::string::npos);
  EXPECT_NE(opened.error().public_text.find("2026-07-28"), std::string::npos);
}

TEST(opening, goes_back_to_a_handshake_where_a_modern_answer_names_older_versions_only) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.error(one, -32022, "Unsupported", R"({"supported":["2025-06-18"]})");
    if (one.method == "initialize") of.result(one, older_self(*one.param("protocolVersion")->as_string()));
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  EXPECT_EQ(engine->server().revision, "2025-06-18");
}

TEST(opening, refuses_a_handshake_in_a_version_nobody_knows) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("1999-01-01"));
    if (one.sent.call != 0) of.error(one, -32601, "no");
  });
  opened_engine engine(server);
  const auto opened = engine->open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::unsupported);
}

TEST(opening, speaks_the_revision_it_is_told_and_no_other) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") of.result(one, older_self("2025-11-25"));
  });
  client_options options;
  options.revision = "2025-03-26";
  opened_engine engine(server, std::move(options));
  EXPECT_FALSE(engine->open());  // the server insists on another
  EXPECT_TRUE(server.all("server/discover").empty());
  EXPECT_EQ(*server.all("initialize").front().param("protocolVersion"), value("2025-03-26"));

  client_options unknown;
  unknown.revision = "2031-01-01";
  opened_engine other(server, std::move(unknown));
  EXPECT_EQ(other->open().error().code, errc::invalid_argument);
}

TEST(opening, shakes_hands_anew_after_the_connection_was_lost) {
  scripted_server server([](scripted_server& of, const heard& one) {
    if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
    if (one.method == "resources/list") return of.result(one, R"({"resources":[]})");
    if (one.sent.call != 0) of.error(one, -32601, "no");
  });
  opened_engine engine(server);
  ASSERT_TRUE(engine->open());
  server.break_off({errc::source_unavailable, "it died", {}});
  EXPECT_TRUE(hondana_test::eventually([&] {
    static_cast<void>(engine->call({.message = asking::list_resources({}, nullptr)}, {}));
    return server.all("initialize").size() >= 2;
  }));
  EXPECT_EQ(server.all("initialize").size(), 2u);
  EXPECT_EQ(server.all("server/discover").size(), 1u);  // what it speaks is known
}

TEST(opening, begins_a_session_anew_when_the_server_has_ended_it) {
  // Servers say it with and without an error of the protocol.
  for (const auto* body : {"", R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})"}) {
    std::atomic<int> lists = 0;
    scripted_server server(
        [&lists, body](scripted_server& of, const heard& one) {
          if (one.method == "initialize") return of.result(one, logging_self);
          if (one.method == "logging/setLevel") return of.result(one, "{}");
          if (one.method == "resources/list") {
            if (lists++ > 0) return of.result(one, R"({"resources":[]})");
            channel::termination gone;
            gone.http_status = 404;
            gone.body = body;
            gone.session_has_ended = true;
            return of.end(one.sent.call, gone);
          }
          if (one.sent.call != 0) of.error(one, -32601, "no");
        },
        true);
    client_options options;
    options.min_log_level = log_level::warning;
    opened_engine engine(server, std::move(options));
    ASSERT_TRUE(engine->open());
    const auto got = engine->call({.message = asking::list_resources({}, nullptr)}, {});
    ASSERT_TRUE(got) << got.error().public_text;
    EXPECT_EQ(server.all("initialize").size(), 2u);
    // The level of log messages is the session's.
    const auto levels = server.all("logging/setLevel");
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_EQ(*levels.back().param("level"), value("warning"));
  }
}

http_target behind(const std::string& url) {
  http_target out;
  out.url = url;
  return out;
}

/// Spec: 2026-07-28 basic/versioning: over HTTP it is a refusal that says that a server is an older one.
TEST(opening, takes_no_server_behind_a_url_for_an_older_one_because_it_is_slow_or_busy) {
  manual_clock clock;
  for (const int status : {0, 429, 502, 503}) {
    std::atomic<bool> is_well = false;
    scripted_server server(
        [&is_well, &clock, status](scripted_server& of, const heard& one) {
          if (one.method == "server/discover" && is_well) return of.result(one, modern_self);
          if (one.method == "server/discover" && status == 0) return clock.advance(milliseconds(50));
          channel::termination busy;
          busy.http_status = status;
          if (one.sent.call != 0) of.end(one.sent.call, busy);
        },
        true);
    const auto target = behind("http://busy.example/" + std::to_string(status));
    client_options options;
    options.call_timeout = milliseconds(50);
    opened_engine first(server, options, target);
    EXPECT_FALSE(first->open()) << status;
    EXPECT_TRUE(server.all("initialize").empty()) << status;
    is_well = true;
    opened_engine second(server, {}, target);
    EXPECT_TRUE(second->open()) << status;
    EXPECT_TRUE(second->server().is_modern) << status;
  }
}

TEST(opening, remembers_an_older_server_behind_a_url_that_refused_but_not_one_that_failed) {
  // What is remembered is the process's, also when the test is repeated.
  static int runs = 0;
  ++runs;
  for (const int status : {400, 500}) {
    scripted_server server(
        [status](scripted_server& of, const heard& one) {
          if (one.method == "initialize") return of.result(one, older_self("2025-11-25"));
          channel::termination refusal;
          refusal.http_status = status;
          if (one.sent.call != 0) of.end(one.sent.call, refusal);
        },
        true);
    const auto target = behind("http://older.example/" + std::to_string(status) + '/' + std::to_string(runs));
    for (int round = 0; round < 2; ++round) {
      opened_engine engine(server, {}, target);
      EXPECT_TRUE(engine->open()) << status;
    }
    EXPECT_EQ(server.all("server/discover").size(), status == 400 ? 1u : 2u);
  }
}

TEST(opening, that_another_call_has_begun_is_waited_for_within_its_own_time_and_until_it_is_cancelled) {
  scripted_server server([](scripted_server&, const heard&) {});
  opened_engine engine(server);
  std::stop_source stop_first;
  auto first = std::async(std::launch::async, [&] { return engine->open({.stop = stop_first.get_token()}); });
  ASSERT_TRUE(server.waits_for("server/discover", 1));
  EXPECT_EQ(engine->open({.timeout = milliseconds(20)}).error().code, errc::timed_out);
  std::stop_source stop_second;
  auto second = std::async(std::launch::async, [&] { return engine->open({.stop = stop_second.get_token()}); });
  stop_second.request_stop();
  EXPECT_EQ(second.get().error().code, errc::cancelled);
  stop_first.request_stop();
  EXPECT_EQ(first.get().error().code, errc::cancelled);
}

}  // namespace
}  // namespace hondana::test
