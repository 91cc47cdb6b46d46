/// The server's own tools beside those of an application: who may have which name, and what is declared.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"
#include "unit/server/catalog/scripted_provider.hpp"

namespace hondana {
namespace {

const tool_handler silent = [](const tool_call&) { return text_result("mine"); };

tool named_tool(std::string name) {
  tool out;
  out.name = std::move(name);
  return out;
}

class resource_tools : public testing::Test {
 protected:
  static server_options with_tools(bool has_them) {
    server_options options;
    options.has_resource_tools = has_them;
    return options;
  }
  /// What a server answers to one request of a session.
  static std::string ask(server& of, const std::string& request) {
    memory_peer peer(of);
    peer.send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
              R"("clientInfo":{"name":"c","version":"1"}}})");
    auto answer = receive(peer);
    if (request.empty()) return answer;
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    peer.send(request);
    return receive(peer);
  }
  static std::string receive(memory_peer& from) {
    return from.receive(monotonic_clock::now() + hondana_test::event_deadline).value_or("nothing");
  }
  static std::string call(const std::string& name, const std::string& arguments) {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name + R"(","arguments":)" + arguments +
           "}}";
  }

 private:
  manual_clock clock_;  // What has changed is not told.
};

TEST_F(resource_tools, are_off_for_applications_unless_wanted) {
  server plain = must(server::create());
  EXPECT_EQ(ask(plain, "").find("\"tools\""), std::string::npos);
  server bridged = must(server::create(with_tools(true)));
  EXPECT_NE(ask(bridged, "").find("\"tools\""), std::string::npos);
  EXPECT_EQ(ask(bridged, "").find("\"logging\""), std::string::npos);
}

TEST_F(resource_tools, and_those_of_the_application_never_share_a_name) {
  server bridged = must(server::create(with_tools(true)));
  const auto refused = bridged.add_tool(named_tool("read_resource"), silent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().public_text.find("the server's own tool \"read_resource\""), std::string::npos);
  EXPECT_NE(refused.error().public_text.find("the application's \"read_resource\""), std::string::npos);
  EXPECT_TRUE(bridged.add_tool(named_tool("mine"), silent));
  EXPECT_FALSE(bridged.remove_tool("read_resource"));
  EXPECT_NE(ask(bridged, "").find("\"logging\""), std::string::npos);  // the application's may log
  EXPECT_NE(ask(bridged, call("mine", "{}")).find("mine"), std::string::npos);

  server other = must(server::create());
  ASSERT_TRUE(other.add_tool(named_tool("search_resources"), silent));
  const auto clash = other.replace(with_tools(true), {});
  ASSERT_FALSE(clash);
  EXPECT_NE(clash.error().public_text.find("\"search_resources\""), std::string::npos);
  EXPECT_NE(ask(other, call("search_resources", "{}")).find("mine"), std::string::npos);  // nothing has changed
}

TEST_F(resource_tools, come_and_go_with_the_options_and_see_the_sources_of_the_moment) {
  server changing = must(server::create());
  const auto notes = std::make_shared<test::scripted_provider>("notes", std::vector<std::string>{"note:///"});
  notes->on_read = [](const read_request&) { return text_read_result("hello"); };
  ASSERT_TRUE(changing.replace(with_tools(true), {notes}));
  const auto read = call("read_resource", R"({"uri":"note:///a"})");
  EXPECT_NE(ask(changing, read).find("hello"), std::string::npos);
  ASSERT_TRUE(changing.replace(with_tools(true), {}));
  EXPECT_NE(ask(changing, read).find("Resource not found: note:///a"), std::string::npos);
  ASSERT_TRUE(changing.replace(with_tools(false), {notes}));
  EXPECT_NE(ask(changing, read).find("Unknown tool: read_resource"), std::string::npos);
  EXPECT_TRUE(changing.add_tool(named_tool("read_resource"), silent));
}

}  // namespace
}  // namespace hondana
