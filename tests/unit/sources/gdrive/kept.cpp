/// What is on disk, and what is left of it.
#include "sources/gdrive/store.hpp"

#include <future>

#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_kept : served_drive {
  [[nodiscard]] std::shared_ptr<drive_store> open(std::uint64_t most = 1u << 20) {
    auto made = drive_store::create((root / "s" / "drive.db").string(), most, {});
    EXPECT_TRUE(made) << made.error().public_text;
    if (!made) std::abort();
    const auto begun = (*made)->open({});
    EXPECT_TRUE(begun) << begun.error().public_text;
    return *made;
  }
  static std::vector<shared_item> items_of(drive_store& in) {
    std::vector<shared_item> all;
    EXPECT_TRUE(in.for_each_item([&all](shared_item one, std::int64_t) { all.push_back(std::move(one)); }));
    return all;
  }
};

TEST_F(gdrive_kept, a_file_is_read_as_it_was_written) {
  auto from = paper_file("1a", "売上\n'\"\\");
  from.size = 7;
  from.md5 = "abc";
  from.is_starred = true;
  from.resource_key = "0-key";
  from.shortcut_target = drive::shortcut{"1b", "text/plain", "0-other"};
  from.owners = {{"Ann", "ann@example.com"}};
  const auto one = make_item(from, "home1");
  update_batch what;
  what.upserts = {one};
  what.generation = 3;
  what.position = sync_position{"home1", "c1", "c2", "p3", 3, true, true};
  what.folders_to_list = {"1a"};
  EXPECT_TRUE(open()->apply(what));
  const auto again = open();
  const auto all = items_of(*again);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(*all.front(), *one);
  EXPECT_EQ(again->positions().value(), std::vector{*what.position});
  EXPECT_EQ(again->folders_to_list().value(), std::vector<std::string>{"1a"});
}

TEST_F(gdrive_kept, homes_with_too_many_files_are_remembered_until_the_account_is_another) {
  EXPECT_TRUE(open()->full_homes().value().empty());
  EXPECT_TRUE(open()->put_root_id("root0"));
  using all = std::vector<full_home>;
  for (const auto& homes : {all{{"", 20}}, all{{"", 0}, {"0Sales", 10'000'000}}, all{{"0Sales", 1}}, all{}, all{{"", 20}}}) {
    EXPECT_TRUE(open()->put_full_homes(homes));
    EXPECT_EQ(open()->full_homes().value(), homes);
  }
  EXPECT_TRUE(open()->put_root_id("root1"));
  EXPECT_TRUE(open()->full_homes().value().empty());
}

TEST_F(gdrive_kept, what_was_not_said_of_a_file_is_not_taken_from_the_one_before) {
  auto whole = paper_file("1a", "a");
  whole.size = 7;
  drive::file bare;
  bare.id = "1b";
  update_batch what;
  what.upserts = {make_item(whole, {}), make_item(bare, {})};
  EXPECT_TRUE(open()->apply(what));
  const auto all = items_of(*open());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(*all.front(), *what.upserts.front());
  EXPECT_EQ(*all.back(), *what.upserts.back());
}

TEST_F(gdrive_kept, files_of_my_drive_are_removed_with_it) {
  const auto store = open();
  update_batch batch;
  batch.upserts = {make_item(paper_file("1a", "a"), {}), make_item(paper_file("1b", "b"), "0Sales")};
  EXPECT_TRUE(store->apply(batch));
  EXPECT_TRUE(store->remove_home(""));
  const auto items = items_of(*store);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items.front()->id, "1b");
}

