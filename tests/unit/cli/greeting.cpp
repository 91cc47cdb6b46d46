/// What a person sees at start.
#include "cli/greeting.hpp"

#include <hondana/memory.hpp>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

TEST(greeting, names_what_is_served_where_and_how_to_connect) {
  const auto shelf = std::make_shared<memory_provider>("memo", "memo:///");
  const auto text =
      greeting({"/opt/my tools/hondana", {"stdio", "/home/o'hara/project"}, {shelf}, "http://127.0.0.1:7325/mcp"});
  EXPECT_NE(text.find("serves at http://127.0.0.1:7325/mcp"), std::string::npos);
  EXPECT_NE(text.find("  memo  memo:///\n"), std::string::npos);
  EXPECT_NE(text.find("claude mcp add --transport http hondana http://127.0.0.1:7325/mcp\n"), std::string::npos);
  EXPECT_NE(text.find(R"({"mcpServers":{"hondana":{"url":"http://127.0.0.1:7325/mcp"}}})"), std::string::npos);
  EXPECT_NE(text.find("curl -s http://127.0.0.1:7325/mcp "), std::string::npos);
  EXPECT_NE(text.find("claude mcp add hondana -- '/opt/my tools/hondana' stdio '/home/o'\\''hara/project'\n"),
            std::string::npos);
  EXPECT_NE(
      text.find(R"({"mcpServers":{"hondana":{"command":"/opt/my tools/hondana","args":["stdio","/home/o'hara/project"]}}})"),
      std::string::npos);
  EXPECT_NE(text.find(R"({"servers":{"hondana":)"), std::string::npos);
  EXPECT_NE(text.find(R"({"context_servers":{"hondana":)"), std::string::npos);
}

TEST(greeting, over_stdio_says_what_it_waits_for) {
  const auto text = greeting({"/bin/hondana", {"stdio", "."}, {}});
  EXPECT_NE(text.find("Waiting for messages"), std::string::npos);
  EXPECT_EQ(text.find("curl"), std::string::npos);
}

}  // namespace
}  // namespace hondana::cli
