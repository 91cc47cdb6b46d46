/// What a `[[source]]` may say.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "config/toml.hpp"
#include "providers/gdrive/settings.hpp"
#include "unit/providers/gdrive/paper_drive.hpp"

namespace hondana::gdrive {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);

namespace {

result<settings> settings_in(const std::string& table) {
  auto section = config::parse_toml(table, "/etc/hondana.toml");
  if (!section) return tl::unexpected(section.error());
  return read_settings(*section);
}

TEST(gdrive_settings, what_is_not_said_is_as_documented) {
  const auto made = settings_in("store = \":memory:\"\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->how.name, "gdrive");
  EXPECT_EQ(made->how.scheme, "gdrive");
  EXPECT_EQ(made->how.store, "");
  EXPECT_EQ(made->how.shortest, std::chrono::seconds(10));
  EXPECT_EQ(made->how.longest, std::chrono::seconds(60));
  EXPECT_EQ(made->who.drive.base, "https://www.googleapis.com");
  EXPECT_EQ(made->who.tokens.asked, google::scopes{google::scope::drive_readonly});
  EXPECT_NE(made->who.tokens.in.advice.find("hondana login --source gdrive"), std::string::npos);
}

TEST(gdrive_settings, paths_are_relative_to_the_file_and_names_are_taken) {
  const auto made = settings_in(
      "name = \"team\"\nscheme = \"gdrive-team\"\ncredentials = \"key.json\"\nstore = \"state/drive.db\"\ninterval = 60\n"
      "max_interval = 30\ndrives = [\"my-drive\"]\nsubject = \"ann@example.com\"\nrequests_per_minute = 60\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->who.tokens.in.file, "/etc/key.json");
  EXPECT_EQ(made->how.store, "/etc/state/drive.db");
  EXPECT_EQ(made->how.longest, std::chrono::seconds(60)) << "it is never shorter than the interval";
  EXPECT_DOUBLE_EQ(made->who.drive.allowed.per_minute, 60);
}

TEST(gdrive_settings, wrong_keys_name_the_line) {
  for (const auto* table :
       {"scheme = \"file\"\n", "scheme = \"gdrive-\"\n", "scheme = \"gdrive-A\"\n", "name = \"No Slug\"\n", "interval = 0\n",
        "max_files = 0\n", "drives = [\"Sales & Co\"]\n", "scopes = [\"drive\"]\n", "max_bytes = 0\n", "folder = \"x\"\n",
        "token_url = \"http://example.com/token\"\n", "render_memory = \"1KiB\"\n", "renders = 1\n",
        "notices = \"http://hondana.example\"\n", "notices = \"https://hondana.example/x\"\n",
        "notices = \"https://a@hondana.example\"\n", "notices = \"hondana.example\"\n"}) {
    const auto made = settings_in(std::string("store = \":memory:\"\n") + table);
    ASSERT_FALSE(made) << table;
    EXPECT_EQ(made.error().code, errc::invalid_argument) << table;
    EXPECT_NE(made.error().public_text.find("hondana.toml:"), std::string::npos) << made.error().public_text;
  }
}

struct gdrive_configured : served_drive {
  [[nodiscard]] hondana::needs needs_of(const std::string& table) const {
    auto section = config::parse_toml("store = \":memory:\"\nrenders = false\n" + table, (root / "hondana.toml").string());
    EXPECT_TRUE(section);
    const auto made = configure(*section, {});
    EXPECT_TRUE(made) << made.error().public_text;
    return made ? (*made)->needs() : hondana::needs();
  }
  [[nodiscard]] static bool has(const hondana::needs& all, const fs::path& folder) {
    return std::any_of(all.folders.begin(), all.folders.end(), [&](const auto& one) { return one.path == folder.string(); });
  }
};

TEST_F(gdrive_configured, the_folder_of_a_first_log_in_is_made_so_that_the_sandbox_knows_it) {
  EXPECT_TRUE(has(needs_of("log_in_file = \"new/folder/log-in.json\"\n"), root / "new" / "folder"));
  EXPECT_EQ(fs::status(root / "new" / "folder").permissions(), fs::perms::owner_all);
  EXPECT_FALSE(has(needs_of("credentials = \"other/key.json\"\n"), root / "other")) << "a key is somebody else's to put there";
  EXPECT_FALSE(fs::exists(root / "other"));
}

TEST_F(gdrive_configured, a_place_that_is_connected_to_is_named_once) {
  const std::string log_in = "log_in_file = \"log-in.json\"\n";
  EXPECT_EQ(needs_of(log_in + "api = \"http://127.0.0.1:9\"\ntoken_url = \"http://127.0.0.1:9/token\"\n").sockets,
            std::vector<std::string>{"127.0.0.1:9"});
  EXPECT_EQ(needs_of(log_in).sockets, std::vector<std::string>{"*:*"}) << "export links lead to hosts that only Google knows";
}

}  // namespace
}  // namespace hondana::gdrive
