/// Files that were read a moment ago: answered from memory while nothing has happened to them, and never after something has.
#include "sources/files/change_tracker.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "os/disk/file_stamp.hpp"
#include "server/catalog/catalog.hpp"
#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/sources/files/scratch_folder.hpp"

namespace hondana::files {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class fresh_files : public testing::Test {
 protected:
  void open(const std::function<void(options&)>& with = {}) {
    auto from = serving(root_.path());
    from.refresh_interval = std::chrono::hours(1);  // nothing is seen by chance
    if (with) with(from);
    std::vector<std::shared_ptr<catalog::source>> sources;
    sources.push_back(std::make_shared<catalog::source>(open_provider(from), 1024));
    shelf_ = catalog::catalog::make(std::move(sources), {}, std::make_shared<executor::timers>(), cache_).value();
  }
  [[nodiscard]] std::string read(std::string_view below, const caller_info& who = {}) const {
    const auto uri = root_.uri(below);
    const test::answer<catalog::read_answer> found;
    request_context by;
    by.caller = who;
    shelf_->read(by, uri, uri, {}, found.taker());
    const auto got = found.wait();
    return got ? text_in(got->reading) : "error: " + std::string(name_of(got.error().code));
  }
  [[nodiscard]] std::optional<std::string> at_hand(std::string_view below, const caller_info& who = {}) const {
    const auto uri = root_.uri(below);
    const auto got = shelf_->read_cached(who, uri, uri);
    return got ? std::optional(text_in(*got->reading)) : std::nullopt;
  }
  /// Reads until it is at hand: the file has come to rest, and its folders are watched. What it says.
  [[nodiscard]] std::optional<std::string> comes_to_hand(std::string_view below, const caller_info& who = {}) const {
    std::optional<std::string> found;
    (void)hondana_test::eventually([&] {
      (void)read(below, who);
      return (found = at_hand(below, who)).has_value();
    });
    return found;
  }
  /// Reads many times after the file has come to rest, while other files come to hand at the second read.
  [[nodiscard]] bool stays_away(std::string_view below) const {
    struct stat facts{};
    EXPECT_TRUE(hondana_test::eventually(
        [&] { return ::stat(root_.path(below).c_str(), &facts) == 0 && !is_racy(disk::stamp_of(facts), disk::wall_clock()); }));
    for (int i = 0; i < 50; ++i) {
      (void)read(below);
      if (at_hand(below)) return false;
    }
    return true;
  }
  /// In place, as the same inode.
  void rewrite(std::string_view below, std::string_view text) const {
    const int file = ::open(root_.path(below).c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    EXPECT_EQ(::pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    // Before it is closed: the write itself is what counts.
    EXPECT_NE(at_hand(below), "one");
    ::close(file);
  }
  void rename(std::string_view from, std::string_view to) const {
    ASSERT_EQ(std::rename(root_.path(from).c_str(), root_.path(to).c_str()), 0);
  }
  static std::string text_in(const bytes::prepared_read_result& found) {
    return *std::get<shared_bytes>(found.contents.front().data);
  }

  manual_clock clock_;  // what is at hand stays so until something happens
  scratch_folder root_;
  std::shared_ptr<catalog::read_cache> cache_ = std::make_shared<catalog::read_cache>(1u << 20);
  std::shared_ptr<const catalog::catalog> shelf_;
};

TEST_F(fresh_files, are_at_hand_once_they_are_read_again) {
  root_.write("a/b/c", "one");
  open();
  EXPECT_FALSE(at_hand("a/b/c"));
  EXPECT_EQ(comes_to_hand("a/b/c"), "one");
  EXPECT_FALSE(at_hand("a/b/c?lines=1-1"));
  EXPECT_EQ(comes_to_hand("a/b/c?bytes=0-1"), "on");
  EXPECT_GT(cache_->statistics().hits, 0u);
}

TEST_F(fresh_files, are_not_at_hand_after_anything_that_happens_to_them_or_to_what_is_above_them) {
  const std::vector<std::pair<std::string, std::function<void()>>> changes{
      {"written in place", [&] { rewrite("a/b/c", "two"); }},
      {"truncated", [&] { EXPECT_EQ(::truncate(root_.path("a/b/c").c_str(), 1), 0); }},
      {"renamed over", [&] { rename("a/b/other", "a/b/c"); }},
      {"deleted", [&] { fs::remove(root_.path("a/b/c")); }},
      {"made unreadable", [&] { EXPECT_EQ(::chmod(root_.path("a/b/c").c_str(), 0), 0); }},
      {"its folder renamed", [&] { rename("a/b", "a/d"); }},
      {"its folder replaced",
       [&] {
         rename("a", "gone");
         rename("spare", "a");
       }},
      {"its folder closed", [&] { EXPECT_EQ(::chmod(root_.path("a").c_str(), 0700), 0); }},
      {"a link put in its place",
       [&] {
         rename("a/b/c", "a/b/moved");
         root_.link("a/b/c", "other");
       }},
      {"a link put in the place of its folder",
       [&] {
         rename("a/b", "a/moved");
         root_.link("a/b", "../spare/b");
       }},
      {"an ignore file written beside it", [&] { root_.write("a/b/.gitignore", "c\n"); }},
      {"an ignore file written at the top", [&] { root_.write(".hondanaignore", "c\n"); }},
      {"an ignore file moved in above it",
       [&] {
         root_.write("elsewhere", "c\n");
         rename("elsewhere", "a/.gitignore");
       }},
      {"what looks like a repository around it", [&] { root_.make_folder("a/objects"); }},
  };
  for (const auto& [what, happens] : changes) {
    for (const auto& one : fs::directory_iterator(root_.path())) fs::remove_all(one);
    root_.write("a/b/c", "one");
    root_.write("a/b/other", "two");
    root_.write("spare/b/c", "two");
    root_.write("spare/b/other", "two");
    open();
    ASSERT_TRUE(comes_to_hand("a/b/c")) << what;
    happens();
    EXPECT_FALSE(at_hand("a/b/c")) << what;
  }
}

TEST_F(fresh_files, say_what_they_are_after_a_change) {
  root_.write("a/b/c", "one");
  open();
  ASSERT_TRUE(comes_to_hand("a/b/c"));
  rewrite("a/b/c", "two");
  EXPECT_EQ(read("a/b/c"), "two");
  EXPECT_EQ(comes_to_hand("a/b/c"), "two");
  rename("a", "z");
  EXPECT_EQ(read("a/b/c"), "error: resource_not_found");
  rename("z", "a");
  ASSERT_TRUE(comes_to_hand("a/b/c"));
  root_.write("a/.gitignore", "c\n");
  EXPECT_EQ(read("a/b/c"), "error: resource_not_found");
}

TEST_F(fresh_files, are_looked_at_again_after_a_moment_even_when_nothing_happens) {
  root_.write("a", "one");
  open();
  ASSERT_TRUE(comes_to_hand("a"));
  clock_.advance(milliseconds(20));
  EXPECT_TRUE(at_hand("a"));
  clock_.advance(milliseconds(1));
  EXPECT_FALSE(at_hand("a"));
}

TEST_F(fresh_files, that_are_links_or_have_other_names_are_never_at_hand) {
  root_.write("real/a", "one");
  root_.link("link", "real/a");
  root_.link("folder", "real");
  root_.write("named", "two");
  fs::create_hard_link(root_.path("named"), root_.path("twice"));
  open();
  ASSERT_TRUE(comes_to_hand("real/a"));
  EXPECT_TRUE(stays_away("link"));
  EXPECT_TRUE(stays_away("folder/a"));
  EXPECT_TRUE(stays_away("named"));
}

TEST_F(fresh_files, are_never_at_hand_where_nothing_is_watched) {
  root_.write("a", "one");
  open([](options& all) { all.watches = false; });
  EXPECT_TRUE(stays_away("a"));
  open([](options& all) { all.max_watched_folders = 0; });
  EXPECT_TRUE(stays_away("a"));
}

TEST_F(fresh_files, below_too_many_folders_are_never_at_hand) {
  std::string deep = "d";
  for (int i = 0; i < 16; ++i) deep += "/d";
  root_.write(deep, "one");
  open();
  EXPECT_TRUE(stays_away(deep));
  EXPECT_TRUE(change_tracker::can_validate("a"));
  EXPECT_FALSE(change_tracker::can_validate(deep));
  EXPECT_FALSE(change_tracker::can_validate(""));
}

TEST_F(fresh_files, of_one_view_are_not_those_of_another) {
  root_.write("a", "one");
  open();
  caller_info some;
  some.access_filter = std::make_shared<test::hiding_view>(7, [](std::string_view) { return false; });
  ASSERT_TRUE(comes_to_hand("a"));
  EXPECT_FALSE(at_hand("a", some));
  ASSERT_TRUE(comes_to_hand("a", some));
  caller_info none;
  none.access_filter = std::make_shared<test::hiding_view>(7, [](std::string_view) { return true; });
  EXPECT_FALSE(at_hand("a", none));
  EXPECT_EQ(read("a", none), "error: resource_not_found");
}

TEST_F(fresh_files, never_say_what_they_said_before_a_write_that_has_returned) {
  constexpr int files = 50;
  constexpr int rounds = 20;
  const auto name = [](int number) { return numbered("folder/f", number); };
  const auto text_of = [](int round) { return std::to_string(100 + round); };
  for (int i = 0; i < files; ++i) root_.write(name(i), text_of(0));
  open();
  std::array<std::atomic<int>, files> written{};
  std::atomic<bool> is_over = false;
  std::atomic<int> old = 0;
  std::atomic<int> taken = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      for (int i = r; !is_over; i = (i + 1) % files) {
        const int least = written[static_cast<std::size_t>(i)];
        auto found = at_hand(name(i));
        if (found) ++taken;
        if (!found) found = read(name(i));
        if (!found->starts_with("error") && std::stoi(*found) < 100 + least) ++old;
      }
    });
  }
  for (int round = 1; round <= rounds; ++round) {
    for (int i = 0; i < files; ++i) EXPECT_TRUE(comes_to_hand(name(i)));
    for (int i = 0; i < files; ++i) {
      const int file = ::open(root_.path(name(i)).c_str(), O_WRONLY | O_CLOEXEC);
      const auto text = text_of(round);
      EXPECT_EQ(::pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
      written[static_cast<std::size_t>(i)] = round;
      const auto found = at_hand(name(i));
      EXPECT_TRUE(!found || *found == text) << *found;
      ::close(file);
    }
  }
  EXPECT_TRUE(hondana_test::eventually([&] {
    for (int i = 0; i < files; ++i) (void)comes_to_hand(name(i));
    return taken > files;
  }));
  is_over = true;
  for (auto& one : readers) one.join();
  EXPECT_EQ(old, 0);
}

/// Two watched folders and a queue that is read by hand.
class a_count_of_events : public testing::Test {
 protected:
  a_count_of_events() {
    root_.write("a/x", "1");
    root_.write("b/x", "1");
    add("");
    add("a");
    add("b");
  }
  void add(const std::string& path) const {
    const int folder = ::open(root_.path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(heard_->add(0, path, folder), 0);
    ::close(folder);
  }
  void count_what_happened() const {
    change_tracker::counting_scope counted(*fresh_);
    while (heard_->read([&](watch::folder_event one) { counted.count(one.tree, one.path); }, [&] { counted.count_all(); })) {
    }
  }
  [[nodiscard]] bool can_hold(std::string_view path) const {
    const auto one = fresh_->make_validator(0, path);
    return one && one->is_valid();
  }

  const manual_clock clock_;
  scratch_folder root_;
  std::shared_ptr<watch::watched_folders> heard_ =
      std::make_shared<watch::watched_folders>(watch::inotify::open().value(), 100);
  std::shared_ptr<change_tracker> fresh_ = std::make_shared<change_tracker>(heard_);
};

TEST_F(a_count_of_events, vouches_only_where_every_folder_is_watched) {
  EXPECT_TRUE(can_hold("a/x"));
  EXPECT_FALSE(fresh_->make_validator(0, "c/x"));
  EXPECT_FALSE(fresh_->make_validator(0, "a/c/x"));
  EXPECT_FALSE(fresh_->make_validator(1, "a/x"));
  const auto before = fresh_->make_validator(0, "a/x");
  heard_->remove(0, "b");
  EXPECT_FALSE(before->is_valid());
  count_what_happened();
  EXPECT_TRUE(can_hold("a/x"));
  EXPECT_FALSE(fresh_->make_validator(0, "b/x"));
}

TEST_F(a_count_of_events, does_not_vouch_while_something_waits_or_is_not_counted_yet) {
  const auto before = fresh_->make_validator(0, "a/x");
  root_.write("b/x", "2");
  EXPECT_FALSE(heard_->is_idle());
  EXPECT_FALSE(before->is_valid());
  EXPECT_FALSE(can_hold("a/x"));
  {
    const change_tracker::counting_scope counted(*fresh_);
    while (heard_->read([](const watch::folder_event&) {}, [] {})) {
    }
    EXPECT_TRUE(heard_->is_idle());
    EXPECT_FALSE(can_hold("a/x"));
  }
  EXPECT_TRUE(can_hold("a/x"));
}

TEST_F(a_count_of_events, tells_a_file_from_its_neighbours) {
  const auto of_a = fresh_->make_validator(0, "a/x");
  const auto of_b = fresh_->make_validator(0, "b/x");
  root_.write("b/x", "2");
  count_what_happened();
  EXPECT_FALSE(of_b->is_valid());
  EXPECT_TRUE(of_a->is_valid());
}

TEST_F(a_count_of_events, forgets_everything_when_some_were_lost) {
  const auto before = fresh_->make_validator(0, "a/x");
  {
    change_tracker::counting_scope(*fresh_).count_all();
  }
  EXPECT_FALSE(before->is_valid());
  EXPECT_TRUE(can_hold("a/x"));
}

TEST_F(a_count_of_events, loses_sight_of_a_folder_that_is_deleted) {
  const auto before = fresh_->make_validator(0, "a/x");
  fs::remove_all(root_.path("a"));
  count_what_happened();
  EXPECT_FALSE(before->is_valid());
  EXPECT_FALSE(fresh_->make_validator(0, "a/x"));
}

}  // namespace
}  // namespace hondana::files
