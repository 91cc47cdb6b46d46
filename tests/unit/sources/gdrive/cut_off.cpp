/// Reads while Drive cannot be reached.
#include "sources/gdrive/catalog_entries.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_cut_off : served_drive {
  [[nodiscard]] std::chrono::milliseconds patience() {
    std::chrono::milliseconds was{};
    paper->alter([&was](auto& all) {
      was = std::chrono::duration_cast<std::chrono::milliseconds>(all.asked_until.value() - all.asked_at.value());
    });
    return was;
  }
  void cut() {
    for (const auto* what : {"root", "changes", "file", "export", "content"})
      paper->refuse(what, refusal(drive::error_kind::unavailable, errc::source_unavailable, "The network is down"));
  }
};

TEST_F(gdrive_cut_off, nobody_waits_long_for_what_did_not_answer_a_moment_ago_and_all_is_as_before_once_it_does) {
  manual_clock clock;
  paper->hold(paper_file("1d", "Doc", std::string(drive::document_type)));
  paper->hold(paper_file("1e", "Unread", std::string(drive::document_type)));
  paper->put("1d", "text/markdown", "kept");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1000);  // longer than any test advances
  how.freshness_ttl = std::chrono::milliseconds(0);
  const auto drive = serve(std::move(how));
  ASSERT_TRUE(read(*drive, "gdrive:///1d"));
  EXPECT_EQ(patience(), std::chrono::seconds(15));
  cut();
  ASSERT_TRUE(read(*drive, "gdrive:///1d"));
  EXPECT_EQ(patience(), std::chrono::seconds(15)) << "the failure was not known yet";
  ASSERT_TRUE(read(*drive, "gdrive:///1d"));
  EXPECT_EQ(patience(), std::chrono::seconds(1));
  EXPECT_FALSE(read(*drive, "gdrive:///1e"));
  EXPECT_EQ(patience(), std::chrono::seconds(5)) << "there is nothing else to give";
  for (const auto* what : {"root", "changes", "file", "export", "content"}) paper->allow(what);
  EXPECT_TRUE(becomes([&] {
    clock.advance(std::chrono::seconds(1));
    const auto made = read(*drive, "gdrive:///1d");
    return made && !made->version.empty() && patience() == std::chrono::seconds(15);
  })) << "a read that was answered nothing has the next poll made at once";
}

TEST_F(gdrive_cut_off, what_is_not_kept_says_why_and_for_how_long) {
  paper->hold(paper_file("1e", "Unread", std::string(drive::document_type)));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Unread"));
  auto busy = refusal(drive::error_kind::rate_limited, errc::overloaded, "Wait 90 seconds");
  busy.details.retry_after = std::chrono::seconds(90);
  busy.status = 429;
  paper->refuse("file", busy);
  const auto made = read(*drive, "gdrive:///1e");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().public_text,
            "\"Unread\" is not cached, and Drive cannot be reached: Wait 90 seconds. Try again later.");
  EXPECT_EQ(made.error().retry_after, std::chrono::seconds(90));
}

TEST_F(gdrive_cut_off, asking_as_often_as_we_let_ourselves_is_no_cut_and_says_when_to_ask_again) {
  const manual_clock clock;
  paper->hold(paper_file("1d", "Doc", std::string(drive::document_type)));
  paper->put("1d", "text/markdown", "kept");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1000);  // longer than any test advances
  const auto drive = serve(std::move(how));
  ASSERT_TRUE(read(*drive, "gdrive:///1d"));
  auto busy = refusal(drive::error_kind::busy, errc::overloaded, "The turn does not come in time; try again in 9 seconds.");
  busy.details.retry_after = std::chrono::seconds(9);
  paper->refuse("file", busy);
  for (int i = 0; i < 2; ++i) {
    const auto made = read(*drive, "gdrive:///1d");
    ASSERT_FALSE(made) << "nobody knows whether what is kept is what Drive has, and Drive is there";
    EXPECT_EQ(made.error().code, errc::overloaded);
    EXPECT_EQ(made.error().retry_after, std::chrono::seconds(9));
    EXPECT_EQ(patience(), std::chrono::seconds(15)) << "the next one waits as long for its turn";
  }
  read_request unlisted;
  unlisted.uri = unlisted.requested_uri = "gdrive:///1unlisted";
  unlisted.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  unlisted.caller.access_filter = std::make_shared<const without_word>("secret");
  EXPECT_EQ(drive->read(unlisted).error().code, errc::overloaded) << "which is not that it is not there";
  paper->allow("file");
  const auto made = read(*drive, "gdrive:///1d");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(fact(made->contents.front().metadata, offline_key), "");
}

TEST_F(gdrive_cut_off, the_age_is_that_of_the_last_look_at_drive) {
  using std::chrono::hours;
  const auto where = drive_store::create("", 1u << 20, {}).value();
  ASSERT_TRUE(where->open({}));
  const fetcher with({.api = paper, .store = where});
  const auto begun = std::chrono::system_clock::now();
  ASSERT_TRUE(
      where->put_content("1d", "text", {"1", "text/markdown", std::make_shared<const std::string>("text"), begun - hours(10)}));
  item file;
  file.id = "1d";
  file.mime_type = std::string(drive::document_type);
  file.version = "1";
  fetch_request which{std::make_shared<const item>(file)};
  which.is_offline = true;
  EXPECT_TRUE(with.has_cached(*which.item));
  request_context by;
  by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  const auto age = [&] { return with.fetch_content(which, by, 1u << 20).value().age.value(); };
  EXPECT_GE(age(), hours(10)) << "nobody has looked since it was read";
  which.verified_at = begun - hours(1);
  EXPECT_GE(age(), hours(1));
  EXPECT_LT(age(), hours(2));
  which.verified_at = begun - hours(20);
  EXPECT_LT(age(), hours(11)) << "it was read later than that";
  which.verified_at = begun - hours(1);
  file.version = "2";
  which.item = std::make_shared<const item>(file);
  EXPECT_GE(age(), hours(10)) << "of another version nobody knows more";
}

}  // namespace
}  // namespace hondana::gdrive
