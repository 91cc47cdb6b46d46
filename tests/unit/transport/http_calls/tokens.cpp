/// Tokens: which requests say them, what becomes of refusals, and who waits for a log-in.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_calls/auth_challenge.hpp"
#include "transport/http_calls/http_channel.hpp"
#include "transport/http_calls/loop.hpp"
#include "transport/http_calls/token_worker.hpp"
#include "unit/transport/http_calls/scripted_server.hpp"
#include "unit/transport/http_calls/scripted_tokens.hpp"
#include "unit/transport/http_calls/set_variable.hpp"

namespace {

using hondana::errc;
using hondana::refused_token;
using hondana::transport::http_calls::challenges_in;
using hondana::transport::http_calls::loop;
using hondana::transport::http_calls::token_worker;
using hondana::transport::http_calls::wants_more_scopes;
using hondana_test::answering;
using hondana_test::asking;
using hondana_test::call;
using hondana_test::event;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::notice;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::scripted_tokens;
using hondana_test::set_variable;
using hondana_test::waits_for;

constexpr const char* wants_login = "WWW-Authenticate: Bearer resource_metadata=\"https://a.example/m\", scope=\"read\"\r\n";
constexpr const char* wants_scope =
    "WWW-Authenticate: Basic realm=\"x, y\", Bearer error=\"insufficient_scope\", scope=\"read write\"\r\n";

scripted_tokens::script gives(std::vector<std::string> tokens) {
  return [left = std::make_shared<std::vector<std::string>>(std::move(tokens))](
             const refused_token&, const std::stop_token&) -> hondana::result<std::string> {
    if (left->empty()) return hondana::fail(errc::unauthorized, "nobody logs in any more");
    auto out = left->front();
    left->erase(left->begin());
    return out;
  };
}

std::uint64_t id_in(const heard_request& asked) { return std::stoul(asked.body.substr(asked.body.find("\"id\":") + 5)); }

/// A server that lets in whoever has `accepted`.
scripted_server::script guarded(std::string accepted, std::string body = "no") {
  return [=](const heard_request& asked, scripted_connection& to) {
    if (asked.field("authorization") != "Bearer " + accepted) return to.answer(401, "text/plain", body, wants_login);
    return to.answer(200, "application/json", answering(id_in(asked)));
  };
}

/// A server, a channel to it and the tokens it has.
struct protected_talk {
  protected_talk(scripted_server::script plays, std::optional<std::string> first, scripted_tokens::script obtains,
                 bool is_older = false, const std::string& through = "none")
      : tokens(std::make_shared<scripted_tokens>(std::move(first), std::move(obtains))), server(std::move(plays)) {
    hondana::http_target target;
    target.url = server.url();
    target.proxy = through;
    target.tokens = tokens;
    const auto log = [this](std::string_view line) {
      const std::lock_guard lock(mutex);
      logged += std::string(line) + '\n';
      changed.notify_all();
    };
    auto made = is_older ? hondana::transport::http_calls::make_http_sse(target, heard, {}, log)
                         : hondana::transport::http_calls::make_http(target, heard, {}, log);
    if (made) channel = std::move(*made);
  }
  /// Waits until a line of the log holds `words`.
  bool has_logged(std::string_view words, std::chrono::seconds patience = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return logged.find(words) != std::string::npos; });
  }
  kept_words heard;
  std::mutex mutex;
  std::condition_variable changed;
  std::string logged;
  std::shared_ptr<scripted_tokens> tokens;
  scripted_server server;
  std::unique_ptr<hondana::channel::channel> channel;
};

