/// Lists and logs that break off between two pages, and what is served meanwhile.
#include <atomic>

#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_unfinished : served_drive {
  static constexpr const char* place = "gdrive://shared-with-me/HR/Pay/salary";

  /// There is a folder that rules may hide.
  gdrive_unfinished() { paper->hold(paper_folder("f1", "HR", "")); }
  [[nodiscard]] static drive::file pay() { return paper_folder("f9", "Pay", "f1"); }
  [[nodiscard]] static drive::file salary() { return paper_file("1salary", "salary", "text/plain", "f9"); }
  /// Both, and the log says it in one piece.
  void create() {
    paper->alter([](auto& all) {
      for (const auto& now : {salary(), pay()}) {
        all.held[now.id] = now;
        drive::change one;
        one.id = now.id;
        one.current_file = now;
        all.log[""].push_back(std::move(one));
      }
    });
  }
  /// A call that is under way may still have what refused it, and refuse the next: said until the test has what it waits for.
  void allow_again() const {
    paper->allow("changes");
    paper->allow("files");
  }
  [[nodiscard]] static bool is_broken_off(const gdrive_provider& of) {
    return of.health().detail.find("Drive has a problem.") != std::string::npos;
  }
};

TEST_F(gdrive_unfinished, a_file_whose_folder_is_on_a_later_page_of_a_list_has_no_place_before_that_has_come) {
  paper->hold(paper_file("1z", "Card", "text/plain", "elsewhere"));
  {
    const auto drive = serve();
    EXPECT_TRUE(lists(*drive, "gdrive://shared-with-me/Card"));
    paper->alter([this](auto& all) {
      all.page_size = 1;
      all.held["1salary"] = salary();
      all.held["f9"] = pay();
      all.before_page = [this](const drive::list_request& what, const drive::call_options&) {
        if (what.page_token.empty()) paper->refuse("files", problem_of_drive());
      };
    });
    paper->refuse("changes", refusal(drive::error_kind::page_token_gone));
    ASSERT_TRUE(becomes([&] { return is_broken_off(*drive); })) << drive->health().detail;
    EXPECT_FALSE(lists_some(*drive, "salary"));
    EXPECT_TRUE(lists(*drive, "gdrive://shared-with-me/Card")) << "what was known is where it was";
  }
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://shared-with-me/HR"));
  EXPECT_FALSE(lists_some(*drive, "salary")) << "after a restart neither";
  paper->alter([](auto& all) { all.before_page = nullptr; });
  EXPECT_TRUE(becomes([&] {
    allow_again();
    return lists(*drive, place) && lists(*drive, "gdrive://shared-with-me/Card");
  }));
}

TEST_F(gdrive_unfinished, a_file_whose_folder_is_on_a_later_page_of_a_log_has_no_place_before_that_has_come) {
  {
    const auto drive = serve();
    EXPECT_TRUE(lists(*drive, "gdrive://shared-with-me/HR"));
    paper->alter([this](auto& all) {
      all.page_size = 1;
      all.before_changes = [this](const drive::changes_request& what) {
        if (what.page_token == "c1") paper->refuse("changes", problem_of_drive());
      };
    });
    create();
    ASSERT_TRUE(becomes([&] { return is_broken_off(*drive); })) << drive->health().detail;
    EXPECT_FALSE(lists_some(*drive, "salary"));
  }
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://shared-with-me/HR"));
  EXPECT_FALSE(lists_some(*drive, "salary")) << "after a restart neither";
  paper->alter([](auto& all) { all.before_changes = nullptr; });
  EXPECT_TRUE(becomes([&] {
    allow_again();
    return lists(*drive, place);
  }));
}

TEST_F(gdrive_unfinished, what_comes_while_everything_is_listed_is_served_with_the_log_of_that_time) {
  paper->page_size = 1;
  paper->hold(paper_file("1a", "Plan"));
  std::atomic<bool> is_there = false;
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    // The folder would have stood on the page before.
    if (what.page_token.empty() || is_there.exchange(true)) return;
    paper->change(paper_folder("0f", "Pay", "f1"));
    paper->change(paper_file("1salary", "salary", "text/plain", "0f"));
  };
  auto how = usual();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, place));
}

TEST_F(gdrive_unfinished, what_a_read_finds_in_a_folder_that_is_not_known_yet_waits_for_the_log) {
  paper->hold(paper_file("1salary", "salary", "text/plain", "f1"));
  follower_options how;
  how.api = paper;
  how.store = drive_store::create({}, 1u << 20, {}).value();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  follower follows(std::move(how));
  follows.start();
  request_context by;
  by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  ASSERT_TRUE(follows.wait_until_ready(by, hondana_test::event_deadline));
  EXPECT_NE(follows.latest()->find_by_uri("gdrive://shared-with-me/HR/salary"), nullptr);
  create();
  follows.report_file(salary());
  EXPECT_TRUE(becomes([&] { return follows.latest()->find_by_uri("gdrive://shared-with-me/HR/salary") == nullptr; }));
  EXPECT_EQ(follows.latest()->find("1salary"), nullptr);
  follows.schedule_poll();
  EXPECT_TRUE(becomes([&] { return follows.latest()->find_by_uri(place) != nullptr; }));
}

}  // namespace
}  // namespace hondana::gdrive
