/// Pages of the list that say for how long they are what a list would give: never beyond a change.
#include "sources/files/change_tracker.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

namespace fs = std::filesystem;
using clock = monotonic_clock;

bool holds(const list_result& page) { return page.validator && page.validator->is_valid(); }

/// One that certainly held a moment ago; something late may stir it again at any time.
list_result page_that_holds(files_provider& files, const list_request& request = {}) {
  list_result page;
  EXPECT_TRUE(hondana_test::eventually([&] { return holds(page = files.list(request).value()); })) << "no page holds";
  return page;
}

bool has_name(const list_result& page, const std::string& name) {
  return std::any_of(page.entries.begin(), page.entries.end(), [&name](const resource& one) { return one.name == name; });
}

class hides_all final : public access_filter {
 public:
  std::uint64_t id() const noexcept override { return 1; }
  bool may_see(std::string_view) const override { return false; }
};

class kept_lists : public testing::Test {
 protected:
  void open(const std::function<void(options&)>& with = {}) {
    for (const char* name : {"a.txt", "b.md", "deep/er/c.txt", "deep/er/unknown"}) root_.write(name, "# Title\n\nText.\n");
    auto from = serving(root_.path());
    if (with) with(from);
    files_ = open_provider(from);
  }
  /// No change may leave a page to hold once the call that made it has returned.
  void expect_noticed(const std::string& what, const std::function<void()>& change) {
    SCOPED_TRACE(what);
    const auto page = page_that_holds(*files_);
    change();
    EXPECT_FALSE(holds(page)) << what;
    (void)page_that_holds(*files_);
    EXPECT_FALSE(holds(page)) << what << " is never forgotten";
  }

  const manual_clock clock_;  // pages hold until something changes
  scratch_folder root_;
  std::shared_ptr<files_provider> files_;
};

TEST_F(kept_lists, hold_until_anything_changes_that_stands_in_them) {
  open();
  expect_noticed("a write", [this] { root_.write("a.txt", "other"); });
  expect_noticed("a write deep inside", [this] { root_.write("deep/er/c.txt", "other"); });
  expect_noticed("a new file", [this] { root_.write("new.txt", "x"); });
  expect_noticed("a new folder", [this] { root_.make_folder("folder"); });
  expect_noticed("a file in the new folder", [this] { root_.write("folder/x.txt", "x"); });
  expect_noticed("a renamed file", [this] { fs::rename(root_.path("new.txt"), root_.path("newer.txt")); });
  expect_noticed("a file put in the place of another", [this] { fs::rename(root_.path("newer.txt"), root_.path("b.md")); });
  expect_noticed("a deleted file", [this] { fs::remove(root_.path("b.md")); });
  expect_noticed("a folder's mode", [this] { fs::permissions(root_.path("deep"), fs::perms::owner_all); });
  expect_noticed("a renamed folder", [this] { fs::rename(root_.path("deep"), root_.path("deeper")); });
  expect_noticed("rules", [this] { root_.write("deeper/.gitignore", "c.txt\n"); });
  expect_noticed("a link", [this] { root_.link("link", "a.txt"); });
  expect_noticed("times", [this] { fs::last_write_time(root_.path("a.txt"), fs::file_time_type::clock::now()); });
  expect_noticed("a deleted folder", [this] { fs::remove_all(root_.path("deeper")); });
}

TEST_F(kept_lists, show_what_a_later_page_shows) {
  open();
  for (int round = 0; round < 20; ++round) {
    root_.write("a.txt", std::string(static_cast<std::size_t>(round) + 1, 'x'));
    list_result kept;
    list_result again;
    ASSERT_TRUE(hondana_test::eventually([&] {
      kept = page_that_holds(*files_);
      again = files_->list({}).value();
      return holds(kept);
    }));
    EXPECT_EQ(kept.entries, again.entries);
  }
}

// A page from before a mend is none from after it, also where the mend ends while the page is made.
TEST_F(kept_lists, from_before_a_mend_do_not_hold_after_it) {
  for (int i = 0; i < 400; ++i) root_.write("f" + std::to_string(i) + ".txt", "x");
  open();
  list_request all;
  all.limit = 1000;
  (void)page_that_holds(*files_, all);
  for (int round = 0; round < 20; ++round) {
    const auto name = "new" + std::to_string(round) + ".txt";
    std::atomic<bool> is_over{false};
    std::vector<std::vector<list_result>> made(2);
    std::vector<std::jthread> listers;
    for (auto& mine : made) {
      listers.emplace_back([&] {
        while (!is_over) mine.push_back(files_->list(all).value());
      });
    }
    root_.write(name, "y");
    list_result settled;
    (void)hondana_test::eventually([&] { return has_name(settled = page_that_holds(*files_, all), name); });
    is_over = true;
    listers.clear();
    ASSERT_TRUE(has_name(settled, name));
    for (const auto& mine : made) {
      for (const auto& page : mine) EXPECT_TRUE(has_name(page, name) || !holds(page));
    }
  }
}

