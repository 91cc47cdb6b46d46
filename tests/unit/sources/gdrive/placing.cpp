/// Where files are in the URIs.
#include "sources/gdrive/snapshot.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

drive::file made_at(drive::file one, int seconds) {
  one.created = drive::time(std::chrono::seconds(seconds));
  return one;
}

struct gdrive_places : testing::Test {
  snapshot_input all;
  gdrive_places() {
    all.root = "root0";
    all.now = std::chrono::system_clock::now();
  }
  void add(const drive::file& one, const std::string& home = {}) { all.items.push_back(make_item(one, home)); }
  [[nodiscard]] std::shared_ptr<const snapshot> scene_now() const { return snapshot::make(all); }
  [[nodiscard]] static std::string uri_of(const snapshot& in, const std::string& id) {
    const auto* one = in.find(id);
    return one == nullptr ? std::string() : one->uri;
  }
};

TEST_F(gdrive_places, folders_lead_to_their_files) {
  add(paper_folder("f1", "Reports"));
  add(paper_folder("f2", "2025", "f1"));
  add(paper_file("1a", "Q1.txt", "text/plain", "f2"));
  const auto in = scene_now();
  EXPECT_EQ(uri_of(*in, "1a"), "gdrive://my-drive/Reports/2025/Q1.txt");
  ASSERT_NE(in->find_by_uri("gdrive://my-drive/Reports/2025/Q1.txt"), nullptr);
  EXPECT_EQ(in->find_by_uri("gdrive://my-drive/Reports/2025/Q1.txt")->item->id, "1a");
}

TEST_F(gdrive_places, of_files_with_one_name_the_oldest_keeps_it) {
  add(made_at(paper_file("1b", "Plan"), 20));
  add(made_at(paper_file("1c", "Plan"), 10));
  add(made_at(paper_file("1a", "Plan"), 30));
  add(made_at(paper_file("1d", "Plan~1b"), 5));
  const auto in = scene_now();
  EXPECT_EQ(uri_of(*in, "1c"), "gdrive://my-drive/Plan");
  EXPECT_EQ(uri_of(*in, "1a"), "gdrive://my-drive/Plan~1a");
  EXPECT_EQ(uri_of(*in, "1d"), "gdrive://my-drive/Plan~1b");
  EXPECT_EQ(uri_of(*in, "1b"), "gdrive://my-drive/Plan~1b~1b") << "somebody called a file as this would have been";
}

TEST_F(gdrive_places, nfc_and_nfd_are_one_name) {
  add(made_at(paper_file("1a", "\xE3\x81\x8C"), 1));
  add(made_at(paper_file("1b", "\xE3\x81\x8B\xE3\x82\x99"), 2));
  const auto in = scene_now();
  EXPECT_EQ(uri_of(*in, "1a"), "gdrive://my-drive/%E3%81%8C");
  EXPECT_EQ(uri_of(*in, "1b"), "gdrive://my-drive/%E3%81%8C~1b");
}

TEST_F(gdrive_places, folders_in_a_circle_are_left_out) {
  add(paper_folder("f1", "A", "f2"));
  add(paper_folder("f2", "B", "f1"));
  add(paper_folder("f3", "C", "f3"));
  add(paper_file("1a", "in it", "text/plain", "f1"));
  const auto in = scene_now();
  EXPECT_EQ(in->file_count(), 0u);
  EXPECT_EQ(in->unserved_count(), 4u);
}

TEST_F(gdrive_places, what_has_no_folder_of_ours_is_shared_with_us) {
  add(paper_file("1a", "Letter", "text/plain", "elsewhere"));
  add(paper_file("1b", "Card", "text/plain", {}));
  const auto in = scene_now();
  EXPECT_EQ(uri_of(*in, "1a"), "gdrive://shared-with-me/Letter");
  EXPECT_EQ(uri_of(*in, "1b"), "gdrive://shared-with-me/Card");
}

TEST_F(gdrive_places, the_bin_hides_all_that_lies_in_a_folder) {
  auto folder = paper_folder("f1", "Old");
  folder.is_trashed = true;
  add(folder);
  add(paper_file("1a", "a", "text/plain", "f1"));
  EXPECT_EQ(scene_now()->file_count(), 0u);
}

