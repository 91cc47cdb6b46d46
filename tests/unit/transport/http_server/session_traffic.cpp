/// Sessions as clients see them over sockets: streams, resumption, endings, and nothing of one client's at another's.
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/input.hpp>
#include <hondana/tool.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::library;
using hondana_test::post;

std::string request(std::string_view method, std::string_view id, std::string_view params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}";
}

std::string read(std::string_view uri, std::string_view id, std::string_view token = {}) {
  std::string meta;
  if (!token.empty()) meta = R"(,"_meta":{"progressToken":")" + std::string(token) + "\"}";
  return request("resources/read", id, R"({"uri":")" + std::string(uri) + "\"" + meta + "}");
}

/// A session of one client.
struct a_session {
  explicit a_session(const library& with, std::string_view revision = "2025-11-25", std::string_view capabilities = "{}")
      : port(with.port()) {
    client peer(port);
    peer.send(post(request("initialize", "0",
                           R"({"protocolVersion":")" + std::string(revision) + R"(","capabilities":)" +
                               std::string(capabilities) + R"(,"clientInfo":{"name":"t","version":"1"}})")));
    const auto got = peer.receive();
    EXPECT_EQ(got.status, 200) << got.body;
    id = got.fields.count("mcp-session-id") != 0 ? got.fields.at("mcp-session-id") : "";
    EXPECT_EQ(id.size(), 32u);
  }
  std::string field() const { return "Mcp-Session-Id: " + id + "\r\n"; }
  std::string get(std::string_view more = {}) const {
    return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + field() + std::string(more) + "\r\n";
  }
  int end() const {
    client peer(port);
    peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + field() + "\r\n");
    return peer.receive(false).status;
  }

  std::uint16_t port;
  std::string id;
};

/// Reads of `memo:///slow` report progress and then wait.
class gate {
 public:
  explicit gate(library& with) {
    with.source->entries["memo:///slow"] = [here = state_](const hondana::read_request& request) {
      if (request.report_progress) request.report_progress({0.5, 1.0, "half"});
      std::stop_callback wake(request.stop, [here] {
        const std::lock_guard lock(here->mutex);
        here->changed.notify_all();
      });
      std::unique_lock lock(here->mutex);
      here->begun.add();
      here->changed.wait(lock, [&] { return here->is_open || request.stop.stop_requested(); });
      if (request.stop.stop_requested()) here->stopped.add();
      lock.unlock();  // the callback takes it, and is waited for
      return hondana::text_read_result("slow");
    };
  }
  void open() {
    const std::lock_guard lock(state_->mutex);
    state_->is_open = true;
    state_->changed.notify_all();
  }

 private:
  /// Outlives the test: whoever cancels a read may still be at it when the read has returned.
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
    hondana_test::tally begun;
    hondana_test::tally stopped;
  };
  const std::shared_ptr<state> state_ = std::make_shared<state>();

 public:
  hondana_test::tally& begun = state_->begun;
  hondana_test::tally& stopped = state_->stopped;
};

