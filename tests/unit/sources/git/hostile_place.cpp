/// Configurations and pointers that lead astray: nothing is read outside.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/hostile_pair.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

namespace fs = std::filesystem;

TEST(git_hostile_place, include_in_the_configuration_is_refused) {
  const hostile_pair pair;
  append_to(pair.git_folder() + "/config", "[include]\n\tpath = /etc/passwd\n");
  pair.expect_refusal(errc::invalid_argument, ".git/config, line ");
  pair.expect_refusal(errc::invalid_argument, "include");
}

TEST(git_hostile_place, include_if_in_the_configuration_is_refused) {
  const hostile_pair pair;
  append_to(pair.git_folder() + "/config", "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n");
  pair.expect_refusal(errc::invalid_argument, "includeIf");
}

TEST(git_hostile_place, include_in_the_configuration_of_a_work_tree_is_refused) {
  for (const std::string_view section : {"[include]", "[includeIf \"onbranch:main\"]"}) {
    const hostile_pair pair;
    append_to(pair.git_folder() + "/config", "[core]\nrepositoryformatversion=1\n[extensions]\nworktreeConfig=true\n");
    ASSERT_TRUE(pair.find());
    overwrite(pair.git_folder() + "/config.worktree", std::string(section) + "\npath = /etc/passwd\n");
    pair.expect_refusal(errc::invalid_argument, ".git/config.worktree, line 2");
  }
}

TEST(git_hostile_place, work_tree_outside_is_refused) {
  const hostile_pair pair;
  const auto config = pair.git_folder() + "/config";
  for (const auto& one : {pair.outside.path(), std::string("../../.."), std::string("/"), std::string("../../gone")}) {
    append_to(config, "[core]\nworktree = " + one + "\n");
    pair.expect_refusal(errc::invalid_argument, "core.worktree names leads out");
  }
  append_to(config, "[core]\nworktree = ../gone\n");
  pair.expect_refusal(errc::invalid_argument, "core.worktree names does not exist");
  fs::create_directory(pair.inside.path() + "/below");
  append_to(config, "[core]\nworktree = ../below\n");
  const auto found = pair.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->work_tree, pair.inside.path() + "/below");
}

TEST(git_hostile_place, git_file_leading_outside_by_dots_is_refused) {
  const hostile_pair pair;
  const auto other = fs::path(pair.outside.above()).filename().string();
  fs::remove_all(pair.git_folder());
  for (const auto& one :
       {pair.outside.path() + "/.git", "../../" + other + "/shelf/.git", std::string("../../gone"), std::string("/etc")}) {
    overwrite(pair.git_folder(), "gitdir: " + one + "\n");
    pair.expect_refusal(errc::invalid_argument, "leads out of the served folders");
  }
}

TEST(git_hostile_place, git_file_leading_outside_by_a_link_is_refused) {
  const hostile_pair pair;
  fs::remove_all(pair.git_folder());
  fs::create_directory_symlink(pair.outside.path() + "/.git", pair.inside.path() + "/looks-near");
  overwrite(pair.git_folder(), "gitdir: looks-near\n");
  pair.expect_refusal(errc::invalid_argument, "leads out of the served folders");
  fs::remove(pair.git_folder());
  fs::create_directory_symlink("looks-near", pair.git_folder());
  pair.expect_refusal(errc::invalid_argument, "leads out of the served folders");
}

