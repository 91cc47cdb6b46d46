/// The table `[http]`: what it may say, and where a mistake is.
#include "sources/config/http_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

TEST(http_settings, everything_the_table_can_say_is_read) {
  const auto made = parse(R"([http]
address = "0.0.0.0"
port = 80
socket = "run/hondana.sock"
socket_mode = "0660"
socket_group = "shelf"
admin = "[::1]:7326"
hosts = ["mcp.example.com", "shelf:8080"]
origins = ["https://app.example"]
trusted_proxies = ["10.0.0.0/8", "unix"]
without_authentication = true
max_body_bytes = "1MiB"
max_header_bytes = 8192
max_connections = 100
max_connections_per_address = 10
max_sessions = 50
max_sessions_per_address = 5
header_timeout_ms = 1000
body_timeout_ms = 2000
keep_alive_timeout_ms = 3000
session_idle_timeout_ms = 5000
drain_timeout_ms = 4000
threads = 2
)",
                          "/etc/hondana/t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& http = made->http;
  EXPECT_EQ(http.address, "0.0.0.0");
  EXPECT_EQ(http.port, 80);
  EXPECT_EQ(http.socket_path, "/etc/hondana/run/hondana.sock");
  EXPECT_EQ(http.socket_mode, 0660u);
  EXPECT_EQ(http.socket_group, "shelf");
  EXPECT_EQ(http.admin_address, "[::1]:7326");
  EXPECT_EQ(http.allowed_hosts, (std::vector<std::string>{"mcp.example.com", "shelf:8080"}));
  EXPECT_EQ(http.allowed_origins, (std::vector<std::string>{"https://app.example"}));
  EXPECT_EQ(http.trusted_proxies, (std::vector<std::string>{"10.0.0.0/8", "unix"}));
  EXPECT_TRUE(http.without_authentication);
  EXPECT_EQ(http.max_body_bytes, 1u << 20);
  EXPECT_EQ(http.max_header_bytes, 8192u);
  EXPECT_EQ(http.max_connections, 100u);
  EXPECT_EQ(http.max_connections_per_address, 10u);
  EXPECT_EQ(http.max_sessions, 50u);
  EXPECT_EQ(http.max_sessions_per_address, 5u);
  EXPECT_EQ(http.session_idle_timeout.count(), 5000);
  EXPECT_EQ(http.header_timeout.count(), 1000);
  EXPECT_EQ(http.body_timeout.count(), 2000);
  EXPECT_EQ(http.keep_alive_timeout.count(), 3000);
  EXPECT_EQ(http.drain_timeout.count(), 4000);
  EXPECT_EQ(http.threads, 2u);
}

TEST(http_settings, a_mistake_is_named_with_its_line) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"address = \"localhost\"", "http.address: expected a literal address"},
           {"address = \"\"", "http.address: expected a literal address"},
           {"socket = \"\"", "http.socket: expected a path"},
           {"socket = \"/" + std::string(200, 'x') + '"', "http.socket: expected a path of at most 107 bytes"},
           {"socket_mode = \"0060\"", "http.socket_mode: expected a mode with read and write access for the owner"},
           {"socket_mode = \"06600\"", "http.socket_mode: expected a mode"},
           {"socket_mode = \"rw-\"", "http.socket_mode: expected a mode"},
           {"socket_mode = 660", "http.socket_mode: expected a string"},
           {"admin = \"7326\"", "http.admin: expected a literal address with a port"},
           {"admin = \"localhost:7326\"", "http.admin: expected a literal address with a port"},
           {"hosts = \"a\"", "http.hosts: expected an array of strings"},
           {"hosts = [\"a\", \"*.example\"]", "http.hosts: \"*.example\" is not a host"},
           {"hosts = [\"http://a\"]", "http.hosts: \"http://a\" is not a host"},
           {"origins = [\"null\"]", "http.origins: \"null\" is not an origin"},
           {"origins = [\"*\"]", "http.origins: \"*\" is not an origin"},
           {"origins = [\"https://app.example/\"]", "http.origins: \"https://app.example/\" is not an origin"},
           {"without_authentication = \"yes\"", "http.without_authentication: expected true or false"},
           {"max_body_bytes = 10", "http.max_body_bytes: expected 1024 to 1073741824 bytes"},
           {"max_header_bytes = \"2MiB\"", "http.max_header_bytes: expected 1024 to 1048576 bytes"},
           {"max_connections = 0", "http.max_connections: expected an integer from 1 to 1000000"},
           {"header_timeout_ms = 0", "http.header_timeout_ms: expected an integer from 1 to 3600000"},
           {"threads = 0", "http.threads: expected an integer from 1 to 256"},
           {"hots = []", "http.hots: unknown key; did you mean \"hosts\"? Known here: address, "}}) {
    const auto made = parse("[http]\nport = 1\n" + text + '\n', "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().public_text.rfind("t.toml:3: " + wanted, 0), 0u) << made.error().public_text;
  }
}

}  // namespace
}  // namespace hondana::config
