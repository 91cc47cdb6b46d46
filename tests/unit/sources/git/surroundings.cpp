/// What a repository has beside branches and tags: stashes, work trees, remotes and its HEAD.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/references.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/screened_handle.hpp"

namespace hondana::git {
namespace {

TEST(git_surroundings, list_stashes_as_git_does) {
  made_repository made;
  made.write("a", "1");
  made.commit("first");
  const auto handle = screened_handle(made.path(), made.above());
  EXPECT_TRUE(stashes(handle.get(), 10)->empty());
  for (const std::string text : {"2", "3", "4"}) {
    made.write("a", text);
    made.git({"stash", "push", "--quiet", "-m", "with " + text});
  }
  const auto judged = made.git({"stash", "list", "--format=%gd %H %gs %ct"});
  std::string ours;
  const auto found = stashes(handle.get(), 10);
  ASSERT_TRUE(found);
  for (const auto& one : *found)
    ours += "stash@{" + std::to_string(one.index) + "} " + to_hex(one.commit) + ' ' + one.message + ' ' +
            std::to_string(one.time) + '\n';
  EXPECT_EQ(ours, judged);
  EXPECT_EQ(found->size(), 3u);
  EXPECT_EQ(stashes(handle.get(), 2)->size(), 2u);
}

TEST(git_surroundings, of_stashes_that_lead_outside_or_never_end_are_refused) {
  made_repository made, other;
  made.commit("first");
  other.write("a", "1");
  other.commit("first");
  other.write("a", "2");
  other.git({"stash"});
  const auto log = made.path() + "/.git/logs/refs/stash";
  std::filesystem::create_directories(std::filesystem::path(log).parent_path());
  std::filesystem::create_symlink(other.path() + "/.git/logs/refs/stash", log);
  const auto handle = screened_handle(made.path(), made.above());
  EXPECT_FALSE(stashes(handle.get(), 10));
  std::filesystem::remove(log);
  std::ofstream(log).close();
  std::filesystem::resize_file(log, std::uintmax_t{1} << 30);
  EXPECT_EQ(stashes(handle.get(), 10).error().code, errc::response_too_large);
  std::filesystem::resize_file(log, 1000);  // zeros
  EXPECT_TRUE(stashes(handle.get(), 10)->empty());
}

TEST(git_surroundings, list_work_trees) {
  made_repository made;
  const auto first = made.commit("first");
  made.git({"worktree", "add", "--quiet", "../second"});
  made.git({"worktree", "add", "--quiet", "--detach", "../third"});
  made.git({"worktree", "lock", "../third"});
  std::filesystem::remove_all(made.above() + "/second");
  for (const auto& from : {made.path(), made.above() + "/third"}) {
    const auto handle = screened_handle(from, made.above());
    const auto all = linked_work_trees(handle.get(), {made.above()});
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3u);
    EXPECT_EQ((*all)[0].name, "");
    EXPECT_EQ((*all)[0].branch, "main");
    EXPECT_TRUE((*all)[0].is_present);
    EXPECT_EQ((*all)[1].name, "second");
    EXPECT_EQ((*all)[1].branch, "second");
    EXPECT_FALSE((*all)[1].is_present);
    EXPECT_FALSE((*all)[1].is_locked);
    EXPECT_EQ((*all)[2].name, "third");
    EXPECT_EQ((*all)[2].branch, "");
    EXPECT_TRUE((*all)[2].is_present);
    EXPECT_TRUE((*all)[2].is_locked);
    for (const auto& one : *all) EXPECT_EQ(to_hex(one.head), first);
    // What is outside is not looked at.
    const auto fewer = linked_work_trees(handle.get(), {made.path()});
    EXPECT_FALSE((*fewer)[2].is_present);
    EXPECT_TRUE((*fewer)[2].is_outside);
    EXPECT_FALSE((*all)[2].is_outside);
  }
}

TEST(git_surroundings, of_roots_behind_links_and_of_the_whole_disk_have_work_trees) {
  made_repository made;
  made.commit("first");
  made.git({"worktree", "add", "--quiet", "../second"});
  const auto link = made.above() + "/link";
  std::filesystem::create_directory_symlink(made.above(), link);
  const auto handle = screened_handle(made.path(), made.above());
  for (const auto& root : {link, link + "/", std::string("/")}) {
    const auto all = linked_work_trees(handle.get(), {root});
    ASSERT_TRUE(all) << root;
    ASSERT_EQ(all->size(), 2u) << root;
    EXPECT_EQ((*all)[1].name, "second") << root;
    EXPECT_FALSE((*all)[1].is_outside) << root;
    EXPECT_TRUE((*all)[1].is_present) << root;
  }
}

TEST(git_surroundings, list_remotes_without_credentials) {
  made_repository made;
  made.git({"remote", "add", "origin", "https://ada:hunter2@example.com/x.git"});
  made.git({"remote", "add", "backup.2", "git@example.com:x.git"});
  made.git({"remote", "set-url", "--add", "origin", "https://other.example.com/x.git"});
  const auto handle = screened_handle(made.path(), made.above());
  const auto all = remotes(handle.get());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "backup.2");
  EXPECT_EQ((*all)[0].url, "example.com:x.git");
  EXPECT_EQ((*all)[1].name, "origin");
  EXPECT_EQ((*all)[1].url, "https://example.com/x.git");
}