TEST(git_hostile_place, git_file_that_says_no_folder_is_refused) {
  const hostile_pair pair;
  fs::remove_all(pair.git_folder());
  for (const std::string& one : {std::string(), std::string("gitdir:"), std::string("gitdir: "), std::string("gitdir: a.txt"),
                                 std::string("gitdir: .git"), std::string("gitdir: x\0y", 11),
                                 "gitdir: " + std::string(10'000, 'x'), "gitdir: " + std::string(4000, 'x')}) {
    overwrite(pair.git_folder(), one);
    pair.expect_refusal(errc::invalid_argument, ".git");
  }
  fs::remove(pair.git_folder());
  fs::create_symlink(".git", pair.git_folder());
  pair.expect_refusal(errc::invalid_argument, ".git");
}

TEST(git_hostile_place, common_folder_outside_is_refused) {
  const hostile_pair pair;
  const auto other = fs::path(pair.outside.above()).filename().string();
  for (const auto& one : {pair.outside.path() + "/.git", "../../../" + other + "/shelf/.git"}) {
    overwrite(pair.git_folder() + "/commondir", one + "\n");
    pair.expect_refusal(errc::invalid_argument, "commondir names leads out");
  }
  fs::create_directory_symlink(pair.outside.path() + "/.git", pair.inside.path() + "/near");
  overwrite(pair.git_folder() + "/commondir", "../near\n");
  pair.expect_refusal(errc::invalid_argument, "commondir names leads out");
}

TEST(git_hostile_place, alternates_outside_are_refused) {
  const hostile_pair pair;
  const auto file = pair.git_folder() + "/objects/info/alternates";
  fs::create_directory_symlink(pair.outside.path() + "/.git", pair.inside.path() + "/near");
  const auto other = fs::path(pair.outside.above()).filename().string();
  for (const auto& one : {pair.outside.path() + "/.git/objects", "../../../../" + other + "/shelf/.git/objects",
                          std::string("../../near/objects"), std::string("/gone/objects")}) {
    overwrite(file, "# first\n" + one + "\n");
    pair.expect_refusal(errc::invalid_argument, "objects/info/alternates names a folder, line 2, that leads out");
  }
  overwrite(file, "\"../../x\"\n");
  pair.expect_refusal(errc::invalid_argument, "objects/info/alternates");
}

TEST(git_hostile_place, alternates_of_alternates_outside_are_refused) {
  const hostile_pair pair;
  fs::create_directories(pair.inside.path() + "/more/info");
  overwrite(pair.git_folder() + "/objects/info/alternates", "../../more\n");
  ASSERT_TRUE(pair.find());
  overwrite(pair.inside.path() + "/more/info/alternates", pair.outside.path() + "/.git/objects\n");
  pair.expect_refusal(errc::invalid_argument, "objects/info/alternates");
}

TEST(git_hostile_place, alternates_in_a_loop_end) {
  const hostile_pair pair;
  fs::create_directories(pair.inside.path() + "/more/info");
  overwrite(pair.git_folder() + "/objects/info/alternates", ".\n../objects\n../../more\n");
  overwrite(pair.inside.path() + "/more/info/alternates", "../.git/objects\n../more\n");
  const auto found = pair.find();
  ASSERT_TRUE(found) << found.error().public_text;
  EXPECT_EQ(found->object_folders.size(), 2u);
}

TEST(git_hostile_place, alternates_too_many_or_too_deep_are_refused) {
  const hostile_pair pair;
  std::string many;
  for (int i = 0; i < 65; ++i) {
    fs::create_directories(pair.inside.path() + "/more" + std::to_string(i));
    many += "../../more" + std::to_string(i) + "\n";
  }
  overwrite(pair.git_folder() + "/objects/info/alternates", many);
  pair.expect_refusal(errc::invalid_argument, "more than 64");
  overwrite(pair.git_folder() + "/objects/info/alternates", "../../more0\n");
  for (int i = 0; i < 6; ++i) {
    fs::create_directory(pair.inside.path() + "/more" + std::to_string(i) + "/info");
    overwrite(pair.inside.path() + "/more" + std::to_string(i) + "/info/alternates", "../more" + std::to_string(i + 1) + "\n");
    if (i == 3) {
      ASSERT_TRUE(pair.find());
    }
  }
  pair.expect_refusal(errc::invalid_argument, "five");
}

TEST(git_hostile_place, sha256_repository_is_refused_by_name) {
  const made_repository made({"--object-format=sha256"});
  const auto found = locate(made.path(), {made.above()});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::unsupported);
  EXPECT_NE(found.error().public_text.find("SHA-256"), std::string::npos);
}

TEST(git_hostile_place, reftable_repository_is_refused_by_name) {
  const hostile_pair pair;
  append_to(pair.git_folder() + "/config", "[core]\nrepositoryformatversion=1\n[extensions]\nrefStorage=reftable\n");
  pair.expect_refusal(errc::unsupported, "reftable");
}

TEST(git_hostile_place, unknown_extensions_are_refused_by_name) {
  const hostile_pair pair;
  append_to(pair.git_folder() + "/config", "[core]\nrepositoryformatversion=1\n[extensions]\nfrobnicate=true\n");
  pair.expect_refusal(errc::unsupported, "frobnicate");
}

TEST(git_hostile_place, configuration_of_ten_megabytes_is_refused) {
  const hostile_pair pair;
  append_to(pair.git_folder() + "/config", std::string(10u << 20, '\n'));
  pair.expect_refusal(errc::invalid_argument, ".git/config has more than 1048576 bytes");
}

TEST(git_hostile_place, configuration_with_nul_or_malformed_lines_is_refused) {
  const hostile_pair pair;
  const auto file = pair.git_folder() + "/config";
  overwrite(file, std::string_view("[core]\n\tbare = \0false\n", 22));
  pair.expect_refusal(errc::invalid_argument, ".git/config, line 2: the file contains a NUL byte");
  for (const std::string_view one : {"[core\n", "[core]\n\tbare = \"false\n", "[core]\n!\n", "[core]\nbare = fal\\se\n",
                                     "\x7f"
                                     "ELF"}) {
    overwrite(file, one);
    pair.expect_refusal(errc::invalid_argument, ".git/config, line ");
  }
  fs::remove(file);
  EXPECT_TRUE(pair.find());  // as git
}

}  // namespace
}  // namespace hondana::git
