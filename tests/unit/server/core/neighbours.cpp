/// Sources that bring tools and hear of the others.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/provider_host.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// Has one tool, which tells the version of what it is asked for.
class curious : public provider, public provider_extension {
 public:
  explicit curious(std::string tool_name = "version_of") : tool_name_(std::move(tool_name)) {}
  std::string name() const override { return "curious " + tool_name_; }
  std::vector<std::string> claims() const override { return {"curious://" + tool_name_ + "/"}; }
  scheme_documentation documentation() const override { return {}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request&) override { return fail(errc::resource_not_found, "Resource not found"); }

  std::vector<source_tool> tools() override {
    source_tool out;
    out.entry.name = tool_name_;
    out.handler = [this](const tool_call& call) -> result<tool_outcome> {
      const auto there = where();
      if (!there) return error_result("nowhere");
      auto version = there->version_of(call, call.arguments.string_at("uri").value_or(""));
      if (!version) return tl::unexpected(std::move(version.error()));
      return text_result("version " + *version);
    };
    out.audit_uris = [](const value& arguments) { return std::vector{arguments.string_at("uri").value_or("")}; };
    return {out};
  }
  void set_host(std::shared_ptr<provider_host> in) override {
    const std::lock_guard lock(mutex_);
    where_ = std::move(in);
  }
  void resource_changed(std::string_view uri) override {
    const std::lock_guard lock(mutex_);
    heard_.emplace_back(uri);
    changed_.notify_all();
  }

  std::shared_ptr<provider_host> where() {
    const std::lock_guard lock(mutex_);
    return where_;
  }
  bool hears(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline,
                             [&] { return std::find(heard_.begin(), heard_.end(), uri) != heard_.end(); });
  }

 private:
  const std::string tool_name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<provider_host> where_;
  std::vector<std::string> heard_;
};

/// Asks as soon as it is listened to, which is before whoever added it goes on.
class hasty final : public curious, public change_source {
 public:
  void set_listener(std::shared_ptr<change_listener> to) override {
    if (to && ask && said.empty()) said = ask();
  }
  std::function<std::string()> ask;
  std::string said;
};

resource versioned_entry(const std::string& uri, std::string version = {}) {
  resource out;
  out.uri = uri;
  out.name = uri;
  out.version = std::move(version);
  return out;
}

std::string call_tool(server& of, const std::string& name, const std::string& uri) {
  memory_peer peer(of);
  peer.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name + R"(","arguments":{"uri":")" + uri +
            R"("},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  return peer.receive(monotonic_clock::now() + hondana_test::event_deadline).value_or("no answer");
}

TEST(neighbours, bring_tools_that_ask_for_versions_of_what_others_serve) {
  server of = must(server::create(server_options{}));
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///a", "v7"), "text"));
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///b"), "without a version"));
  const auto who = std::make_shared<curious>();
  ASSERT_TRUE(of.add(shelf));
  ASSERT_TRUE(of.add(who));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///a"), HasSubstr("version v7"));
  const auto by_content = call_tool(of, "version_of", "memo:///b");
  EXPECT_THAT(by_content, HasSubstr("version content-"));
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///b"), "another content"));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///b"), AllOf(HasSubstr("version content-"), testing::Ne(by_content)));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///c"), AllOf(HasSubstr("isError\":true"), HasSubstr("not found")));
}

/// One entry; what its reads give is set.
class dated final : public provider, public watch_source {
 public:
  std::string name() const override { return "dated"; }
  std::vector<std::string> claims() const override { return {"dated:///"}; }
  scheme_documentation documentation() const override { return {}; }
  result<list_result> list(const list_request&) override {
    list_result out;
    out.entries.push_back(entry);
    return out;
  }
  result<read_result> read(const read_request&) override {
    ++reads;
    return gives;
  }
  void watch(const std::string&) override { ++attached; }
  void unwatch(const std::string&) override { --attached; }
  resource entry = versioned_entry("dated:///a", "listed");
  result<read_result> gives = text_read_result("text");
  int reads = 0;
  int attached = 0;
};

TEST(neighbours, are_told_the_listed_version_of_what_reads_have_none_of_or_refuse) {
  server of = must(server::create(server_options{}));
  const auto source = std::make_shared<dated>();
  ASSERT_TRUE(of.add(source));
  ASSERT_TRUE(of.add(std::make_shared<curious>()));
  EXPECT_THAT(call_tool(of, "version_of", "dated:///a"), HasSubstr("version listed"));
  EXPECT_EQ(source->reads, 0) << "what has not changed lately has the version that is listed";
  source->entry.annotations.last_modified =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now() + 1h);
  EXPECT_THAT(call_tool(of, "version_of", "dated:///a"), HasSubstr("version listed"));
  EXPECT_EQ(source->reads, 1) << "a reading without a version";
  source->gives = fail(errc::access_denied, "nobody may read it");
  EXPECT_THAT(call_tool(of, "version_of", "dated:///a"), HasSubstr("version listed"));
  source->gives = text_read_result("text");
  source->gives->version = "read";
  EXPECT_THAT(call_tool(of, "version_of", "dated:///a"), HasSubstr("version read"));
}

