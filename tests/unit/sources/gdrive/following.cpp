/// Crawls that go on, changes that are told, and errors in between.
#include "protocol/model/caller_checks.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

struct gdrive_following : served_drive {
  [[nodiscard]] static std::string detail_of(const gdrive_provider& of) { return of.health().detail; }
  /// There is a shared drive, Sales.
  void share_sales() {
    drive::shared_drive sales;
    sales.id = "0Sales";
    sales.name = "Sales";
    paper->shared = {sales};
  }
  [[nodiscard]] static drive::file file_of_sales(std::string id, std::string name) {
    auto made = paper_file(std::move(id), std::move(name), "text/plain", "0Sales");
    made.drive_id = "0Sales";
    return made;
  }
};

TEST_F(gdrive_following, five_thousand_files_take_a_request_for_each_thousand) {
  for (int i = 0; i < 5'000; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 5'002u) << "with my-drive and shared-with-me";
  EXPECT_EQ(paper->count_of("files"), 5u);
  EXPECT_TRUE(was_said("My Drive: 5000 files listed with 6 requests"));
}

TEST_F(gdrive_following, a_change_is_seen_by_the_next_poll_and_told) {
  paper->hold(paper_file("1a", "Plan"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  ears->forget();
  auto newer = paper_file("1a", "Plan");
  newer.version = "2";
  paper->change(newer);
  EXPECT_TRUE(ears->await("gdrive://my-drive/Plan"));
  EXPECT_TRUE(ears->await("gdrive:///1a"));
  paper->change(paper_file("1b", "New"));
  EXPECT_TRUE(ears->await("gdrive://my-drive/New"));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/New"));
  EXPECT_EQ(paper->count_of("files"), 1u) << "nothing is crawled again";
}

TEST_F(gdrive_following, what_is_removed_or_put_into_the_bin_goes) {
  paper->hold(paper_file("1a", "Gone"));
  paper->hold(paper_file("1b", "Binned"));
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 4u);
  paper->remove("1a");
  auto binned = paper_file("1b", "Binned");
  binned.is_trashed = true;
  paper->change(binned);
  EXPECT_TRUE(becomes([&] { return listed(*drive).size() == 2; }));
  EXPECT_TRUE(ears->await("gdrive://my-drive/Gone"));
  EXPECT_TRUE(ears->await("gdrive://my-drive/Binned"));
}

TEST_F(gdrive_following, a_source_that_its_server_lets_go_of_gives_its_store_to_the_next) {
  paper->hold(paper_file("1a", "Plan"));
  const auto before = serve();
  EXPECT_TRUE(lists(*before, "gdrive://my-drive/Plan"));
  const auto crawls = paper->count_of("files");
  before->set_listener(nullptr);
  const auto after = serve();
  EXPECT_TRUE(lists(*after, "gdrive://my-drive/Plan"));
  EXPECT_EQ(paper->count_of("files"), crawls) << "nothing is crawled again";
  EXPECT_TRUE(lists(*before, "gdrive://my-drive/Plan")) << "calls under way have it still";
  // And back again.
  after->set_listener(nullptr);
  before->set_listener(ears);
  EXPECT_TRUE(lists(*before, "gdrive://my-drive/Plan"));
  auto newer = paper_file("1a", "Plan");
  newer.version = "2";
  paper->change(newer);
  EXPECT_TRUE(ears->await("gdrive://my-drive/Plan"));
  EXPECT_FALSE(was_said("stays in memory"));
}

TEST_F(gdrive_following, a_folder_in_the_bin_comes_out_with_its_files) {
  paper->hold(paper_folder("f1", "Box"));
  paper->hold(paper_file("1a", "a", "text/plain", "f1"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Box/a"));
  auto folder = paper_folder("f1", "Box");
  folder.is_trashed = true;
  paper->change(folder);
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/Box/a"); }));
  folder.is_trashed = false;
  paper->change(folder);
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Box/a"); }));
}

TEST_F(gdrive_following, a_folder_that_appears_is_looked_into) {
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 2u);
  paper->hold(paper_file("1a", "a", "text/plain", "f2"));
  paper->hold(paper_folder("f2", "Inner", "f1"));
  paper->change(paper_folder("f1", "Outer"));
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Outer/Inner/a"); }));
}

TEST_F(gdrive_following, what_lay_in_a_lost_folder_is_not_served_before_it_is_known_to_be_ours) {
  paper->hold(paper_folder("f1", "Box"));
  paper->hold(paper_file("1a", "Still ours", "text/plain", "f1"));
  paper->hold(paper_file("1b", "Lost, too", "text/plain", "f1"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Box/Lost%2C%20too"));
  paper->drop("1b");
  paper->remove("f1");
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://shared-with-me/Still%20ours"); }));
  for (const auto& uri : listed(*drive)) EXPECT_EQ(uri.find("Lost"), std::string::npos) << uri;
}

TEST_F(gdrive_following, a_crawl_that_was_killed_goes_on_where_it_was) {
  for (int i = 0; i < 50; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  paper->page_size = 10;
  int pages = 0;
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    if (what.page_token == "p30")
      paper->refuse("files", refusal(drive::error_kind::unauthorized, errc::unauthorized, "Log in."));
    ++pages;
  };
  {
    auto how = usual();
    how.first_list_timeout = std::chrono::milliseconds(0);
    const auto drive = serve(std::move(how));
    list_request any;
    any.deadline = monotonic_clock::now() + hondana_test::event_deadline;
    static_cast<void>(drive->list(any));
    EXPECT_TRUE(becomes([&] { return was_said("Log in."); })) << "the token was revoked";
    EXPECT_FALSE(drive->health().is_healthy);
    EXPECT_EQ(drive->health().detail.find("Log in."), 0u);
  }
  paper->before_page = nullptr;
  paper->allow("files");
  paper->tokens_asked.clear();
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 52u);
  ASSERT_FALSE(paper->tokens_asked.empty());
  EXPECT_NE(paper->tokens_asked.front(), "") << "it began anew";
  EXPECT_TRUE(was_said("resumes where it stopped"));
}

TEST_F(gdrive_following, a_page_token_of_a_crawl_gone_stale_begins_the_crawl_anew) {
  for (int i = 0; i < 30; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  paper->page_size = 10;
  bool was_stale = false;
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    paper->tokens_are_good = was_stale || what.page_token.empty();
    was_stale = was_stale || !what.page_token.empty();
  };
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 32u);
  EXPECT_TRUE(was_said("starts over"));
}

TEST_F(gdrive_following, a_stale_token_of_changes_crawls_again_and_loses_nothing_meanwhile) {
  paper->hold(paper_file("1a", "Stays"));
  paper->hold(paper_file("1b", "Went unnoticed"));
  std::mutex gate;
  const auto drive = serve();
  EXPECT_EQ(listed(*drive).size(), 4u);
  gate.lock();
  paper->alter([&gate](auto& all) {
    all.before_page = [&gate](const drive::list_request&, const drive::call_options&) { const std::lock_guard held(gate); };
  });
  paper->drop("1b");
  paper->refuse("changes", refusal(drive::error_kind::page_token_gone));
  EXPECT_TRUE(becomes([&] { return was_said("since the last poll have expired"); }));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Stays"));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Went%20unnoticed"));
  paper->allow("changes");
  gate.unlock();
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/Went%20unnoticed"); }));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Stays"));
}

