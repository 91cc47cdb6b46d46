/// Changes on disk: which are told, and what is there when they are.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <hondana/clock.hpp>

#include "scratch_folder.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::files {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

/// A provider that is listened to, and a file whose change, told last, says that everything before it has been told.
class watched_files : public testing::Test {
 protected:
  void open(const std::function<void(options&)>& with = {}) {
    root_.write("sentinel", "x");
    auto from = serving(root_.path());
    from.refresh_interval = std::chrono::hours(1);  // nothing is seen by chance
    if (with) with(from);
    files_ = open_provider(from);
    files_->set_listener(ear_);
    (void)list_all(*files_);
    attach("sentinel");
    flush();
  }
  void attach(std::string_view below) { files_->watch(root_.uri(below)); }
  /// What has been told by now.
  std::vector<std::string> settle() {
    root_.write("sentinel", std::to_string(++writes_));
    EXPECT_TRUE(ear_->hears(root_.uri("sentinel")));
    auto told = ear_->take();
    std::erase(told, root_.uri("sentinel"));
    return told;
  }
  /// Until what happened before, and may be told twice, has been told.
  void flush() {
    for (int i = 0; i < 3; ++i) (void)settle();
  }
  /// Waits until all of these have been told. Nothing else may be, but what had to be told before: a change may be told twice.
  void expect_told(std::initializer_list<std::string_view> below) {
    for (const auto one : below) {
      expected_.insert(root_.uri(one));
      EXPECT_TRUE(ear_->hears(root_.uri(one))) << one;
    }
    for (const auto& uri : settle()) EXPECT_TRUE(expected_.contains(uri)) << uri;
  }

  scratch_folder root_;
  std::shared_ptr<ear> ear_ = std::make_shared<ear>();
  std::shared_ptr<files_provider> files_;
  int writes_ = 0;
  std::set<std::string> expected_;
};

TEST_F(watched_files, tell_of_those_that_are_watched_and_of_no_others) {
  for (const char* name : {"a", "b", "deep/er/c"}) root_.write(name, "1");
  open();
  attach("a");
  attach("deep/er/c");
  flush();
  root_.write("b", "2");
  expect_told({});
  root_.write("a", "2");
  expect_told({"a"});
  root_.write("deep/er/c", "2");
  expect_told({"deep/er/c"});
  files_->unwatch(root_.uri("a"));
  flush();
  expected_.clear();
  root_.write("a", "3");
  expect_told({});
}

TEST_F(watched_files, that_were_changed_right_after_they_were_watched_are_told) {
  for (int round = 0; round < 20; ++round) {
    const scratch_folder fresh;
    fresh.write("a", "1");
    const auto files = open_provider(fresh);
    const auto heard = std::make_shared<ear>();
    files->set_listener(heard);
    files->watch(fresh.uri("a"));
    if (round % 2 == 0) {
      fresh.write("a", "2");
    } else {
      fs::remove(fresh.path("a"));
    }
    EXPECT_TRUE(heard->hears(fresh.uri("a"))) << round;
  }
}

TEST_F(watched_files, may_not_be_there_yet) {
  open();
  attach("later");
  attach("new/folder/later");
  flush();
  root_.write("later", "1");
  expect_told({"later"});
  root_.write("new/folder/later", "1");
  EXPECT_TRUE(ear_->hears(root_.uri("new/folder/later")));
  EXPECT_EQ(read_text(*files_, root_.uri("new/folder/later")), "1");
}

