/// What a configuration may ask for.
#include "sources/git/git_config.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::git {
namespace {

failure refused_config(std::string_view bytes) {
  auto found = screen_config(bytes, ".git/config");
  EXPECT_FALSE(found) << bytes;
  return found ? failure{} : found.error();
}

TEST(git_screening, refuses_includes_however_they_are_spelled) {
  for (const std::string_view one : {"[include]\n\tpath = /etc/passwd\n", "[INCLUDE]\nPath=x", "[include \"x\"]\npath=y",
                                     "[includeIf \"gitdir:/\"]\npath=y", "[includeif \"hasconfig:remote.*.url:x\"]\npath=y",
                                     "[include]path", "[include.x]\npath=y", "[core]\nbare=false\n[include]path=y"}) {
    const auto why = refused_config(one);
    EXPECT_EQ(why.code, errc::invalid_argument) << one;
    EXPECT_NE(why.public_text.find(".git/config, line "), std::string::npos) << why.public_text;
    EXPECT_NE(why.public_text.find("include"), std::string::npos) << why.public_text;
  }
  EXPECT_TRUE(screen_config("[includes]\npath = x\n[a]\ninclude = y\n", "config"));
}

TEST(git_screening, refuses_sha256_and_reftable_by_name_whatever_the_version) {
  for (const std::string_view version : {"", "[core]repositoryformatversion=0\n", "[core]repositoryformatversion=1\n"}) {
    const auto sha = refused_config(std::string(version) + "[extensions]\nobjectFormat = sha256\n");
    EXPECT_EQ(sha.code, errc::unsupported);
    EXPECT_NE(sha.public_text.find("SHA-256"), std::string::npos);
    const auto table = refused_config(std::string(version) + "[extensions]\nrefStorage = reftable\n");
    EXPECT_EQ(table.code, errc::unsupported);
    EXPECT_NE(table.public_text.find("reftable"), std::string::npos);
  }
}

TEST(git_screening, refuses_unknown_extensions_and_versions_by_name) {
  const auto one = refused_config("[core]\nrepositoryformatversion = 1\n[extensions]\n\tfrobnicate = true\n");
  EXPECT_EQ(one.code, errc::unsupported);
  EXPECT_NE(one.public_text.find("frobnicate"), std::string::npos);
  EXPECT_NE(one.public_text.find("line 4"), std::string::npos);
  EXPECT_EQ(refused_config("[core]repositoryformatversion=2").code, errc::unsupported);
  EXPECT_EQ(refused_config("[core]repositoryformatversion=many").code, errc::invalid_argument);
  // As git: an extension without the version that has them is none.
  EXPECT_TRUE(screen_config("[extensions]\nfrobnicate = true\n", "config"));
  EXPECT_TRUE(
      screen_config("[core]\nrepositoryformatversion = 1\n[extensions]\nnoop=1\npartialClone=origin\n"
                    "objectFormat=sha1\nrefStorage=files\npreciousObjects=true\nworktreeConfig=true\n",
                    "config"));
}

TEST(git_screening, takes_what_the_repository_is) {
  const auto found =
      screen_config("[core]\nbare = true\nbare = false\nworktree = ../x\n[extensions]\nworktreeConfig\n", "config");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->is_bare, false);
  EXPECT_EQ(found->work_tree, "../x");
  EXPECT_TRUE(found->has_work_tree_config);
  EXPECT_EQ(refused_config("[core]bare=perhaps").code, errc::invalid_argument);
  EXPECT_EQ(refused_config("[core]worktree").code, errc::invalid_argument);
}

TEST(git_screening, keeps_nothing_that_names_a_file_or_a_program) {
  const auto found = screen_config(
      "[core]\nbare=false\nfsmonitor=/x\nhooksPath=/x\nattributesFile=/x\nexcludesFile=/x\npager=/x\nsshCommand=/x\neditor=/x\n"
      "[filter \"x\"]\nclean=/x\nsmudge=/x\nprocess=/x\n[diff \"x\"]\ncommand=/x\ntextconv=/x\n[diff]\nexternal=/x\n"
      "[credential]\nhelper=/x\n[alias]\nx=!x\n[url \"x\"]\ninsteadOf=y\n[remote "
      "\"o\"]\nurl=u\nfetch=f\nuploadpack=/x\nproxy=/x\n"
      "[branch \"b.c\"]\nremote=o\nmerge=refs/heads/b\n[mailmap]\nfile=/x\n[remote]\nurl=x\n",
      "config");
  ASSERT_TRUE(found);
  std::vector<std::string> names;
  for (const auto& one : found->allowed) names.push_back(one.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"core.bare", "remote.o.url", "remote.o.fetch", "branch.b.c.remote", "branch.b.c.merge"}));
}

TEST(git_screening, keeps_settings_that_decide_how_contents_are_compared) {
  const auto screened = screen_config(
      "[core]\nautocrlf=input\neol=lf\nsafecrlf=true\nuseReplaceRefs=false\n[diff]\nrenameLimit=5\nrenames=false\n"
      "[remote \"o\"]\npromisor=true\n",
      "config");
  ASSERT_TRUE(screened);
  std::vector<std::string> names;
  for (const auto& entry : screened->allowed) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"core.autocrlf", "core.eol", "core.usereplacerefs", "diff.renamelimit",
                                             "remote.o.promisor"}));
}

TEST(git_screening, says_what_is_malformed_and_quotes_no_more_than_is_of_use) {
  const auto why = refused_config("[core]\nbare = false\nbare false\n");
  EXPECT_EQ(why.code, errc::invalid_argument);
  EXPECT_NE(why.public_text.find(".git/config, line 3"), std::string::npos) << why.public_text;
  EXPECT_EQ(refused_config(std::string_view("[core]\nbare=\0", 13)).code, errc::invalid_argument);
  const auto lengthy = refused_config("[core]\nbare = \"\x1b[31m\xff" + std::string(100'000, 'x') + "\"");
  EXPECT_LT(lengthy.public_text.size(), 400u);
  EXPECT_EQ(lengthy.public_text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hondana::git
