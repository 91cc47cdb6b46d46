/// Folders of skills that are watched.
#include "os/watch/folder_watcher.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "unit/sources/skills/skill_folders.hpp"

namespace {

using namespace hondana;
using namespace hondana::skills;
using hondana_test::event_deadline;
using hondana_test::eventually;
using testing::Contains;
using testing::ElementsAre;

/// Notes what it is told, and waits for it.
class ear final : public change_listener {
 public:
  void list_changed() override { note("list"); }
  void content_changed(std::string_view uri, std::string_view) override { note(std::string(uri)); }
  [[nodiscard]] bool hears(const std::string& what) {
    std::unique_lock lock(mutex_);
    const bool heard =
        changed_.wait_for(lock, event_deadline, [&] { return std::find(told_.begin(), told_.end(), what) != told_.end(); });
    told_.clear();
    return heard;
  }

 private:
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    told_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
};

struct watched_skills : skill_folders {
  std::shared_ptr<ear> told = std::make_shared<ear>();
  std::shared_ptr<folder_skills_provider> from;

  /// Watched from the first question on.
  void serve() {
    auto opened = folder_skills_provider::open("", {root.string()}, {});
    ASSERT_TRUE(opened);
    from = *opened;
    from->set_listener(told);
  }
};

TEST_F(watched_skills, tell_of_changes_that_nobody_asks_for) {
  write("a/SKILL.md", skill_text("a"));
  serve();
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  write("a/x", "1");
  EXPECT_TRUE(told->hears("skill://a/x"));
  write("a/x", "2");
  EXPECT_TRUE(told->hears("skill://a/x"));
  // In folders that were not there when the watch began, several levels deep.
  write("b/SKILL.md", skill_text("b"));
  EXPECT_TRUE(told->hears("list"));
  write("b/one/two/three.md", "deep");
  EXPECT_TRUE(told->hears("skill://b/one/two/three.md"));
  write("b/one/two/three.md", "deeper");
  EXPECT_TRUE(told->hears("skill://b/one/two/three.md"));
  fs::rename(root / "b", root / "c");
  EXPECT_TRUE(told->hears("list"));
  write("c/SKILL.md", skill_text("c"));
  EXPECT_TRUE(told->hears("list"));
  fs::remove_all(root / "a");
  EXPECT_TRUE(told->hears("list"));
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://c/SKILL.md"));
}

TEST_F(watched_skills, tell_of_a_folder_that_was_deleted_and_made_again) {
  write("a/SKILL.md", skill_text("a"));
  serve();
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  for (int round = 0; round < 5; ++round) {
    fs::remove_all(root / "a");
    EXPECT_TRUE(told->hears("list")) << round;
    write("a/SKILL.md", skill_text("a"));
    EXPECT_TRUE(told->hears("list")) << round;
  }
}

TEST_F(watched_skills, of_a_folder_that_was_deleted_and_made_again_are_listed_and_watched) {
  write("skills/one/SKILL.md", skill_text("one"));
  std::mutex mutex;
  std::vector<std::string> lines;
  auto opened = folder_skills_provider::open("", {(root / "skills").string()}, [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  });
  ASSERT_TRUE(opened);
  from = *opened;
  from->set_listener(told);
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://one/SKILL.md"));
  fs::remove_all(root / "skills");
  EXPECT_THAT(skill_uris(*from), ElementsAre(testing::HasSubstr("error: A folder of skills is gone")));
  EXPECT_EQ(read_text(*from, "skill://one/SKILL.md"), "error: source_unavailable");
  // Nobody asks: it is found by looking.
  fs::create_directories(root / "elsewhere/two");
  std::ofstream(root / "elsewhere/two/SKILL.md") << skill_text("two");
  fs::rename(root / "elsewhere", root / "skills");
  EXPECT_TRUE(told->hears("list"));
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://two/SKILL.md"));
  EXPECT_EQ(read_text(*from, "skill://two/SKILL.md"), skill_text("two"));
  // And what happens in it is heard.
  write("skills/three/SKILL.md", skill_text("three"));
  EXPECT_TRUE(told->hears("list"));
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://three/SKILL.md", "skill://two/SKILL.md"));
  from.reset();
  // The folder may have been looked at while it was being deleted.
  std::erase(lines, "the skill one is left out: its SKILL.md has disappeared");
  const auto path = (root / "skills").string();
  EXPECT_THAT(lines, ElementsAre("the skills in " + path + " cannot be read: " + path + ": No such file or directory",
                                 "the skills in " + path + " can be read again"));
}

TEST_F(watched_skills, are_watched_from_the_first_subscription_on) {
  write("a/SKILL.md", skill_text("a"));
  serve();
  from->watch("skill://a/SKILL.md");
  // Until the first look has been made there is nothing to compare with.
  ASSERT_TRUE(eventually([&] { return from->health().detail != "not read yet"; }));
  write("a/SKILL.md", skill_text("a") + "more");
  EXPECT_TRUE(told->hears("skill://a/SKILL.md"));
}

TEST_F(watched_skills, are_watched_when_somebody_hears_of_the_list) {
  for (int round = 0; round < 20; ++round) {
    write("a/SKILL.md", skill_text("a"));
    wait_until_settled("a/SKILL.md");
    told = std::make_shared<ear>();
    serve();
    from->watch_list();
    write("b" + std::to_string(round) + "/SKILL.md", skill_text("b" + std::to_string(round)));
    ASSERT_TRUE(told->hears("list")) << round;
  }
  // Long after the first look, too.
  wait_until_settled("b19/SKILL.md");
  ASSERT_THAT(skill_uris(*from), Contains("skill://b19/SKILL.md"));
  fs::remove_all(root / "b0");
  EXPECT_TRUE(told->hears("list"));
}

TEST_F(watched_skills, that_cannot_be_watched_are_looked_at) {
  write("a/SKILL.md", skill_text("a"));
  std::mutex mutex;
  std::condition_variable changed;
  int looks = 0;
  std::vector<std::string> lines;
  watch::watcher_options with;
  with.rescan_interval = std::chrono::milliseconds(1);
  with.max_folders = 1;
  with.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  };
  watch::folder_watcher watched(
      {root.string()},
      [&](const request_context&, const watch::folder_watcher::trees&) {
        const std::lock_guard lock(mutex);
        ++looks;
        changed.notify_all();
        return true;
      },
      with);
  EXPECT_FALSE(watched.is_complete());
  watched.start();
  auto opened = folder::open(root.string());
  ASSERT_TRUE(opened);
  ASSERT_TRUE(opened->walk({}, [&](const std::string& path, int descriptor) { watched.add_folder(0, path, descriptor); }));
  EXPECT_FALSE(watched.is_complete());
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, event_deadline, [&] { return looks > 3; }));
  EXPECT_THAT(lines, ElementsAre(testing::HasSubstr("are polled every 1 ms")));
}

