/// The client against the stand-in of Google Drive: tokens, lists, contents, changes and their troubles.
#include "drive/stand_in/server.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "auth/google/access_tokens.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "unit/auth/google/token_place.hpp"
#include "unit/sources/gdrive/drive/played_drive.hpp"

namespace {

using hondana::drive::byte_range;
using hondana::drive::client;
using hondana::drive::client_settings;
using hondana::drive::error_kind;
using hondana::drive::list_request;
using hondana_test::kept_content;
using hondana_test::own_folder;
using hondana_test::within;

class drive_stand_in : public testing::Test {
 protected:
  std::shared_ptr<client> made(client_settings with = {}, const std::string& credentials = {}) {
    hondana::google::token_settings from;
    from.locations.file = folder.put("key.json", credentials.empty() ? google.service_account() : credentials);
    from.locations.token_url = google.url("/token");
    from.timeout = hondana_test::event_deadline;
    const auto tokens = hondana::google::make_access_token_source(from);
    EXPECT_TRUE(tokens) << tokens.error().public_text;
    with.base_url = google.url();
    with.quota = {1'000, 60'000};
    with.initial_delay = std::chrono::milliseconds(5);
    with.max_delay = std::chrono::milliseconds(50);
    with.request_timeout = hondana_test::event_deadline;
    with.stall_timeout = hondana_test::event_deadline;
    auto out = client::create(std::move(with), *tokens);
    EXPECT_TRUE(out) << out.error().public_text;
    return *out;
  }
  own_folder folder;
  drive_test::stand_in google;
};

TEST_F(drive_stand_in, is_listed_page_by_page_and_read) {
  std::set<std::string> ids;
  for (int i = 0; i < 7; ++i)
    ids.insert(
        google.add({.name = "議事録 'O\\'" + std::to_string(i), .type = "text/plain", .bytes = "本文" + std::to_string(i)}));
  const auto it = made();
  std::set<std::string> seen;
  list_request what{.page_size = 3};
  std::string some;
  do {
    const auto page = it->list_files(what, within());
    ASSERT_TRUE(page) << page.error().details.public_text;
    for (const auto& one : page->files) {
      if (ids.contains(one.id)) seen.insert(one.id);
      if (one.name == "議事録 'O\\'3") some = one.id;
    }
    what.page_token = page->next_page_token;
  } while (!what.page_token.empty());
  EXPECT_EQ(seen, ids);
  const auto found =
      it->list_files({.q = hondana::drive::query().name_equals("議事録 'O\\'3").trashed(false).text()}, within());
  ASSERT_TRUE(found) << found.error().details.public_text;
  ASSERT_EQ(found->files.size(), 1u);
  EXPECT_EQ(found->files[0].id, some);
  EXPECT_EQ(found->files[0].size, std::string("本文3").size());

  const auto one = it->get_file(some, within());
  ASSERT_TRUE(one) << one.error().details.public_text;
  EXPECT_EQ(one->name, "議事録 'O\\'3");
  kept_content whole, part;
  ASSERT_TRUE(it->get_content(some, {}, whole.sink(), within()));
  EXPECT_EQ(whole.bytes, "本文3");
  const auto how = it->get_content(some, byte_range{3, 5}, part.sink(), within());
  ASSERT_TRUE(how) << how.error().details.public_text;
  EXPECT_EQ(part.bytes, "文");
  const auto about = it->get_about(within());
  ASSERT_TRUE(about) << about.error().details.public_text;
  EXPECT_FALSE(about->export_formats.empty());
  EXPECT_EQ(it->account(), about->user.email);
}

TEST_F(drive_stand_in, exports_documents_and_more_of_them_by_their_links) {
  const auto id = google.add({.name = "設計", .type = drive_test::mime::document, .bytes = "# 設計\n\n本文\n"});
  const auto it = made();
  kept_content got;
  const auto how = it->export_content(id, "text/markdown", got.sink(), within());
  ASSERT_TRUE(how) << how.error().details.public_text;
  EXPECT_EQ(got.bytes, google.content(id, "text/markdown"));
  kept_content none;
  EXPECT_EQ(it->get_content(id, {}, none.sink(), within()).error().kind, error_kind::not_downloadable);
  EXPECT_EQ(it->export_content(id, "image/png", none.sink(), within()).error().kind, error_kind::not_exportable);

  const auto one = it->get_file(id, within());
  ASSERT_TRUE(one);
  ASSERT_FALSE(one->export_links.empty());
  const auto& [type, link] = one->export_links.front();
  kept_content linked;
  const auto by_link = it->export_by_link(*one, type, linked.sink(), within());
  ASSERT_TRUE(by_link) << by_link.error().details.public_text << ' ' << link;
  EXPECT_EQ(linked.bytes, google.content(id, type));
  EXPECT_TRUE(linked.heads.at(0).uses_export_link);

  google.fail({.path = "/drive/v3/files", .status = 403, .reason = "exportSizeLimitExceeded"});
  EXPECT_EQ(it->export_content(id, "text/markdown", none.sink(), within()).error().kind, error_kind::export_too_large);
}

TEST_F(drive_stand_in, tells_what_has_changed_and_that_a_token_is_gone) {
  const auto id = google.add({.name = "a", .type = "text/plain", .bytes = "1"});
  const auto it = made();
  auto token = it->get_start_page_token({}, within());
  ASSERT_TRUE(token) << token.error().details.public_text;
  google.edit(id, [](drive_test::file& one) { one.bytes = "22"; });
  const auto page = it->list_changes({.page_token = *token}, within());
  ASSERT_TRUE(page) << page.error().details.public_text;
  ASSERT_EQ(page->changes.size(), 1u);
  EXPECT_EQ(page->changes[0].id, id);
  ASSERT_TRUE(page->changes[0].current_file);
  EXPECT_EQ(page->changes[0].current_file->size, 2u);
  ASSERT_FALSE(page->new_start_page_token.empty());
  google.remove(id);
  const auto gone = it->list_changes({.page_token = page->new_start_page_token}, within());
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->changes.at(0).is_removed);
  EXPECT_EQ(it->get_file(id, within()).error().kind, error_kind::not_found);
  for (const int status : {400, 403, 410}) {
    const auto fresh = it->get_start_page_token({}, within());
    ASSERT_TRUE(fresh);
    google.expire_page_tokens(status);
    const auto stale = it->list_changes({.page_token = *fresh}, within());
    ASSERT_FALSE(stale) << status;
    EXPECT_EQ(name_of(stale.error().kind), name_of(error_kind::page_token_gone))
        << status << stale.error().details.private_text;
  }
}