TEST_F(watched_files, saved_by_renaming_are_whole_when_they_are_told) {
  root_.write("text", "before");
  open();
  attach("text");
  flush();
  for (int round = 0; round < 50; ++round) {
    const auto now = std::string(10'000, 'x') + std::to_string(round);
    root_.write("text~new", now);
    fs::rename(root_.path("text~new"), root_.path("text"));
    ASSERT_TRUE(ear_->hears(root_.uri("text")));
    EXPECT_EQ(read_text(*files_, root_.uri("text")), now);
    flush();
  }
}

TEST_F(watched_files, are_told_while_they_are_held_open) {
  root_.write("log", "1\n");
  open();
  attach("log");
  flush();
  std::ofstream log(root_.path("log"), std::ios::app);
  log << "2\n" << std::flush;
  EXPECT_TRUE(ear_->hears(root_.uri("log")));
  EXPECT_EQ(read_text(*files_, root_.uri("log")), "1\n2\n");
}

TEST_F(watched_files, opened_and_closed_without_a_change_are_not_told) {
  root_.write("a", "1");
  open();
  attach("a");
  // Until its last change is long enough ago for its stamp to tell the next one.
  while (is_racy(disk::stamp_of([&] {
                   struct stat facts{};
                   EXPECT_EQ(::stat(root_.path("a").c_str(), &facts), 0);
                   return facts;
                 }()),
                 disk::wall_clock())) {
  }
  flush();
  std::ofstream(root_.path("a"), std::ios::app).close();
  expect_told({});
}

TEST_F(watched_files, are_told_when_they_go) {
  for (const char* name : {"a", "folder/b", "moved/c"}) root_.write(name, "1");
  open();
  for (const char* name : {"a", "folder/b", "moved/c"}) attach(name);
  flush();
  fs::remove(root_.path("a"));
  expect_told({"a"});
  fs::remove_all(root_.path("folder"));
  expect_told({"folder/b"});
  fs::rename(root_.path("moved"), root_.path("elsewhere"));
  expect_told({"moved/c"});
}

TEST_F(watched_files, are_found_again_when_their_folder_is_made_anew) {
  root_.write("folder/a", "1");
  open();
  attach("folder/a");
  flush();
  for (int round = 0; round < 10; ++round) {
    fs::remove_all(root_.path("folder"));
    ASSERT_TRUE(ear_->hears(root_.uri("folder/a"))) << round;
    flush();
    root_.write("folder/a", std::to_string(round));
    ASSERT_TRUE(ear_->hears(root_.uri("folder/a"))) << round;
    flush();
    (void)list_all(*files_);
    root_.write("folder/a", "again" + std::to_string(round));
    ASSERT_TRUE(ear_->hears(root_.uri("folder/a"))) << round;
    flush();
  }
}

TEST_F(watched_files, reached_by_a_link_change_with_what_it_leads_to) {
  root_.write("real/a", "1");
  root_.link("link", "real/a");
  open();
  attach("link");
  flush();
  root_.write("real/a", "2");
  expect_told({"link"});
  EXPECT_TRUE(ear_->is_alias(root_.uri("link"))) << "rules may show it and hide the file";
}

TEST_F(watched_files, that_were_reached_by_a_link_are_told_as_another_name_when_what_it_leads_to_has_gone) {
  root_.write("real/a", "1");
  root_.write("b", "1");
  root_.link("link", "real/a");
  open();
  attach("link");
  attach("b");
  flush();
  fs::remove(root_.path("real/a"));
  root_.write("b", "2");
  expect_told({"link", "b"});
  EXPECT_TRUE(ear_->is_alias(root_.uri("link")));
  EXPECT_FALSE(ear_->is_alias(root_.uri("b")));
}

TEST_F(watched_files, replaced_by_a_link_to_outside_are_told_as_gone) {
  const scratch_folder outside;
  outside.write("secret", "s");
  root_.write("a", "1");
  open();
  attach("a");
  flush();
  fs::remove(root_.path("a"));
  root_.link("a", outside.path("secret"));
  expect_told({"a"});
  EXPECT_EQ(read_text(*files_, root_.uri("a")).substr(0, 5), "error");
}

TEST_F(watched_files, that_are_not_served_make_no_sound) {
  root_.write(".gitignore", "hidden*\n");
  open();
  attach("hidden.txt");
  flush();
  root_.write("hidden.txt", "1");
  expect_told({});
}

/// What this process holds in memory, in bytes.
std::size_t resident() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t here = 0;
  statm >> all >> here;
  return here * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// attacks: resource exhaustion (subscribe/unsubscribe churn)
TEST_F(watched_files, that_are_watched_and_let_go_again_and_again_leave_nothing_behind) {
  open();
  auto silent = serving(root_.path());
  silent.watches = false;  // nobody ever begins to watch what is asked for
  const auto other = open_provider(silent);
  const auto before = resident();
  const auto uri = root_.uri(std::string(200, 'a') + "/" + std::string(200, 'b'));
  for (int i = 0; i < 200'000; ++i) {
    for (auto* files : {other.get(), files_.get()}) {
      files->watch(uri);
      files->unwatch(uri);
    }
  }
#ifndef HONDANA_IS_SANITIZED  // which keep what was freed
  EXPECT_LT(resident(), before + (64u << 20));
#else
  EXPECT_GT(before, 0u);
#endif
  // What happened meanwhile is told as ever.
  root_.write("late", "1");
  attach("late");
  flush();
  root_.write("late", "2");
  expect_told({"late"});
}

TEST_F(watched_files, that_are_watched_no_more_make_no_sound_in_a_busy_folder) {
  for (const char* name : {"a", "noise"}) root_.write(name, "1");
  open();
  const std::jthread busy([noise = root_.path("noise")](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_EQ(::chmod(noise.c_str(), 0644), 0);
  });
  for (int round = 0; round < 100; ++round) {
    attach("a");
    flush();
    files_->unwatch(root_.uri("a"));
    root_.write("a", "2");
    ASSERT_EQ(settle(), std::vector<std::string>{}) << round;
    flush();
  }
}

TEST_F(watched_files, whose_times_are_forged_are_told) {
  root_.write("a", "1");
  open();
  attach("a");
  flush();
  struct stat before{};
  ASSERT_EQ(::stat(root_.path("a").c_str(), &before), 0);
  root_.write("copy", "2");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, root_.path("copy").c_str(), times, 0), 0);  // as rsync -t and cp -p do
  fs::rename(root_.path("copy"), root_.path("a"));
  expect_told({"a"});
}

