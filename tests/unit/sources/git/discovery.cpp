/// Repositories below a folder, and their names.
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/git_provider.hpp"
#include "sources/git/repository_location.hpp"
#include "unit/descriptors_left.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

std::vector<std::string> discovered(const made_repository& made, std::size_t depth, std::size_t most = 1000) {
  std::vector<std::string> names;
  for (const auto& one : discover(made.above(), {made.above()}, depth, most, {}))
    names.push_back(one.path.substr(made.above().size() + 1) +
                    (one.location ? "" : ": " + std::string(name_of(one.location.error().code))));
  return names;
}

TEST(git_discovery, finds_repositories_in_the_order_of_their_paths) {
  made_repository made;
  made.commit("first");
  for (const std::string name : {"b/deep/one", "b/two", "a-b", "a/x", ".hidden/x"}) {
    std::filesystem::create_directories(made.above() + '/' + name);
    run_git(made.above() + '/' + name, {"init", "--quiet"});
  }
  run_git(made.above(), {"clone", "--quiet", "--bare", "shelf", "bare.git"});
  made.git({"worktree", "add", "--quiet", "../tree"});
  run_git(made.path(), {"clone", "--quiet", made.above() + "/bare.git", "nested"});
  std::filesystem::create_directory_symlink("shelf", made.above() + "/link");
  std::filesystem::create_directories(made.above() + "/plain/folder");
  EXPECT_EQ(discovered(made, 3),
            (std::vector<std::string>{"a/x", "a-b", "b/deep/one", "b/two", "bare.git", "shelf", "shelf/nested", "tree"}));
  EXPECT_EQ(discovered(made, 2),
            (std::vector<std::string>{"a/x", "a-b", "b/two", "bare.git", "shelf", "shelf/nested", "tree"}));
  EXPECT_EQ(discovered(made, 1), (std::vector<std::string>{"a-b", "bare.git", "shelf", "tree"}));
  EXPECT_EQ(discovered(made, 3, 2), (std::vector<std::string>{"a/x", "a-b"}));
  EXPECT_EQ(discover(made.path(), {made.path()}, 0, 10, {}).size(), 1u);
  EXPECT_EQ(discover(made.above() + "/link", {made.above() + "/link"}, 0, 10, {}).size(), 1u);
  EXPECT_EQ(discover(made.above() + "/gone", {made.above() + "/gone"}, 3, 10, {}).size(), 0u);
}

TEST(git_discovery, tells_why_one_is_left_out_and_goes_on) {
  const made_repository made;
  run_git(made.above(), {"init", "--quiet", "--object-format=sha256", "modern"});
  std::filesystem::create_directories(made.above() + "/broken/.git");
  std::filesystem::create_directories(made.above() + "/outside");
  std::filesystem::create_directory_symlink("/etc", made.above() + "/outside/.git");
  EXPECT_EQ(discovered(made, 1), (std::vector<std::string>{"broken: resource_not_found", "modern: unsupported",
                                                           "outside: invalid_argument", "shelf"}));
}

TEST(git_discovery, tells_that_a_folder_could_not_be_searched_for_lack_of_descriptors) {
  const made_repository made;
  const auto path = made.above();
  std::vector<discovered_repository> none;
  {
    const hondana_test::descriptors_left few(0);
    none = discover(path, {path}, 1, 10, {});
  }
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].path, path);
  EXPECT_EQ(none[0].location.error().code, errc::source_unavailable);
}

TEST(git_discovery, stops_when_it_is_no_longer_wanted) {
  const made_repository made;
  for (const std::string name : {"a", "b", "c"}) run_git(made.above(), {"init", "--quiet", name});
  int asked = 0;
  EXPECT_EQ(discover(made.above(), {made.above()}, 1, 100, [&] { return ++asked < 4; }).size(), 2u);
}

TEST(git_discovery, of_folders_nested_without_end_ends) {
  const made_repository made;
  std::string path = made.above();
  for (int i = 0; i < 200; ++i) path += "/d";
  std::filesystem::create_directories(path);
  EXPECT_EQ(discover(made.above(), {made.above()}, 1000, 100, {}).size(), 1u);
}

TEST(git_slugs, are_names_made_plain) {
  EXPECT_EQ(slug_of("My Project.git"), "my-project");
  EXPECT_EQ(slug_of("hondana"), "hondana");
  EXPECT_EQ(slug_of("__a..b__"), "a-b");
  EXPECT_EQ(slug_of("本棚"), "repo");
  EXPECT_EQ(slug_of("本棚 2"), "2");
  EXPECT_EQ(slug_of(""), "repo");
  EXPECT_EQ(slug_of(".git"), "repo");
  EXPECT_EQ(slug_of("a-"), "a");
  EXPECT_EQ(slug_of(std::string(100, 'x')), std::string(40, 'x'));
  EXPECT_EQ(slug_of(std::string(39, 'x') + " y"), std::string(39, 'x'));
}

TEST(git_slugs, that_collide_are_told_apart) {
  EXPECT_EQ(unique_slugs({"/a/x", "/b/X", "/c/x.git", "/d/y", "/x"}),
            (std::vector<std::string>{"x", "x-2", "x-3", "y", "x-4"}));
  EXPECT_EQ(unique_slugs({"/a/x-2", "/a/x", "/b/x"}), (std::vector<std::string>{"x-2", "x", "x-3"}));
  EXPECT_EQ(unique_slugs({"/a/shelf/.git", "/a/shelf/", "/", ".git"}),
            (std::vector<std::string>{"shelf", "shelf-2", "repo", "repo-2"}));
  const auto many = unique_slugs(std::vector<std::string>(1000, "/same"));
  EXPECT_EQ(std::set<std::string>(many.begin(), many.end()).size(), 1000u);
}

TEST(git_discovery, a_work_tree_is_served_where_its_main_repository_is_named_as_well) {
  made_repository made;
  made.commit("first");
  made.git({"worktree", "add", "--quiet", "-b", "side", "../beside"});
  const auto linked = made.above() + "/beside";
  git_options options;
  options.folders = {linked, made.path()};
  options.max_depth = 0;
  const auto both = git_provider::open(options);
  ASSERT_TRUE(both) << both.error().public_text;
  EXPECT_TRUE((*both)->health().is_healthy) << (*both)->health().detail;
  options.folders = {linked};
  const auto alone = git_provider::open(options);
  EXPECT_FALSE(alone);
}

}  // namespace
}  // namespace hondana::git
