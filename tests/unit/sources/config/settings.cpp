/// The configuration file as a whole.
#include "sources/config/settings.hpp"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hondana::config {
namespace {

TEST(settings, an_empty_file_means_the_defaults) {
  const auto made = parse("", "t.toml");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "hondana");
  EXPECT_EQ(made->page_size, 500u);
  EXPECT_EQ(made->max_read_bytes, 67108864u);
  EXPECT_EQ(made->read_cache_bytes, 33554432u);
  EXPECT_EQ(made->page_cache_bytes, 8388608u);
  EXPECT_TRUE(made->supports_list_changes);
  EXPECT_TRUE(made->supports_subscriptions);
  EXPECT_EQ(made->http.port, 7325);
  EXPECT_EQ(made->http.address, "127.0.0.1");
  EXPECT_TRUE(made->sources.empty());
  EXPECT_TRUE(made->has_resource_tools);
}

TEST(settings, everything_the_file_can_say_is_read) {
  const auto made = parse(R"(
name = "shelf"
title = "The shelf"
instructions = "Read the README first."
tools = false
page_size = 100
max_read_bytes = "1GiB"
read_cache_bytes = 0
page_cache_bytes = "64KiB"
list_changes = false
subscriptions = false
call_timeout_ms = 1000
stall_timeout_ms = 2000

[http]
address = "::1"
port = 0

[stdio]
drain_timeout_ms = 3000

[[source]]
type = "files"
path = "/srv"

[[link]]
uri = "https://example.com/Manual"
name = "manual"
title = "The manual"
priority = 0.5
)",
                          "t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->stdio_drain_timeout, std::chrono::seconds(3));
  EXPECT_EQ(made->title, "The shelf");
  EXPECT_EQ(made->instructions, "Read the README first.");
  EXPECT_FALSE(made->has_resource_tools);
  EXPECT_EQ(made->page_size, 100u);
  EXPECT_EQ(made->max_read_bytes, 1073741824u);
  EXPECT_EQ(made->read_cache_bytes, 0u);
  EXPECT_EQ(made->page_cache_bytes, 65536u);
  EXPECT_FALSE(made->supports_list_changes);
  EXPECT_FALSE(made->supports_subscriptions);
  EXPECT_EQ(made->call_timeout.count(), 1000);
  EXPECT_EQ(made->stall_timeout.count(), 2000);
  EXPECT_EQ(made->http.address, "::1");
  EXPECT_EQ(made->http.port, 0);
  ASSERT_EQ(made->sources.size(), 1u);
  EXPECT_EQ(made->sources[0].type, "files");
  ASSERT_EQ(made->links.size(), 1u);
  EXPECT_EQ(made->links[0].uri, "https://example.com/Manual");
  EXPECT_EQ(made->links[0].annotations.priority, 0.5);
}

TEST(settings, a_link_that_cannot_be_served_is_refused_with_its_line_and_what_is_wrong) {
  const auto refusal = [](const std::string& uri) {
    return parse("[[link]]\nname = \"a\"\n" + uri, "t.toml").error().public_text;
  };
  const std::string way_on = " Give the https:// address that clients should fetch, e.g. uri = \"https://example.com/manual\"";
  EXPECT_EQ(refusal(""), "t.toml:1: link.uri: missing." + way_on);
  EXPECT_EQ(refusal("uri = \"\"\n"), "t.toml:3: link.uri: missing." + way_on);
  EXPECT_EQ(refusal("uri = \"HTTP://example.com/\"\n"),
            "t.toml:3: link.uri: begins with http://, which others on the network could read and change. Write https://");
  EXPECT_EQ(refusal("uri = \"https://example.com/a b\"\n"),
            "t.toml:3: link.uri: the URI has a space in its path at byte 21; write it as %20");
  for (const auto* other : {"ftp://example.com/", "example.com", " https://example.com/"}) {
    EXPECT_EQ(refusal(std::string("uri = \"") + other + "\"\n"),
              "t.toml:3: link.uri: does not begin with https://; other schemes are served by sources." + way_on);
  }
  EXPECT_EQ(refusal("uri = 1\n"), "t.toml:3: link.uri: expected a string in quotes");
}

TEST(settings, a_source_without_a_type_is_refused) {
  EXPECT_EQ(parse("[[source]]\npath = \"/srv\"\n", "t.toml").error().public_text,
            "t.toml:1: source.type: missing; say which kind of source this is, e.g. type = \"files\"");
}

TEST(settings, an_unknown_key_is_refused) {
  const auto made = parse("pagesize = 5\n", "t.toml");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().public_text.rfind("t.toml:1: pagesize: unknown key; did you mean \"page_size\"? Known here: ", 0), 0u);
}

TEST(settings, a_missing_file_says_so) {
  EXPECT_EQ(
      load("/nonexistent/h.toml").error().public_text,
      "Cannot open the configuration file /nonexistent/h.toml: No such file or directory. Check the path after --config.");
}

TEST(settings, a_huge_file_is_refused) {
  const auto path = testing::TempDir() + "huge.toml";
  std::ofstream(path) << std::string((1 << 20) + 1, '#');
  const auto made = load(path);
  std::remove(path.c_str());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().public_text.find("more than 1 MiB"), std::string::npos);
}

// attacks: secrets (a key that the configuration names and a folder holds)
TEST(settings, files_of_the_servers_own_are_those_that_keys_name_wherever_they_stand) {
  const auto made = parse(R"(
[http.tls]
certificate_file = "tls/cert.pem"
key_file = "tls/own.dat"
[auth]
tokens = "tokens"
[[source]]
type = "mcp"
name = "m"
url = "https://m.example/mcp"
certificate_file = "/tls/cert.dat"
key_file = "/tls/client.dat"
[[source]]
type = "mcp"
name = "n"
command = ["server"]
environment = {GOOGLE_CREDENTIALS = "/run/google.json", TLS_KEY_FILE = "/run/child.key", API_KEY = "/secret", LANG = "C"}
[[source]]
type = "metrics"
name = "p"
store = "p.db"
[[source.scrape]]
url = "http://p.example/"
password_file = "scrape.password"
)",
                          "/etc/h.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_THAT(made->root_table->find_own_files(),
              testing::UnorderedElementsAre("/etc/tls/own.dat", "/etc/tokens", "/tls/client.dat", "/run/google.json",
                                            "/run/child.key", "/etc/p.db", "/etc/scrape.password"));
}

}  // namespace
}  // namespace hondana::config
