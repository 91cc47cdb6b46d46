/// What is listed anew, and what is found out by it.
#include <algorithm>
#include <atomic>

#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_relisting : served_drive {
  /// Everything is listed anew, once.
  void lose_the_log(gdrive_provider& of, const std::function<void(const drive::list_request&)>& before_page = {}) {
    const auto lists_made = paper->count_of("files");
    paper->alter([&](auto& all) {
      all.before_changes = [&all](const drive::changes_request&) {
        all.refuse("changes", refusal(drive::error_kind::page_token_gone));
        all.alter([](auto& same) { same.before_changes = nullptr; });
      };
      all.before_page = [&all, before_page](const drive::list_request& what, const drive::call_options&) {
        all.allow("changes");
        if (before_page) before_page(what);
      };
    });
    EXPECT_TRUE(becomes([&] { return paper->count_of("files") > lists_made; })) << of.health().detail;
  }
};

TEST_F(gdrive_relisting, with_more_files_than_are_kept_what_has_gone_goes_all_the_same) {
  for (int i = 10; i < 40; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  paper->page_size = 3;
  auto how = usual();
  how.max_files = 15;
  const auto drive = serve(how);
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/file%2024"));
  EXPECT_EQ(listed(*drive).size(), 17u);
  paper->drop("id24");
  paper->hold(paper_file("id00", "new on the first page"));
  lose_the_log(*drive);
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/file%2024"); }));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/file%2023")) << "and nothing else does";
  EXPECT_EQ(listed(*drive).size(), 17u) << "what stands on the last page has its room";
  EXPECT_NE(drive->health().detail.find("raise max_files"), std::string::npos) << drive->health().detail;
}

TEST_F(gdrive_relisting, what_goes_makes_room_for_what_comes_with_it) {
  paper->hold(paper_file("1a", "Old"));
  auto how = usual();
  how.max_files = 1;
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Old"));
  paper->drop("1a");
  paper->hold(paper_file("1b", "New"));
  lose_the_log(*drive);
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/New") && !lists(*drive, "gdrive://my-drive/Old"); }));
}

TEST_F(gdrive_relisting, what_changed_in_the_bin_comes_out_with_its_folder) {
  paper->hold(paper_folder("f1", "Box"));
  paper->hold(paper_folder("f2", "Inner", "f1"));
  paper->hold(paper_file("1a", "a", "text/plain", "f2"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Box/Inner/a"));
  auto folder = paper_folder("f1", "Box");
  folder.is_trashed = true;
  paper->change(folder);
  auto file = paper_file("1a", "a", "text/plain", "f2");
  file.is_trashed = true;
  file.version = "2";
  paper->change(file);
  const auto polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2 && !lists(*drive, "gdrive://my-drive/Box"); }));
  file.is_trashed = false;
  paper->hold(file);
  folder.is_trashed = false;
  paper->change(folder);
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box/Inner/a"); }));
}

TEST_F(gdrive_relisting, what_is_shared_by_itself_out_of_a_drive_that_has_gone_is_there_still) {
  drive::shared_drive sales;
  sales.id = "0Sales";
  sales.name = "Sales";
  paper->shared = {sales};
  auto offer = paper_file("1s", "Offer", "text/plain", "0Sales");
  offer.drive_id = "0Sales";
  paper->hold(offer);
  paper->seen_by_user.insert("1s");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://sales/Offer"));
  paper->leave("0Sales");
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://shared-with-me/Offer"); }));
  EXPECT_FALSE(lists(*drive, "gdrive://sales/Offer"));
}

TEST_F(gdrive_relisting, what_lies_in_a_folder_that_went_to_the_bin_before_the_list_came_to_it_is_not_at_the_top) {
  for (const bool is_in_bin : {true, false}) {
    paper->page_size = 1;
    paper->hold(paper_file("1x", "salary", "text/plain", "f1"));
    paper->hold(paper_folder("f1", "Box"));
    std::atomic<bool> is_gone = false;
    paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
      if (what.page_token.empty() || is_gone.exchange(true)) return;
      if (!is_in_bin) {
        paper->drop("1x");
        return paper->remove("f1");
      }
      auto folder = paper_folder("f1", "Box");
      folder.is_trashed = true;
      paper->change(folder);
    };
    auto how = usual();
    how.store_path.clear();
    const auto drive = serve(std::move(how));
    EXPECT_FALSE(lists_some(*drive, "salary"));
    const auto polls = paper->count_of("changes");
    EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2; }));
    EXPECT_FALSE(lists_some(*drive, "salary"));
    EXPECT_TRUE(is_gone);
    if (!is_in_bin) continue;
    paper->change(paper_folder("f1", "Box"));
    EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box/salary"); })) << "it comes out with its folder";
  }
}

TEST_F(gdrive_relisting, what_lies_deep_in_such_a_folder_is_not_at_the_top_either) {
  paper->page_size = 1;
  const auto hold_inner = [this](bool is_in_bin) {
    for (auto one : {paper_file("0x", "salary", "text/plain", "g1"), paper_folder("g1", "Inner", "f1")}) {
      one.is_trashed = is_in_bin;
      paper->hold(one);
    }
  };
  hold_inner(false);
  auto folder = paper_folder("f1", "Box");
  paper->hold(folder);
  std::atomic<bool> is_gone = false;
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    if (what.page_token.empty() || is_gone.exchange(true)) return;
    hold_inner(true);
    auto now = folder;
    now.is_trashed = true;
    paper->change(now);
  };
  const auto drive = serve();
  EXPECT_FALSE(lists_some(*drive, "salary"));
  const auto polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return lists_some(*drive, "salary") || paper->count_of("changes") > polls + 4; }));
  EXPECT_FALSE(lists_some(*drive, "salary"));
  hold_inner(false);
  paper->change(folder);
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box/Inner/salary"); })) << "it comes out with its folder";
}

TEST_F(gdrive_relisting, what_lies_in_a_folder_that_came_out_of_the_bin_while_all_was_listed_is_there) {
  paper->page_size = 1;
  paper->hold(paper_file("1a", "Plan"));
  paper->hold(paper_file("1b", "Other plan"));
  auto folder = paper_folder("f1", "Box");
  folder.is_trashed = true;
  paper->hold(folder);
  std::atomic<bool> is_there = false;
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    // What is in it would have stood on the page before.
    if (what.page_token.empty() || is_there.exchange(true)) return;
    paper->hold(paper_file("0x", "Offer", "text/plain", "f1"));
    paper->change(paper_folder("f1", "Box"));
  };
  const auto drive = serve();
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box/Offer"); }));
}

TEST_F(gdrive_relisting, a_full_list_that_was_under_way_begins_anew_once_there_is_more_room) {
  for (int i = 10; i < 40; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  paper->page_size = 3;
  {
    auto how = usual();
    how.max_files = 8;
    const auto drive = serve(std::move(how));
    EXPECT_EQ(listed(*drive).size(), 10u);
    lose_the_log(*drive, [this](const drive::list_request& what) {
      if (what.page_token == "p12") paper->refuse("files", problem_of_drive());
    });
    EXPECT_TRUE(becomes([&] { return drive->health().detail.find("Drive has a problem.") != std::string::npos; }));
  }
  paper->alter([](auto& all) { all.before_page = nullptr; });
  paper->allow("files");
  auto how = usual();
  how.max_files = 100;
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(becomes([&] { return listed(*drive).size() == 32; })) << listed(*drive).size();
}

}  // namespace
}  // namespace hondana::gdrive
