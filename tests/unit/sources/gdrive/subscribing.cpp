/// Which URIs are told of when something changes.
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_told : served_drive {
  static drive::file shortcut_to(const std::string& target, const std::string& id, const std::string& name) {
    auto link = paper_file(id, name, std::string(drive::shortcut_type));
    link.shortcut_target = drive::shortcut{target, "text/plain", {}};
    return link;
  }
};

TEST_F(gdrive_told, an_edit_is_told_by_path_by_id_and_of_every_shortcut_that_leads_there) {
  paper->hold(paper_file("1a", "Plan"));
  paper->hold(shortcut_to("1a", "1s", "Link"));
  paper->hold(shortcut_to("1s", "1t", "Link to a link"));
  paper->hold(paper_file("1b", "Other"));
  paper->hold(shortcut_to("1b", "1u", "Another link"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  ears->forget();
  auto now = paper_file("1a", "Plan");
  now.version = "2";
  paper->change(now);
  for (const auto* uri : {"gdrive://my-drive/Plan", "gdrive:///1a", "gdrive://my-drive/Link", "gdrive:///1s",
                          "gdrive://my-drive/Link%20to%20a%20link", "gdrive:///1t"})
    EXPECT_TRUE(ears->await(uri)) << uri;
  EXPECT_TRUE(ears->await("list"));
  EXPECT_FALSE(ears->has("alias gdrive://my-drive/Plan"));
  for (const auto* uri : {"gdrive:///1a", "gdrive://my-drive/Link", "gdrive:///1s", "gdrive:///1t"})
    EXPECT_TRUE(ears->has("alias " + std::string(uri))) << "rules may hide the plan: " << uri;
  for (const auto* uri : {"gdrive://my-drive/Other", "gdrive:///1u", "gdrive://my-drive/Another%20link"})
    EXPECT_FALSE(ears->has(uri)) << uri;
}

TEST_F(gdrive_told, an_edit_is_told_once_whether_a_read_or_a_poll_finds_it_and_by_both) {
  paper->hold(paper_file("1a", "Plan"));
  paper->put("1a", "", "plan");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  for (const bool is_read_first : {true, false}) {
    ears->forget();
    auto now = paper_file("1a", "Plan");
    now.version = is_read_first ? "2" : "3";
    if (is_read_first) {
      paper->hold(now);
      ASSERT_TRUE(read(*drive, "gdrive:///1a"));
      EXPECT_TRUE(ears->await("gdrive:///1a"));
    }
    paper->change(now);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(read(*drive, "gdrive:///1a"));
    EXPECT_TRUE(ears->await("gdrive:///1a"));
    const auto polls = paper->count_of("changes");
    EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2; }));
    EXPECT_EQ(ears->times("gdrive://my-drive/Plan"), 1);
    EXPECT_EQ(ears->times("gdrive:///1a"), 1);
  }
}

TEST_F(gdrive_told, the_lists_of_starred_and_recent_files_are_told_of_when_they_change) {
  paper->hold(paper_file("1a", "Plan"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  ears->forget();
  auto now = paper_file("1a", "Plan");
  now.version = "2";
  paper->change(now);
  EXPECT_TRUE(ears->await("list"));
  EXPECT_TRUE(ears->has("gdrive:///recent"));
  EXPECT_FALSE(ears->has("gdrive:///starred"));
  ears->forget();
  now.version = "3";
  now.is_starred = true;
  paper->change(now);
  EXPECT_TRUE(ears->await("gdrive:///starred"));
  EXPECT_TRUE(ears->await("list"));
  ears->forget();
  now.version = "4";
  now.is_starred = false;
  paper->change(now);
  EXPECT_TRUE(ears->await("gdrive:///starred"));
}

TEST_F(gdrive_told, a_shortcut_that_changes_itself_is_told_of_as_it_is) {
  paper->hold(paper_file("1a", "Plan"));
  paper->hold(shortcut_to("1a", "1s", "Link"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  ears->forget();
  auto now = shortcut_to("1a", "1s", "Link");
  now.version = "2";
  paper->change(now);
  EXPECT_TRUE(ears->await("gdrive://my-drive/Link"));
  EXPECT_TRUE(ears->await("list"));
  EXPECT_FALSE(ears->has("alias gdrive://my-drive/Link"));
  EXPECT_FALSE(ears->has("gdrive://my-drive/Plan"));
}

TEST_F(gdrive_told, whoever_watches_another_spelling_that_reads_take_hears_of_it) {
  paper->hold(paper_file("1a", "note (1).txt"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/note%20%281%29.txt"));
  drive->watch("gdrive://my-drive/note%20(1).txt");
  ears->forget();
  auto now = paper_file("1a", "note (1).txt");
  now.version = "2";
  paper->change(now);
  EXPECT_TRUE(ears->await("list")) << "which is told last";
  EXPECT_TRUE(ears->has("alias gdrive://my-drive/note%20(1).txt"));
  drive->unwatch("gdrive://my-drive/note%20(1).txt");
  ears->forget();
  now.version = "3";
  paper->change(now);
  EXPECT_TRUE(ears->await("list"));
  EXPECT_FALSE(ears->has("gdrive://my-drive/note%20(1).txt"));
}

TEST_F(gdrive_told, whoever_watches_with_a_slash_at_the_end_hears_of_what_a_read_of_that_gives) {
  paper->hold(paper_file("1a", "Plan"));
  paper->put("1a", "", "plan");
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  for (const auto* uri : {"gdrive://my-drive/Plan/", "gdrive://my-drive/"}) {
    EXPECT_TRUE(read(*drive, uri)) << uri;
    drive->watch(uri);
  }
  ears->forget();
  auto now = paper_file("1a", "Plan");
  now.version = "2";
  paper->change(now);
  EXPECT_TRUE(ears->await("list")) << "which is told last";
  EXPECT_TRUE(ears->has("alias gdrive://my-drive/Plan/"));
  ears->forget();
  paper->change(paper_file("1b", "Other"));
  EXPECT_TRUE(ears->await("list"));
  EXPECT_TRUE(ears->has("alias gdrive://my-drive/"));
}

TEST_F(gdrive_told, a_drive_is_told_of_when_something_comes_into_it) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  ears->forget();
  paper->change(paper_file("1a", "Plan"));
  EXPECT_TRUE(ears->await("gdrive://my-drive"));
  EXPECT_FALSE(ears->has("gdrive://shared-with-me"));
}

}  // namespace
}  // namespace hondana::gdrive
