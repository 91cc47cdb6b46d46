/// What a `[[source]]` may say.
#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/gdrive/settings.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

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
  EXPECT_EQ(made->options.name, "gdrive");
  EXPECT_EQ(made->options.scheme, "gdrive");
  EXPECT_EQ(made->options.store_path, "");
  EXPECT_EQ(made->options.min_interval, std::chrono::seconds(10));
  EXPECT_EQ(made->options.max_interval, std::chrono::seconds(60));
  EXPECT_EQ(made->account.drive.base_url, "https://www.googleapis.com");
  EXPECT_EQ(made->account.tokens.requested_scopes, google::scopes{google::scope::drive_readonly});
  EXPECT_NE(made->account.tokens.locations.advice.find("hondana login --source gdrive"), std::string::npos);
}

TEST(gdrive_settings, paths_are_relative_to_the_file_and_names_are_taken) {
  const auto made = settings_in(
      "name = \"team\"\nscheme = \"gdrive-team\"\ncredentials_file = \"key.json\"\nstore = "
      "\"state/drive.db\"\nmin_poll_interval_s = 60\n"
      "max_poll_interval_s = 30\ndrives = [\"my-drive\"]\nsubject = \"ann@example.com\"\nrequests_per_minute = 60\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->account.tokens.locations.file, "/etc/key.json");
  EXPECT_EQ(made->options.store_path, "/etc/state/drive.db");
  EXPECT_EQ(made->options.max_interval, std::chrono::seconds(60)) << "it is never shorter than the interval";
  EXPECT_DOUBLE_EQ(made->account.drive.quota.per_minute, 60);
}

TEST(gdrive_settings, wrong_keys_name_the_line) {
  for (const auto* table : {"scheme = \"file\"\n",
                            "scheme = \"gdrive-\"\n",
                            "scheme = \"gdrive-A\"\n",
                            "name = \"No Slug\"\n",
                            "min_poll_interval_s = 0\n",
                            "max_files = 0\n",
                            "drives = [\"Sales & Co\"]\n",
                            "scopes = [\"drive\"]\n",
                            "max_bytes = 0\n",
                            "folder = \"x\"\n",
                            "token_url = \"http://example.com/token\"\n",
                            "max_render_memory_bytes = \"1KiB\"\n",
                            "render = 1\n",
                            "webhook_url = \"http://hondana.example\"\n",
                            "webhook_url = \"https://hondana.example/x\"\n",
                            "webhook_url = \"https://a@hondana.example\"\n",
                            "webhook_url = \"hondana.example\"\n",
                            "credentials_file = \"\"\n",
                            "client_file = \"\"\n",
                            "login_file = \"\"\n",
                            "ca_file = \"\"\n"}) {
    const auto made = settings_in(std::string("store = \":memory:\"\n") + table);
    ASSERT_FALSE(made) << table;
    EXPECT_EQ(made.error().code, errc::invalid_argument) << table;
    EXPECT_NE(made.error().public_text.find("hondana.toml:"), std::string::npos) << made.error().public_text;
  }
}

TEST(gdrive_settings, an_empty_path_is_told_with_what_to_write) {
  const auto made = settings_in("store = \":memory:\"\ncredentials_file = \"\"\n");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().public_text.find("credentials_file: is empty; write the path of a file, or leave the key out"),
            std::string::npos)
      << made.error().public_text;
}

struct gdrive_configured : served_drive {
  [[nodiscard]] hondana::system_requirements needs_of(const std::string& table) const {
    auto section = config::parse_toml("store = \":memory:\"\nrender = false\n" + table, (root / "hondana.toml").string());
    EXPECT_TRUE(section);
    const auto made = configure(*section, {});
    EXPECT_TRUE(made) << made.error().public_text;
    return made ? (*made)->requirements() : hondana::system_requirements();
  }
  [[nodiscard]] static bool has(const hondana::system_requirements& all, const fs::path& folder) {
    return std::any_of(all.folders.begin(), all.folders.end(), [&](const auto& one) { return one.path == folder.string(); });
  }
};

TEST_F(gdrive_configured, the_folder_of_a_first_log_in_is_made_so_that_the_sandbox_knows_it) {
  EXPECT_TRUE(has(needs_of("login_file = \"new/folder/log-in.json\"\n"), root / "new" / "folder"));
  EXPECT_EQ(fs::status(root / "new" / "folder").permissions(), fs::perms::owner_all);
  EXPECT_FALSE(has(needs_of("credentials_file = \"other/key.json\"\n"), root / "other"))
      << "a key is somebody else's to put there";
  EXPECT_FALSE(fs::exists(root / "other"));
}

TEST_F(gdrive_configured, a_place_that_is_connected_to_is_named_once) {
  const std::string log_in = "login_file = \"log-in.json\"\n";
  EXPECT_EQ(needs_of(log_in + "api_url = \"http://127.0.0.1:9\"\ntoken_url = \"http://127.0.0.1:9/token\"\n").sockets,
            std::vector<std::string>{"127.0.0.1:9"});
  EXPECT_EQ(needs_of(log_in).sockets, std::vector<std::string>{"*:*"}) << "export links lead to hosts that only Google knows";
}

