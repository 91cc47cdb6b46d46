/// Pages of lists that a whole server keeps: sent again, gone with a reload, and none where they are off.
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "support/must.hpp"

namespace {

using namespace hondana;

class one_answer final : public rpc::response_writer {
 public:
  void answer(rpc::outgoing_response what) override {
    said.set_value(what.content ? what.content->extract_text() : std::string());
  }
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string) override { return rpc::send_outcome::accepted; }
  std::promise<std::string> said;
};

class pages_of_a_server : public testing::Test {
 protected:
  pages_of_a_server() { EXPECT_TRUE(memos_->add({.uri = "memo:///a", .name = "a"}, "text")); }

  std::string list(server& of) {
    const auto out = std::make_shared<one_answer>();
    auto answer = out->said.get_future();
    const auto asked = session::session::open(of.core());
    asked->receive(
        R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
        {}, out);
    if (answer.wait_for(hondana_test::event_deadline) != std::future_status::ready) return "no answer";
    return answer.get();
  }

  std::shared_ptr<memory_provider> memos_ = std::make_shared<memory_provider>("memos", "memo:///");
};

TEST_F(pages_of_a_server, are_sent_again_and_gone_with_a_reload) {
  server of = must(server::create({.name = "s", .version = "1"}));
  ASSERT_TRUE(of.replace({.name = "s", .version = "1"}, {memos_}));
  const auto first = list(of);
  EXPECT_NE(first.find("memo:///a"), std::string::npos) << first;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(list(of), first);
  EXPECT_EQ(of.page_statistics().hits, 2u);
  EXPECT_EQ(of.page_statistics().entries, 1u);

  server_options strict{.name = "s", .version = "1"};
  strict.access.rules.push_back({.identities = {"bob"}, .uris = {"memo:///**"}});
  ASSERT_TRUE(of.replace(strict, {memos_}));
  EXPECT_EQ(of.page_statistics().hits, 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(list(of).find("memo:///a"), std::string::npos);
}

TEST_F(pages_of_a_server, change_with_their_entries) {
  server of = must(server::create({.name = "s", .version = "1"}));
  ASSERT_TRUE(of.replace({.name = "s", .version = "1"}, {memos_}));
  for (int i = 0; i < 3; ++i) (void)list(of);
  ASSERT_TRUE(memos_->add({.uri = "memo:///b", .name = "b"}, "text"));
  EXPECT_NE(list(of).find("memo:///b"), std::string::npos);
}

TEST_F(pages_of_a_server, are_none_where_they_are_off) {
  server_options off{.name = "s", .version = "1"};
  off.page_cache_bytes = 0;
  server of = must(server::create(off));
  ASSERT_TRUE(of.replace(off, {memos_}));
  for (int i = 0; i < 3; ++i) (void)list(of);
  EXPECT_EQ(of.page_statistics().hits, 0u);
  EXPECT_EQ(of.page_statistics().entries, 0u);
}

}  // namespace
