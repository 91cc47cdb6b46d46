/// Reads of files that have just moved, where not every drive is served.
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_moved : served_drive {
  /// Serves these drives, and polls once.
  [[nodiscard]] std::shared_ptr<gdrive_provider> serve_alone(std::vector<std::string> drives) {
    auto how = usual();
    how.drive_slugs = std::move(drives);
    how.min_interval = how.max_interval = std::chrono::hours(1);
    return serve(std::move(how));
  }
  void share(const std::string& id, const std::string& name) {
    drive::shared_drive one;
    one.id = id;
    one.name = name;
    paper->shared.push_back(one);
  }
  void put(const std::string& id, const std::string& parent, const std::string& drive, const std::string& text,
           const std::string& name = "Offer") {
    auto one = paper_file(id, name, "text/plain", parent);
    one.drive_id = drive;
    one.version = text;
    paper->hold(one);
    paper->put(id, "", text);
  }
  [[nodiscard]] static std::string text_of(gdrive_provider& of, const std::string& uri) {
    const auto made = read(of, uri);
    if (made) return bytes_of(made->contents.front());
    EXPECT_EQ(made.error().code, errc::resource_not_found) << made.error().public_text;
    return "(not found)";
  }
};

TEST_F(gdrive_moved, out_of_a_served_drive_into_somebodys_own_that_is_not_they_are_not_given) {
  share("0Sales", "Sales");
  put("1a", "0Sales", "0Sales", "open");
  put("1b", "0Sales", "0Sales", "open", "Other");
  const auto drive = serve_alone({"sales"});
  EXPECT_EQ(text_of(*drive, "gdrive://sales/Offer"), "open");
  EXPECT_EQ(text_of(*drive, "gdrive://sales/Other"), "open");
  const auto contents = paper->count_of("content");
  put("1a", "", "", "private");
  put("1b", "root0", "", "private", "Other");
  EXPECT_EQ(text_of(*drive, "gdrive://sales/Offer"), "(not found)");
  EXPECT_EQ(text_of(*drive, "gdrive:///1b"), "(not found)");
  EXPECT_EQ(paper->count_of("content"), contents) << "it is not even fetched";
  EXPECT_TRUE(becomes([&] { return listed(*drive).size() == 1; })) << "the next list does not wait for a poll";
}

TEST_F(gdrive_moved, out_of_a_served_drive_they_are_given_where_all_is_served) {
  share("0Sales", "Sales");
  put("1a", "0Sales", "0Sales", "open");
  const auto drive = serve_alone({});
  EXPECT_EQ(text_of(*drive, "gdrive://sales/Offer"), "open");
  put("1a", "", "", "still ours");
  EXPECT_EQ(text_of(*drive, "gdrive:///1a"), "still ours");
}

TEST_F(gdrive_moved, from_one_served_drive_to_another_they_are_given_also_in_a_folder_that_is_not_known) {
  share("0Sales", "Sales");
  share("0Team", "Team");
  share("0Staff", "Staff");
  for (const auto* id : {"1a", "1b", "1c"}) put(id, "0Sales", "0Sales", "open", id);
  const auto drive = serve_alone({"sales", "team"});
  for (const auto* id : {"1a", "1b", "1c"}) EXPECT_EQ(text_of(*drive, std::string("gdrive:///") + id), "open");
  put("1a", "0Team", "0Team", "for the team", "1a");
  put("1b", "0new", "0Team", "for the team", "1b");
  put("1c", "0Staff", "0Staff", "for staff", "1c");
  EXPECT_EQ(text_of(*drive, "gdrive:///1a"), "for the team");
  EXPECT_EQ(text_of(*drive, "gdrive:///1b"), "for the team");
  EXPECT_EQ(text_of(*drive, "gdrive:///1c"), "(not found)");
}

TEST_F(gdrive_moved, within_my_drive_they_are_given_and_out_of_it_not) {
  paper->hold(paper_folder("f1", "Plans"));
  for (const auto* id : {"1a", "1b", "1c", "1d"}) put(id, "root0", "", "open", id);
  const auto drive = serve_alone({"my-drive"});
  for (const auto* id : {"1a", "1b", "1c", "1d"}) EXPECT_EQ(text_of(*drive, std::string("gdrive:///") + id), "open");
  put("1a", "f1", "", "moved", "1a");
  put("1b", "root0", "", "renamed", "Other");
  put("1c", "", "", "somebody else's", "1c");
  put("1d", "f9", "", "who knows where", "1d");
  EXPECT_EQ(text_of(*drive, "gdrive:///1a"), "moved");
  EXPECT_EQ(text_of(*drive, "gdrive:///1b"), "renamed");
  EXPECT_EQ(text_of(*drive, "gdrive:///1c"), "(not found)");
  EXPECT_EQ(text_of(*drive, "gdrive:///1d"), "(not found)");
}

TEST_F(gdrive_moved, what_is_shared_by_itself_out_of_a_drive_that_is_not_known_has_not_moved) {
  put("1a", "0folder", "0Other", "shared");
  paper->seen_by_user.insert("1a");
  const auto drive = serve_alone({"shared-with-me"});
  EXPECT_EQ(text_of(*drive, "gdrive://shared-with-me/Offer"), "shared");
  put("1a", "0folder", "0Other", "shared and renamed", "Other");
  EXPECT_EQ(text_of(*drive, "gdrive:///1a"), "shared and renamed");
  put("1a", "", "", "shared by itself", "Other");
  EXPECT_EQ(text_of(*drive, "gdrive:///1a"), "shared by itself");
}

}  // namespace
}  // namespace hondana::gdrive
