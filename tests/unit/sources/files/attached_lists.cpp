/// Lists that somebody wants to hear changes of, though nobody has listed.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "scratch_folder.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::files {
namespace {

namespace fs = std::filesystem;

options never_refreshed(const scratch_folder& of) {
  auto made = serving(of.path());
  made.refresh_interval = std::chrono::hours(1);  // nothing is seen by chance
  return made;
}

/// Until it is older than the time in which a change may leave no trace.
void await_rest(const std::string& path) {
  struct stat facts{};
  do {
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  } while (is_racy(disk::stamp_of(facts), disk::wall_clock()));
}

TEST(attached_lists, are_told_though_nobody_has_listed) {
  const scratch_folder root;
  root.write("deep/er/a", "1");
  const auto heard = std::make_shared<ear>();
  const auto files = open_provider(never_refreshed(root));
  files->set_listener(heard);
  files->watch_list();
  for (const char* name : {"b", "deep/er/c", "new/folder/d"}) {
    const int before = heard->lists();
    root.write(name, "1");
    EXPECT_TRUE(heard->hears_lists(before + 1)) << name;
  }
  const int before = heard->lists();
  fs::remove(root.path("deep/er/a"));
  EXPECT_TRUE(heard->hears_lists(before + 1));
}

TEST(attached_lists, are_told_of_what_happens_while_they_are_walked_for_the_first_time) {
  for (int round = 0; round < 24; ++round) {
    const scratch_folder root;
    for (int i = 0; i < 20; ++i) root.write(numbered("folder", i) + "/a", "1");
    await_rest(root.path());
    const auto heard = std::make_shared<ear>();
    const auto files = open_provider(never_refreshed(root));
    files->set_listener(heard);
    files->watch_list();
    const auto folder = numbered("folder", round % 20);
    if (round % 2 == 0) {
      root.write(folder + "/b", "1");
    } else {
      fs::remove(root.path(folder + "/a"));
    }
    ASSERT_TRUE(heard->hears_lists(1)) << round;
    // The first tell may be of the walk itself; then another follows.
    const std::size_t wanted = round % 2 == 0 ? 42 : 40;
    for (int told = 2; names_of(list_all(*files)).size() != wanted; ++told) ASSERT_TRUE(heard->hears_lists(told)) << round;
  }
}

TEST(attached_lists, of_folders_at_rest_are_told_when_something_changes_and_not_before) {
  const scratch_folder root;
  root.write("a", "1");
  await_rest(root.path());
  await_rest(root.path("a"));
  const auto heard = std::make_shared<ear>();
  const auto files = open_provider(never_refreshed(root));
  files->set_listener(heard);
  files->watch_list();
  EXPECT_EQ(names_of(list_all(*files)).size(), 2u);
  root.write("b", "1");
  ASSERT_TRUE(heard->hears_lists(1));
  EXPECT_EQ(entry_named(list_all(*files), "b").name, "b") << "it was told of something else";
}

TEST(attached_lists, that_nobody_hears_of_or_that_are_not_watched_cost_no_walk) {
  const scratch_folder root;
  const auto unheard = open_provider(never_refreshed(root));
  unheard->set_listener(std::make_shared<ear>());
  EXPECT_EQ(unheard->health().detail, "not indexed yet");
  auto from = never_refreshed(root);
  from.watches = false;
  const auto unwatched = open_provider(from);
  unwatched->set_listener(std::make_shared<ear>());
  unwatched->watch_list();
  EXPECT_EQ(unwatched->health().detail, "not indexed yet");
}

}  // namespace
}  // namespace hondana::files