TEST(http_tokens, the_token_at_hand_goes_with_each_request) {
  protected_talk with(guarded("first"), "first", gives({}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  EXPECT_EQ(with.heard.messages(2).size(), 2u);
  for (const auto& one : with.server.requests(2)) EXPECT_EQ(one.field("authorization"), "Bearer first");
  EXPECT_TRUE(with.tokens->asked(0).empty());
}

TEST(http_tokens, a_proxy_of_the_environment_does_not_get_to_read_them) {
  const scripted_server proxy(
      [](const heard_request&, scripted_connection& to) { return to.answer(502, "text/plain", "I am the proxy"); });
  const set_variable there("http_proxy", proxy.url(""));
  protected_talk with(guarded("first"), "first", gives({}), false, "");
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.server.connections(), 1u);
  EXPECT_EQ(proxy.connections(), 0u);
}

TEST(http_tokens, a_401_is_answered_by_a_new_token_and_the_same_request) {
  protected_talk with(guarded("second"), "first", gives({"second"}));
  auto message = call(1);
  message.headers = {{"Mcp-Method", "ping"}};
  // Large enough to fill sockets.
  message.text = asking(1) + std::string(1u << 20, ' ');
  with.channel->send(std::move(message));
  ASSERT_TRUE(with.heard.ending_of(1));
  ASSERT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.heard.messages(1)[0].text, answering(1));
  const auto asked = with.server.requests(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].body, asked[1].body);
  EXPECT_EQ(asked[1].field("authorization"), "Bearer second");
  EXPECT_EQ(asked[1].field("mcp-method"), "ping");
  // The refused answer was read to its end.
  EXPECT_EQ(with.server.connections(), 1u);
  const auto why = with.tokens->asked(1).at(0);
  EXPECT_EQ(why.url, with.server.url());
  EXPECT_EQ(why.status, 401);
  EXPECT_EQ(why.token, "first");
  EXPECT_EQ(why.times, 1);
  ASSERT_EQ(why.challenges.size(), 1u);
  EXPECT_EQ(why.challenges[0], "Bearer resource_metadata=\"https://a.example/m\", scope=\"read\"");
}