TEST(git_surroundings, show_urls_without_what_could_be_secret) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"https://example.com/a/b.git", "https://example.com/a/b.git"},
      {"https://ada@example.com/a", "https://example.com/a"},
      {"https://ada:p%40ss@example.com:8443/a?token=x#y", "https://example.com:8443/a"},
      {"https://a:b@c@example.com/x", "https://example.com/x"},
      {"https://ada:pa/ss@example.com/x", "https://example.com/x"},
      {"https://ada:pa?ss@example.com/x", "https://example.com/x"},
      {"https://ada:pa#ss@example.com/x", "https://example.com/x"},
      {"https://[::1]:80/x@y", "https://[::1]:80/x@y"},
      {"https://example.com/@scope/x", "https://example.com/@scope/x"},
      {"https://example.com:443/@scope/x", "https://example.com:443/@scope/x"},
      {"ssh://git@example.com:22/x", "ssh://example.com:22/x"},
      {"helper::https://ada:x@example.com/x", "helper::https://example.com/x"},
      {"git@example.com:a/b.git", "example.com:a/b.git"},
      {"ada:secret@example.com:a/b.git", "example.com:a/b.git"},
      {"user:secret@b/c", "b/c"},
      {"/srv/x@y.git", "/srv/x@y.git"},
      {"../x@y:z.git", "../x@y:z.git"},
      {"file:///srv/x.git", "file:///srv/x.git"},
      {"https://", "https://"},
      {"", ""},
      {"\xff", "\xEF\xBF\xBD"}};
  for (const auto& [url, shown] : cases) EXPECT_EQ(strip_credentials(url), shown) << url;
}

TEST(git_surroundings, tell_no_paths_of_this_machine) {
  for (const auto* url : {"/srv/x.git", "../other", "other", "dir/x:y", "file:///srv/x.git", "FILE:///srv/x.git",
                          "file://host/srv/x.git", "helper::/srv/x.git", "helper::file:///srv/x.git", "~/x", ""})
    EXPECT_EQ(display_url(url), "a local repository") << url;
  for (const auto* url : {"https://example.com/x", "example.com:/srv/x.git", "helper::https://example.com/x", "[::1]:x"})
    EXPECT_EQ(display_url(url), url) << url;
  made_repository made;
  made.git({"remote", "add", "near", made.above() + "/other"});
  const auto handle = screened_handle(made.path(), made.above());
  const auto all = remotes(handle.get());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].name, "near");
  EXPECT_EQ((*all)[0].url, "a local repository");
}

TEST(git_surroundings, tell_where_head_is) {
  made_repository made;
  const auto handle = screened_handle(made.path(), made.above());
  EXPECT_EQ(head_of(handle.get())->branch, "main");
  EXPECT_FALSE(head_of(handle.get())->commit);
  made.write("a", "1");
  const auto first = made.commit("first");
  EXPECT_EQ(to_hex(*head_of(handle.get())->commit), first);
  made.git({"checkout", "--quiet", "-b", "topic/x"});
  made.write("a", "2");
  made.commit("second");
  EXPECT_EQ(head_of(handle.get())->branch, "topic/x");
  EXPECT_EQ(head_of(handle.get())->operation, "");
  made.git({"checkout", "--quiet", "main"});
  made.write("a", "3");
  const auto third = made.commit("third");
  EXPECT_NE(made.try_git({"merge", "--quiet", "topic/x"}), 0);
  EXPECT_EQ(head_of(handle.get())->operation, "merge");
  made.git({"merge", "--abort"});
  made.git({"checkout", "--quiet", "--detach"});
  EXPECT_EQ(head_of(handle.get())->branch, "");
  EXPECT_EQ(to_hex(*head_of(handle.get())->commit), third);
}

TEST(git_surroundings, say_that_head_leads_in_a_circle) {
  made_repository made;
  made.commit("first");
  std::ofstream(made.path() + "/.git/refs/heads/a") << "ref: refs/heads/b\n";
  std::ofstream(made.path() + "/.git/refs/heads/b") << "ref: refs/heads/a\n";
  std::ofstream(made.path() + "/.git/HEAD") << "ref: refs/heads/a\n";
  const auto handle = screened_handle(made.path(), made.above());
  const auto head = head_of(handle.get());
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, errc::source_unavailable);
  EXPECT_NE(head.error().public_text.find("cycle"), std::string::npos);
  EXPECT_TRUE(branches(handle.get(), "", 10));
  std::ofstream(made.path() + "/.git/HEAD") << "ref: config\n";
  EXPECT_FALSE(head_of(handle.get()));
}

TEST(git_surroundings, of_a_bare_repository_have_no_main_work_tree) {
  made_repository made;
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "--bare", "shelf", "bare.git"});
  run_git(made.above() + "/bare.git", {"worktree", "add", "--quiet", "../tree", "main"});
  const auto handle = screened_handle(made.above() + "/tree", made.above());
  const auto all = linked_work_trees(handle.get(), {made.above()});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().name, "tree");
}

}  // namespace
}  // namespace hondana::git