TEST_F(drive_stand_in, holds_shared_drives) {
  const auto team = google.add(drive_test::shared_drive{.name = "Team"});
  google.join(team, {.whom = made()->get_about(within())->user.email});
  const auto id = google.add({.name = "in it", .type = "text/plain", .drive = team, .bytes = "x"});
  const auto it = made();
  const auto drives = it->list_drives({}, within());
  ASSERT_TRUE(drives) << drives.error().details.public_text;
  ASSERT_EQ(drives->drives.size(), 1u);
  EXPECT_EQ(drives->drives[0].id, team);
  const auto files = it->list_files({.corpus = list_request::search_corpus::drive, .drive_id = team}, within());
  ASSERT_TRUE(files) << files.error().details.public_text;
  ASSERT_EQ(files->files.size(), 1u);
  EXPECT_EQ(files->files[0].id, id);
  EXPECT_EQ(files->files[0].drive_id, team);
  const auto token = it->get_start_page_token(team, within());
  ASSERT_TRUE(token) << token.error().details.public_text;
  google.edit(id, [](drive_test::file& one) { one.bytes = "y"; });
  const auto changes = it->list_changes({.page_token = *token, .drive_id = team}, within());
  ASSERT_TRUE(changes) << changes.error().details.public_text;
  EXPECT_EQ(changes->changes.at(0).id, id);
}