TEST_F(gdrive_places, shared_drives_have_their_slugs_and_can_be_chosen) {
  drive::shared_drive sales;
  sales.id = "0Sales";
  sales.name = "Sales & Co";
  all.drives = {sales};
  add(paper_file("1a", "a", "text/plain", "0Sales"), "0Sales");
  add(paper_file("1b", "b", "text/plain", "hidden"), "0Sales");
  add(paper_file("1c", "c"));
  EXPECT_EQ(uri_of(*scene_now(), "1a"), "gdrive://sales-co/a");
  EXPECT_EQ(uri_of(*scene_now(), "1b"), "gdrive://sales-co/b") << "its folder is not shown to us";
  all.drive_slugs = {"sales-co"};
  const auto in = scene_now();
  EXPECT_EQ(in->file_count(), 2u);
  EXPECT_EQ(in->unserved_count(), 1u);
}

TEST_F(gdrive_places, what_lies_in_a_folder_that_there_was_no_room_for_is_nowhere_else) {
  drive::shared_drive sales;
  sales.id = "0Sales";
  sales.name = "Sales";
  all.drives = {sales};
  add(paper_file("1a", "a", "text/plain", "left out"));
  add(paper_file("1b", "b", "text/plain", "left out"), "0Sales");
  add(paper_file("1c", "c", "text/plain", ""));
  add(paper_file("1d", "d", "text/plain", "0Sales"), "0Sales");
  EXPECT_EQ(scene_now()->file_count(), 4u);
  all.is_truncated = true;
  const auto in = scene_now();
  EXPECT_EQ(in->find("1a"), nullptr) << "rules may hide its folder";
  EXPECT_EQ(in->find("1b"), nullptr);
  EXPECT_EQ(uri_of(*in, "1c"), "gdrive://shared-with-me/c");
  EXPECT_EQ(uri_of(*in, "1d"), "gdrive://sales/d");
}

TEST_F(gdrive_places, very_long_paths_have_uris_by_id) {
  std::string parent = "root0";
  for (int i = 0; i < 30; ++i) {
    const auto id = "f" + std::to_string(i);
    add(paper_folder(id, std::string(255, 'x'), parent));
    parent = id;
  }
  add(paper_file("1a", "deep", "text/plain", parent));
  const auto in = scene_now();
  EXPECT_EQ(uri_of(*in, "1a"), "gdrive:///1a");
  EXPECT_EQ(in->unserved_count(), 0u);
}

TEST_F(gdrive_places, sheets_that_are_known_are_listed_behind_the_first) {
  add(paper_file("1a", "Book", std::string(drive::spreadsheet_type)));
  all.sheets["1a"] = {"Q1", "Q2 / 売上", "Q3"};
  const auto in = scene_now();
  EXPECT_FALSE(in->entries().find("gdrive://my-drive/Book?sheet=Q1"));
  const auto second = in->entries().find("gdrive://my-drive/Book?sheet=Q2%20%2F%20%E5%A3%B2%E4%B8%8A");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, "sheet");
  EXPECT_EQ(second->version, "1");
  EXPECT_TRUE(in->entries().find("gdrive://my-drive/Book?sheet=Q3"));
}

TEST_F(gdrive_places, keys_of_a_file_are_those_of_its_folders_and_shortcuts) {
  auto folder = paper_folder("f1", "A");
  folder.resource_key = "0-f";
  add(folder);
  add(paper_file("1a", "a", "text/plain", "f1"));
  auto link = paper_file("1s", "link", std::string(drive::shortcut_type));
  link.shortcut_target = drive::shortcut{"1a", "text/plain", "0-a"};
  add(link);
  const auto in = scene_now();
  const std::vector<drive::resource_key> wanted{{"1a", "0-a"}, {"f1", "0-f"}};
  EXPECT_EQ(in->resource_keys_of(*in->find("1a")->item), wanted);
}

}  // namespace
}  // namespace hondana::gdrive
