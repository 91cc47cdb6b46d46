/// What a person sees at start.
#include "app/cli/greeting.hpp"

#include <hondana/memory_provider.hpp>

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

std::string curl_line_in(const std::string& text) {
  const auto begin = text.find("curl -s ");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(greeting, names_a_token_only_where_tokens_are_taken) {
  greeting_info facts;
  facts.url = "https://shelf.example/mcp";
  facts.authentication_methods = {"client certificates, identified by subject"};
  facts.requires_certificate = true;
  const auto by_certificate = curl_line_in(greeting(facts));
  EXPECT_EQ(by_certificate.find("Bearer"), std::string::npos) << by_certificate;
  EXPECT_NE(by_certificate.find("--cacert \"$AUTHORITIES\" --cert \"$CERTIFICATE\" --key \"$KEY\" https://shelf.example/mcp"),
            std::string::npos)
      << by_certificate;
  facts.accepts_tokens = true;
  facts.requires_certificate = false;
  const auto by_token = curl_line_in(greeting(facts));
  EXPECT_NE(by_token.find("-H \"Authorization: Bearer $TOKEN\""), std::string::npos) << by_token;
  EXPECT_EQ(by_token.find("--cert"), std::string::npos) << by_token;
}

TEST(greeting, hosts_get_a_place_for_a_token_where_they_cannot_log_in) {
  greeting_info facts;
  facts.url = "http://127.0.0.1:1/mcp";
  facts.accepts_tokens = true;
  const auto by_token = greeting(facts);
  EXPECT_NE(by_token.find("hondana http://127.0.0.1:1/mcp --header 'Authorization: Bearer TOKEN'\n"), std::string::npos);
  EXPECT_NE(by_token.find(R"("url":"http://127.0.0.1:1/mcp","headers":{"Authorization":"Bearer TOKEN"}}}})"),
            std::string::npos);
  facts.has_login = true;
  EXPECT_EQ(greeting(facts).find("Bearer TOKEN"), std::string::npos);
  facts.has_login = facts.accepts_tokens = false;
  facts.requires_certificate = true;
  EXPECT_EQ(greeting(facts).find("claude mcp add --transport http"), std::string::npos);
}

TEST(greeting, over_stdio_says_what_it_waits_for) {
  const auto text = greeting({"/bin/hondana", {"stdio", "."}, {}});
  EXPECT_NE(text.find("Waiting for messages"), std::string::npos);
  EXPECT_EQ(text.find("curl"), std::string::npos);
}

}  // namespace
}  // namespace hondana::cli
