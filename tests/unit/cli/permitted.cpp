/// What a server keeps the right to do: which folders count as a file's own, and which ports are meant.
#include "cli/sandbox/permitted.hpp"

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

TEST(shared_folders, are_those_that_hold_more_than_a_server_s_own) {
  for (const auto* one :
       {"/", "/etc", "/tmp", "/home", "/home/me", "/home/me/.config", "/home/me/.local", "/home/me/.local/share"})
    EXPECT_TRUE(is_shared_folder(one, "/home/me")) << one;
  for (const auto* one : {"/etc/hondana", "/home/me/.config/hondana", "/home/me/project", "/home/me/.local/shared",
                          "/home/me/.configs", "/srv/a/b", "/tmp/hondana-x"})
    EXPECT_FALSE(is_shared_folder(one, "/home/me")) << one;
  EXPECT_TRUE(is_shared_folder("/root", ""));
  EXPECT_TRUE(is_shared_folder("/srv/home/me", "/srv/home/me"));
  EXPECT_FALSE(is_shared_folder("/srv/home/mean", "/srv/home/me"));
}

TEST(shared_folders, are_those_of_others_too) {
  // A service of root with something of a user.
  for (const auto* one : {"/home/you", "/home/you/.config", "/home/you/.local", "/home/you/.local/share", "/home/you/.cache",
                          "/root/.config", "/var/log", "/var/tmp", "/var/lib", "/usr/local/etc", "/var", "/tmp", "/etc"}) {
    EXPECT_TRUE(is_shared_folder(one, "/srv/me")) << one;
    EXPECT_TRUE(is_shared_folder(one, "")) << one;
  }
  for (const auto* one : {"/home/you/project", "/home/you/.config/hondana", "/root/project", "/rooted/a", "/var/log/hondana",
                          "/var/tmp/hondana", "/var/logs", "/srv/you"})
    EXPECT_FALSE(is_shared_folder(one, "/srv/me")) << one;
}

