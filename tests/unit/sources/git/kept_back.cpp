/// What the server keeps for itself is shown by git no more than by files.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/git/visibility_filter.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);

namespace {

using testing::HasSubstr;
using testing::Not;

git_options keeping(const made_repository& of, const std::vector<std::string>& names) {
  git_options options;
  options.repositories = {of.path()};
  for (const auto& one : names) options.protected_paths.push_back(of.path() + '/' + one);
  return options;
}

TEST(git_kept_back, files_are_served_at_no_revision_and_in_no_patch) {
  made_repository made;
  made.write("etc/server.conf", "private = 1\n");
  made.write("etc/open.conf", "open = 1\n");
  made.commit("first");
  made.write("etc/server.conf", "private = 2\n");
  made.write("etc/open.conf", "open = 2\n");
  made.commit("second");
  made.git({"mv", "etc/server.conf", "etc/renamed.conf"});
  made.commit("third");
  const served_repository shelf(keeping(made, {"etc/server.conf"}));
  for (const auto* uri : {"git://shelf/blob/HEAD~1/etc/server.conf", "git://shelf/blob/HEAD~2/etc/server.conf?lines=1",
                          "git://shelf/blame/HEAD~1/etc/server.conf", "git://shelf/history/HEAD~1/etc/server.conf"}) {
    const auto why = shelf.error(uri);
    EXPECT_EQ(why.code, errc::resource_not_found) << uri;
    EXPECT_EQ(why.public_text,
              "path: \"etc/server.conf\" is not served at any revision, because it is one of the server's own files, named in "
              "its configuration.")
        << uri;
  }
  for (const auto* uri :
       {"git://shelf/commit/HEAD~1", "git://shelf/commit/HEAD~1?format=json", "git://shelf/diff/HEAD~2..HEAD~1",
        "git://shelf/diff/HEAD~2..HEAD~1?path=etc", "git://shelf/diff/HEAD~2..HEAD~1?path=etc/server.conf"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text, Not(HasSubstr("private"))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD~1"), HasSubstr("- 1 left out: "));
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD~1"), HasSubstr("+open = 2"));
  EXPECT_THAT(shelf.text("git://shelf/history/HEAD/etc/renamed.conf"), Not(HasSubstr("etc/server.conf")));
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD~1/etc"), HasSubstr("1 more left out"));
  EXPECT_EQ(shelf.children("git://shelf/tree/HEAD~1/etc"), std::vector<std::string>{"git://shelf/blob/HEAD~1/etc/open.conf"});
  EXPECT_EQ(
      shelf.complete("git://{repo}/blob/{rev}/{+path}{?lines}", "path", "etc/", {{"repo", "shelf"}, {"rev", "HEAD~1"}}).values,
      std::vector<std::string>{"etc/open.conf"});
}

TEST(git_kept_back, files_are_in_no_list_of_what_is_not_committed) {
  made_repository made;
  made.write("server.conf", "private = 1\n");
  made.write("open.conf", "open = 1\n");
  made.commit("first");
  made.write("server.conf", "private = 2\n");
  made.write("open.conf", "open = 2\n");
  made.write("record.jsonl", "{}\n");
  made.write("record.jsonl.1", "{}\n");
  made.write("open.txt", "\n");
  const served_repository shelf(keeping(made, {"server.conf", "record.jsonl"}));
  for (const auto* uri : {"git://shelf/changes", "git://shelf/changes?format=json", "git://shelf/changes?path=server.conf"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text, Not(HasSubstr("private"))) << uri;
    EXPECT_THAT(text, Not(HasSubstr("record"))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("+open = 2"));
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("- `open.txt`\n- 2 left out"));
  made.git({"add", "--all"});
  EXPECT_THAT(shelf.text("git://shelf/changes"), Not(HasSubstr("private")));
}

TEST(git_kept_back, a_file_of_the_work_tree_that_is_one_under_another_name_is_not_shown) {
  made_repository made;
  made.write("open.conf", "open = 1\n");
  made.commit("first");
  made.write("open.conf", "open = 2\n");
  const auto own = made.above() + "/server.conf";
  git_options options;
  options.repositories = {made.path()};
  options.protected_paths = {own};
  const served_repository shelf(options);
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("+open = 2"));
  made_repository other;
  other.write("server.conf", "private = 1\n");
  std::filesystem::rename(other.path() + "/server.conf", own);
  std::filesystem::remove(made.path() + "/open.conf");
  std::filesystem::create_hard_link(own, made.path() + "/open.conf");
  const auto text = shelf.text("git://shelf/changes");
  EXPECT_THAT(text, Not(HasSubstr("private")));
  EXPECT_THAT(text, HasSubstr("- 1 left out: "));
}

TEST(git_kept_back, a_path_of_one_work_tree_is_kept_back_in_all_of_the_repository) {
  made_repository made;
  made.write("server.conf", "private = 1\n");
  made.commit("first");
  made.git({"worktree", "add", "--quiet", "../linked"});
  git_options options;
  options.repositories = {made.above() + "/linked"};
  options.pointer_roots = {made.path()};
  options.protected_paths = {made.path() + "/server.conf"};
  const auto served = git_provider::open(options);
  ASSERT_TRUE(served) << served.error().public_text;
  read_request request;
  request.uri = request.requested_uri = "git://linked/blob/HEAD/server.conf";
  const auto refused = (*served)->read(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().public_text, HasSubstr("it is one of the server's own files"));
}

TEST(git_kept_back, a_bare_repository_knows_the_paths_of_its_work_trees) {
  const repository_location bare{"", "/a/bare.git", "/a/bare.git", {}};
  const repository_location linked{"/a/tree", "/a/bare.git/worktrees/tree", "/a/bare.git", {}};
  const repository_location stranger{"/a/other", "/a/other/.git", "/a/other/.git", {}};
  const std::vector<repository_location> all{bare, linked, stranger};
  const std::vector<std::string> keep_back{"/a/tree/x/server.conf", "/a/other/open.conf"};
  EXPECT_TRUE(find_own_files(bare, all, keep_back).has_name("x/server.conf"));
  EXPECT_TRUE(find_own_files(linked, all, keep_back).has_name("x/server.conf"));
  EXPECT_FALSE(find_own_files(bare, all, keep_back).has_name("open.conf"));
  EXPECT_TRUE(find_own_files(stranger, all, keep_back).has_name("open.conf"));
  EXPECT_FALSE(find_own_files(stranger, all, keep_back).has_name("x/server.conf"));
}

/// A table as it stands in a file, made into a source; or the error's text.
std::string made_from(const std::string& table, std::vector<std::string> keep_back, const std::string& uri) {
  auto parsed = config::parse_toml(table, "h.toml");
  if (!parsed) return parsed.error().public_text;
  parsed->set_own_files(std::move(keep_back));
  const auto source = configure(*parsed, {});
  if (!source) return source.error().public_text;
  read_request request;
  request.uri = request.requested_uri = uri;
  const auto read = (*source)->read(request);
  return read ? "read" : read.error().public_text;
}

TEST(git_configured, keeps_back_what_the_program_says) {
  made_repository made;
  made.write("server.conf", "private = 1\n");
  made.commit("first");
  const auto table = "path = \"" + made.path() + "/.\"\nwatch = false\nredact = false\n";
  const auto uri = "git://shelf/blob/HEAD/server.conf";
  EXPECT_EQ(made_from(table, {}, uri), "read");
  EXPECT_THAT(made_from(table, {made.path() + "/server.conf"}, uri), HasSubstr("it is one of the server's own files"));
}

TEST(git_configured, refuses_what_it_does_not_know_with_its_line) {
  EXPECT_THAT(made_from("", {}, ""),
              HasSubstr("path: missing; name a repository, or set root to a folder that contains repositories"));
  EXPECT_THAT(made_from("path = \"x\"\nwatch = 1\n", {}, ""), HasSubstr("h.toml:2: watch: "));
  EXPECT_THAT(made_from("path = \"x\"\n\nmax_depth = 9\n", {}, ""), HasSubstr("h.toml:3: max_depth: "));
  EXPECT_THAT(made_from("path = \"x\"\nbranch = \"main\"\n", {}, ""), HasSubstr("h.toml:2: branch: unknown key"));
}

}  // namespace
}  // namespace hondana::git