// Whatever a file is written by, once the call has returned nothing older is held to be valid.
TEST_F(kept_lists, are_never_older_than_a_write_that_has_returned) {
  open();
  constexpr std::uint64_t rounds = 1000;
  std::atomic<std::uint64_t> written{0};
  root_.write("a.txt", "");
  std::jthread writer([&] {
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      // Whichever of the two, what is seen half-way is no older than what was there before.
      if (i % 3 == 0) {
        root_.write("aside", std::string(i, 'x'));
        fs::rename(root_.path("aside"), root_.path("a.txt"));
      } else {
        std::ofstream(root_.path("a.txt"), std::ios::app) << 'x';
      }
      written = i;
    }
  });
  const auto size_in = [](const list_result& page) { return entry_named(page.entries, "a.txt").size.value_or(0); };
  std::size_t held = 0;
  list_result page;
  const auto deadline = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto least = written.load();
    if (holds(page)) {
      ++held;
      ASSERT_GE(size_in(page), least);
      if (least == rounds) break;
    } else {
      page = files_->list({}).value();
    }
  }
  EXPECT_EQ(size_in(page), rounds);
  EXPECT_GT(held, 0u);
}

TEST_F(kept_lists, do_not_hold_where_the_folder_is_no_more_or_another) {
  open();
  const auto page = page_that_holds(*files_);
  const auto aside = root_.path() + "-aside";
  fs::rename(root_.path(), aside);
  EXPECT_FALSE(holds(page)) << "the folder itself tells that it was moved";
  fs::rename(aside, root_.path());
  (void)page_that_holds(*files_);
  EXPECT_FALSE(holds(page));
}

TEST_F(kept_lists, of_what_is_looked_for_instead_of_watched_do_not_say_for_how_long) {
  open([](options& from) { from.watches = false; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(files_->list({}).value().validator, nullptr);
}

TEST_F(kept_lists, hold_for_views_and_pages_of_any_size) {
  open();
  list_request one;
  one.limit = 1;
  (void)page_that_holds(*files_, one);
  list_request hidden;
  hidden.caller.access_filter = std::make_shared<hides_all>();
  const auto nothing = page_that_holds(*files_, hidden);
  EXPECT_TRUE(nothing.entries.empty());
  EXPECT_TRUE(holds(nothing));
}

TEST(stillness, counts_for_a_while_and_asks_in_time_for_another_look) {
  using std::chrono::milliseconds;
  const manual_clock stands_still;
  const scratch_folder root;
  watch::watched_folders folders(watch::inotify::open().value(), 10);
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  delivery_monitor still(bell);
  EXPECT_FALSE(still.is_up_to_date());
  still.record_check(clock::now() + std::chrono::hours(1));
  EXPECT_FALSE(still.is_up_to_date()) << "nothing is watched yet";
  still.start(folders);
  EXPECT_TRUE(still.is_up_to_date());
  EXPECT_FALSE(still.consume_check_request());
  still.begin_delivery();
  EXPECT_FALSE(still.is_up_to_date());
  still.end_delivery();
  still.record_check(clock::now() - milliseconds(21));
  EXPECT_FALSE(still.is_up_to_date());
  EXPECT_FALSE(still.consume_check_request());
  still.record_check(clock::now() - milliseconds(11));
  EXPECT_TRUE(still.is_up_to_date());
  std::uint64_t rung = 0;
  EXPECT_EQ(::eventfd_read(bell, &rung), 0);
  EXPECT_TRUE(still.consume_check_request());
  EXPECT_FALSE(still.consume_check_request());
  still.record_check(clock::now() + std::chrono::hours(1));
  const int folder = ::open(root.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(folders.add(0, {}, folder), 0);
  EXPECT_TRUE(still.is_up_to_date());
  root.write("x", "x");
  EXPECT_FALSE(still.is_up_to_date()) << "there is something in the queue";
  EXPECT_TRUE(folders.read([](watch::folder_event) {}, [] {}));
  EXPECT_TRUE(still.is_up_to_date());
  still.stop();
  EXPECT_FALSE(still.is_up_to_date());
  ::close(folder);
  ::close(bell);
}

}  // namespace
}  // namespace hondana::files