// requires: 2026-07-28/transports.stream_related 2026-07-28/transports.stream_ends 2026-07-28/transports.no_buffering
TEST(http_sessions, a_stateless_request_streams_progress_before_its_answer) {
  library with;
  gate slow(with);
  client peer(with.port());
  peer.send(post(hondana_test::modern("resources/read", "1", R"("uri":"memo:///slow",)"), ""));
  ASSERT_TRUE(slow.begun.reaches(1));
  slow.open();
  EXPECT_EQ(peer.receive().fields.at("content-type"), "application/json") << "no progress was asked for";
  auto asking = hondana_test::modern("resources/read", "2", R"("uri":"memo:///slow",)");
  asking.insert(asking.find("\"_meta\":{") + 9, R"("progressToken":"p",)");
  peer.send(post(asking));
  const auto got = peer.receive();
  EXPECT_EQ(got.fields.at("content-type"), "text/event-stream");
  EXPECT_EQ(got.fields.at("x-accel-buffering"), "no");
  EXPECT_FALSE(got.fields.contains("mcp-session-id"));
  EXPECT_TRUE(got.body.starts_with("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"")) << got.body;
  EXPECT_NE(got.body.find("\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":"), std::string::npos) << got.body;
  EXPECT_EQ(got.body.find("id: "), std::string::npos) << "there is nothing to resume";
}

// requires: 2026-07-28/transports.closing_cancels 2026-07-28/transports.cancelled_stops
TEST(http_sessions, closing_the_stream_of_a_stateless_request_cancels_it) {
  const hondana::manual_clock clock;  // Deadlines stop work, too.
  library with;
  gate slow(with);
  auto asking = hondana_test::modern("resources/read", "1", R"("uri":"memo:///slow",)");
  asking.insert(asking.find("\"_meta\":{") + 9, R"("progressToken":"p",)");
  {
    client peer(with.port());
    peer.send(post(asking));
    EXPECT_NE(peer.receive_until("half").find("text/event-stream"), std::string::npos);
  }
  EXPECT_TRUE(slow.stopped.reaches(1));
}

// requires: */transports.disconnect_no_cancel 2025-11-25/transports.event_ids_name_stream 2025-11-25/transports.prime
// requires: */transports.stream_related */transports.stream_ends */transports.event_ids_unique
TEST(http_sessions, a_request_goes_on_without_its_connection_and_is_answered_on_resumption) {
  library with;
  gate slow(with);
  const a_session one(with);
  {
    client peer(with.port());
    peer.send(post(read("memo:///slow", "1", "p"), one.field()));
    const auto seen = peer.receive_until("half\"}}");
    EXPECT_NE(seen.find("id: 2-1\ndata: \n\n"), std::string::npos) << seen;
    EXPECT_NE(seen.find("id: 2-2\ndata: {"), std::string::npos) << seen;
    peer.vanish();
  }
  slow.open();
  client again(with.port());
  again.send(one.get("Last-Event-ID: 2-1\r\n"));
  const auto got = again.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_NE(got.body.find("id: 2-2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""), std::string::npos)
      << got.body;
  EXPECT_NE(got.body.find("id: 2-3\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"), std::string::npos) << got.body;
  EXPECT_TRUE(got.is_complete);
  EXPECT_EQ(slow.stopped.count(), 0u);
}

// requires: */transports.one_stream */transports.replay_same_stream */transports.get_no_response */transports.get_unrelated
TEST(http_sessions, nothing_of_one_session_reaches_another_with_the_same_ids_and_tokens) {
  library with;
  gate slow(with);
  const a_session first(with);
  const a_session second(with);
  client one(with.port());
  client other(with.port());
  client standing(with.port());
  standing.send(second.get());
  EXPECT_NE(standing.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  one.send(post(read("memo:///slow", "1", "p"), first.field()));
  EXPECT_NE(one.receive_until("half\"}}").find("text/event-stream"), std::string::npos);
  other.send(post(request("ping", "1", R"({"_meta":{"progressToken":"p"}})"), second.field()));
  EXPECT_EQ(other.receive().body, R"({"jsonrpc":"2.0","id":1,"result":{}})");

  // The other session's events cannot be had with this one's id, and its id does not carry over.
  client thief(with.port());
  thief.send(second.get("Last-Event-ID: 3-1\r\n"));
  EXPECT_EQ(thief.receive().status, 400);
  slow.open();
  EXPECT_NE(one.receive_until("slow\"}]").find("\"id\":1"), std::string::npos);
  EXPECT_EQ(second.end(), 204);
  EXPECT_EQ(standing.receive_until("0\r\n\r\n").find("jsonrpc"), std::string::npos) << "nothing was broadcast";
}

TEST(http_sessions, a_tool_that_releases_its_connection_is_answered_on_resumption) {
  library with;
  std::promise<void> may_finish;
  const auto added = with.server.add_tool(
      {.name = "long"},
      [done = may_finish.get_future().share()](const hondana::tool_call& call) -> hondana::result<hondana::tool_outcome> {
        call.close_stream(std::chrono::milliseconds(250));
        done.wait_until(call.deadline);
        return hondana::text_result("worked on");
      });
  ASSERT_TRUE(added);
  const a_session one(with);
  client peer(with.port());
  peer.send(post(request("tools/call", "1", R"({"name":"long"})"), one.field()));
  const auto released = peer.receive();
  EXPECT_TRUE(released.is_complete) << "the answer ended as an answer should";
  EXPECT_EQ(released.body, "id: 2-1\ndata: \n\nretry: 250\n\n");
  may_finish.set_value();
  peer.send(one.get("Last-Event-ID: 2-1\r\n"));
  const auto got = peer.receive();
  EXPECT_NE(got.body.find("id: 2-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"), std::string::npos) << got.body;
  EXPECT_NE(got.body.find("worked on"), std::string::npos);

  // Who does not know of polling holds the connection.
  const a_session older(with, "2025-06-18");
  peer.send(post(request("tools/call", "1", R"({"name":"long"})"), older.field()));
  EXPECT_EQ(peer.receive().fields.at("content-type"), "application/json");
}

TEST(http_sessions, a_question_to_the_client_goes_out_on_the_stream_of_its_request) {
  library with;
  const auto added =
      with.server.add_tool({.name = "ask"}, [](const hondana::tool_call& call) -> hondana::result<hondana::tool_outcome> {
        if (const auto name = call.responses.text("who", "name")) return hondana::text_result("hello " + *name);
        hondana::form_builder fields;
        fields.text("name", {.is_required = true});
        return hondana::input_required{.requests = {{"who", hondana::form_request{"Who are you?", fields.schema()}}}};
      });
  ASSERT_TRUE(added);
  const a_session one(with, "2025-11-25", R"({"elicitation":{}})");
  client standing(with.port());
  standing.send(one.get());
  EXPECT_NE(standing.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  client asking(with.port());
  asking.send(post(request("tools/call", "1", R"({"name":"ask"})"), one.field()));
  const auto question = asking.receive_until("elicitation/create");
  const auto id = question.find("\"id\":");
  ASSERT_NE(id, std::string::npos) << question;
  const auto value = question.substr(id + 5, question.find(',', id) - id - 5);
  client replying(with.port());
  replying.send(
      post(R"({"jsonrpc":"2.0","id":)" + value + R"(,"result":{"action":"accept","content":{"name":"Ann"}}})", one.field()));
  EXPECT_EQ(replying.receive().status, 202);
  EXPECT_NE(asking.receive_until("hello Ann").find("hello Ann"), std::string::npos);
  EXPECT_EQ(one.end(), 204);
  EXPECT_EQ(standing.receive_until("0\r\n\r\n").find("elicitation"), std::string::npos);
}

// A question that cannot be asked is answered at once, not when its deadline has passed.
TEST(http_sessions, a_question_that_cannot_go_out_ends_its_call) {
  library with;
  const auto ask = [](std::size_t length) {
    return [length](const hondana::tool_call&) -> hondana::result<hondana::tool_outcome> {
      hondana::form_builder fields;
      fields.text("name");
      return hondana::input_required{.requests = {{"who", hondana::form_request{std::string(length, '?'), fields.schema()}}}};
    };
  };
  ASSERT_TRUE(with.server.add_tool({.name = "short"}, ask(1)));
  ASSERT_TRUE(with.server.add_tool({.name = "long"}, ask(2u << 20)));
  const a_session one(with, "2025-11-25", R"({"elicitation":{}})");
  client asking(with.port());
  auto takes_json = post(request("tools/call", "1", R"({"name":"short"})"), one.field());
  const auto accept = takes_json.find(", text/event-stream");
  ASSERT_NE(accept, std::string::npos) << takes_json;
  takes_json.erase(accept, 19);
  asking.send(takes_json);
  const auto refused = asking.receive();
  EXPECT_EQ(refused.status, 406);
  EXPECT_NE(refused.body.find("Send Accept: application/json, text/event-stream"), std::string::npos) << refused.body;
  asking.send(post(request("tools/call", "2", R"({"name":"long"})"), one.field()));
  EXPECT_NE(asking.receive().body.find("longer than 1 MiB"), std::string::npos);
}

TEST(http_sessions, deleting_one_cancels_its_requests_and_closes_its_streams) {
  const hondana::manual_clock clock;
  library with;
  gate slow(with);
  const a_session one(with);
  client asking(with.port());
  asking.send(post(read("memo:///slow", "1", "p"), one.field()));
  EXPECT_NE(asking.receive_until("half\"}}").find("200 OK"), std::string::npos);
  client standing(with.port());
  standing.send(one.get());
  EXPECT_NE(standing.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  EXPECT_EQ(one.end(), 204);
  EXPECT_TRUE(slow.stopped.reaches(1));
  EXPECT_TRUE(asking.receive_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
  EXPECT_TRUE(standing.receive_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
  EXPECT_EQ(one.end(), 404);
}

TEST(http_sessions, a_request_of_one_that_is_deleted_is_told_so) {
  library with;
  gate slow(with);
  const a_session one(with);
  client asking(with.port());
  asking.send(post(read("memo:///slow", "1"), one.field()));
  ASSERT_TRUE(slow.begun.reaches(1));
  EXPECT_EQ(one.end(), 204);
  EXPECT_EQ(asking.receive().status, 404);
}

// attacks: resource exhaustion (answers that wait for others hold nothing that everybody needs)
TEST(http_sessions, a_batch_of_many_large_answers_is_answered_whole) {
  library with;
  const auto content = std::make_shared<const std::string>(std::string(100'000, 'x'));
  with.source->entries["memo:///large"] = [content](const auto&) {
    hondana::read_result all;
    all.contents.emplace_back();
    all.contents.back().data = content;
    return all;
  };
  const a_session one(with, "2025-03-26");
  const auto ask = [&](int count) {
    std::string batch(1, '[');
    for (int i = 1; i <= count; ++i) batch += (i == 1 ? "" : ",") + read("memo:///large", std::to_string(i));
    client peer(with.port());
    peer.send(post(batch + ']', one.field() + "MCP-Protocol-Version: 2025-03-26\r\n"));
    return peer.receive();
  };
  const auto all = ask(100);
  EXPECT_EQ(all.status, 200);
  EXPECT_GT(all.body.size(), 10'000'000u);
  EXPECT_EQ(all.body.find("\"error\""), std::string::npos);
  // 32 MiB together, and no more.
  with.source->entries["memo:///large"] = [](const auto&) { return hondana::text_read_result(std::string(900'000, 'x')); };
  const auto most = ask(50);
  EXPECT_NE(most.body.find("Send this request in a message of its own"), std::string::npos);
  EXPECT_LT(most.body.size(), 36'000'000u);
  EXPECT_GT(most.body.size(), 30'000'000u);
}

TEST(http_sessions, a_second_stream_takes_over_from_the_first) {
  library with;
  const a_session one(with);
  client first(with.port());
  first.send(one.get());
  EXPECT_NE(first.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  client second(with.port());
  second.send(one.get());
  EXPECT_NE(second.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  EXPECT_TRUE(first.receive_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
}

TEST(http_sessions, older_clients_get_no_event_without_data) {
  library with;
  const a_session one(with, "2025-03-26");
  client peer(with.port());
  peer.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n" +
            one.field() + "Content-Length: " + std::to_string(request("ping", "1").size()) + "\r\n\r\n" + request("ping", "1"));
  EXPECT_EQ(peer.receive().body, "id: 2-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
}

TEST(http_sessions, a_thousand_abandoned_ones_make_room_for_the_next) {
  hondana::transport::http_server::limits few;
  few.max_sessions = 10;
  library with(few);
  const a_session kept(with);
  client holding(with.port());
  holding.send(kept.get());
  EXPECT_NE(holding.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  const a_session abandoned(with);
  for (int i = 0; i < 1'000; ++i) const a_session another(with);
  EXPECT_EQ(kept.end(), 204) << "what is in use stays";
  EXPECT_EQ(abandoned.end(), 404);
}

TEST(http_sessions, when_all_are_in_use_a_new_one_is_refused) {
  hondana::transport::http_server::limits few;
  few.max_sessions = 1;
  library with(few);
  const a_session one(with);
  client holding(with.port());
  holding.send(one.get());
  EXPECT_NE(holding.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  client peer(with.port());
  peer.send(post(request("initialize", "0",
                         R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})")));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  EXPECT_FALSE(got.fields.contains("mcp-session-id"));
}

TEST(http_sessions, idle_ones_end) {
  hondana::transport::http_server::limits hasty;
  hasty.session_idle_timeout = std::chrono::milliseconds(30);
  library with(hasty);
  const a_session one(with);
  EXPECT_TRUE(hondana_test::eventually([&] { return with.service->sessions() == 0; }));
  EXPECT_EQ(one.end(), 404);
}

TEST(http_sessions, draining_ends_their_streams_at_once) {
  library with;
  const a_session one(with);
  client standing(with.port());
  standing.send(one.get());
  EXPECT_NE(standing.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  with.service->drain(hondana_test::event_deadline);
  EXPECT_EQ(with.service->connections(), 0u);
  EXPECT_TRUE(standing.receive_until("0\r\n\r\n").ends_with("0\r\n\r\n")) << "it ended as a stream should";
}

// requires: 2024-11-05/pair.two_endpoints 2024-11-05/pair.endpoint_event
TEST(http_pair, answers_come_on_the_stream_that_named_the_address) {
  library with;
  client stream(with.port());
  stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  const auto opening = stream.receive_until("\n\n");
  const auto named = opening.find("event: endpoint\ndata: /message?sessionId=");
  ASSERT_NE(named, std::string::npos) << opening;
  const auto target = opening.substr(named + 22, opening.find("\n\n", named) - named - 22);
  const auto say = [&](const std::string& body) {
    client peer(with.port());
    peer.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
    return peer.receive().status;
  };
  EXPECT_EQ(say(request("initialize", "1",
                        R"({"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}})")),
            202);
  const auto answer = stream.receive_until("\n\n");
  EXPECT_NE(answer.find("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\""),
            std::string::npos)
      << answer;
  EXPECT_EQ(say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 202);
  EXPECT_EQ(say(read("memo:///a", "2")), 202);
  EXPECT_NE(stream.receive_until("\n\n").find("hello"), std::string::npos);
  EXPECT_EQ(say("{"), 202);
  EXPECT_NE(stream.receive_until("\n\n").find("-32700"), std::string::npos);

  // Its session is not one of /mcp's, and ends with its stream.
  client stranger(with.port());
  stranger.send(post(request("ping", "3"), "Mcp-Session-Id: " + target.substr(target.find('=') + 1) + "\r\n"));
  EXPECT_EQ(stranger.receive().status, 404);
  stream.vanish();
  EXPECT_TRUE(hondana_test::eventually([&] { return say(request("ping", "4")) == 404; }));
}

}  // namespace
