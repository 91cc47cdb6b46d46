/// Looks into folders that have come, and answers that are odd.
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_looking : served_drive {};

TEST_F(gdrive_looking, a_refused_look_into_a_new_folder_is_said_once_and_made_again_also_after_a_restart) {
  using drive::error_kind;
  int n = 0;
  for (const auto what : {error_kind::malformed, error_kind::forbidden, error_kind::bad_request, error_kind::not_found,
                          error_kind::page_token_gone}) {
    const auto id = "f" + std::to_string(++n);
    const auto place = "gdrive://my-drive/" + id + "/a";
    {
      const auto drive = serve();
      EXPECT_FALSE(listed(*drive).empty());
      paper->hold(paper_file("1" + id, "a", "text/plain", id));
      paper->refuse("files", refusal(what));
      paper->change(paper_folder(id, id));
      const auto looks = paper->count_of("files");
      EXPECT_TRUE(becomes([&] { return paper->count_of("files") > looks + 2; })) << "it is asked again";
      EXPECT_EQ(times_said("the new folder " + id + " cannot be listed yet"), 1);
      EXPECT_FALSE(lists(*drive, place));
    }
    const auto drive = serve();
    EXPECT_FALSE(listed(*drive).empty());
    paper->allow("files");
    EXPECT_TRUE(becomes([&] { return lists(*drive, place); })) << place;
  }
}

TEST_F(gdrive_looking, a_new_folder_that_has_gone_again_is_not_looked_into_for_ever) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  paper->refuse("files", refusal(drive::error_kind::not_found));
  paper->alter([](auto& all) {
    drive::change one;
    one.id = "f1";
    one.current_file = paper_folder("f1", "Box");
    one.current_file->resource_key = "0-key";
    all.log[""].push_back(std::move(one));
  });
  EXPECT_TRUE(becomes([&] { return paper->count_of("file") > 0; }));
  const auto polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2; }));
  EXPECT_EQ(paper->count_of("file"), 1u);
  ASSERT_EQ(paper->keys.size(), 1u);
  EXPECT_EQ(paper->keys.front().key, "0-key");
}

TEST_F(gdrive_looking, new_folders_that_drive_has_a_problem_with_hold_up_nothing_else) {
  auto plan = paper_file("1a", "Plan");
  paper->hold(plan);
  paper->put("1a", "", "open");
  auto how = usual();
  how.freshness_ttl = std::chrono::hours(1);
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  paper->refuse("files", problem_of_drive());
  for (int i = 0; i < 9; ++i) paper->change(paper_folder("f" + std::to_string(i), "Box " + std::to_string(i)));
  EXPECT_TRUE(becomes(
      [&] { return drive->health().detail.find("the entries of new folders: Drive has a problem.") != std::string::npos; }));
  EXPECT_FALSE(drive->health().is_healthy);
  const auto looks = paper->count_of("files"), polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 4; }));
  EXPECT_LE(paper->count_of("files") - looks, 2 * (paper->count_of("changes") - polls + 1)) << "two of them with each poll";
  const auto asked = paper->count_of("file");
  EXPECT_TRUE(read(*drive, "gdrive://my-drive/Plan"));
  EXPECT_EQ(paper->count_of("file"), asked) << "what is known is as it is known";
  paper->remove("1a");
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/Plan"); }));
  paper->hold(paper_file("1z", "Offer", "text/plain", "f7"));
  paper->allow("files");
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box%207/Offer") && drive->health().is_healthy; }));
}

}  // namespace
}  // namespace hondana::gdrive
