/// Folders that a server writes to: which are its own, and which have something in them that must not be written.
#include "app/cli/sandbox/permissions.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

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
  [[nodiscard]] result<read_result> read(const read_request&) override { return read_result{}; }
  [[nodiscard]] hondana::system_requirements requirements() const override {
    hondana::system_requirements all;
    all.folders.push_back({folder_, false});
    return all;
  }

 private:
  const std::string folder_;
};

TEST(written_folders, are_a_record_s_own_where_a_sandbox_is_wanted) {
  server_parts whole;
  auto& with = whole.settings;
  EXPECT_TRUE(check_written_folders(whole)) << "no record";
  with.audit.emplace().path = "/var/log/hondana/audit.jsonl";
  EXPECT_TRUE(check_written_folders(whole));
  for (const auto* one : {"/var/log/audit.jsonl", "/home/somebody/audit.jsonl", "/tmp/audit.jsonl", "/etc/audit.jsonl"}) {
    with.audit->path = one;
    with.sandbox.mode = config::sandbox_mode::best_effort;
    const auto sound = check_written_folders(whole);
    ASSERT_FALSE(sound) << one;
    EXPECT_EQ(sound.error().code, errc::invalid_argument);
    EXPECT_NE(sound.error().public_text.find("give the audit log a folder of its own"), std::string::npos)
        << sound.error().public_text;
    with.sandbox.mode = config::sandbox_mode::off;
    EXPECT_TRUE(check_written_folders(whole)) << one;
  }
}

TEST(written_folders, have_nothing_in_common_with_what_must_not_be_written) {
  std::string around = (std::filesystem::temp_directory_path() / "record-XXXXXX").string();
  ASSERT_NE(::mkdtemp(around.data()), nullptr);
  std::filesystem::create_directories(around + "/shelf/inner");
  std::filesystem::create_directories(around + "/conf");
  std::filesystem::create_directory_symlink("shelf", around + "/link");
  std::ofstream(around + "/conf/tokens") << "x";
  server_parts whole;
  whole.own_files = {around + "/conf/tokens", around + "/usual/tokens"};
  whole.providers.push_back(std::make_shared<reading_source>(around + "/shelf/inner"));
  whole.settings.audit.emplace();
  const auto told_of = [&](const std::string& folder, config::sandbox_mode mode) {
    whole.settings.audit->path = around + folder + "/audit.jsonl";
    whole.settings.sandbox.mode = mode;
    return check_written_folders(whole);
  };
  for (const auto& [folder, words] : std::vector<std::pair<std::string, std::string>>{
           {"/conf", "/conf contains " + around +
                         "/conf/tokens, which the server needs; a process that may write the audit log could change it too"},
           {"", " contains "},
           {"/shelf", "/shelf contains " + around + "/shelf/inner, which is served"},
           {"/link", "/shelf contains " + around + "/shelf/inner, which is served"},
           {"/shelf/inner", "/shelf/inner, which is served"},
           {"/shelf/inner/record", "/shelf/inner/record is in " + around + "/shelf/inner, which is served"}}) {
    const auto refused = told_of(folder, config::sandbox_mode::best_effort);
    ASSERT_FALSE(refused) << folder;
    EXPECT_NE(refused.error().public_text.find(words), std::string::npos) << refused.error().public_text;
    EXPECT_NE(refused.error().public_text.find("Give the audit log a folder of its own outside"), std::string::npos);
    const auto warned = told_of(folder, config::sandbox_mode::off);
    ASSERT_TRUE(warned && warned->size() == 1) << folder;
    EXPECT_EQ(warned->front(), refused.error().public_text);
  }
  for (const auto* folder : {"/record", "/shelf/innermost", "/confs", "/usual"}) {
    const auto sound = told_of(folder, config::sandbox_mode::best_effort);
    EXPECT_TRUE(sound && sound->empty()) << folder;
  }
  std::filesystem::remove_all(around);
}

TEST(written_folders, of_an_index_and_of_stores_are_held_to_the_same_and_may_be_one) {
  std::string around = (std::filesystem::temp_directory_path() / "written-XXXXXX").string();
  ASSERT_NE(::mkdtemp(around.data()), nullptr);
  std::filesystem::create_directories(around + "/conf");
  std::filesystem::create_directories(around + "/kept");
  for (const auto* one : {"/conf/hondana.toml", "/conf/index.db", "/kept/index.db", "/kept/host.db"})
    std::ofstream(around + one) << "x";
  const auto read = [&](const std::string& index, const std::string& store) {
    server_parts whole;
    auto settings =
        config::parse("[search]\npath = \"" + index +
                          "\"\n[[source]]\ntype = \"metrics\"\nname = \"here\"\nhost = true\nstore = \"" + store + "\"\n",
                      around + "/conf/hondana.toml");
    EXPECT_TRUE(settings) << settings.error().public_text;
    whole.settings = std::move(*settings);
    whole.own_files.push_back(around + "/conf/hondana.toml");
    for (const auto& one : {index, store}) {
      const auto path = std::filesystem::path(around + "/conf") / one;
      whole.own_files.push_back(path.lexically_normal().string());
    }
    return check_written_folders(whole);
  };
  const auto sound = read("../kept/index.db", "../kept/host.db");
  ASSERT_TRUE(sound) << sound.error().public_text;
  EXPECT_TRUE(sound->empty());
  const auto index = read("index.db", "../kept/host.db");
  ASSERT_FALSE(index);
  EXPECT_NE(
      index.error().public_text.find("hondana.toml:2: search.path: its folder " + around + "/conf contains " + around +
                                     "/conf/hondana.toml, which the server needs; a process that may write the index could"),
      std::string::npos)
      << index.error().public_text;
  const auto store = read("../kept/index.db", "host.db");
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().public_text.find("hondana.toml:7: source.store: its folder " + around + "/conf contains "),
            std::string::npos)
      << store.error().public_text;
  const auto shared = read("/var/lib/index.db", "../kept/host.db");
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().public_text.find("give the index a folder of its own, such as /var/lib/hondana/index.db"),
            std::string::npos)
      << shared.error().public_text;
  std::filesystem::remove_all(around);
}

}  // namespace
}  // namespace hondana::cli
