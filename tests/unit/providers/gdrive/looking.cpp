/// Looks into folders that have come, and answers that are odd.
#include "unit/providers/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_looking : served_drive {};

TEST_F(gdrive_looking, a_refused_look_into_a_new_folder_is_said_once_and_made_again_also_after_a_restart) {
  using drive::trouble;
  int n = 0;
  for (const auto what : {trouble::malformed, trouble::forbidden, trouble::bad_request, trouble::not_found}) {
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
  paper->refuse("files", refusal(drive::trouble::not_found));
  paper->alter([](auto& all) {
    drive::change one;
    one.id = "f1";
    one.now = paper_folder("f1", "Box");
    all.log[""].push_back(std::move(one));
  });
  EXPECT_TRUE(becomes([&] { return paper->count_of("file") > 0; }));
  const auto polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2; }));
  EXPECT_EQ(paper->count_of("file"), 1u);
}

}  // namespace
}  // namespace hondana::gdrive
