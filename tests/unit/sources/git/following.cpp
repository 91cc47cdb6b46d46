/// Who follows resources of a repository hears of what the git program does to it, and of nothing else.
#include "sources/git/repository_watcher.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/ear.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A repository with a commit, served, and who follows it.
struct followed_repository : testing::Test {
  made_repository made{{"--initial-branch=main"}};
  std::shared_ptr<ear> told = std::make_shared<ear>();
  std::unique_ptr<served_repository> served;

  void serve() {
    served = std::make_unique<served_repository>(made);
    served->provider().set_listener(told);
  }
  void serve_with_a_commit() {
    made.write("a.txt", "a\n");
    made.write("b.txt", "b\n");
    made.commit("first");
    serve();
  }
  /// Followed, and looked at once: what is told of from here on has happened from here on.
  void follow(const std::vector<std::string>& uris) {
    for (const auto& one : uris) served->provider().watch(one);
    // A tag that comes tells of the tags, and all else was looked at with them.
    served->provider().watch("git://shelf/tags");
    made.git({"tag", "mark-" + std::to_string(++marks)});
    told->until("git://shelf/tags");
    made.git({"tag", "mark-" + std::to_string(++marks)});
    told->until("git://shelf/tags");
  }
  int marks = 0;
};

TEST_F(followed_repository, a_commit_is_told_to_who_follows_what_it_changes) {
  serve_with_a_commit();
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  follow({"git://shelf/blob/HEAD/a.txt", "git://shelf/blob/main/b.txt", "git://shelf/blob/" + id + "/a.txt", "git://shelf/log",
          "git://shelf/branches", "git://shelf/overview", "git://shelf/tree/HEAD", "git://shelf/changes"});
  made.write("a.txt", "another\n");
  made.commit("second");
  // By the order of URIs this one comes last.
  auto heard = told->until("git://shelf/tree/HEAD");
  for (const auto* uri : {"git://shelf/blob/HEAD/a.txt", "git://shelf/log", "git://shelf/branches", "git://shelf/overview",
                          "git://shelf/changes"})
    EXPECT_THAT(heard, Contains(uri));
  EXPECT_THAT(heard, Not(Contains("git://shelf/blob/main/b.txt")));
  EXPECT_THAT(heard, Not(Contains("git://shelf/blob/" + id + "/a.txt")));
}

TEST_F(followed_repository, what_happens_right_after_attach_is_never_missed) {
  serve_with_a_commit();
  for (int i = 0; i < 20; ++i) {
    made.write("a.txt", std::to_string(i));
    made.git({"add", "a.txt"});
    served->provider().watch("git://shelf/blob/HEAD/a.txt");
    made.git({"commit", "-q", "-m", "x"});
    told->until("git://shelf/blob/HEAD/a.txt");
    served->provider().unwatch("git://shelf/blob/HEAD/a.txt");
  }
}

TEST_F(followed_repository, staging_is_told_to_who_follows_changes_and_no_others) {
  serve_with_a_commit();
  follow({"git://shelf/changes", "git://shelf/branches"});
  made.write("c.txt", "c\n");
  made.git({"add", "c.txt"});
  auto heard = told->until("git://shelf/changes");
  EXPECT_THAT(heard, Not(Contains("git://shelf/branches")));
}

TEST_F(followed_repository, another_branch_checked_out_is_another_head) {
  serve_with_a_commit();
  made.git({"checkout", "-q", "-b", "other"});
  made.write("a.txt", "on the other\n");
  made.commit("other");
  follow({"git://shelf/blob/HEAD/a.txt", "git://shelf/blob/other/a.txt"});
  made.git({"checkout", "-q", "main"});
  auto heard = told->until("git://shelf/blob/HEAD/a.txt");
  EXPECT_THAT(heard, Not(Contains("git://shelf/blob/other/a.txt")));
}

TEST_F(followed_repository, what_is_refused_now_and_exists_later_is_told) {
  serve_with_a_commit();
  follow({"git://shelf/blob/later/a.txt"});
  made.git({"branch", "team/x"});
  made.git({"branch", "later"});
  told->until("git://shelf/blob/later/a.txt");
  served->provider().watch("git://shelf/commit/team%2Fx");
  made.write("a.txt", "x\n");
  made.commit("second");
  made.git({"branch", "-f", "team/x"});
  told->until("git://shelf/commit/team%2Fx");
  made.git({"branch", "-D", "later"});
  told->until("git://shelf/blob/later/a.txt");
}

TEST_F(followed_repository, packing_references_changes_nothing_and_what_is_packed_is_heard_of) {
  serve_with_a_commit();
  follow({"git://shelf/branches", "git://shelf/stashes", "git://shelf/blob/main/a.txt"});
  made.git({"pack-refs", "--all"});
  made.git({"tag", "after"});
  EXPECT_THAT(told->until("git://shelf/tags"), ElementsAre("git://shelf/tags"));
  made.git({"branch", "-m", "main", "trunk"});
  told->until("git://shelf/branches");
}

TEST_F(followed_repository, a_stash_dropped_from_the_middle_is_told) {
  serve_with_a_commit();
  for (const auto* text : {"one\n", "two\n", "three\n"}) {
    made.write("a.txt", text);
    made.git({"stash", "push", "-q"});
  }
  follow({"git://shelf/stashes"});
  made.git({"stash", "drop", "-q", "stash@{1}"});
  told->until("git://shelf/stashes");
  const auto left = served->json("git://shelf/stashes?format=json");
  EXPECT_TRUE(left.at("/stashes/1/uri")) << served->text("git://shelf/stashes");
  EXPECT_FALSE(left.at("/stashes/2/uri"));
}