TEST_F(gdrive_kept, another_account_begins_with_nothing) {
  const auto in = open();
  EXPECT_TRUE(in->put_root_id("root0"));
  update_batch what;
  what.upserts = {make_item(paper_file("1a", "a"), {})};
  EXPECT_TRUE(in->apply(what));
  EXPECT_TRUE(in->put_content("1a", "text", {"1", "text/plain", std::make_shared<const std::string>("x"), {}}));
  EXPECT_TRUE(in->put_root_id("root0"));
  EXPECT_EQ(items_of(*in).size(), 1u);
  EXPECT_TRUE(in->put_root_id("root1"));
  EXPECT_TRUE(items_of(*in).empty());
  EXPECT_EQ(in->content_bytes(), 0u);
  EXPECT_FALSE(in->content("1a", "text").value());
}

TEST_F(gdrive_kept, contents_stay_within_their_room_and_those_unused_longest_go) {
  const auto in = open(1000);
  const auto body = std::make_shared<const std::string>(std::string(100, 'x'));
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(in->put_content("id" + std::to_string(i), "text", {"1", "text/plain", body, std::chrono::system_clock::now()}));
    EXPECT_LE(in->content_bytes(), 1000u);
  }
  EXPECT_FALSE(in->content("id0", "text").value());
  EXPECT_TRUE(in->content("id29", "text").value());
  EXPECT_TRUE(in->put_content("big", "text", {"1", "", std::make_shared<const std::string>(std::string(200, 'x')), {}}));
  EXPECT_FALSE(in->content("big", "text").value()) << "it takes more than an eighth";
}

TEST_F(gdrive_kept, where_less_is_allowed_than_before_what_is_too_much_goes_at_once) {
  const auto body = std::make_shared<const std::string>(std::string(100, 'x'));
  EXPECT_TRUE(open()->put_content("1a", "text", {"1", "text/plain", body, {}, true}));
  const auto kept_one = open()->content("1a", "text").value();
  ASSERT_TRUE(kept_one);
  EXPECT_TRUE(kept_one->uses_export_link);
  const auto none = open(0);
  EXPECT_EQ(none->content_bytes(), 0u);
  EXPECT_FALSE(none->content("1a", "text").value());
}

TEST_F(gdrive_kept, what_was_refused_gives_no_contents_until_google_lets_us_in_again) {
  const auto body = std::make_shared<const std::string>("x");
  EXPECT_TRUE(open()->put_content("1a", "text", {"1", "text/plain", body, {}}));
  EXPECT_TRUE(open()->set_access_denied(true));
  const auto again = open();
  EXPECT_FALSE(again->content("1a", "text").value());
  EXPECT_TRUE(again->set_access_denied(false));
  EXPECT_TRUE(again->content("1a", "text").value());
  EXPECT_TRUE(again->remove_contents("1a"));
  EXPECT_FALSE(again->content("1a", "text").value());
}

TEST_F(gdrive_kept, what_goes_takes_its_contents_with_it) {
  const auto in = open();
  update_batch what;
  what.upserts = {make_item(paper_file("1a", "a"), {})};
  EXPECT_TRUE(in->apply(what));
  EXPECT_TRUE(in->put_content("1a", "text", {"1", "text/plain", std::make_shared<const std::string>("x"), {}}));
  update_batch gone;
  gone.removed_ids = {"1a"};
  EXPECT_TRUE(in->apply(gone));
  EXPECT_EQ(in->content_bytes(), 0u);
}

TEST_F(gdrive_kept, a_store_that_another_has_is_done_without) {
  manual_clock clock;
  const auto first = open();
  update_batch what;
  what.upserts = {make_item(paper_file("1a", "a"), {})};
  EXPECT_TRUE(first->apply(what));
  auto opening = std::async(std::launch::async, [this] { return open(); });
  const auto is_over = [&] {
    clock.advance(std::chrono::seconds(1));
    return opening.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(becomes(is_over));
  const auto second = opening.get();  // in memory
  EXPECT_TRUE(items_of(*second).empty());
}

TEST_F(gdrive_kept, only_its_owner_can_read_it) {
  const auto in = open();
  const auto mode = fs::status(root / "s" / "drive.db").permissions();
  EXPECT_EQ(mode & fs::perms(077), fs::perms::none);
}

}  // namespace
}  // namespace hondana::gdrive
