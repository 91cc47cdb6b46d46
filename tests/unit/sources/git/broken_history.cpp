/// Histories that end early, are damaged, or are walked by somebody who leaves.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

std::vector<std::string> commits_in(made_repository& made, int count) {
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) {
    made.write("a", std::to_string(i));
    ids.push_back(made.commit("commit " + std::to_string(i)));
  }
  return ids;
}

std::vector<std::string> ids_of(const log_page& page) {
  std::vector<std::string> ids;
  for (const auto& one : page.commits) ids.push_back(to_hex(one.id));
  return ids;
}

void remove_object(const std::string& folder, const std::string& id) {
  EXPECT_TRUE(std::filesystem::remove(folder + "/.git/objects/" + id.substr(0, 2) + '/' + id.substr(2))) << id;
}

TEST(git_broken_history, ends_where_a_shallow_clone_does) {
  made_repository made;
  commits_in(made, 6);
  const auto clone = made.above() + "/clone";
  run_git(made.above(), {"clone", "--quiet", "--depth=3", "file://" + made.path(), clone});
  const auto repository = opened(clone);
  log_request request;
  request.start = id_at(repository.get(), "main");
  for (const std::string path : {"", "a"}) {
    request.filter.path = path;
    const auto page = read_log(repository.get(), request);
    ASSERT_TRUE(page);
    EXPECT_EQ(ids_of(*page), lines_of(run_git(clone, {"log", "--format=%H", "--", path.empty() ? "." : path})));
    EXPECT_EQ(page->commits.size(), 3u);
    EXPECT_FALSE(page->next);
  }
}

TEST(git_broken_history, of_a_clone_that_was_deepened_since_refuses_the_older_cursor) {
  made_repository made;
  commits_in(made, 6);
  const auto clone = made.above() + "/clone";
  run_git(made.above(), {"clone", "--quiet", "--depth=3", "file://" + made.path(), clone});
  const auto repository = opened(clone);
  log_request request;
  request.start = id_at(repository.get(), "main");
  request.limit = 1;
  const auto page = read_log(repository.get(), request);
  ASSERT_TRUE(page && page->next);
  run_git(clone, {"fetch", "--quiet", "--deepen=1"});
  request.cursor = *page->next;
  const auto refused = read_log(repository.get(), request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
}

TEST(git_broken_history, tells_what_comes_before_a_missing_parent_and_then_names_it_and_its_child) {
  made_repository made;
  const auto ids = commits_in(made, 5);
  remove_object(made.path(), ids[1]);
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_from(ids[4]);
  const auto page = read_log(repository.get(), request);
  ASSERT_TRUE(page) << page.error().public_text;
  EXPECT_EQ(ids_of(*page), (std::vector<std::string>{ids[4], ids[3]}));
  ASSERT_TRUE(page->next);
  request.cursor = *page->next;
  const auto broken = read_log(repository.get(), request);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, errc::source_unavailable);
  EXPECT_NE(broken.error().public_text.find("commit " + ids[2]), std::string::npos) << broken.error().public_text;
  EXPECT_NE(broken.error().public_text.find(ids[1]), std::string::npos) << broken.error().public_text;
}

TEST(git_broken_history, names_the_commit_whose_tree_is_missing) {
  made_repository made;
  const auto ids = commits_in(made, 3);
  auto tree = made.git({"rev-parse", ids[1] + "^{tree}"});
  tree.pop_back();
  remove_object(made.path(), tree);
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_from(ids[2]);
  request.filter.path = "a";
  const auto broken = read_log(repository.get(), request);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().public_text.find(ids[1]), std::string::npos) << broken.error().public_text;
  EXPECT_NE(broken.error().public_text.find(tree), std::string::npos) << broken.error().public_text;
}

TEST(git_broken_history, refuses_a_list_of_shallow_commits_that_is_none) {
  made_repository made;
  const auto ids = commits_in(made, 1);
  made.write(".git/shallow", "no id\n");
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_from(ids[0]);
  auto broken = read_log(repository.get(), request);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().public_text.find("`shallow`"), std::string::npos);
  std::filesystem::remove(made.path() + "/.git/shallow");
  std::filesystem::create_symlink("/dev/zero", made.path() + "/.git/shallow");
  broken = read_log(repository.get(), request);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().public_text.find("`shallow`"), std::string::npos);
}

TEST(git_broken_history, is_told_in_short_pages_when_the_budget_is_spent) {
  made_repository made;
  commits_in(made, 20);
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_at(repository.get(), "main");
  request.budget = 6;
  request.filter.grep = "commit 1?3$";
  std::vector<std::size_t> sizes;
  for (;;) {
    const auto page = read_log(repository.get(), request);
    ASSERT_TRUE(page);
    sizes.push_back(page->commits.size());
    if (!page->next) break;
    request.cursor = *page->next;
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 1, 1, 0}));
}

TEST(git_broken_history, is_left_when_nobody_waits_for_it) {
  made_repository made;
  commits_in(made, 3);
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_at(repository.get(), "main");
  int asked = 0;
  request.is_stopped = [&asked] { return ++asked > 1; };
  const auto left = read_log(repository.get(), request);
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, errc::cancelled);
}

TEST(git_broken_history, refuses_patterns_that_cannot_be_understood_by_the_name_of_their_argument) {
  made_repository made;
  commits_in(made, 1);
  const auto repository = opened(made.path());
  const auto refusal = [&](const log_filter& filter) {
    log_request request;
    request.start = id_at(repository.get(), "main");
    request.filter = filter;
    const auto refused = read_log(repository.get(), request);
    EXPECT_FALSE(refused);
    if (refused) return std::string();
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
    return refused.error().public_text;
  };
  log_filter filter;
  filter.author = "(";
  EXPECT_NE(refusal(filter).find("`author`"), std::string::npos);
  filter = {};
  filter.grep = "(?=x)";
  EXPECT_NE(refusal(filter).find("`grep`"), std::string::npos);
  filter.grep = std::string(5000, 'x');
  EXPECT_NE(refusal(filter).find("4096"), std::string::npos);
  filter.grep = "((x{100}){100}){100}";
  EXPECT_NE(refusal(filter).find("`grep`"), std::string::npos);
}

}  // namespace
}  // namespace hondana::git