TEST_F(watched_skills, that_could_not_be_looked_at_are_looked_at_again) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<watch::folder_watcher::trees> looks;
  watch::watcher_options with;
  with.rescan_interval = std::chrono::milliseconds(1);
  watch::folder_watcher watched(
      {root.string()},
      [&](const request_context&, const watch::folder_watcher::trees& which) {
        const std::lock_guard lock(mutex);
        looks.push_back(which);
        changed.notify_all();
        if (looks.size() == 2) throw std::runtime_error("out of something");
        return looks.size() == 4;
      },
      with);
  watched.start();
  auto opened = folder::open(root.string());
  ASSERT_TRUE(opened);
  ASSERT_TRUE(opened->walk({}, [&](const std::string& path, int descriptor) { watched.add_folder(0, path, descriptor); }));
  EXPECT_TRUE(watched.is_complete());
  std::unique_lock lock(mutex);
  // Nothing happens in the folder: these are made up for by themselves.
  ASSERT_TRUE(changed.wait_for(lock, event_deadline, [&] { return looks.size() >= 4; }));
  EXPECT_THAT(looks[3], testing::IsEmpty());
  // After one that could be made the next is for what happens, and knows where.
  write("a", "1");
  ASSERT_TRUE(changed.wait_for(lock, event_deadline, [&] { return looks.size() > 4; }));
  EXPECT_THAT(looks[4], ElementsAre(0u));
}

TEST_F(watched_skills, may_go_while_a_folder_is_being_covered) {
  // Its end waits for its thread for a second; here no time passes, and the test ends only if the thread does.
  const manual_clock clock;
  write("a/SKILL.md", skill_text("a"));
  watch::watcher_options with;
  std::atomic<bool> is_gone{false};
  std::atomic<int> lines_after{0};
  with.max_folders = 0;  // so that covering has something to say
  with.log = [&](std::string_view) { lines_after += is_gone ? 1 : 0; };
  auto watched = std::make_unique<watch::folder_watcher>(
      std::vector{root.string()}, [](const request_context&, const watch::folder_watcher::trees&) { return true; }, with);
  const auto cover = watched->folder_adder();
  watched->start();
  auto opened = folder::open(root.string());
  ASSERT_TRUE(opened);
  ASSERT_TRUE(opened->walk({}, [&](const std::string& path, int descriptor) {
    // The owner lets go of it in the middle of a walk, as a program that ends does.
    if (path.empty()) {
      watched.reset();
      is_gone = true;
    }
    cover(0, path, descriptor);
  }));
  EXPECT_TRUE(is_gone);
  EXPECT_EQ(lines_after, 0);
}

TEST_F(watched_skills, end_while_the_folders_are_being_looked_at) {
  // An end that waits in vain for the thread would wait for ever.
  const manual_clock clock;
  for (int i = 0; i < 50; ++i) write("s" + std::to_string(i) + "/SKILL.md", "# bad");
  for (int round = 0; round < 20; ++round) {
    const auto is_there = std::make_shared<std::atomic<bool>>(true);
    const auto lines_after = std::make_shared<std::atomic<int>>(0);
    auto opened = folder_skills_provider::open(
        "", {root.string()}, [is_there, lines_after](std::string_view) { *lines_after += *is_there ? 0 : 1; });
    ASSERT_TRUE(opened);
    (*opened)->set_listener(told);
    (*opened)->watch("skill://s0/SKILL.md");
    opened->reset();
    *is_there = false;
    EXPECT_EQ(*lines_after, 0) << round;
    // The thread lets go of the log when it has left, which takes a busy machine a while.
    EXPECT_TRUE(eventually([&] { return is_there.use_count() == 1; })) << round << ": the thread is stuck";
  }
}

}  // namespace