TEST_F(drive_stand_in, ends_tokens_and_limits_rates_and_nothing_is_lost) {
  const auto id = google.add({.name = "a", .type = "text/plain", .bytes = "1"});
  const auto it = made();
  ASSERT_TRUE(it->get_file(id, within()));
  google.end_access();
  ASSERT_TRUE(it->get_file(id, within()));
  google.fail({.path = "/drive/v3/files", .times = 2, .status = 403, .reason = "userRateLimitExceeded"});
  ASSERT_TRUE(it->get_file(id, within()));
  EXPECT_EQ(it->current_statistics().throttled, 2u);
  google.heal();
  google.revoke();
  const auto key = it->get_file(id, within());
  // A service account's key is no refresh token: it gets another.
  EXPECT_TRUE(key) << key.error().details.public_text;
}

/// Four hundred and fifty files whose names come to 36 MB, as may come to be shared by anybody.
std::vector<drive_test::file> files_with_long_names() {
  std::string name;
  while (name.size() < 80'000) name += "漢字";
  std::vector<drive_test::file> all;
  for (int i = 0; i < 450; ++i) all.push_back({.name = std::to_string(i) + name, .type = "text/plain", .bytes = "x"});
  return all;
}

TEST_F(drive_stand_in, is_listed_in_smaller_pages_where_an_answer_is_too_large) {
  std::set<std::string> ids;
  for (auto& one : files_with_long_names()) ids.insert(google.add(std::move(one)));
  ids.insert(google.add({.name = "plain", .type = "text/plain", .bytes = "x"}));
  client_settings with;
  std::vector<std::string> lines;
  with.log = [&lines](std::string_view line) { lines.emplace_back(line); };
  const auto it = made(std::move(with));
  std::set<std::string> seen;
  list_request what;
  std::vector<std::size_t> pages;
  do {
    const auto page = it->list_files(what, within());
    ASSERT_TRUE(page) << page.error().details.public_text;
    pages.push_back(page->files.size());
    for (const auto& one : page->files)
      if (ids.contains(one.id)) seen.insert(one.id);
    what.page_token = page->next_page_token;
  } while (!what.page_token.empty());
  EXPECT_EQ(seen, ids);
  ASSERT_GE(pages.size(), 2u);
  EXPECT_EQ(pages.front(), 250u);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines.back(),
            "cannot list files of Google Drive, 500 per page: the answer is larger than 32 MiB; retrying with 250");
}

TEST_F(drive_stand_in, tells_its_changes_in_smaller_pages_where_an_answer_is_too_large) {
  const auto it = made();
  const auto token = it->get_start_page_token({}, within());
  ASSERT_TRUE(token) << token.error().details.public_text;
  std::set<std::string> ids, seen;
  for (auto& one : files_with_long_names()) ids.insert(google.add(std::move(one)));
  ids.insert(google.add({.name = "plain", .type = "text/plain", .bytes = "x"}));
  std::string next = *token;
  std::string start;
  while (start.empty()) {
    const auto page = it->list_changes({.page_token = next}, within());
    ASSERT_TRUE(page) << page.error().details.public_text;
    for (const auto& one : page->changes)
      if (ids.contains(one.id)) seen.insert(one.id);
    next = page->next_page_token;
    start = page->new_start_page_token;
  }
  EXPECT_EQ(seen, ids);
}

TEST_F(drive_stand_in, is_listed_without_what_its_files_say_of_themselves_at_length) {
  std::string words;
  while (words.size() < 80'000) words += "漢字";
  for (int i = 0; i < 450; ++i)
    google.add({.name = std::to_string(i), .type = "text/plain", .bytes = "x", .more = R"({"description":")" + words + "\"}"});
  const auto it = made();
  const auto page = it->list_files({}, within());
  ASSERT_TRUE(page) << page.error().details.public_text;
  EXPECT_GE(page->files.size(), 450u);
  EXPECT_EQ(it->current_statistics().requests, 1u) << "in one answer";
}

}  // namespace
