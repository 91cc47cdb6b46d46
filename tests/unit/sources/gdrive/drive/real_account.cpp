/// The client against Google itself, where somebody has an account for it: HONDANA_REAL_DRIVE names a file with a service
/// account's key or a log-in (0600) that can see at least one file. Nothing is changed there.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "auth/google/access_tokens.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "unit/sources/gdrive/drive/played_drive.hpp"

namespace {

using hondana::drive::byte_range;
using hondana::drive::client;
using hondana_test::kept_content;
using hondana_test::within;

class real_drive : public testing::Test {
 protected:
  void SetUp() override {
    const char* const file = std::getenv("HONDANA_REAL_DRIVE");
    if (file == nullptr || *file == '\0') GTEST_SKIP() << "HONDANA_REAL_DRIVE names no file of credentials";
    hondana::google::token_settings from;
    from.locations.file = file;
    auto tokens = hondana::google::make_access_token_source(from);
    ASSERT_TRUE(tokens) << tokens.error().public_text;
    auto made = client::create({}, *tokens);
    ASSERT_TRUE(made) << made.error().public_text;
    it = *made;
  }
  std::shared_ptr<client> it;
};

TEST_F(real_drive, says_who_we_are_and_lists_what_we_see) {
  const auto about = it->get_about(within());
  ASSERT_TRUE(about) << about.error().details.public_text << about.error().details.private_text;
  EXPECT_FALSE(about->user.email.empty());
  const auto page = it->list_files({.q = hondana::drive::query().trashed(false).text(), .page_size = 20}, within());
  ASSERT_TRUE(page) << page.error().details.public_text << page.error().details.private_text;
  ASSERT_FALSE(page->files.empty()) << "share a file with " << about->user.email;
  for (const auto& one : page->files) {
    if (one.is_folder() || one.shortcut_target) continue;
    const auto again = it->get_file(one.id, within());
    ASSERT_TRUE(again) << again.error().details.public_text;
    EXPECT_EQ(again->name, one.name);
    kept_content got;
    auto sink = got.sink();
    sink.max_bytes = 10u << 20;
    if (one.is_native()) {
      const auto how = it->export_content(one.id, "text/plain", sink, within());
      EXPECT_TRUE(how || how.error().is_file_specific()) << how.error().details.private_text;
    } else if (one.size && *one.size > 10) {
      const auto how = it->get_content(one.id, byte_range{2, 5}, sink, within());
      EXPECT_TRUE(how || how.error().is_file_specific()) << how.error().details.private_text;
      if (how) {
        EXPECT_EQ(got.bytes.size(), 4u);
      }
    }
  }
}

TEST_F(real_drive, has_a_log_of_changes_and_answers_as_is_expected_of_it) {
  const auto start = it->get_start_page_token({}, within());
  ASSERT_TRUE(start) << start.error().details.public_text;
  const auto changes = it->list_changes({.page_token = *start}, within());
  ASSERT_TRUE(changes) << changes.error().details.public_text;
  EXPECT_FALSE(changes->new_start_page_token.empty());
  EXPECT_TRUE(it->list_drives({}, within()));
  EXPECT_EQ(name_of(it->get_file("0000000000000000000000000000000000", within()).error().kind), "not_found");
  EXPECT_EQ(name_of(it->list_changes({.page_token = "nonsense"}, within()).error().kind), "page_token_gone");
}

}  // namespace
