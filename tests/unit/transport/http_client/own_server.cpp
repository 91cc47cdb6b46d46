/// The client's HTTP against the server of this library.
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/http_client/small_request.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana_test::kept_words;

hondana::channel::outgoing_message modern(std::uint64_t id, const std::string& method, const std::string& params = {}) {
  hondana::channel::outgoing_message out;
  out.text =
      R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":{)" + params +
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  out.call = id;
  out.headers = {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}};
  return out;
}

hondana::channel::outgoing_message legacy(std::uint64_t id, const std::string& method, const std::string& params = "{}") {
  hondana::channel::outgoing_message out;
  out.text = R"({"jsonrpc":"2.0",)" + (id == 0 ? std::string() : "\"id\":" + std::to_string(id) + ",") + R"("method":")" +
             method + R"(","params":)" + params + "}";
  out.call = id;
  out.is_opening = method == "initialize";
  return out;
}

/// By TCP, or by a Unix socket.
class own_server : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/hondana-calls-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    memory_ = std::make_shared<hondana::memory_provider>("memos", "memo:///");
    ASSERT_TRUE(put("hello"));
    ASSERT_TRUE(server_.add(memory_));
    hondana::http_options where;
    where.port = 0;
    if (GetParam()) where.socket_path = folder_ + "/s";
    where.admin_address = "127.0.0.1:0";
    auto started = hondana::http_service::start(server_, where);
    ASSERT_TRUE(started) << started.error().public_text;
    service_ = std::make_unique<hondana::http_service>(std::move(*started));
    hondana::http_target target;
    target.url = GetParam() ? "http://localhost/mcp" : "http://127.0.0.1:" + std::to_string(service_->port()) + "/mcp";
    target.socket_path = where.socket_path;
    target.proxy = "none";
    auto made = hondana::transport::http_client::make_http(target, heard_, {}, {});
    ASSERT_TRUE(made) << made.error().public_text;
    channel_ = std::move(*made);
  }
  void TearDown() override {
    channel_.reset();
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Whether the server keeps so many sessions.
  bool keeps_sessions(int count) {
    const auto page = hondana::transport::http_client::call_guarded(
        {.url = "http://127.0.0.1:" + std::to_string(service_->admin_port()) + "/metrics"}, {{"127.0.0.1"}, {}, {}}, {});
    return page && page->body.find("\nhondana_http_sessions " + std::to_string(count) + "\n") != std::string::npos;
  }

  hondana::result<void> put(std::string text) {
    hondana::resource entry;
    entry.uri = "memo:///a";
    entry.name = "a";
    return memory_->add(std::move(entry), std::move(text));
  }

  std::string folder_;
  std::shared_ptr<hondana::memory_provider> memory_;
  hondana::server server_ = must(hondana::server::create());
  std::unique_ptr<hondana::http_service> service_;
  kept_words heard_;
  std::unique_ptr<hondana::channel::channel> channel_;
};

TEST_P(own_server, discovers_and_reads_in_the_modern_way) {
  channel_->send(modern(1, "server/discover"));
  ASSERT_TRUE(heard_.ending_of(1));
  channel_->complete_handshake({}, false);
  auto reading = modern(2, "resources/read", R"("uri":"memo:///a",)");
  reading.headers.emplace_back("Mcp-Name", "memo:///a");
  std::string content;
  reading.content = [&](std::size_t, std::string_view bytes) {
    content += bytes;
    return hondana::result<void>();
  };
  channel_->send(std::move(reading));
  ASSERT_TRUE(heard_.ending_of(2));
  const auto messages = heard_.messages(2);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].text.find("2026-07-28"), std::string::npos) << messages[0].text;
  EXPECT_EQ(messages[1].call, 2u);
  EXPECT_EQ(content, "hello");
}

TEST_P(own_server, keeps_a_session_and_hears_of_changes_on_its_stream) {
  channel_->send(
      legacy(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  ASSERT_TRUE(heard_.ending_of(1));
  channel_->complete_handshake({{"MCP-Protocol-Version", "2025-11-25"}}, true);
  channel_->send(legacy(0, "notifications/initialized"));
  channel_->send(legacy(2, "resources/subscribe", R"({"uri":"memo:///a"})"));
  ASSERT_TRUE(heard_.ending_of(2));
  ASSERT_EQ(heard_.messages(2).size(), 2u);
  ASSERT_TRUE(put("changed"));
  const auto messages = heard_.messages(3);
  ASSERT_GE(messages.size(), 3u);
  EXPECT_EQ(messages[2].call, 0u);
  EXPECT_NE(messages[2].text.find("notifications/resources/"), std::string::npos) << messages[2].text;
  channel_->close(hondana_test::event_deadline);
}

TEST_P(own_server, closing_ends_the_session_there) {
  channel_->send(
      legacy(1, "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  ASSERT_TRUE(heard_.ending_of(1));
  channel_->complete_handshake({{"MCP-Protocol-Version", "2025-06-18"}}, true);
  channel_->send(legacy(0, "notifications/initialized"));
  channel_->send(legacy(2, "ping"));
  ASSERT_TRUE(heard_.ending_of(2));
  EXPECT_EQ(heard_.messages(2).at(1).text, R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_TRUE(keeps_sessions(1));
  channel_->close(hondana_test::event_deadline);
  EXPECT_TRUE(keeps_sessions(0));
}

TEST_P(own_server, an_unsupported_revision_is_an_error_with_its_body) {
  auto asking = modern(1, "server/discover");
  asking.text.replace(asking.text.find("2026-07-28"), 10, "2099-01-01");
  asking.headers[0].second = "2099-01-01";
  channel_->send(std::move(asking));
  const auto how = heard_.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 400);
  EXPECT_NE(how->body.find("-32022"), std::string::npos) << how->body;
}

INSTANTIATE_TEST_SUITE_P(by, own_server, testing::Bool(), [](const auto& one) { return one.param ? "socket" : "port"; });

}  // namespace