TEST_F(watched_files, a_folder_shows_what_is_in_it) {
  root_.write("folder/a", "1");
  root_.write("folder/below/b", "1");
  open();
  attach("folder");
  flush();
  root_.write("folder/a", "2");
  expect_told({"folder"});
  root_.write("folder/new", "1");
  expect_told({"folder"});
  root_.write("folder/below/b", "2");
  expect_told({});
}

TEST_F(watched_files, lists_are_right_when_they_are_told) {
  open();
  const auto names = [this] { return names_of(list_all(*files_)); };
  const auto has = [&](const std::string& name) {
    const auto all = names();
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  // One of a change before may come first, since a change may be told twice; then another follows.
  const auto until_told = [&](int lists, const auto& is_right) {
    do {
      ASSERT_TRUE(ear_->hears_lists(++lists));
    } while (!is_right());
  };
  int lists = ear_->lists();
  root_.write("new/one", "1");
  ASSERT_NO_FATAL_FAILURE(until_told(lists, [&] { return has("new"); }));
  ASSERT_NO_FATAL_FAILURE(until_told(lists, [&] { return has("new/one"); }));
  lists = ear_->lists();
  fs::rename(root_.path("new"), root_.path("old"));
  ASSERT_TRUE(ear_->hears_lists(lists + 1));
  list_until(*files_, [](const auto& all) {
    return entry_named(all, "old/one").name == "old/one" && entry_named(all, "new").name.empty();
  });
  EXPECT_TRUE(has("old/one"));
  EXPECT_FALSE(has("new"));
  lists = ear_->lists();
  root_.write(".gitignore", "old/\n");
  ASSERT_NO_FATAL_FAILURE(until_told(lists, [&] { return !has("old/one"); }));
}

TEST_F(watched_files, show_in_the_very_next_list) {
  const manual_clock clock;  // or a list would not wait for more than two seconds
  const scratch_folder root;
  root.write("old/file", "x");
  const auto files = open_provider(root);
  const auto has = [&files](const std::string& name) {
    const auto all = names_of(list_all(*files));
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  ASSERT_TRUE(has("old/file"));
  for (int i = 0; i < 100; ++i) {
    const auto name = numbered("f", i);
    root.write(name, "x");
    EXPECT_TRUE(has(name)) << name;
    root.write("old/" + name, "x");
    EXPECT_TRUE(has("old/" + name)) << name;
    root.make_folder(name + "-folder");
    EXPECT_TRUE(has(name + "-folder")) << name;
    root.make_fifo(name + "-fifo");
    EXPECT_TRUE(has(name + "-fifo")) << name;
    ASSERT_EQ(std::rename(root.path(name).c_str(), root.path(name + "-renamed").c_str()), 0);
    EXPECT_TRUE(has(name + "-renamed")) << name;
  }
}

TEST_F(watched_files, lists_are_those_of_a_fresh_walk_after_any_changes) {
  for (int i = 0; i < 600; ++i) root_.write(numbered("d", i % 9) + numbered("/f", i), "x");
  open();
  unsigned seed = 4;
  const auto below = [&seed](unsigned count) {
    return static_cast<int>((seed = seed * 1'103'515'245u + 12'345u) >> 16) % static_cast<int>(count);
  };
  for (int round = 0; round < 30; ++round) {
    for (int step = 0; step < 8; ++step) {
      const auto folder = numbered("d", below(12));
      switch (below(4)) {
        case 0:
          root_.write(folder + numbered("/f", below(900)), "x");
          break;
        case 1:
          fs::remove_all(root_.path(folder + numbered("/f", below(600))));
          break;
        case 2:
          if (!fs::exists(root_.path("moved" + folder)) && fs::exists(root_.path(folder))) {
            fs::rename(root_.path(folder), root_.path("moved" + folder));
          }
          break;
        default:
          if (below(3) == 0) fs::remove_all(root_.path("moved" + folder));
          root_.write(folder + "/x/y/z" + numbered("", below(50)), "x");
      }
    }
    flush();
    const auto fresh = names_of(list_all(*open_provider(root_)));
    const auto found = list_until(*files_, [&fresh](const auto& all) { return names_of(all) == fresh; });
    ASSERT_EQ(names_of(found), fresh) << round;
    ASSERT_TRUE(is_in_order(found));
  }
}

// attacks: resource exhaustion (inotify watch limit reached)
TEST_F(watched_files, of_too_many_folders_are_looked_at_instead) {
  for (int i = 0; i < 20; ++i) root_.write(numbered("folder", i) + "/a", "1");
  std::mutex mutex;
  std::string log;
  open([&](options& with) {
    with.max_watched_folders = 5;
    with.refresh_interval = std::chrono::milliseconds(20);
    with.log = [&](std::string_view line) {
      const std::lock_guard lock(mutex);
      log += std::string(line) + '\n';
    };
  });
  attach("folder7/a");
  attach("folder19");
  flush();
  root_.write("folder7/a", "2");
  EXPECT_TRUE(ear_->hears(root_.uri("folder7/a")));
  const int lists = ear_->lists();
  root_.write("folder19/new", "1");
  EXPECT_TRUE(ear_->hears(root_.uri("folder19")));
  EXPECT_TRUE(ear_->hears_lists(lists + 1));
  const std::lock_guard lock(mutex);
  EXPECT_NE(log.find("are polled every 20 ms"), std::string::npos) << log;
  EXPECT_NE(log.find("raise fs.inotify.max_user_watches"), std::string::npos) << log;
}

// attacks: resource exhaustion (100 000 changes in a second)
TEST_F(watched_files, are_told_of_their_last_state_after_any_storm) {
  open();
  for (int i = 0; i < 4; ++i) attach(numbered("f", i));
  flush();
  std::array<int, 4> open_files{};
  for (int i = 0; i < 4; ++i) {
    open_files[i] = ::open(root_.path(numbered("f", i)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(open_files[i], 0);
  }
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(::pwrite(open_files[i % 4], &i, sizeof i, i % 100), static_cast<ssize_t>(sizeof i));
  }
  for (const int file : open_files) ::close(file);
  flush();
  for (int i = 0; i < 4; ++i) {
    root_.write(numbered("f", i), "last");
    EXPECT_TRUE(ear_->hears(root_.uri(numbered("f", i))));
    EXPECT_EQ(read_text(*files_, root_.uri(numbered("f", i))), "last");
  }
}

TEST_F(watched_files, say_what_is_new_about_them_in_the_list) {
  root_.write("a", "1");
  open();
  root_.write("a", "longer");
  flush();
  const auto found = list_until(*files_, [](const auto& all) { return entry_named(all, "a").size == 6u; });
  EXPECT_EQ(entry_named(found, "a").size, 6u);
}

}  // namespace
}  // namespace hondana::files