/// A source that reads a folder.
class reading_source final : public provider {
 public:
  explicit reading_source(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string name() const override { return "reading"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"memo:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {}; }
  [[nodiscard]] result<list_result> list(const list_request&) override { return list_result{}; }
  [[nodiscard]] result<reading> read(const read_request&) override { return reading{}; }
  [[nodiscard]] hondana::needs needs() const override {
    hondana::needs all;
    all.folders.push_back({folder_, false});
    return all;
  }

 private:
  const std::string folder_;
};

TEST(record_folders, are_a_record_s_own_where_a_sandbox_is_wanted) {
  parts whole;
  auto& with = whole.settings;
  EXPECT_TRUE(check_record_folder(whole)) << "no record";
  with.audit.emplace().path = "/var/log/hondana/audit.jsonl";
  EXPECT_TRUE(check_record_folder(whole));
  for (const auto* one : {"/var/log/audit.jsonl", "/home/somebody/audit.jsonl", "/tmp/audit.jsonl", "/etc/audit.jsonl"}) {
    with.audit->path = one;
    with.sandbox.mode = config::sandbox_mode::as_far_as_possible;
    const auto sound = check_record_folder(whole);
    ASSERT_FALSE(sound) << one;
    EXPECT_EQ(sound.error().code, errc::invalid_argument);
    EXPECT_NE(sound.error().public_text.find("give the record a folder of its own"), std::string::npos)
        << sound.error().public_text;
    with.sandbox.mode = config::sandbox_mode::off;
    EXPECT_TRUE(check_record_folder(whole)) << one;
  }
}

TEST(record_folders, have_nothing_in_common_with_what_must_not_be_written) {
  std::string around = (std::filesystem::temp_directory_path() / "record-XXXXXX").string();
  ASSERT_NE(::mkdtemp(around.data()), nullptr);
  std::filesystem::create_directories(around + "/shelf/inner");
  std::filesystem::create_directories(around + "/conf");
  std::filesystem::create_directory_symlink("shelf", around + "/link");
  std::ofstream(around + "/conf/tokens") << "x";
  parts whole;
  whole.own = {around + "/conf/tokens", around + "/usual/tokens"};
  whole.providers.push_back(std::make_shared<reading_source>(around + "/shelf/inner"));
  whole.settings.audit.emplace();
  const auto told_of = [&](const std::string& folder, config::sandbox_mode mode) {
    whole.settings.audit->path = around + folder + "/audit.jsonl";
    whole.settings.sandbox.mode = mode;
    return check_record_folder(whole);
  };
  for (const auto& [folder, words] : std::vector<std::pair<std::string, std::string>>{
           {"/conf", "/conf holds " + around + "/conf/tokens, the server's own; what may write the record could change that"},
           {"", " holds "},
           {"/shelf", "/shelf holds " + around + "/shelf/inner, which is served"},
           {"/link", "/shelf holds " + around + "/shelf/inner, which is served"},
           {"/shelf/inner", "/shelf/inner, which is served"},
           {"/shelf/inner/record", "/shelf/inner/record lies in " + around + "/shelf/inner, which is served"}}) {
    const auto refused = told_of(folder, config::sandbox_mode::as_far_as_possible);
    ASSERT_FALSE(refused) << folder;
    EXPECT_NE(refused.error().public_text.find(words), std::string::npos) << refused.error().public_text;
    EXPECT_NE(refused.error().public_text.find("Give the record a folder of its own outside"), std::string::npos);
    const auto warned = told_of(folder, config::sandbox_mode::off);
    ASSERT_TRUE(warned && *warned) << folder;
    EXPECT_EQ(**warned, refused.error().public_text);
  }
  for (const auto* folder : {"/record", "/shelf/innermost", "/confs", "/usual"}) {
    const auto sound = told_of(folder, config::sandbox_mode::as_far_as_possible);
    EXPECT_TRUE(sound && !*sound) << folder;
  }
  std::filesystem::remove_all(around);
}

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
    if (one.path == path) found.push_back(one.may);
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
  http.tls.key = around + "/live/key.pem";
  http.port = 7325;
  http.admin = "127.0.0.1:7326";
  const auto made = permitted({}, {.http = &http, .config = around + "/missing/hondana.toml", .tokens = {}});
  EXPECT_EQ(at(made, around + "/live"), std::vector{access::read_named});
  EXPECT_EQ(at(made, around + "/archive"), std::vector{access::read_named});
  EXPECT_EQ(at(made, around), std::vector<access>{});
  EXPECT_EQ(made.listens, (std::vector<std::uint16_t>{7325, 7326}));
  EXPECT_EQ(made.connects, std::vector<std::uint16_t>{});
  EXPECT_FALSE(made.abstract_sockets);
  std::filesystem::remove_all(around);
}

TEST(permitted, unix_sockets_have_their_folders_and_no_port) {
  http_options http;
  http.socket = "/run/hondana/mcp.sock";
  http.admin = "/run/hondana-admin/admin.sock";
  const auto made = permitted({}, {.http = &http, .config = {}, .tokens = {}});
  EXPECT_EQ(at(made, "/run/hondana"), std::vector{access::listen});
  EXPECT_EQ(at(made, "/run/hondana-admin"), std::vector{access::listen});
  EXPECT_TRUE(made.listens.empty());
  EXPECT_TRUE(permitted({}, {}).listens.empty()) << "over standard input and output";
}

TEST(permitted, modes_change_only_for_sockets_that_are_for_others) {
  http_options http;
  EXPECT_FALSE(permitted({}, {.http = &http, .config = {}, .tokens = {}}).changes_modes);
  http.socket = "/run/hondana/mcp.sock";
  EXPECT_FALSE(permitted({}, {.http = &http, .config = {}, .tokens = {}}).changes_modes);
  http.socket_group = "shelf";
  EXPECT_TRUE(permitted({}, {.http = &http, .config = {}, .tokens = {}}).changes_modes);
  http.socket_group = "";
  http.socket_mode = 0660;
  EXPECT_TRUE(permitted({}, {.http = &http, .config = {}, .tokens = {}}).changes_modes);
}

TEST(permitted, an_authorization_server_may_be_anywhere) {
  parts whole;
  whole.settings.auth.oauth.emplace();
  const http_options http;
  EXPECT_FALSE(permitted(whole, {.http = &http, .config = {}, .tokens = {}}).connects);
}

}  // namespace
}  // namespace hondana::cli
