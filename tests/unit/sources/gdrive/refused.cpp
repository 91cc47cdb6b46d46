/// What is kept, and when it is not given: refusals, downloads that the owner forbids, and what lacks something.
#include "protocol/model/caller_checks.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_refused_reads : served_drive {
  void hold(const std::string& id, const std::string& name, std::string_view type) {
    paper->hold(paper_file(id, name, std::string(type)));
  }
  [[nodiscard]] static std::string version_listed(gdrive_provider& of) {
    list_request request;
    request.limit = 100;
    const auto page = of.list(request);
    EXPECT_TRUE(page);
    for (const auto& one : page->entries) {
      if (one.uri == "gdrive://my-drive/Plan") return one.version;
    }
    return "not listed";
  }
};

TEST_F(gdrive_refused_reads, after_a_refusal_nothing_that_is_kept_is_given_when_drive_cannot_be_reached) {
  hold("1d", "Doc", drive::document_type);
  hold("1e", "Other", drive::document_type);
  for (const auto* id : {"1d", "1e"}) paper->put(id, "text/markdown", "kept");
  const auto silence = refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive does not answer.");
  {
    const auto drive = serve();
    ASSERT_TRUE(read(*drive, "gdrive:///1d"));
    ASSERT_TRUE(read(*drive, "gdrive:///1e"));
    paper->refuse("file", refusal(drive::error_kind::forbidden, errc::access_denied, "It is not shared."));
    EXPECT_FALSE(read(*drive, "gdrive:///1d"));
    paper->refuse("file", silence);
    EXPECT_FALSE(read(*drive, "gdrive:///1d"));
    EXPECT_TRUE(read(*drive, "gdrive:///1e"));
    refuse_all(refusal(drive::error_kind::unauthorized, errc::unauthorized, "The log-in was revoked."));
    EXPECT_FALSE(read(*drive, "gdrive:///1e"));
  }
  refuse_all(silence);
  const auto drive = serve();
  EXPECT_FALSE(read(*drive, "gdrive:///1e"));
  paper->alter([](auto& all) { all.refusals.clear(); });
  EXPECT_TRUE(becomes([&] { return read(*drive, "gdrive:///1e").has_value(); }));
}

TEST_F(gdrive_refused_reads, what_may_not_be_downloaded_any_more_is_not_given_from_what_is_kept) {
  hold("1a", "Plan", "text/plain");
  paper->put("1a", "", "plan");
  hold("1b", "Paper.pdf", "application/pdf");
  paper->put("1b", "", std::string(2u << 20, 'x'));
  const auto drive = serve();
  ASSERT_TRUE(read(*drive, "gdrive:///1a"));
  ASSERT_TRUE(read(*drive, "gdrive:///1b"));
  auto locked = paper_file("1a", "Plan");
  locked.can_download = false;
  paper->hold(locked);
  const auto made = read(*drive, "gdrive:///1a");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().public_text.find("ask the owner to allow it"), std::string::npos);
  paper->refuse("content", refusal(drive::error_kind::forbidden, errc::access_denied, "Have the owner allow it."));
  EXPECT_FALSE(read(*drive, "gdrive:///1b")) << "not its text either, which is kept";
}

TEST_F(gdrive_refused_reads, what_may_be_downloaded_again_is_told_though_its_bytes_are_the_same) {
  auto plan = paper_file("1a", "Plan");
  plan.md5 = "abc";
  plan.can_download = false;
  paper->hold(plan);
  paper->put("1a", "", "plan");
  const auto drive = serve();
  EXPECT_EQ(version_listed(*drive), "abc-barred");
  ears->forget();
  plan.can_download = true;
  paper->change(plan);
  EXPECT_TRUE(ears->await("gdrive://my-drive/Plan"));
  EXPECT_EQ(version_listed(*drive), "abc") << "and the index reads what has another version";
}

TEST_F(gdrive_refused_reads, a_refused_download_is_listed_as_such_before_the_next_poll) {
  auto plan = paper_file("1a", "Plan");
  plan.md5 = "abc";
  paper->hold(plan);
  paper->put("1a", "", "plan");
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_EQ(version_listed(*drive), "abc");
  auto locked = plan;
  locked.version = "2";
  locked.can_download = false;
  paper->hold(locked);
  auto no = refusal(drive::error_kind::forbidden, errc::access_denied, "Have the owner allow it.");
  no.reason = "cannotDownloadFile";
  paper->refuse("content", no);
  read_request asked;
  asked.uri = asked.requested_uri = "gdrive://my-drive/Plan";
  asked.max_bytes = 1u << 20;
  asked.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  asked.caller = model::index_caller();
  EXPECT_FALSE(drive->read(asked)) << "the index goes by the last poll";
  EXPECT_TRUE(becomes([&] { return version_listed(*drive) == "abc-barred"; }))
      << "otherwise it would not look again, were it allowed before the next poll";
}

TEST_F(gdrive_refused_reads, what_is_kept_says_how_it_was_got_and_what_lacks_something_is_not_kept) {
  hold("1d", "Long", drive::document_type);
  hold("1p", "Talk", drive::presentation_type);
  paper->put("1d", "text/markdown", "long");
  paper->put("1p", "text/plain", "no notes");
  paper->put("1p", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "slides");
  paper->too_large_to_export.insert("1d");
  auto how = usual();
  how.renderer = nullptr;
  {
    const auto drive = serve(how);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(fact(read(*drive, "gdrive:///1d").value().contents.front().metadata, export_link_key), "there");
      EXPECT_NE(fact(read(*drive, "gdrive:///1p").value().contents.front().metadata, problem_key), "");
    }
  }
  const auto drive = serve();
  EXPECT_EQ(bytes_of(read(*drive, "gdrive:///1p").value().contents.front()), "text of slides");
  EXPECT_EQ(fact(read(*drive, "gdrive:///1d").value().contents.front().metadata, export_link_key), "there");
}

}  // namespace
}  // namespace hondana::gdrive
