/// HTTP with SSE, of revision 2024-11-05, as a client.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_client/http_channel.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana_test::answering;
using hondana_test::asking;
using hondana_test::call;
using hondana_test::event;
using hondana_test::heard_request;
using hondana_test::into;
using hondana_test::kept_words;
using hondana_test::notice;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

/// The one stream of the test; POSTs answer into it.
class open_stream {
 public:
  void set(scripted_connection* to) {
    const std::lock_guard lock(mutex_);
    to_ = to;
    changed_.notify_all();
  }
  void send(const std::string& bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, hondana_test::call_patience, [&] { return to_ != nullptr; });
    if (to_ != nullptr) to_->send(bytes);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  scripted_connection* to_ = nullptr;
};

struct sse_talk {
  explicit sse_talk(scripted_server::script posts, std::string endpoint = "event: endpoint\ndata: /messages?session=7\n\n",
                    hondana::channel::limits most = {})
      : server([=, this](const heard_request& asked, scripted_connection& to) {
          if (asked.method == "POST") return posts(asked, to);
          to.open_stream();
          to.send(endpoint);
          stream.set(&to);
          to.sees_the_end();
          stream.set(nullptr);
          return false;
        }) {
    hondana::http_target target;
    target.url = server.url("/sse");
    target.proxy = "none";
    auto made = hondana::transport::http_client::make_http_sse(target, heard, most, {});
    if (made) channel = std::move(*made);
  }
  open_stream stream;
  kept_words heard;
  scripted_server server;
  std::unique_ptr<hondana::channel::channel> channel;
};

bool accepted(const heard_request&, scripted_connection& to) { return to.answer(202, "text/plain", "Accepted"); }

TEST(http_sse, messages_go_to_the_endpoint_and_answers_come_on_the_stream) {
  sse_talk with(accepted);
  EXPECT_EQ(with.channel->kind(), "http+sse");
  EXPECT_FALSE(with.channel->has_exchanges());
  with.channel->send(call(1, "initialize"));
  const auto all = with.server.requests(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].method, "GET");
  EXPECT_EQ(all[0].field("accept"), "text/event-stream");
  EXPECT_EQ(all[1].target, "/messages?session=7");
  EXPECT_EQ(all[1].body, asking(1, "initialize"));
  with.stream.send("event: message\n" + event(answering(1)));
  const auto messages = with.heard.messages(1);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].call, 0u);
  EXPECT_EQ(messages[0].text, answering(1));
  EXPECT_TRUE(with.heard.endings(0).empty());
}

TEST(http_sse, an_array_of_answers_is_taken_apart_and_content_goes_where_it_belongs) {
  sse_talk with(accepted);
  std::string first;
  std::string second;
  auto one = call(1);
  one.content = into(first);
  auto two = call(2);
  two.content = into(second);
  with.channel->send(std::move(one));
  with.channel->send(std::move(two));
  ASSERT_EQ(with.server.requests("POST", 2).size(), 2u);
  with.stream.send(event(
      R"([{"id":2,"result":{"contents":[{"text":"two"}]}},{"result":{"contents":[{"text":"one"}]},"id":1},{"method":"x"}])"));
  const auto messages = with.heard.messages(3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1].text, R"({"result":{"contents":[{"text":""}]},"id":1})");
  EXPECT_EQ(messages[2].text, R"({"method":"x"})");
  EXPECT_EQ(first, "one");
  EXPECT_EQ(second, "two");
}

TEST(http_sse, content_whose_id_comes_last_is_held_back_and_goes_where_it_belongs) {
  sse_talk with(accepted);
  std::string first;
  std::string second;
  auto one = call(1);
  one.content = into(first);
  auto two = call(2);
  two.content = into(second);
  with.channel->send(std::move(one));
  with.channel->send(std::move(two));
  ASSERT_EQ(with.server.requests("POST", 2).size(), 2u);
  const std::string letters(3u << 20, 'x');
  with.stream.send(event(R"({"result":{"contents":[{"text":")" + letters + R"("}]},"id":2})"));
  ASSERT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_TRUE(second == letters);
  EXPECT_TRUE(first.empty());
  EXPECT_GT(with.heard.progress_of(2), 10u);
}

TEST(http_sse, requests_wait_until_the_server_has_taken_the_first_notification) {
  sse_talk with(accepted);
  with.channel->send(call(1, "initialize"));
  ASSERT_EQ(with.server.requests("POST", 1).size(), 1u);
  with.channel->send(notice());
  with.channel->send(call(2));
  const auto all = with.server.requests("POST", 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].body, asking(2));
}

TEST(http_sse, an_endpoint_of_another_origin_is_refused) {
  for (const std::string to : {"http://127.0.0.2:1/m", "https://127.0.0.1/m", "//evil.example/m", "file:///etc/passwd"}) {
    sse_talk with(accepted, "event: endpoint\ndata: " + to + "\n\n");
    with.channel->send(call(1));
    const auto breaks = with.heard.breaks(1);
    ASSERT_EQ(breaks.size(), 1u) << to;
    EXPECT_EQ(breaks[0].code, errc::protocol_error);
    EXPECT_NE(breaks[0].public_text.find("another origin"), std::string::npos) << breaks[0].public_text;
    EXPECT_EQ(with.server.requests(1).size(), 1u);
  }
}

