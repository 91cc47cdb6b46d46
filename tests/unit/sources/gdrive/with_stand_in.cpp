/// The whole way, from a provider's calls to the requests that a Drive takes.
#include <algorithm>
#include <fstream>
#include <optional>

#include "auth/google/access_tokens.hpp"
#include "drive/stand_in/server.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

constexpr const char* csv_sheets = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

struct gdrive_with_stand_in : served_drive {
  drive_test::stand_in google;

  [[nodiscard]] std::shared_ptr<drive_api> asking() {
    const auto key = root / "key.json";
    if (!fs::exists(key)) {
      std::ofstream(key) << google.service_account();
      fs::permissions(key, fs::perms::owner_read | fs::perms::owner_write);
    }
    google::token_settings from;
    from.locations.file = key.string();
    from.locations.token_url = google.url("/token");
    auto tokens = hondana::google::make_access_token_source(from);
    EXPECT_TRUE(tokens) << tokens.error().public_text;
    drive::client_settings with;
    with.base_url = google.url();
    with.quota = {1'000, 60'000};
    with.initial_delay = std::chrono::milliseconds(5);
    with.max_delay = std::chrono::milliseconds(20);
    with.max_attempts = 3;
    auto client = drive::client::create(std::move(with), *tokens);
    EXPECT_TRUE(client) << client.error().public_text;
    return make_drive_api(*client);
  }
  [[nodiscard]] std::shared_ptr<gdrive_provider> serve_google() {
    auto how = usual();
    how.api = asking();
    return serve(std::move(how));
  }
  /// Pages of lists, without what is asked of single files.
  [[nodiscard]] std::size_t lists() const {
    const auto all = google.requests("/drive/v3/files");
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& one) { return one.path == "/drive/v3/files"; }));
  }
};

TEST_F(gdrive_with_stand_in, five_thousand_files_are_listed_once_and_a_change_is_seen_by_one_poll) {
  google.seed(R"({"generate": {"files": 5000, "perFolder": 50}})");
  const auto drive = serve_google();
  EXPECT_GE(listed(*drive).size(), 5'000u);
  const auto pages = lists();
  RecordProperty("requests", static_cast<int>(google.requests("/drive/v3/").size()));
  EXPECT_LE(pages, 7u) << "six pages";
  const auto id = google.add({.name = "Brand new.txt", .type = "text/plain", .bytes = "x"});
  EXPECT_TRUE(ears->await("gdrive://shared-with-me/Brand%20new.txt"));
  EXPECT_EQ(lists(), pages) << "nothing is listed again";
  ears->forget();
  google.edit(id, [](drive_test::file& one) { one.bytes = "y"; });
  EXPECT_TRUE(ears->await("gdrive:///" + id));
  ears->forget();
  google.unshare(id, "reader@stand-in.iam.gserviceaccount.com");
  EXPECT_TRUE(ears->await("gdrive:///" + id));
  EXPECT_TRUE(becomes([&] { return !served_drive::lists(*drive, "gdrive://shared-with-me/Brand%20new.txt"); }));
}

TEST_F(gdrive_with_stand_in, exports_are_byte_for_byte_what_drive_exports) {
  const auto document =
      google.add({.name = "議事録", .type = drive_test::mime::document, .bytes = "# 議事録\n\n売上は好調。\n"});
  const auto drawing = google.add({.name = "図", .type = drive_test::mime::drawing});
  const auto script = google.add({.name = "code", .type = drive_test::mime::script, .scripts = {{"main", "function f() {}"}}});
  const auto file = google.add({.name = "a.bin", .type = "application/octet-stream", .bytes = std::string("\0\1\2\xff", 4)});
  const auto form = google.add({.name = "form", .type = drive_test::mime::form});
  const auto drive = serve_google();
  const auto given = [&](const std::string& id) {
    const auto made = read(*drive, "gdrive:///" + id);
    EXPECT_TRUE(made) << made.error().public_text << made.error().private_text;
    return made ? bytes_of(made->contents.front()) : std::string();
  };
  EXPECT_EQ(given(document), google.content(document, "text/markdown"));
  EXPECT_EQ(given(drawing), google.content(drawing, "image/png"));
  EXPECT_EQ(given(script), google.content(script, "application/vnd.google-apps.script+json"));
  EXPECT_EQ(given(file), google.content(file));
  const auto none = read(*drive, "gdrive:///" + form);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unsupported);
}

TEST_F(gdrive_with_stand_in, an_export_beyond_ten_megabytes_comes_by_its_link) {
  const auto id = google.add(
      {.name = "Long", .type = drive_test::mime::document, .bytes = "# Long\n", .export_size = std::size_t{20} << 20});
  const auto drive = serve_google();
  const auto made = read(*drive, "gdrive:///" + id);
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  EXPECT_EQ(bytes_of(made->contents.front()), google.content(id, "text/markdown"));
  EXPECT_EQ(fact(made->contents.front().metadata, export_link_key), "there");
}

