/// The versioned dialect over sockets: changes told with the entry, on the stream of a session and on one of its own.
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::library;
using hondana_test::post;

constexpr std::string_view told_change = R"("method":"notifications/resources/content_changed","params":{)";
constexpr std::string_view entry = R"("resource":{"uri":"note:///a","name":"a","kind":"note","version":"v2")";

/// One note.
class notes final : public hondana::provider, public hondana::entry_source {
 public:
  std::string name() const override { return "notes"; }
  std::vector<std::string> claims() const override { return {"note:///"}; }
  hondana::scheme_documentation documentation() const override { return {"note", "A note.", {}, {}}; }
  hondana::result<hondana::list_result> list(const hondana::list_request&) override { return hondana::list_result{}; }
  hondana::result<hondana::read_result> read(const hondana::read_request&) override {
    auto found = hondana::text_read_result("two");
    found.version = "v2";
    return found;
  }
  hondana::result<hondana::resource> describe(const hondana::describe_request& request) override {
    hondana::resource one;
    one.uri = request.uri;
    one.name = "a";
    one.kind = "note";
    one.version = "v2";
    return one;
  }
};

TEST(http_entries, come_on_the_stream_of_a_session_once_its_list_is_subscribed_to) {
  library with;
  ASSERT_TRUE(with.server.add(std::make_shared<notes>()));
  client peer(with.port());
  peer.send(post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":)"
                 R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"));
  const auto session = "Mcp-Session-Id: " + peer.receive().fields.at("mcp-session-id") + "\r\n";
  peer.send(post(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uris":["note:///a"]}})", session));
  EXPECT_EQ(peer.receive().body, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  client standing(with.port());
  standing.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + session + "\r\n");
  EXPECT_NE(standing.receive_until("data: \n\n").find("200 OK"), std::string::npos);
  ASSERT_TRUE(with.server.notify_resource_updated("note:///a"));
  const auto event = standing.receive_until("}}}\n\n");
  EXPECT_NE(event.find(std::string(told_change) + std::string(entry)), std::string::npos) << event;
  // Having asked in the dialect, the session is answered in it.
  peer.send(post(R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"note:///a","version":"v2"}})", session));
  EXPECT_NE(peer.receive().body.find(R"("code":304)"), std::string::npos);
}

TEST(http_entries, come_on_a_stream_that_was_opened_for_them) {
  library with;
  ASSERT_TRUE(with.server.add(std::make_shared<notes>()));
  client stream(with.port());
  stream.send(post(hondana_test::modern("subscriptions/listen", "\"s\"",
                                        R"("notifications":{"dev.hondana/contentChanged":["note:///a","nobody:///x"]},)")));
  const auto acknowledged = stream.receive_until("\n\n");
  EXPECT_NE(acknowledged.find("text/event-stream"), std::string::npos) << acknowledged;
  const auto first = acknowledged.find("acknowledged") != std::string::npos ? acknowledged : stream.receive_until("\n\n");
  EXPECT_NE(first.find(R"("notifications":{"dev.hondana/contentChanged":["note:///a"]})"), std::string::npos) << first;
  ASSERT_TRUE(with.server.notify_resource_updated("note:///a"));
  const auto event = stream.receive_until("}}}\n\n");
  EXPECT_NE(
      event.find(std::string(told_change) + R"("_meta":{"io.modelcontextprotocol/subscriptionId":"s"},)" + std::string(entry)),
      std::string::npos)
      << event;
}

TEST(http_entries, are_got_by_a_stateless_request_with_its_contents) {
  library with;
  ASSERT_TRUE(with.server.add(std::make_shared<notes>()));
  client peer(with.port());
  peer.send(post(hondana_test::modern("resources/get", "1", R"("uri":"note:///a",)")));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_NE(got.body.find(R"("contents":{"contentType":"text/plain","content":"two"})"), std::string::npos) << got.body;
  peer.send(post(hondana_test::modern("resources/get", "2", R"("uri":"note:///a","version":"v2",)")));
  const auto same = peer.receive();
  EXPECT_EQ(same.status, 200);
  EXPECT_NE(same.body.find(R"({"code":304,"message":"Not Modified","data":{"uri":"note:///a","version":"v2"}})"),
            std::string::npos)
      << same.body;
}

}  // namespace