TEST(http_sse, a_second_endpoint_changes_nothing) {
  sse_talk with(accepted, "event: endpoint\ndata: /a\n\nevent: endpoint\ndata: /b\n\n");
  with.channel->send(call(1));
  EXPECT_EQ(with.server.requests("POST", 1).at(0).target, "/a");
}

TEST(http_sse, a_refused_post_ends_its_call_only) {
  sse_talk with([](const heard_request& asked, scripted_connection& to) {
    return asked.body == asking(1) ? to.answer(500, "text/plain", "no") : to.answer(202, "", "");
  });
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 500);
  EXPECT_EQ(how->body, "no");
  with.channel->send(call(2));
  ASSERT_EQ(with.server.requests("POST", 2).size(), 2u);
  with.stream.send(event(answering(2)));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_TRUE(with.heard.breaks(0).empty());
}

TEST(http_sse, the_end_of_the_stream_breaks_the_connection_and_the_next_message_makes_it_anew) {
  kept_words heard;
  std::atomic<int> streams{0};
  scripted_server server([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "POST") return to.answer(202, "", "");
    to.open_stream();
    to.send("event: endpoint\ndata: /m" + std::to_string(++streams) + "\n\n");
    if (streams == 1) return false;
    to.sees_the_end();
    return false;
  });
  hondana::http_target target;
  target.url = server.url();
  target.proxy = "none";
  auto channel = std::move(*hondana::transport::http_client::make_http_sse(target, heard, {}, {}));
  channel->send(call(1));
  const auto breaks = heard.breaks(1);
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].code, errc::source_unavailable);
  channel->send(call(2));
  const auto posts = [&] {
    for (std::size_t count = 1;; ++count) {
      auto some = server.requests("POST", count);
      if (some.size() < count || some.back().body == asking(2)) return some;
    }
  }();
  ASSERT_FALSE(posts.empty());
  EXPECT_EQ(posts.back().target, "/m2");
}

TEST(http_sse, what_waits_for_the_endpoint_is_not_counted_after_the_connection_has_ended) {
  hondana::channel::limits small;
  small.max_queued_bytes = 1000;
  sse_talk with(accepted, ": no endpoint yet\n\n", small);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    auto large = call(id);
    large.text = std::string(600, ' ') + large.text;
    with.channel->send(std::move(large));
    ASSERT_EQ(with.server.requests("GET", id).size(), id);
    with.channel->end_connection("did not answer a ping");
    ASSERT_EQ(with.heard.breaks(id).size(), id);
  }
  EXPECT_TRUE(with.heard.endings(0).empty()) << "a call was refused for bytes that wait no more";
}

TEST(http_sse, a_server_without_such_a_stream_is_told_with_its_status) {
  kept_words heard;
  scripted_server server([](const heard_request&, scripted_connection& to) {
    return to.answer(401, "text/plain", "who?", "WWW-Authenticate: Bearer\r\n");
  });
  hondana::http_target target;
  target.url = server.url();
  target.proxy = "none";
  auto channel = std::move(*hondana::transport::http_client::make_http_sse(target, heard, {}, {}));
  channel->send(call(1));
  const auto how = heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 401);
  EXPECT_EQ(how->challenges, std::vector<std::string>{"Bearer"});
  const auto breaks = heard.breaks(1);
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].code, errc::unauthorized);
}

TEST(http_sse, content_goes_to_the_sink_of_the_call_that_the_message_names) {
  sse_talk with(accepted);
  std::string first;
  std::string second;
  for (auto [id, into] : {std::pair(1u, &first), std::pair(2u, &second)}) {
    auto reading = call(id);
    reading.content = [into](std::size_t, std::string_view bytes) {
      *into += bytes;
      return hondana::result<void>();
    };
    with.channel->send(std::move(reading));
  }
  with.channel->send(call(3));
  ASSERT_EQ(with.server.requests("POST", 3).size(), 3u);
  const auto contents = [](const std::string& text) { return R"({"contents":[{"uri":"a:b","text":")" + text + "\"}]}"; };
  with.stream.send(event(answering(2, contents("two"))));
  with.stream.send(event(answering(3, contents("three"))));
  // Some servers name the id last.
  with.stream.send(event(R"({"result":)" + contents(std::string(100'000, 'x')) + R"(,"id":1,"jsonrpc":"2.0"})"));
  const auto messages = with.heard.messages(3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(second, "two");
  EXPECT_EQ(first, std::string(100'000, 'x'));
  EXPECT_EQ(messages[0].text, answering(2, contents("")));
  EXPECT_EQ(messages[1].text, answering(3, contents("three")));
  EXPECT_EQ(messages[2].text, R"({"result":)" + contents("") + R"(,"id":1,"jsonrpc":"2.0"})");
}

TEST(http_sse, a_message_that_is_too_long_ends_the_call_it_answers) {
  hondana::channel::limits small;
  small.max_message_bytes = 1000;
  sse_talk with(accepted, "event: endpoint\ndata: /m\n\n", small);
  with.channel->send(call(1));
  with.channel->send(call(2));
  ASSERT_EQ(with.server.requests("POST", 2).size(), 2u);
  with.stream.send(event(answering(1, "\"" + std::string(5000, 'x') + "\"")));
  with.stream.send(event(answering(2)));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::response_too_large);
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
}

}  // namespace