TEST_F(followed_repository, the_list_changes_with_the_first_commit_and_not_with_each) {
  serve();
  served->provider().watch_list();
  made.write("a.txt", "a\n");
  made.commit("first");
  ASSERT_TRUE(told->hears_lists(1));
  follow({"git://shelf/log"});
  const int before = told->lists();
  made.write("a.txt", "b\n");
  made.commit("nothing comes or goes");
  told->until("git://shelf/log");
  EXPECT_EQ(told->lists(), before);
  made.git({"checkout", "-q", "--orphan", "empty"});
  EXPECT_TRUE(told->hears_lists(before + 1));
  served->provider().unwatch_list();
  const int last = told->lists();
  made.git({"checkout", "-q", "-f", "main"});
  made.git({"tag", "heard"});
  told->until("git://shelf/tags");
  EXPECT_EQ(told->lists(), last);
}

TEST_F(followed_repository, notes_and_stashes_are_no_news_of_logs) {
  serve_with_a_commit();
  follow({"git://shelf/log", "git://shelf/stashes"});
  made.git({"notes", "add", "-m", "a note"});
  made.git({"branch", "mark"});
  EXPECT_THAT(told->until("git://shelf/log"), Not(Contains("git://shelf/stashes")));
  made.write("a.txt", "aside\n");
  made.git({"stash", "push", "-q"});
  told->until("git://shelf/stashes");
}

TEST_F(followed_repository, a_linked_work_tree_has_a_head_of_its_own_and_the_references_of_all) {
  made.write("a.txt", "a\n");
  made.commit("first");
  const auto linked = made.above() + "/linked";
  made.git({"worktree", "add", "-q", "-b", "side", linked});
  git_options options;
  options.repositories = {linked};
  options.pointer_roots = {made.above()};
  options.watch = true;
  served = std::make_unique<served_repository>(std::move(options));
  served->provider().set_listener(told);
  for (const auto* uri : {"git://linked/blob/HEAD/a.txt", "git://linked/blob/main/a.txt"}) served->provider().watch(uri);
  made.write("a.txt", "in the main one\n");
  made.commit("second");
  told->until("git://linked/blob/main/a.txt");
  std::filesystem::copy_file(made.path() + "/a.txt", linked + "/a.txt", std::filesystem::copy_options::overwrite_existing);
  run_git(linked, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-a", "-m", "third"});
  told->until("git://linked/blob/HEAD/a.txt");
}

TEST_F(followed_repository, what_is_gone_altogether_is_told) {
  serve_with_a_commit();
  follow({"git://shelf/log"});
  std::filesystem::remove_all(made.path() + "/.git");
  told->until("git://shelf/log");
}

TEST_F(followed_repository, what_cannot_be_looked_through_any_more_is_told_and_so_is_its_return) {
  serve_with_a_commit();
  follow({"git://shelf/log", "git://shelf/branches"});
  const auto fifo = made.path() + "/.git/refs/heads/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  told->until("git://shelf/log");
  std::filesystem::remove(fifo);
  told->until("git://shelf/log");
}

TEST_F(followed_repository, who_let_go_hears_nothing) {
  serve_with_a_commit();
  follow({"git://shelf/log"});
  const auto next = std::make_shared<ear>();
  served->provider().set_listener(next);
  made.git({"tag", "unheard"});
  next->until("git://shelf/tags");
  EXPECT_THAT(told->take(), ElementsAre());
}

TEST_F(followed_repository, nothing_is_watched_where_that_is_not_wanted) {
  made.write("a.txt", "a\n");
  made.commit("first");
  git_options options;
  options.repositories = {made.path()};
  options.watch = false;
  const served_repository unwatched(std::move(options));
  unwatched.provider().set_listener(told);
  unwatched.provider().watch("git://shelf/tags");
  unwatched.provider().watch_list();
  serve();
  served->provider().watch("git://shelf/tags");
  made.git({"tag", "t"});
  // The one that watches has told.
  EXPECT_THAT(told->until("git://shelf/tags"), ElementsAre("git://shelf/tags"));
  EXPECT_EQ(told->lists(), 0);
}

TEST(git_following, of_more_folders_than_are_watched_is_by_looking) {
  made_repository made;
  made.write("a.txt", "a\n");
  made.commit("first");
  for (int i = 0; i < 10'001; ++i) std::filesystem::create_directory(made.path() + "/.git/refs/heads/" + std::to_string(i));
  const auto told = std::make_shared<ear>();
  std::mutex mutex;
  std::string said;
  git_options with;
  with.repositories = {made.path()};
  with.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    said += line;
  };
  const served_repository served(with);
  served.provider().set_listener(told);
  served.provider().watch("git://shelf/branches");
  for (const std::string folder : {"3", "9999", "10000"}) {
    made.git({"branch", folder + "/new"});
    told->until("git://shelf/branches");
  }
  served.provider().set_listener(nullptr);
  const std::lock_guard lock(mutex);
  EXPECT_THAT(said, HasSubstr("polled every 2000 ms: its references are in more than 10000 folders"));
}

}  // namespace
}  // namespace hondana::git