TEST(http_tokens, where_there_is_none_at_hand_one_is_obtained_before_anything_is_sent) {
  protected_talk with(guarded("first"), std::nullopt, gives({"first"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.server.requests(1).size(), 1u);
  const auto why = with.tokens->asked(1).at(0);
  EXPECT_EQ(why.status, 0);
  EXPECT_EQ(why.token, "");
  EXPECT_TRUE(why.challenges.empty());
}

TEST(http_tokens, an_empty_token_sends_none_until_the_server_wants_one) {
  protected_talk with(guarded("first"), "", gives({"first"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  const auto asked = with.server.requests(2);
  EXPECT_FALSE(asked.at(0).fields.contains("authorization"));
  EXPECT_EQ(asked.at(1).field("authorization"), "Bearer first");
}

TEST(http_tokens, a_403_for_a_lack_of_scopes_steps_up_and_any_other_is_told) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.field("mcp-name") == "never") return to.answer(403, "text/plain", "", "WWW-Authenticate: Bearer\r\n");
    if (asked.field("authorization") != "Bearer more") return to.answer(403, "text/plain", "", wants_scope);
    return to.answer(200, "application/json", answering(1));
  };
  protected_talk with(plays, "less", gives({"more"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.tokens->asked(1).at(0).status, 403);
  auto other = call(2);
  other.headers = {{"Mcp-Name", "never"}};
  with.channel->send(std::move(other));
  const auto how = with.heard.ending_of(2);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 403);
  EXPECT_EQ(how->why.code, errc::unauthorized);
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
}

TEST(http_tokens, a_server_that_refuses_for_ever_is_asked_four_times) {
  protected_talk with(guarded("never", std::string(200'000, 'x')), "a", gives({"b", "c", "d", "e", "f"}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 401);
  EXPECT_EQ(how->why.code, errc::unauthorized);
  EXPECT_EQ(how->challenges.size(), 1u);
  EXPECT_EQ(with.server.requests("POST", 4).size(), 4u);
  const auto asked = with.tokens->asked(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[2].times, 3);
  EXPECT_EQ(asked[2].token, "c");
}

TEST(http_tokens, what_a_source_says_why_not_is_the_failure_of_the_call) {
  protected_talk with(guarded("never"), "secret-token", gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 0);
  EXPECT_EQ(how->why.code, errc::unauthorized);
  EXPECT_EQ(how->why.public_text, "nobody logs in any more");
}

TEST(http_tokens, a_token_that_would_be_more_than_a_line_is_sent_to_nobody) {
  protected_talk with(guarded("x"), "x\r\nEvil: yes", gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->why.code, errc::unauthorized);
  EXPECT_EQ(how->why.public_text.find("Evil"), std::string::npos) << how->why.public_text;
  EXPECT_EQ(with.server.connections(), 0u);
}

TEST(http_tokens, calls_refused_together_wait_for_one_log_in) {
  std::promise<void> both;
  auto all = both.get_future().share();
  protected_talk with(guarded("second"), "first", [all](const refused_token&, const std::stop_token&) {
    all.wait_for(std::chrono::seconds(20));
    return hondana::result<std::string>("second");
  });
  for (std::uint64_t id = 1; id <= 5; ++id) with.channel->send(call(id));
  EXPECT_EQ(with.server.requests(5).size(), 5u);
  both.set_value();
  for (std::uint64_t id = 1; id <= 5; ++id) ASSERT_TRUE(with.heard.ending_of(id));
  EXPECT_EQ(with.heard.messages(5).size(), 5u);
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
}

TEST(http_tokens, a_call_that_is_abandoned_stops_its_log_in) {
  std::promise<bool> stopped;
  protected_talk with(guarded("never"), "first", [&](const refused_token&, const std::stop_token& stop) {
    stopped.set_value(waits_for(stop));
    return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
  });
  with.channel->send(call(1));
  ASSERT_EQ(with.tokens->asked(1).size(), 1u);
  with.channel->abandon(1);
  EXPECT_TRUE(stopped.get_future().get());
}

TEST(http_tokens, a_log_in_goes_on_while_somebody_waits_for_it_and_stops_when_nobody_does) {
  std::promise<std::stop_token> begun;
  std::promise<bool> stopped;
  const auto tokens = std::make_shared<scripted_tokens>("first", [&](const refused_token&, const std::stop_token& stop) {
    begun.set_value(stop);
    stopped.set_value(waits_for(stop));
    return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
  });
  const auto thread = *loop::start();
  token_worker worker(*thread, tokens);
  // What is posted to the loop, once it is done.
  const auto in_loop = [&](std::function<void()> what) {
    std::promise<void> done;
    thread->post([&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  };
  const auto is_told = [](const hondana::result<void>&) { ADD_FAILURE() << "nobody waits any more"; };
  std::vector<token_worker::name> names;
  in_loop([&] {
    for (int i = 0; i < 3; ++i) names.push_back(worker.obtain({"http://a.example/", 401, {}, "first", 1}, is_told));
  });
  const auto stop = begun.get_future().get();
  in_loop([&] {
    worker.forget(names[0]);
    worker.forget(names[2]);
  });
  EXPECT_FALSE(stop.stop_requested());
  in_loop([&] { worker.forget(names[1]); });
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(stopped.get_future().get());
  thread->stop();
  EXPECT_EQ(tokens->asked(1).size(), 1u);
}

TEST(http_tokens, closing_stops_a_log_in_at_once) {
  for (const auto time : {std::chrono::milliseconds(0), std::chrono::milliseconds(15'000)}) {
    std::promise<bool> stopped;
    protected_talk with(guarded("never"), "first", [&](const refused_token&, const std::stop_token& stop) {
      stopped.set_value(waits_for(stop));
      return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
    });
    auto has_stopped = stopped.get_future();
    // A notification is let out before the channel closes, but not for that.
    with.channel->send(notice());
    ASSERT_EQ(with.tokens->asked(1).size(), 1u);
    const auto begin = std::chrono::steady_clock::now();
    with.channel->close(time);
    with.channel.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_TRUE(has_stopped.get());
  }
}

TEST(http_tokens, the_token_goes_to_no_other_origin) {
  scripted_server other(guarded("first"));
  const auto elsewhere = "Location: " + other.url() + "\r\n";
  protected_talk with([&](const heard_request&, scripted_connection& to) { return to.answer(307, "", "", elsewhere); }, "first",
                      gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->why.code, errc::broken_protocol);
  EXPECT_EQ(other.connections(), 0u);
}

TEST(http_tokens, a_redirect_within_the_origin_keeps_the_token) {
  protected_talk with(
      [](const heard_request& asked, scripted_connection& to) {
        if (asked.target == "/mcp") return to.answer(308, "", "", "Location: /mcp/\r\n");
        return guarded("second")(asked, to);
      },
      "first", gives({"second"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  const auto asked = with.server.requests(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].field("authorization"), "Bearer first");
  EXPECT_EQ(asked[1].field("authorization"), "Bearer first");
  EXPECT_EQ(asked[2].field("authorization"), "Bearer second");
}

TEST(http_tokens, the_stream_of_a_session_is_opened_anew_with_a_new_token_and_its_end_says_the_token_too) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    const auto token = asked.field("authorization");
    if (asked.method == "GET") {
      if (token == "Bearer first" && asked.field("last-event-id").empty()) {
        to.open_stream();
        to.send("retry: 50\n" + event(R"({"jsonrpc":"2.0","method":"a"})", "1"));
        return false;
      }
      if (token != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send(event(R"({"jsonrpc":"2.0","method":"b"})", "2"));
      return to.sees_the_end();
    }
    if (asked.method == "DELETE") return to.answer(200, "", "");
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  protected_talk with(plays, "first", gives({"second"}));
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->opened({}, true);
  with.channel->send(notice());
  EXPECT_EQ(with.heard.messages(3).size(), 3u);
  with.channel->close(std::chrono::seconds(10));
  const auto ends = with.server.requests("DELETE", 1);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].field("authorization"), "Bearer second");
}

TEST(http_tokens, a_stream_for_which_no_token_is_had_is_not_asked_for_again) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(401, "", "", wants_login);
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  protected_talk with(plays, "first", gives({}));
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->opened({}, true);
  with.channel->send(notice());
  EXPECT_TRUE(with.has_logged("nobody logs in any more"));
  with.channel->close(std::chrono::seconds(10));
  with.channel.reset();
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
  EXPECT_FALSE(with.has_logged("first", std::chrono::seconds(0)));
}

TEST(http_tokens, a_stream_whose_token_is_not_to_be_had_for_now_is_asked_for_again) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") {
      if (asked.field("authorization") == "Bearer first" && asked.field("last-event-id").empty()) {
        to.open_stream();
        to.send("retry: 50\n" + event(R"({"jsonrpc":"2.0","method":"a"})", "1"));
        return false;
      }
      if (asked.field("authorization") != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send(event(R"({"jsonrpc":"2.0","method":"b"})", "2"));
      return to.sees_the_end();
    }
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  protected_talk with(plays, "first", [is_again = false](const refused_token&, const std::stop_token&) mutable {
    if (std::exchange(is_again, true)) return hondana::result<std::string>("second");
    return hondana::result<std::string>(hondana::fail(errc::source_unavailable, "the authorization server answered with 503"));
  });
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->opened({}, true);
  with.channel->send(notice());
  EXPECT_EQ(with.heard.messages(3).size(), 3u);
  EXPECT_EQ(with.tokens->asked(2).size(), 2u);
}

TEST(http_tokens, what_a_source_says_is_for_now_stays_so_and_anything_else_takes_somebody) {
  for (const auto& [said, heard] :
       {std::pair(errc::source_unavailable, errc::source_unavailable), std::pair(errc::timed_out, errc::timed_out),
        std::pair(errc::access_denied, errc::unauthorized), std::pair(errc::broken_protocol, errc::unauthorized)}) {
    protected_talk with(guarded("never"), "first", [code = said](const refused_token&, const std::stop_token&) {
      return hondana::result<std::string>(hondana::fail(code, "not now"));
    });
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->why.code, heard);
  }
}

TEST(http_tokens, the_stream_and_the_messages_of_http_sse_say_the_token) {
  std::promise<scripted_connection*> stream;
  auto opened = stream.get_future();
  const auto plays = [&](const heard_request& asked, scripted_connection& to) {
    const auto token = asked.field("authorization");
    if (asked.method == "GET") {
      if (token != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send("event: endpoint\ndata: /messages\n\n");
      stream.set_value(&to);
      return to.sees_the_end();
    }
    if (token != "Bearer third") return to.answer(401, "", "", wants_login);
    auto* const out = opened.get();
    to.answer(202, "", "");
    return out->send(event(answering(1)));
  };
  protected_talk with(plays, "first", gives({"second", "third"}), true);
  with.channel->send(call(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  const auto asked = with.tokens->asked(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].times, 1);
  EXPECT_EQ(asked[1].times, 1);
  EXPECT_EQ(asked[1].url, with.server.url());
}

TEST(http_tokens, an_authorization_header_beside_a_source_is_refused) {
  hondana::http_target target;
  target.url = "http://127.0.0.1:1/mcp";
  target.headers = {{"AUTHORIZATION", "Bearer x"}};
  target.tokens = std::make_shared<scripted_tokens>("y", gives({}));
  kept_words heard;
  const auto made = hondana::transport::http_calls::make_http(target, heard, {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_NE(made.error().public_text.find("exclude each other"), std::string::npos);
}

TEST(auth_challenges, schemes_and_parameters_are_told_apart) {
  const auto all =
      challenges_in({R"(Negotiate, NTLM abc==, Basic realm="a, \"b\"" , Bearer Error = "invalid_token" ,scope="x y", Digest)",
                     R"(bearer a=b)"});
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].scheme, "negotiate");
  EXPECT_EQ(all[1].scheme, "ntlm");
  EXPECT_TRUE(all[1].parameters.empty());
  EXPECT_EQ(all[2].parameter("realm"), "a, \"b\"");
  EXPECT_EQ(all[3].scheme, "bearer");
  EXPECT_EQ(all[3].parameter("error"), "invalid_token");
  EXPECT_EQ(all[3].parameter("scope"), "x y");
  EXPECT_EQ(all[3].parameter("realm"), "");
  EXPECT_EQ(all[4].scheme, "digest");
  EXPECT_EQ(all[5].parameter("a"), "b");
}

TEST(auth_challenges, what_is_malformed_is_skipped_and_endless_ones_are_cut) {
  for (const std::string bad : {"", ",,,", "=", "Bearer error=\"insuff", "Bearer =x", "Bearer \x01 error=insufficient_scope",
                                "\"Bearer error=insufficient_scope\"", "error=\"insufficient_scope\""})
    EXPECT_FALSE(wants_more_scopes({bad})) << bad;
  EXPECT_TRUE(wants_more_scopes({"=, Bearer error=insufficient_scope"}));
  std::string many = "Bearer ";
  for (int i = 0; i < 100; ++i) many += "a=b, ";
  for (int i = 0; i < 100; ++i) many += "S x=y, ";
  const auto all = challenges_in({many});
  EXPECT_LE(all.size(), 32u);
  EXPECT_LE(all.at(0).parameters.size(), 32u);
}

TEST(auth_challenges, only_a_bearer_challenge_of_insufficient_scope_asks_for_more) {
  EXPECT_TRUE(wants_more_scopes({"Basic realm=x", "BEARER ERROR=insufficient_scope"}));
  EXPECT_FALSE(wants_more_scopes({"DPoP error=insufficient_scope"}));
  EXPECT_FALSE(wants_more_scopes({"Bearer error=invalid_token"}));
  EXPECT_FALSE(wants_more_scopes({"Bearer scope=\"insufficient_scope\""}));
}

}  // namespace