TEST_F(gdrive_configured, what_cannot_be_used_names_its_own_key_and_line) {
  const auto said = [this](const std::string& table) {
    auto section =
        config::parse_toml("render = false\nlogin_file = \"log-in.json\"\n" + table, (root / "hondana.toml").string());
    EXPECT_TRUE(section);
    const auto made = configure(*section, {});
    return made ? std::string() : made.error().public_text;
  };
  const std::string file = (root / "hondana.toml").string();
  const std::string in_memory = "store = \":memory:\"\n";
  EXPECT_TRUE(said(in_memory + "subject = \"ann\"\n").starts_with(file + ":4: subject: "))
      << said(in_memory + "subject = \"ann\"\n");
  EXPECT_TRUE(said(in_memory + "proxy = \"nonsense://x y\"\n").starts_with(file + ":4: proxy: "))
      << said(in_memory + "proxy = \"nonsense://x y\"\n");
  EXPECT_TRUE(said(in_memory + "api_url = \"http://example.com\"\n").starts_with(file + ":4: api_url: "))
      << said(in_memory + "api_url = \"http://example.com\"\n");
  EXPECT_TRUE(said(in_memory + "auth_url = \"http://example.com\"\n").starts_with(file + ":4: auth_url: "))
      << said(in_memory + "auth_url = \"http://example.com\"\n");
  std::ofstream(root / "taken") << "x";
  EXPECT_TRUE(said("store = \"taken/drive.db\"\n").starts_with(file + ":3: store: ")) << said("store = \"taken/drive.db\"\n");
}

TEST_F(gdrive_configured, a_drive_that_there_is_not_is_told_with_those_that_there_are) {
  paper->shared = {{"0A", "Sales", {}, {}}};
  auto how = usual();
  how.drive_slugs = {"my-drive", "slaes"};
  const auto drive = serve(std::move(how));
  EXPECT_EQ(listed(*drive).size(), 1u);
  const std::string words = "drives names unknown drives: \"slaes\"; known drives: my-drive, shared-with-me, sales";
  EXPECT_TRUE(was_said(words));
  EXPECT_TRUE(drive->health().is_healthy) << "the others are served";
  EXPECT_NE(drive->health().detail.find(words), std::string::npos) << drive->health().detail;
  const auto surveyed = drive->inventory({}, [](const inventory_item&) {});
  ASSERT_FALSE(surveyed);
  EXPECT_NE(surveyed.error().public_text.find(words), std::string::npos);
  auto none = usual();
  none.store_path.clear();
  none.drive_slugs = {"slaes"};
  const auto empty = serve(std::move(none));
  EXPECT_TRUE(listed(*empty).empty());
  EXPECT_FALSE(empty->health().is_healthy);
  EXPECT_EQ(times_said(words), 2) << "once by each";
}

TEST_F(gdrive_configured, that_there_were_too_many_files_is_told_as_of_the_last_listing_where_there_is_room_now) {
  for (int i = 0; i < 5; ++i) paper->hold(paper_file("2" + std::to_string(i), "More" + std::to_string(i)));
  const auto left_out = [](gdrive_provider& of) {
    std::string all;
    EXPECT_TRUE(of.inventory({}, [&all](const inventory_item& one) { all += one.is_served ? std::string() : one.reason; }));
    return all;
  };
  auto how = usual();
  how.max_files = 2;
  EXPECT_EQ(left_out(*serve(how)), "there are more than max_files = 2 files; raise it, or list fewer drives");
  refuse_all(refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive does not answer."));
  EXPECT_EQ(left_out(*serve(how)), "there are more than max_files = 2 files; raise it, or list fewer drives");
  how.max_files = 10;
  const auto larger = serve(how);
  EXPECT_EQ(left_out(*larger),
            "the last listing of Drive had more files than max_files = 2; there is room now, and the next listing will show "
            "whether it is enough");
  paper->alter([](auto& all) { all.refusals.clear(); });
  EXPECT_TRUE(becomes([&] { return left_out(*larger).empty(); }));
  EXPECT_TRUE(becomes([&] { return listed(*larger).size() == 7; }));
}

TEST_F(gdrive_configured, a_key_that_cannot_be_used_is_the_fault_of_the_configuration_though_what_is_known_is_listed) {
  paper->hold(paper_file("1a", "Plan"));
  auto how = usual();
  auto is_open = std::make_shared<bool>(false);
  how.credential_check = [is_open]() -> result<void> {
    if (*is_open) return fail(errc::invalid_argument, "others can read it; say 'chmod 600' of it");
    return {};
  };
  const auto drive = serve(std::move(how));
  const auto surveyed = [&drive](std::vector<inventory_item>& all) {
    return drive->inventory({}, [&all](const inventory_item& one) { all.push_back(one); });
  };
  std::vector<inventory_item> before;
  EXPECT_TRUE(surveyed(before));
  *is_open = true;
  std::vector<inventory_item> after;
  const auto wrong = surveyed(after);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, errc::invalid_argument);
  EXPECT_NE(wrong.error().public_text.find("chmod 600"), std::string::npos);
  EXPECT_EQ(after.size(), before.size());
}

TEST_F(gdrive_configured, a_survey_has_paths_and_says_that_there_are_more_files_than_are_kept) {
  paper->hold(paper_folder("f1", "報告"));
  paper->hold(paper_file("1a", "a b", "text/plain", "f1"));
  for (int i = 0; i < 5; ++i) paper->hold(paper_file("2" + std::to_string(i), "More" + std::to_string(i)));
  auto how = usual();
  how.max_files = 2;
  const auto drive = serve(std::move(how));
  std::vector<inventory_item> all;
  ASSERT_TRUE(drive->inventory({}, [&all](const inventory_item& one) { all.push_back(one); }));
  const auto left_out = std::find_if(all.begin(), all.end(), [](const auto& one) { return !one.is_served; });
  ASSERT_NE(left_out, all.end());
  EXPECT_NE(left_out->reason.find("max_files"), std::string::npos);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& one) { return one.name.starts_with("my-drive/"); }));
  EXPECT_NE(drive->health().detail.find("max_files"), std::string::npos);
  EXPECT_EQ(times_said("raise max_files"), 1);
}

}  // namespace
}  // namespace hondana::gdrive