TEST(neighbours, know_the_others_before_their_first_call) {
  server of = must(server::create(server_options{}));
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///a", "v7"), "text"));
  ASSERT_TRUE(of.add(shelf));
  const auto added = std::make_shared<hasty>();
  added->ask = [&of] { return call_tool(of, "version_of", "memo:///a"); };
  ASSERT_TRUE(of.add(added));
  EXPECT_THAT(added->said, HasSubstr("version v7"));
  // As at a reload that makes a source anew.
  const auto anew = std::make_shared<hasty>();
  anew->ask = added->ask;
  ASSERT_TRUE(of.replace(server_options{}, {shelf, anew}));
  EXPECT_THAT(anew->said, HasSubstr("version v7"));
}

TEST(neighbours, are_told_versions_only_of_what_their_caller_may_read) {
  server_options how;
  access_rule tools;
  tools.tools = {"*"};
  tools.level = access_level::read;
  access_rule open;
  open.uris = {"memo:///"};
  open.level = access_level::read;
  access_rule closed;
  closed.uris = {"memo:///secret"};
  closed.level = access_level::list;
  how.access.rules = {tools, open, closed};
  server of = must(server::create(how));
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///a", "v7"), "text"));
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///secret", "v8"), "text"));
  ASSERT_TRUE(of.add(shelf));
  ASSERT_TRUE(of.add(std::make_shared<curious>()));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///a"), HasSubstr("version v7"));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///secret"), AllOf(Not(HasSubstr("v8")), HasSubstr("not found")));
}

TEST(neighbours, have_tools_that_rules_do_not_grant_unless_they_say_so) {
  server_options how;
  access_rule open;
  open.uris = {"memo:///"};
  open.level = access_level::read;
  how.access.rules = {open};
  server of = must(server::create(how));
  ASSERT_TRUE(of.add(std::make_shared<curious>()));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///a"), HasSubstr("Unknown tool"));
}

TEST(neighbours, hear_of_what_they_watch_until_they_are_let_go) {
  auto of = std::make_unique<server>(must(server::create(server_options{})));
  const auto shelf = std::make_shared<memory_provider>("shelf", "memo:///");
  const auto who = std::make_shared<curious>();
  ASSERT_TRUE(of->add(who));
  ASSERT_TRUE(of->add(shelf));
  const auto there = who->where();
  ASSERT_NE(there, nullptr);
  ASSERT_TRUE(there->watch("memo:///a"));
  ASSERT_TRUE(shelf->add(versioned_entry("memo:///a"), "text"));
  EXPECT_TRUE(who->hears("memo:///a"));
  of.reset();
  EXPECT_EQ(who->where(), nullptr);
}

TEST(neighbours, that_have_been_let_go_watch_nothing_any_more) {
  server of = must(server::create(server_options{}));
  const auto source = std::make_shared<dated>();
  const auto who = std::make_shared<curious>();
  ASSERT_TRUE(of.add(source));
  ASSERT_TRUE(of.add(who));
  // As a tool does that is still called while its source goes.
  const auto there = who->where();
  ASSERT_TRUE(there->watch("dated:///a"));
  EXPECT_EQ(source->attached, 1);
  ASSERT_TRUE(of.replace(server_options{}, {source}));
  EXPECT_EQ(source->attached, 0);
  EXPECT_FALSE(there->watch("dated:///a"));
  EXPECT_EQ(source->attached, 0);
}

TEST(neighbours, whose_tools_have_one_name_cannot_be_together) {
  server of = must(server::create(server_options{}));
  tool own;
  own.name = "version_of";
  ASSERT_TRUE(of.add_tool(own, [](const tool_call&) -> result<tool_outcome> { return text_result("mine"); }));
  const auto refused = of.add(std::make_shared<curious>());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().public_text, HasSubstr("version_of"));
  ASSERT_TRUE(of.remove_tool("version_of"));
  ASSERT_TRUE(of.add(std::make_shared<curious>()));
  EXPECT_FALSE(of.remove_tool("version_of")) << "it goes with its source alone";
  EXPECT_FALSE(of.add_tool(own, [](const tool_call&) -> result<tool_outcome> { return text_result("mine"); }));
  ASSERT_TRUE(of.replace({}, {}));
  EXPECT_THAT(call_tool(of, "version_of", "memo:///a"), HasSubstr("Unknown tool"));
}

}  // namespace
