/// What a server keeps the right to do: which files, folders and ports are meant.
#include "app/cli/sandbox/permissions.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

using ports = std::optional<std::vector<std::uint16_t>>;
using sandbox::access;

TEST(ports_to_connect_to, are_those_of_hosts_and_none_of_unix_sockets) {
  ports to(std::vector<std::uint16_t>{});
  add_ports({"/run/wiki.sock"}, to);
  EXPECT_EQ(to, std::vector<std::uint16_t>{});
  add_ports({"wiki.example:443", "[::1]:81"}, to);
  EXPECT_EQ(to, (std::vector<std::uint16_t>{443, 53, 81, 53}));
  add_ports({"*:*", "wiki.example:443"}, to);
  EXPECT_FALSE(to) << "any";
}

/// What is permitted with paths at or above `path`.
std::vector<access> at(const sandbox::permissions& all, const std::string& path) {
  std::vector<access> found;
  for (const auto& one : all.paths) {
    if (one.path == path) found.push_back(one.mode);
  }
  return found;
}

TEST(permitted, a_file_that_is_read_again_has_its_folder_and_that_behind_its_link) {
  std::string around = "/tmp/hondana-permitted-XXXXXX";
  ASSERT_NE(::mkdtemp(around.data()), nullptr);
  std::filesystem::create_directories(around + "/live");
  std::filesystem::create_directories(around + "/archive");
  std::ofstream(around + "/archive/key1.pem") << "key";
  std::filesystem::create_symlink("../archive/key1.pem", around + "/live/key.pem");
  http_options http;
  http.tls.emplace().key_file = around + "/live/key.pem";
  http.port = 7325;
  http.admin_address = "127.0.0.1:7326";
  const auto made = make_permissions({}, {.http = &http, .config_file = around + "/missing/hondana.toml", .token_file = {}});
  EXPECT_EQ(at(made, around + "/live"), std::vector{access::read_named});
  EXPECT_EQ(at(made, around + "/archive"), std::vector{access::read_named});
  EXPECT_EQ(at(made, around), std::vector<access>{});
  EXPECT_EQ(made.listen_ports, (std::vector<std::uint16_t>{7325, 7326}));
  EXPECT_EQ(made.connect_ports, std::vector<std::uint16_t>{});
  EXPECT_FALSE(made.allows_abstract_sockets);
  std::filesystem::remove_all(around);
}

TEST(permitted, unix_sockets_have_their_folders_and_no_port) {
  http_options http;
  http.socket_path = "/run/hondana/mcp.sock";
  http.admin_address = "/run/hondana-admin/admin.sock";
  const auto made = make_permissions({}, {.http = &http, .config_file = {}, .token_file = {}});
  EXPECT_EQ(at(made, "/run/hondana"), std::vector{access::listen});
  EXPECT_EQ(at(made, "/run/hondana-admin"), std::vector{access::listen});
  EXPECT_TRUE(made.listen_ports.empty());
  EXPECT_TRUE(make_permissions({}, {}).listen_ports.empty()) << "over standard input and output";
}

TEST(permitted, modes_change_only_for_sockets_that_are_for_others) {
  http_options http;
  EXPECT_FALSE(make_permissions({}, {.http = &http, .config_file = {}, .token_file = {}}).changes_file_modes);
  http.socket_path = "/run/hondana/mcp.sock";
  EXPECT_FALSE(make_permissions({}, {.http = &http, .config_file = {}, .token_file = {}}).changes_file_modes);
  http.socket_group = "shelf";
  EXPECT_TRUE(make_permissions({}, {.http = &http, .config_file = {}, .token_file = {}}).changes_file_modes);
  http.socket_group.reset();
  http.socket_mode = 0660;
  EXPECT_TRUE(make_permissions({}, {.http = &http, .config_file = {}, .token_file = {}}).changes_file_modes);
}

TEST(permitted, an_authorization_server_may_be_anywhere) {
  server_parts whole;
  whole.settings.auth.oauth.emplace();
  const http_options http;
  EXPECT_FALSE(make_permissions(whole, {.http = &http, .config_file = {}, .token_file = {}}).connect_ports);
}

}  // namespace
}  // namespace hondana::cli
