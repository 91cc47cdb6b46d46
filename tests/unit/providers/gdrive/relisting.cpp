/// What is listed anew, and what is found out by it.
#include "unit/providers/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_relisting : served_drive {
  /// Everything is listed anew, once.
  void lose_the_log(gdrive_provider& of) {
    const auto lists_made = paper->count_of("files");
    paper->alter([](auto& all) {
      all.before_changes = [&all](const drive::changes_request&) {
        all.refuse("changes", refusal(drive::trouble::page_token_gone));
        all.alter([](auto& same) { same.before_changes = nullptr; });
      };
      all.before_page = [&all](const drive::list_request&, const drive::errand&) { all.allow("changes"); };
    });
    EXPECT_TRUE(becomes([&] { return paper->count_of("files") > lists_made; })) << of.health().detail;
  }
};

TEST_F(gdrive_relisting, with_more_files_than_are_kept_what_has_gone_goes_all_the_same) {
  for (int i = 10; i < 40; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  paper->page_size = 3;
  auto how = usual();
  how.most_files = 15;
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
  how.most_files = 1;
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
  paper->alter([](auto& all) {
    all.shared.clear();
    drive::change left;
    left.of = drive::change::kind::drive;
    left.id = "0Sales";
    left.is_removed = true;
    all.log[""].push_back(left);
  });
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://shared-with-me/Offer"); }));
  EXPECT_FALSE(lists(*drive, "gdrive://sales/Offer"));
}

}  // namespace
}  // namespace hondana::gdrive
