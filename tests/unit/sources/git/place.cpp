/// Repositories of all kinds, found and screened.
#include "sources/git/repository_location.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

repository_location place_at(const made_repository& made, const std::string& path) {
  auto found = locate(path, {made.above()});
  EXPECT_TRUE(found) << found.error().public_text;
  return found.value_or(repository_location{});
}

TEST(git_place, of_a_plain_repository_is_its_folder) {
  made_repository made;
  made.commit("first");
  const auto& top = made.path();
  const repository_location expected{top, top + "/.git", top + "/.git", {top + "/.git/objects"}};
  EXPECT_EQ(place_at(made, top), expected);
  EXPECT_EQ(place_at(made, top + "/./../shelf/"), expected);
  std::filesystem::create_directory_symlink("shelf", made.above() + "/link");
  EXPECT_EQ(place_at(made, made.above() + "/link"), expected);
}

TEST(git_place, of_a_bare_repository_has_no_work_tree) {
  const made_repository made({"--bare"});
  const auto found = place_at(made, made.path());
  EXPECT_EQ(found.work_tree, "");
  EXPECT_EQ(found.git_folder, made.path());
  EXPECT_EQ(found.common_folder, made.path());
}

TEST(git_place, of_an_empty_repository_is_found) {
  const made_repository made;
  EXPECT_EQ(place_at(made, made.path()).git_folder, made.path() + "/.git");
}

TEST(git_place, of_a_linked_work_tree_has_both_folders) {
  made_repository made;
  made.commit("first");
  made.git({"worktree", "add", "--quiet", "../second"});
  const auto found = place_at(made, made.above() + "/second");
  EXPECT_EQ(found.work_tree, made.above() + "/second");
  EXPECT_EQ(found.git_folder, made.path() + "/.git/worktrees/second");
  EXPECT_EQ(found.common_folder, made.path() + "/.git");
  EXPECT_EQ(found.object_folders, (std::vector<std::string>{made.path() + "/.git/objects"}));
}

TEST(git_place, of_a_linked_work_tree_of_a_bare_repository_is_not_bare) {
  made_repository made;
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "--bare", "shelf", "bare.git"});
  run_git(made.above() + "/bare.git", {"worktree", "add", "--quiet", "../tree", "main"});
  EXPECT_EQ(place_at(made, made.above() + "/tree").work_tree, made.above() + "/tree");
}

TEST(git_place, obeys_the_configuration_of_a_work_tree_where_that_is_switched_on) {
  made_repository made;
  made.commit("first");
  made.git({"worktree", "add", "--quiet", "../second"});
  made.git({"config", "core.repositoryFormatVersion", "1"});
  made.git({"config", "extensions.worktreeConfig", "true"});
  run_git(made.above() + "/second", {"config", "--worktree", "core.sparseCheckout", "true"});
  EXPECT_EQ(place_at(made, made.above() + "/second").work_tree, made.above() + "/second");
}

TEST(git_place, of_a_submodule_is_its_own) {
  made_repository made;
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "shelf", "inner"});
  made.git({"submodule", "--quiet", "add", made.above() + "/inner", "part"});
  const auto found = place_at(made, made.path() + "/part");
  EXPECT_EQ(found.work_tree, made.path() + "/part");
  EXPECT_EQ(found.git_folder, made.path() + "/.git/modules/part");
  // From its git folder core.worktree leads back.
  EXPECT_EQ(place_at(made, found.git_folder).work_tree, found.work_tree);
}

TEST(git_place, of_a_separate_git_folder_inside_the_roots_is_followed) {
  const made_repository made({"--separate-git-dir=../kept"});
  EXPECT_EQ(place_at(made, made.path()).git_folder, made.above() + "/kept");
}

TEST(git_place, of_a_shallow_clone_is_found) {
  made_repository made;
  made.commit("first");
  made.commit("second");
  run_git(made.above(), {"clone", "--quiet", "--depth=1", "file://" + made.path(), "shallow"});
  EXPECT_EQ(place_at(made, made.above() + "/shallow").work_tree, made.above() + "/shallow");
}

TEST(git_place, has_the_folders_of_alternates_inside_the_roots_each_once) {
  made_repository made;
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "--shared", "shelf", "one"});
  run_git(made.above(), {"clone", "--quiet", "--shared", "one", "two"});
  const auto objects = [&](const std::string& name) { return made.above() + '/' + name + "/.git/objects"; };
  EXPECT_EQ(place_at(made, made.above() + "/two").object_folders,
            (std::vector<std::string>{objects("two"), objects("one"), objects("shelf")}));
  // A circle of them, a relative one, one that is gone, a comment and empty lines.
  made.write(".git/objects/info/alternates", "# of two\n../../../two/.git/objects\n\n" + made.above() + "/gone\n");
  EXPECT_EQ(place_at(made, made.path()).object_folders,
            (std::vector<std::string>{objects("shelf"), objects("two"), objects("one")}));
}

TEST(git_place, where_there_is_no_repository_is_not_found) {
  const made_repository made;
  std::filesystem::create_directory(made.path() + "/below");
  made.write("file", "x");
  // Nothing is looked for above or below.
  for (const auto& one : {made.path() + "/below", made.above(), made.path() + "/file", made.path() + "/gone", std::string()}) {
    const auto found = locate(one, {made.above()});
    ASSERT_FALSE(found) << one;
    EXPECT_EQ(found.error().code, errc::resource_not_found) << one;
  }
}

TEST(git_place, outside_the_roots_is_not_found) {
  const made_repository made, other;
  std::filesystem::create_directory_symlink(other.path(), made.above() + "/link");
  const auto up = "/../" + std::filesystem::path(other.above()).filename().string() + "/shelf";
  for (const auto& one : {other.path(), made.above() + "/link", made.above() + up}) {
    const auto found = locate(one, {made.above()});
    ASSERT_FALSE(found) << one;
    EXPECT_EQ(found.error().code, errc::resource_not_found);
    EXPECT_EQ(found.error().public_text.find(other.above()), std::string::npos);
  }
  // A root's name is no prefix of its neighbour's.
  std::filesystem::create_directory(made.above() + "/she");
  EXPECT_FALSE(locate(made.path(), {made.above() + "/she"}));
  EXPECT_TRUE(locate(made.path(), {made.above() + "/she", made.path()}));
}

}  // namespace
}  // namespace hondana::git
