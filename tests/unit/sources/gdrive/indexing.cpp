/// What the index reads, and who is taken for it.
#include "protocol/model/caller_checks.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_indexed : served_drive {
  void hold(const std::string& id, const std::string& name, std::string_view type) {
    paper->hold(paper_file(id, name, std::string(type)));
  }
};

/// As the index reads: as who sees this one alone.
read_request indexing(const std::string& uri) {
  read_request asked;
  asked.uri = asked.requested_uri = uri;
  asked.max_bytes = 1u << 20;
  asked.caller = model::index_caller();
  asked.caller.access_filter = std::make_shared<const without_word>("another");
  return asked;
}

TEST_F(gdrive_indexed, what_is_refused_of_one_file_the_index_does_not_ask_for_again_and_again) {
  hold("1a", "Plan", "text/plain");
  hold("1b", "Locked", "text/plain");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  auto barred = refusal(drive::error_kind::forbidden, errc::access_denied, "No.");
  barred.reason = "cannotDownloadFile";
  paper->refuse("content", barred);
  auto asked = indexing("gdrive://my-drive/Plan");
  EXPECT_EQ(drive->read(asked).error().code, errc::access_denied) << "it is believed until there is another version";
  for (const auto* reason : {"", "appNotAuthorizedToFile"}) {
    auto unsaid = refusal(drive::error_kind::forbidden, errc::access_denied, "No.");
    unsaid.reason = reason;
    paper->refuse("content", unsaid);
    EXPECT_EQ(drive->read(asked).error().code, errc::source_unavailable) << "no file has another version when it ends";
  }
  paper->refuse("content", refusal(drive::error_kind::insufficient_scope, errc::unauthorized, "Widen the scopes."));
  EXPECT_EQ(drive->read(asked).error().code, errc::source_unavailable);
  auto domain = refusal(drive::error_kind::forbidden, errc::access_denied, "Ask the administrator.");
  domain.reason = "domainPolicy";
  paper->refuse("content", domain);
  EXPECT_EQ(drive->read(asked).error().code, errc::source_unavailable) << "of everything: what is indexed stays";
  paper->refuse("content", refusal(drive::error_kind::unauthorized, errc::unauthorized, "Log in again."));
  EXPECT_EQ(drive->read(asked).error().code, errc::source_unavailable) << "or nothing would be indexed after the next log-in";
  paper->refuse("content", refusal(drive::error_kind::not_found, errc::resource_not_found, "Share the file."));
  EXPECT_EQ(drive->read(asked).error().code, errc::resource_not_found) << "or its old text would be found for ever";
  paper->allow("content");
  auto locked = paper_file("1b", "Locked");
  locked.can_download = false;
  locked.version = "2";
  paper->change(locked);
  EXPECT_TRUE(becomes([&] { return drive->read(indexing("gdrive://my-drive/Locked")).error().code == errc::access_denied; }));
}

TEST_F(gdrive_indexed, nobody_is_taken_for_the_index_by_his_name) {
  hold("1a", "Plan", "text/plain");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  paper->refuse("content", refusal(drive::error_kind::forbidden, errc::access_denied, "No."));
  auto asked = indexing("gdrive://my-drive/Plan");
  asked.caller.access_filter = nullptr;
  for (const auto* address : {"", "unix", "192.0.2.1"}) {
    asked.caller.address = address;
    EXPECT_EQ(drive->read(asked).error().code, errc::source_unavailable) << address;
  }
}

TEST_F(gdrive_indexed, the_index_asks_nothing_that_the_last_poll_has_said) {
  hold("1a", "Plan", "text/plain");
  paper->put("1a", "", "plan");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  EXPECT_EQ(bytes_of(drive->read(indexing("gdrive://my-drive/Plan")).value().contents.front()), "plan");
  EXPECT_EQ(paper->count_of("file"), 0u);
  EXPECT_TRUE(read(*drive, "gdrive://my-drive/Plan"));
  EXPECT_EQ(paper->count_of("file"), 1u) << "as others do";
}

TEST_F(gdrive_indexed, a_sheet_that_is_listed_by_itself_is_read_by_who_sees_it_and_its_whole) {
  hold("1s", "Book", drive::spreadsheet_type);
  paper->put("1s", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Q1=a\nQ2=b\n");
  const auto drive = serve();
  ASSERT_TRUE(drive->read(indexing("gdrive://my-drive/Book")));
  const std::string sheet = "gdrive://my-drive/Book?sheet=Q2";
  EXPECT_TRUE(becomes([&] { return lists(*drive, sheet); }));
  auto asked = indexing(sheet);
  // As search/alone.hpp shows it.
  asked.caller.access_filter = std::make_shared<const only_these>(std::vector<std::string>{sheet, "gdrive://my-drive/Book"});
  const auto made = drive->read(asked);
  ASSERT_TRUE(made) << made.error().public_text;
  ASSERT_EQ(made->contents.size(), 1u);
  EXPECT_EQ(bytes_of(made->contents.front()), "b\n");
}

}  // namespace
}  // namespace hondana::gdrive