TEST_F(gdrive_with_stand_in, a_spreadsheet_is_exported_once_for_all_its_sheets) {
  const auto id = google.add(
      {.name = "Book", .type = drive_test::mime::spreadsheet, .sheets = {{"A", {{"a", "b"}}}, {"売上", {{"1", "2"}}}}});
  const auto drive = serve_google();
  // The renderer on paper takes lines for sheets, and there are none in a workbook: what counts is what was asked for.
  ASSERT_TRUE(read(*drive, "gdrive:///" + id));
  const auto exports = google.requests("/drive/v3/files/" + id + "/export");
  ASSERT_EQ(exports.size(), 1u);
  EXPECT_NE(exports.front().query.find("spreadsheetml.sheet"), std::string::npos);
  EXPECT_FALSE(google.content(id, csv_sheets).empty());
}

TEST_F(gdrive_with_stand_in, stale_tokens_of_changes_lose_nothing) {
  google.add({.name = "Stays.txt", .type = "text/plain", .bytes = "x"});
  const auto gone = google.add({.name = "Goes.txt", .type = "text/plain", .bytes = "x"});
  const auto drive = serve_google();
  EXPECT_EQ(listed(*drive).size(), 4u);
  google.remove(gone);
  google.expire_page_tokens(410);
  EXPECT_TRUE(becomes([&] { return listed(*drive).size() == 3; }));
  EXPECT_TRUE(served_drive::lists(*drive, "gdrive://shared-with-me/Stays.txt"));
}

TEST_F(gdrive_with_stand_in, errors_of_any_kind_are_told_and_pass) {
  const auto id = google.add({.name = "Plan.txt", .type = "text/plain", .bytes = "plan"});
  const auto drive = serve_google();
  EXPECT_EQ(listed(*drive).size(), 3u);
  struct error {
    int status;
    const char* reason;
  };
  for (const auto& [status, reason] :
       {error{401, "authError"}, error{403, "insufficientFilePermissions"}, error{403, "insufficientPermissions"},
        error{403, "domainPolicy"}, error{403, "appNotAuthorizedToFile"}, error{403, "cannotDownloadFile"},
        error{403, "dailyLimitExceeded"}, error{403, "userRateLimitExceeded"}, error{403, "accessNotConfigured"},
        error{404, "notFound"}, error{410, ""}, error{429, "rateLimitExceeded"}, error{500, "backendError"}, error{503, ""}}) {
    google.fail({.path = "/drive/v3/files/" + id, .containing = "alt=media", .times = 100, .status = status, .reason = reason});
    const auto made = read(*drive, "gdrive:///" + id);
    google.heal();
    ASSERT_FALSE(made) << status << ' ' << reason;
    EXPECT_FALSE(made.error().public_text.empty()) << status << ' ' << reason;
    // What a 404 of a content says is believed, until the log of changes says otherwise.
    if (status == 404) google.edit(id, [](drive_test::file& one) { one.bytes = "plan"; });
  }
  google.fail({.path = "/drive/v3/files/" + id, .containing = "alt=media", .times = 100, .cut_at = 2});
  EXPECT_FALSE(read(*drive, "gdrive:///" + id)) << "an answer that ends in the middle is none";
  google.heal();
  EXPECT_TRUE(becomes([&] { return served_drive::lists(*drive, "gdrive://shared-with-me/Plan.txt"); }));
  const auto made = read(*drive, "gdrive:///" + id);
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(bytes_of(made->contents.front()), "plan");
}

TEST_F(gdrive_with_stand_in, a_token_revoked_amid_a_crawl_is_got_anew_and_the_crawl_goes_on) {
  google.seed(R"({"generate": {"files": 3000, "perFolder": 50}})");
  google.fail({.path = "/drive/v3/files", .containing = "pageToken", .skip = 1, .times = 1, .status = 401});
  const auto drive = serve_google();
  EXPECT_GE(listed(*drive).size(), 3'000u);
}

TEST_F(gdrive_with_stand_in, shared_drives_shortcuts_and_stars_are_found) {
  google.add(drive_test::shared_drive{.id = "0ATeamPVA", .name = "Team Drive"});
  const auto plan = google.add({.name = "Plan.txt", .type = "text/plain", .drive = "0ATeamPVA", .bytes = "plan"});
  google.add({.name = "Link", .type = drive_test::mime::shortcut, .target = plan});
  google.add(
      {.name = "Star.txt", .type = "text/plain", .bytes = "*", .starred_by = {"reader@stand-in.iam.gserviceaccount.com"}});
  const auto drive = serve_google();
  EXPECT_TRUE(served_drive::lists(*drive, "gdrive://team-drive/Plan.txt"));
  const auto through = read(*drive, "gdrive://shared-with-me/Link");
  ASSERT_TRUE(through) << through.error().public_text;
  EXPECT_EQ(bytes_of(through->contents.front()), "plan");
  const auto stars = read(*drive, "gdrive:///starred");
  ASSERT_TRUE(stars);
  EXPECT_NE(bytes_of(stars->contents.front()).find("Star.txt"), std::string::npos);
  EXPECT_EQ(bytes_of(stars->contents.front()).find("Plan.txt"), std::string::npos);
}

}  // namespace
}  // namespace hondana::gdrive