TEST_F(gdrive_following, shared_drives_come_by_their_own_logs_and_go) {
  share_sales();
  auto theirs = file_of_sales("1s", "Offer");
  paper->hold(theirs);
  paper->seen_by_user.insert("1s");
  paper->hold(paper_file("1a", "Mine"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://sales/Offer"));
  EXPECT_EQ(listed(*drive).size(), 5u) << "it is there once";
  theirs.name = "Better offer";
  paper->change(theirs, "0Sales");
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://sales/Better%20offer"); }));
  paper->leave("0Sales");
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://sales/Better%20offer"); }));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Mine"));
}

TEST_F(gdrive_following, a_file_that_moves_to_a_shared_drive_is_there_and_nowhere_else) {
  share_sales();
  paper->hold(paper_file("1a", "Offer"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Offer"));
  const auto moved = file_of_sales("1a", "Offer");
  paper->change(moved, "0Sales");
  paper->change(moved);
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://sales/Offer"); }));
  EXPECT_FALSE(lists(*drive, "gdrive://my-drive/Offer"));
}

TEST_F(gdrive_following, a_file_that_moves_to_a_drive_that_is_not_served_goes) {
  share_sales();
  for (const auto* id : {"1a", "1b", "1c"}) {
    paper->hold(paper_file(id, id));
    paper->put(id, "", "secret");
  }
  auto how = usual();
  how.drive_slugs = {"my-drive"};
  const auto drive = serve(how);
  EXPECT_EQ(listed(*drive).size(), 4u);
  EXPECT_TRUE(read(*drive, "gdrive:///1a"));
  const auto moved = [](const char* id) {
    auto one = file_of_sales(id, id);
    one.version = "2";
    return one;
  };
  // The log tells of one, and reads find out about another, several at once.
  paper->change(moved("1b"));
  paper->hold(moved("1a"));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(read(*drive, "gdrive:///1a"));
  EXPECT_TRUE(becomes([&] { return listed(*drive).size() == 2; }));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/1c"));
  EXPECT_EQ(paper->count_of("files"), 1u) << "My Drive is known as before";
  EXPECT_FALSE(was_said("a shared drive"));
}

TEST_F(gdrive_following, what_a_read_has_found_out_gives_way_to_what_is_newer) {
  auto plan = paper_file("1a", "Newer");
  plan.version = "10";
  paper->hold(plan);
  paper->hold(paper_file("1b", "Other"));
  follower_options how;
  how.api = paper;
  how.store = drive_store::create({}, 1u << 20, {}).value();
  how.min_interval = how.max_interval = std::chrono::hours(1);
  follower follows(std::move(how));
  follows.start();
  request_context by;
  by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  ASSERT_TRUE(follows.wait_until_ready(by, hondana_test::event_deadline));
  auto late = paper_file("1a", "Older");
  late.version = "9";
  follows.report_file(late);
  follows.report_lost("1a");
  auto news = paper_file("1b", "Renamed");
  news.version = "2";
  follows.report_file(news);
  EXPECT_TRUE(becomes([&] { return follows.latest()->find_by_uri("gdrive://my-drive/Renamed") != nullptr; }));
  EXPECT_NE(follows.latest()->find_by_uri("gdrive://my-drive/Newer"), nullptr) << "and it is still there, as Drive says";
}

TEST_F(gdrive_following, without_shared_drives_none_is_served_whatever_was_before) {
  share_sales();
  paper->hold(file_of_sales("1s", "Offer"));
  paper->put("1s", "", "offer");
  paper->seen_by_user.insert("1s");
  paper->hold(paper_file("1a", "Mine"));
  EXPECT_TRUE(lists(*serve(), "gdrive://sales/Offer"));
  auto how = usual();
  how.has_shared_drives = false;
  const auto before = serve(how);
  EXPECT_EQ(listed(*before).size(), 3u) << "my-drive, shared-with-me and what is mine";
  how.store_path.clear();
  const auto anew = serve(how);
  EXPECT_EQ(listed(*anew).size(), 3u);
  EXPECT_FALSE(read(*anew, "gdrive:///1s"));
}

TEST_F(gdrive_following, shared_drives_that_are_as_before_a_restart_are_not_published_again) {
  share_sales();
  paper->shared.front().created = drive::time(std::chrono::milliseconds(1'500'000'000'000));
  drive::shared_drive art;
  art.id = "0Art";
  art.name = "Art";
  paper->shared.push_back(art);
  const auto hourly = [this] {
    follower_options how;
    how.api = paper;
    how.store = drive_store::create((root / "store" / "drive.db").string(), 1u << 20, {}).value();
    how.min_interval = how.max_interval = std::chrono::hours(1);
    return how;
  };
  request_context by;
  by.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  {
    follower before(hourly());
    before.start();
    ASSERT_TRUE(before.wait_until_ready(by, hondana_test::event_deadline));
  }
  follower after(hourly());
  std::shared_ptr<const snapshot> restored;
  // Drive answers nothing until this is done.
  paper->alter([&](paper_drive&) {
    after.start();
    EXPECT_TRUE(after.wait_until_ready(by, hondana_test::event_deadline));
    restored = after.latest();
  });
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->drives().size(), 4u) << "with my-drive and shared-with-me";
  EXPECT_TRUE(becomes([&] { return after.verified_at().has_value(); }));
  EXPECT_EQ(after.latest(), restored);
}

TEST_F(gdrive_following, a_drive_that_is_not_named_any_more_makes_room) {
  share_sales();
  paper->hold(file_of_sales("1s", "Offer"));
  paper->hold(paper_file("1a", "Mine"));
  auto how = usual();
  how.max_files = 1;
  how.drive_slugs = {"sales"};
  EXPECT_TRUE(lists(*serve(how), "gdrive://sales/Offer"));
  how.drive_slugs = {"my-drive"};
  EXPECT_TRUE(lists(*serve(how), "gdrive://my-drive/Mine"));
}

TEST_F(gdrive_following, a_drive_with_a_problem_of_googles_does_not_keep_the_others_from_being_followed) {
  share_sales();
  paper->hold(file_of_sales("1s", "Offer"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://sales/Offer"));
  auto why = refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive has a problem.");
  why.status = 503;
  paper->refuse("changes of ", why);
  EXPECT_TRUE(becomes([&] { return detail_of(*drive).find("My Drive: Drive has a problem.") == 0; })) << detail_of(*drive);
  paper->remove("1s", "0Sales");
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://sales/Offer"); }));
}

TEST_F(gdrive_following, one_drive_that_refuses_leaves_the_others_as_they_are) {
  share_sales();
  paper->before_page = [&](const drive::list_request& what, const drive::call_options&) {
    if (what.corpus == drive::list_request::search_corpus::user)
      paper->refuse("files", refusal(drive::error_kind::forbidden, errc::access_denied, "You are no member. Ask for access."));
  };
  paper->hold(paper_file("1a", "Mine"));
  auto how = usual();
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Mine"));
  EXPECT_TRUE(becomes([&] { return detail_of(*drive).find("Ask for access") != std::string::npos; })) << detail_of(*drive);
  EXPECT_NE(detail_of(*drive).find("\"Sales\""), std::string::npos);
}

TEST_F(gdrive_following, too_many_files_are_cut_off_and_it_is_said) {
  for (int i = 0; i < 30; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  auto how = usual();
  how.max_files = 20;
  const auto drive = serve(std::move(how));
  EXPECT_EQ(listed(*drive).size(), 22u);
  EXPECT_TRUE(was_said("raise max_files"));
}

TEST_F(gdrive_following, that_there_are_too_many_files_is_said_after_a_restart_too_until_there_is_room_for_them) {
  for (int i = 0; i < 30; ++i) paper->hold(paper_file("id" + std::to_string(i), "file " + std::to_string(i)));
  auto how = usual();
  how.max_files = 20;
  EXPECT_EQ(listed(*serve(how)).size(), 22u);
  const auto lists_made = paper->count_of("files");
  {
    const auto again = serve(how);
    EXPECT_EQ(listed(*again).size(), 22u);
    EXPECT_EQ(times_said("raise max_files"), 2);
    EXPECT_NE(detail_of(*again).find("raise max_files"), std::string::npos) << detail_of(*again);
    bool is_told = false;
    EXPECT_TRUE(again->inventory({}, [&is_told](const inventory_item& one) {
      is_told = is_told || one.reason.find("max_files = 20") != std::string::npos;
    }));
    EXPECT_TRUE(is_told);
    EXPECT_EQ(paper->count_of("files"), lists_made) << "nothing is listed anew for it";
  }
  how.max_files = 100;
  {
    const auto larger = serve(how);
    EXPECT_TRUE(becomes([&] { return listed(*larger).size() == 32; })) << "what was left out comes in";
    EXPECT_TRUE(becomes([&] { return detail_of(*larger).find("raise max_files") == std::string::npos; })) << detail_of(*larger);
  }
  const auto polls = paper->count_of("files");
  EXPECT_EQ(listed(*serve(how)).size(), 32u);
  EXPECT_EQ(paper->count_of("files"), polls) << "and that was all";
}

TEST_F(gdrive_following, another_account_forgets_what_was_known) {
  paper->hold(paper_file("1a", "Private"));
  EXPECT_TRUE(lists(*serve(), "gdrive://my-drive/Private"));
  paper->root = "root1";
  paper->held.clear();
  const auto drive = serve();
  EXPECT_TRUE(becomes([&] { return !lists(*drive, "gdrive://my-drive/Private"); }));
}

TEST_F(gdrive_following, another_account_is_noticed_without_a_restart) {
  paper->hold(paper_file("1a", "Private"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Private"));
  paper->alter([](auto& all) {
    all.root = "root1";
    all.held.clear();
    all.held["2a"] = paper_file("2a", "Theirs", "text/plain", "root1");
  });
  EXPECT_TRUE(becomes([&] { return lists(*drive, "gdrive://my-drive/Theirs"); }));
  EXPECT_FALSE(lists(*drive, "gdrive://my-drive/Private"));
  EXPECT_TRUE(was_said("the account has changed"));
}

TEST_F(gdrive_following, with_other_credentials_nothing_that_is_kept_is_served_before_drive_has_said_whose_it_is) {
  paper->hold(paper_file("1a", "Private"));
  auto how = usual();
  how.account_id = [] { return std::string("ann"); };
  EXPECT_TRUE(lists(*serve(how), "gdrive://my-drive/Private"));
  refuse_all(refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive does not answer."));
  EXPECT_TRUE(lists(*serve(how), "gdrive://my-drive/Private")) << "the same as before";
  how.account_id = [] { return std::string("bob"); };
  EXPECT_TRUE(listed(*serve(how)).empty());
  paper->alter([](auto& all) { all.refusals.clear(); });
  const auto drive = serve(how);
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Private")) << "another key of the same account";
}

TEST_F(gdrive_following, what_is_odd_of_one_file_is_said_once_and_the_others_are_listed) {
  paper->hold(paper_file("1a", "Plan"));
  paper->odd = {{"1b", "file/parents/0: expected an identifier"}, {"", "file/id: missing"}};
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  const auto polls = paper->count_of("changes");
  EXPECT_TRUE(becomes([&] { return paper->count_of("changes") > polls + 2; }));
  EXPECT_EQ(times_said("invalid data of 1b is ignored (file/parents/0"), 1);
  EXPECT_EQ(times_said("an entry without an id"), 1);
  EXPECT_TRUE(drive->health().is_healthy);
}

TEST_F(gdrive_following, nothing_known_and_nobody_logged_in_says_what_to_do) {
  paper->refuse("root",
                refusal(drive::error_kind::unauthorized, errc::unauthorized, "Nobody is logged in. Run hondana login."));
  const auto drive = serve();
  list_request any;
  any.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  const auto page = drive->list(any);
  ASSERT_TRUE(page) << "lists of other sources go on";
  EXPECT_TRUE(page->entries.empty());
  any.caller = model::index_caller();
  const auto indexed = drive->list(any);
  ASSERT_FALSE(indexed) << "or the index would forget what it has";
  EXPECT_EQ(indexed.error().code, errc::unauthorized);
  EXPECT_NE(indexed.error().public_text.find("hondana login"), std::string::npos);
  EXPECT_NE(drive->health().detail.find("hondana login"), std::string::npos);
  const auto made = read(*drive, "gdrive:///1a");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unauthorized);
}

TEST_F(gdrive_following, what_was_known_is_listed_while_drive_cannot_be_reached) {
  paper->hold(paper_file("1a", "Plan"));
  EXPECT_TRUE(lists(*serve(), "gdrive://my-drive/Plan"));
  for (const auto* what : {"root", "drives", "files", "changes", "file", "content"})
    paper->refuse(what, refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive does not answer."));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  EXPECT_TRUE(becomes([&] { return !drive->health().is_healthy; }));
}

TEST_F(gdrive_following, a_token_for_less_goes_without_shared_drives) {
  paper->refuse("drives",
                refusal(drive::error_kind::insufficient_scope, errc::access_denied, "Widen the scope to drive.readonly."));
  paper->hold(paper_file("1a", "Plan"));
  const auto drive = serve();
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  EXPECT_TRUE(was_said("Widen the scope"));
}

}  // namespace
}  // namespace hondana::gdrive
