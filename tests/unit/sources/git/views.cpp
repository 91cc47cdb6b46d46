/// What each view says, as people and as programs read it.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(git_views, a_commit_has_its_message_its_people_and_its_patch) {
  made_repository made;
  made.write("a.txt", "one\ntwo\n");
  const auto first = made.commit("first");
  made.write("a.txt", "one\n2\n");
  made.write("dir/new file.txt", "x\n");
  const auto second = made.commit("second subject\n\nthe body\nof it");
  const served_repository shelf(made);

  const auto text = shelf.text("git://shelf/commit/" + second);
  EXPECT_THAT(text, HasSubstr("# Commit `" + second + "`"));
  EXPECT_THAT(text, HasSubstr("- Author: Ada Writer (`ada@example.com`), 2023-11-15T07:15:20+09:00\n"));
  EXPECT_THAT(text, HasSubstr("- Parent: [`" + first.substr(0, 10) + "`](<git://shelf/commit/" + first + ">)"));
  EXPECT_THAT(text, HasSubstr("```text\nsecond subject\n\nthe body\nof it\n```\n"));
  EXPECT_THAT(text, HasSubstr("2 files changed, +2 -1"));
  EXPECT_THAT(text, HasSubstr("- `dir/new file.txt`: added, +1 -0\n"));
  const auto patch = made.git({"-c", "diff.indentHeuristic=false", "diff-tree", "-p", "--full-index", "-M", first, second});
  EXPECT_THAT(text, HasSubstr("```diff\n" + patch + "```\n"));

  const auto json = shelf.json("git://shelf/commit/" + second.substr(0, 8) + "?format=json");
  EXPECT_EQ(json.string_at("id").value(), second);
  EXPECT_EQ(json.string_at("/author/email").value(), "ada@example.com");
  EXPECT_EQ(json.string_at("subject").value(), "second subject");
  EXPECT_EQ(json.string_at("body").value(), "the body\nof it\n");
  EXPECT_EQ(json.string_at("/changes/0/path").value(), "a.txt");
  EXPECT_EQ(json.integer_at("/changes/0/deleted").value(), 1);
  EXPECT_EQ(json.string_at("/changes/0/patch").value() + json.string_at("/changes/1/patch").value(), patch);
}

TEST(git_views, the_first_commit_and_a_merge_are_compared_with_what_there_is) {
  made_repository made;
  made.write("a", "1\n");
  const auto first = made.commit("first");
  made.git({"checkout", "-q", "-b", "side"});
  made.write("b", "2\n");
  made.commit("side");
  made.git({"checkout", "-q", "main"});
  made.write("c", "3\n");
  made.commit("main");
  made.git({"merge", "-q", "--no-ff", "-m", "merged", "side"});
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/commit/" + first), HasSubstr("+++ b/a\n@@ -0,0 +1 @@\n+1\n"));
  const auto text = shelf.text("git://shelf/commit/HEAD");
  EXPECT_THAT(text, HasSubstr("A merge"));
  EXPECT_THAT(text, HasSubstr("+++ b/b\n"));
  EXPECT_THAT(text, Not(HasSubstr("+++ b/c\n")));
}

TEST(git_views, a_rename_says_where_it_came_from) {
  made_repository made;
  made.write("old", "1\n2\n3\n4\n5\n6\n7\n8\n");
  made.commit("first");
  made.git({"mv", "old", "new"});
  made.commit("moved");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("- `new`: renamed from `old` (100 %), +0 -0\n"));
  EXPECT_EQ(shelf.json("git://shelf/commit/HEAD?format=json").string_at("/changes/0/pathBefore").value(), "old");
}

TEST(git_views, a_long_patch_is_cut_between_files_and_found_by_path) {
  made_repository made;
  std::string large;
  for (int i = 0; i < 40'000; ++i) large += "line " + std::to_string(i) + '\n';
  made.write("a", "1\n");
  made.write("b", "1\n");
  made.write("c", "1\n");
  made.commit("first");
  made.write("a", "2\n");
  made.write("b", large);
  made.write("c", "2\n");
  made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/commit/HEAD");
  EXPECT_LT(text.size(), 10'000U);
  EXPECT_THAT(text, HasSubstr("- `b`: modified, +40000 -1; patch left out\n"));
  EXPECT_THAT(text, HasSubstr("+++ b/a\n"));
  EXPECT_THAT(text, HasSubstr("+++ b/c\n"));
  EXPECT_THAT(text, Not(HasSubstr("+++ b/b\n")));
  EXPECT_THAT(text, HasSubstr("?path=PATH"));
  const auto whole = shelf.text("git://shelf/diff/HEAD~1..HEAD?path=b");
  EXPECT_THAT(whole, HasSubstr("+line 39999\n"));
  EXPECT_THAT(whole, Not(HasSubstr("+++ b/a\n")));
}

TEST(git_views, a_diff_is_between_two_revisions_and_about_a_path) {
  made_repository made;
  made.write("a/x", "1\n");
  made.write("b", "1\n");
  made.commit("first");
  made.git({"tag", "v1"});
  made.git({"checkout", "-q", "-b", "feature/x"});
  made.write("a/x", "2\n");
  made.write("b", "2\n");
  made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/diff/v1..feature%2Fx");
  EXPECT_THAT(text, HasSubstr("2 files changed, +2 -2"));
  EXPECT_THAT(text, HasSubstr(made.git({"diff", "--full-index", "v1", "feature/x"})));
  const auto part = shelf.json("git://shelf/diff/v1..feature%2Fx?path=a&format=json");
  EXPECT_EQ(part.array_at("changes").value().size(), 1U);
  EXPECT_EQ(part.string_at("/changes/0/path").value(), "a/x");
  EXPECT_EQ(part.string_at("to").value() + '\n', made.git({"rev-parse", "HEAD"}));
}

TEST(git_views, a_tree_lists_what_git_lists) {
  made_repository made;
  made.write("dir/inner", "x");
  made.write("a b", "12345");
  made.git({"update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,sub"});
  made.git({"commit", "-q", "-m", "with a submodule"});
  made.git({"add", "--", "dir", "a b"});
  made.git({"commit", "-q", "-m", "files"});
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/tree/HEAD");
  EXPECT_THAT(text, HasSubstr("- [`a b`](<git://shelf/blob/HEAD/a%20b>), 5 bytes\n"));
  EXPECT_THAT(text, HasSubstr("- [`dir/`](<git://shelf/tree/HEAD/dir>)\n"));
  EXPECT_THAT(text,
              HasSubstr("- [`sub`](<git://shelf/blob/HEAD/sub>) (submodule at `1234567890123456789012345678901234567890`)\n"));
  const auto json = shelf.json("git://shelf/tree/HEAD?format=json");
  EXPECT_EQ(json.string_at("tree").value() + '\n', made.git({"rev-parse", "HEAD^{tree}"}));
  EXPECT_EQ(json.string_at("/entries/0/kind").value(), "blob");
  EXPECT_EQ(json.integer_at("/entries/0/size").value(), 5);
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD/dir"), HasSubstr("(<git://shelf/blob/HEAD/dir/inner>)"));
  EXPECT_EQ(shelf.error("git://shelf/tree/HEAD/a%20b").code, errc::invalid_argument);
  EXPECT_EQ(shelf.error("git://shelf/tree/HEAD/nothing").code, errc::resource_not_found);
}

TEST(git_views, a_log_pages_and_filters) {
  made_repository made;
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) {
    made.write(i % 2 == 0 ? "even" : "odd", std::to_string(i));
    ids.push_back(made.commit("commit " + std::to_string(i)));
  }
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/log");
  EXPECT_THAT(text, HasSubstr("- [`" + ids[6].substr(0, 10) + "`](<git://shelf/commit/" + ids[6] +
                              ">) 2023-11-15T07:20:20+09:00 Ada Writer: commit 6\n"));
  std::vector<std::string> read;
  for (std::string uri = "git://shelf/log?limit=3&format=json"; !uri.empty();) {
    const auto page = shelf.json(uri);
    const auto commits = page.array_at("commits").value();
    EXPECT_LE(commits.size(), 3U);
    for (const auto& one : commits) read.push_back(one.string_at("id").value());
    uri = page.find("next") == nullptr ? "" : page.string_at("next").value();
  }
  std::reverse(read.begin(), read.end());
  EXPECT_EQ(read, ids);
  const auto odd = shelf.json("git://shelf/log?path=odd&grep=commit%20%5B13%5D&format=json");
  ASSERT_EQ(odd.array_at("commits").value().size(), 2U);
  EXPECT_EQ(odd.string_at("/commits/0/subject").value(), "commit 3");
  EXPECT_THAT(shelf.text("git://shelf/log?author=nobody"), HasSubstr("No commits."));
  EXPECT_TRUE(shelf.error("git://shelf/log?cursor=garbage").public_text.find("cursor") != std::string::npos);
}

TEST(git_views, blame_names_the_commit_of_each_line) {
  made_repository made;
  made.write("a", "1\n2\n3\n");
  const auto first = made.commit("first");
  made.write("a", "1\ntwo\n3\n");
  const auto second = made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/blame/HEAD/a");
  EXPECT_THAT(
      text, HasSubstr(first.substr(0, 10) + " 1: 1\n" + second.substr(0, 10) + " 2: two\n" + first.substr(0, 10) + " 3: 3\n"));
  EXPECT_THAT(text, HasSubstr("Ada Writer: second\n"));
  const auto part = shelf.json("git://shelf/blame/HEAD/a?lines=2-2&format=json");
  ASSERT_EQ(part.array_at("runs").value().size(), 1U);
  EXPECT_EQ(part.string_at("/runs/0/commit").value(), second);
  EXPECT_EQ(part.string_at("/runs/0/lines/0").value(), "two");
  EXPECT_EQ(shelf.error("git://shelf/blame/HEAD/a?lines=9").code, errc::invalid_argument);
}

TEST(git_views, a_history_follows_a_file_across_renames) {
  made_repository made;
  made.write("old", "1\n2\n3\n4\n5\n6\n");
  const auto first = made.commit("first");
  made.git({"mv", "old", "new"});
  made.commit("moved");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/history/HEAD/new");
  EXPECT_THAT(text, HasSubstr("moved ([`new`](<git://shelf/blob/"));
  EXPECT_THAT(text, HasSubstr("first ([`old`](<git://shelf/blob/" + first + "/old>))"));
  const auto json = shelf.json("git://shelf/history/HEAD/new?limit=1&format=json");
  EXPECT_EQ(json.string_at("/steps/0/path").value(), "new");
  EXPECT_EQ(shelf.json(json.string_at("next").value()).string_at("/steps/0/path").value(), "old");
}

TEST(git_views, branches_tags_stashes_and_work_trees_are_listed) {
  made_repository made;
  made.write("a", "1\n");
  const auto id = made.commit("first");
  made.git({"branch", "feature/x"});
  made.git({"tag", "-a", "-m", "the first one", "v1"});
  made.git({"tag", "light"});
  made.git({"worktree", "add", "-q", made.above() + "/other", "feature/x"});
  made.write("a", "2\n");
  made.git({"stash", "push", "-q", "-m", "put away"});
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/branches"), HasSubstr("[`feature/x`](<git://shelf/log?ref=refs%2Fheads%2Ffeature%2Fx>)"));
  EXPECT_THAT(shelf.text("git://shelf/branches"), HasSubstr("**checked out** [`main`]"));
  EXPECT_EQ(shelf.json("git://shelf/branches?format=json").string_at("/branches/0/commit").value(), id);
  EXPECT_THAT(shelf.text("git://shelf/log?ref=refs%2Fheads%2Ffeature%2Fx"), HasSubstr("first"));
  EXPECT_THAT(shelf.text("git://shelf/tags"), HasSubstr("- `v1`: [`" + id.substr(0, 10) + "`]"));
  EXPECT_THAT(shelf.text("git://shelf/tags"), HasSubstr(": the first one\n"));
  EXPECT_EQ(shelf.json("git://shelf/tags?format=json").string_at("/tags/0/name").value(), "light");
  EXPECT_THAT(shelf.text("git://shelf/stashes"), HasSubstr("put away"));
  EXPECT_EQ(shelf.json("git://shelf/stashes?format=json").string_at("/stashes/0/commit").value() + '\n',
            made.git({"rev-parse", "stash@{0}"}));
  EXPECT_THAT(shelf.text("git://shelf/worktrees"), HasSubstr("- `other`: `feature/x` at [`"));
  EXPECT_THAT(shelf.text("git://shelf/worktrees"), Not(HasSubstr(made.above())));
  EXPECT_EQ(shelf.json("git://shelf/worktrees?format=json").string_at("/worktrees/1/branch").value(), "feature/x");
}

TEST(git_views, changes_are_staged_not_staged_and_untracked) {
  made_repository made;
  made.write("a", "1\n");
  made.write("b", "1\n");
  made.commit("first");
  made.write("a", "2\n");
  made.git({"add", "a"});
  made.write("b", "2\n");
  made.write("c", "2\n");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/changes");
  EXPECT_THAT(text, HasSubstr("## Staged\n\n1 file changed, +1 -1\n\n- `a`: modified, +1 -1\n"));
  EXPECT_THAT(text, HasSubstr("## Not staged\n\n1 file changed, +1 -1\n\n- `b`: modified, +1 -1\n"));
  EXPECT_THAT(text, HasSubstr("## Untracked\n\n- `c`\n"));
  const auto json = shelf.json("git://shelf/changes?path=b&format=json");
  EXPECT_EQ(json.array_at("staged").value().size(), 0U);
  EXPECT_EQ(json.string_at("/unstaged/0/path").value(), "b");
  EXPECT_THAT(shelf.text("git://shelf/overview"), HasSubstr("- Work tree: 1 staged, 1 not staged, 1 untracked"));
}

TEST(git_views, of_more_changes_than_are_measured_say_that_totals_are_at_least_so_much) {
  made_repository made;
  made.write("first", "\n");
  made.commit("first");
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += std::string(30, 'x') + '\n';
  for (int i = 0; i < 1100; ++i) made.write("f" + std::to_string(1000 + i), lines);
  made.commit("many");
  made.write("first", "one\n");
  made.commit("one");
  const served_repository shelf(made);
  for (const std::string uri : {"git://shelf/commit/HEAD~1", "git://shelf/diff/HEAD~2..HEAD~1"})
    EXPECT_THAT(shelf.text(uri), HasSubstr("1100 files changed, at least +10000 -0\n")) << uri;
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("1 file changed, +1 -1\n"));
}

TEST(git_views, a_history_links_to_no_file_where_it_was_deleted) {
  made_repository made;
  made.write("a", "1\n");
  const auto first = made.commit("first");
  made.git({"rm", "--quiet", "a"});
  const auto second = made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/history/HEAD/a");
  EXPECT_THAT(text, HasSubstr("second (`a` deleted)\n"));
  EXPECT_THAT(text, HasSubstr("git://shelf/blob/" + first + "/a"));
  EXPECT_THAT(text, Not(HasSubstr("git://shelf/blob/" + second)));
  const auto json = shelf.json("git://shelf/history/HEAD/a?format=json");
  EXPECT_TRUE(json.boolean_at("/steps/0/deleted").value());
  EXPECT_FALSE(json.string_at("/steps/0/blob"));
  EXPECT_EQ(json.string_at("/steps/1/blob").value(), "git://shelf/blob/" + first + "/a");
}

TEST(git_views, a_shallow_clone_says_that_it_is_one) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  made.write("a", "2\n");
  made.commit("second");
  run_git(made.above(), {"clone", "--quiet", "--depth=1", "file://" + made.path(), "shallow"});
  const served_repository shelf(git_options{.repositories = {made.above() + "/shallow"}});
  EXPECT_THAT(shelf.text("git://shallow/overview"), HasSubstr("- Shallow: the history ends"));
  EXPECT_TRUE(shelf.json("git://shallow/overview?format=json").boolean_at("/shallow").value());
  EXPECT_THAT(served_repository(made).text("git://shelf/overview"), Not(HasSubstr("Shallow")));
}

TEST(git_views, of_a_partial_clone_say_what_was_not_fetched) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  made.write("a", "two\n");
  made.commit("second");
  made.git({"config", "uploadpack.allowFilter", "true"});
  run_git(made.above(), {"clone", "--quiet", "--filter=blob:none", "file://" + made.path(), "partial"});
  git_options with;
  with.repositories = {made.above() + "/partial"};
  const served_repository shelf(with);
  EXPECT_THAT(shelf.text("git://partial/log"), HasSubstr("first"));
  EXPECT_THAT(shelf.text("git://partial/tree/HEAD~1"), HasSubstr("`a`"));
  EXPECT_EQ(shelf.text("git://partial/blob/HEAD/a"), "two\n");
  for (const std::string uri : {"git://partial/commit/HEAD", "git://partial/diff/HEAD~1..HEAD"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text,
                HasSubstr("1 file changed, at least +0 -0\n\n- `a`: modified; patch left out: its content was not fetched\n"))
        << uri;
    const auto json = shelf.json(uri + "?format=json");
    EXPECT_EQ(json.at("/changes/0/notFetched"), value(true)) << uri;
    EXPECT_EQ(json.at("/changes/0/patchLeftOut"), value(true)) << uri;
    EXPECT_FALSE(json.at("/changes/0/added")) << uri;
  }
  EXPECT_THAT(shelf.text("git://partial/commit/HEAD"), HasSubstr("second"));
  // Fetched since, it is told.
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  const auto before = shelf.read("git://partial/commit/" + id);
  EXPECT_FALSE(before.validator);
  const auto blob = made.git({"rev-parse", "HEAD~1:a"}).substr(0, 40);
  const auto why = shelf.error("git://partial/blob/HEAD~1/a");
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_THAT(why.public_text, HasSubstr("missing"));
  EXPECT_EQ(run_git(made.above() + "/partial", {"hash-object", "-w", "--stdin"}, "one\n").substr(0, 40), blob);
  const auto after = shelf.read("git://partial/commit/" + id);
  EXPECT_NE(after.version, before.version);
  EXPECT_THAT(shelf.text("git://partial/commit/" + id), HasSubstr("-one"));
}

TEST(git_views, of_a_partial_clone_tell_renames_as_far_as_contents_are_there) {
  made_repository made;
  made.write("a", "one\ntwo\nthree\n");
  made.write("b", "other\n");
  made.commit("first");
  made.git({"mv", "a", "c"});
  made.git({"mv", "b", "d"});
  made.write("c", "one\ntwo\nthree\nfour\n");
  made.commit("second");
  made.git({"config", "uploadpack.allowFilter", "true"});
  run_git(made.above(), {"clone", "--quiet", "--filter=blob:none", "file://" + made.path(), "partial"});
  const served_repository shelf(git_options{.repositories = {made.above() + "/partial"}});
  const auto text = shelf.text("git://partial/commit/HEAD");
  EXPECT_THAT(text, HasSubstr("- `a`: deleted; patch left out: its content was not fetched\n"));
  EXPECT_THAT(text, HasSubstr("- `c`: added, +4 -0\n"));
  EXPECT_THAT(text, HasSubstr("- `d`: renamed from `b` (100 %), +0 -0\n"));
  EXPECT_THAT(text, HasSubstr("+four"));
}

TEST(git_views, what_is_in_conflict_is_named) {
  made_repository made;
  made.write("a", "one\n");
  made.write(".env", "A=1\n");
  made.commit("first");
  made.git({"checkout", "--quiet", "-b", "side"});
  made.write("a", "theirs\n");
  made.write(".env", "A=2\n");
  made.commit("second");
  made.git({"checkout", "--quiet", "main"});
  made.write("a", "ours\n");
  made.write(".env", "A=3\n");
  made.commit("third");
  EXPECT_NE(made.try_git({"merge", "side"}), 0);
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("## In conflict\n\n- `a`\n- 1 left out"));
  const auto json = shelf.json("git://shelf/changes?format=json");
  EXPECT_EQ(json.array_at("conflicted").value().size(), 1U);
  EXPECT_EQ(json.string_at("/conflicted/0").value(), "a");
  EXPECT_THAT(shelf.text("git://shelf/overview"), HasSubstr("0 untracked, 2 in conflict ("));
  EXPECT_EQ(shelf.json("git://shelf/overview?format=json").integer_at("/changes/conflicted").value(), 2);
}

TEST(git_views, an_overview_tells_branch_remotes_and_latest_commits) {
  made_repository made;
  made.write("a", "1\n");
  const auto id = made.commit("first");
  made.git({"remote", "add", "origin", "https://user:secret@example.com/shelf.git"});
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/overview");
  EXPECT_THAT(text, HasSubstr("- Branch: `main`, at [`" + id.substr(0, 10) + "`]"));
  EXPECT_THAT(text, HasSubstr("- Work tree: clean\n"));
  EXPECT_THAT(text, HasSubstr("- Remote `origin`: `https://example.com/shelf.git`\n"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(text, HasSubstr("Ada Writer: first\n"));
  const auto json = shelf.json("git://shelf/overview?format=json");
  EXPECT_EQ(json.string_at("branch").value(), "main");
  EXPECT_EQ(json.string_at("/remotes/0/url").value(), "https://example.com/shelf.git");
  EXPECT_EQ(json.integer_at("/changes/staged").value(), 0);
}

TEST(git_views, an_empty_repository_and_a_bare_one_have_what_they_can) {
  made_repository empty;
  const served_repository shelf(empty);
  EXPECT_THAT(shelf.text("git://shelf/overview"), HasSubstr("no commits yet"));
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/branches"), HasSubstr("None."));
  EXPECT_EQ(shelf.error("git://shelf/tree/HEAD").code, errc::invalid_argument);
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("None."));

  made_repository bare({"--bare"});
  const served_repository cellar(bare);
  EXPECT_THAT(cellar.text("git://shelf/overview"), HasSubstr("Bare"));
  EXPECT_EQ(cellar.error("git://shelf/changes").code, errc::unsupported);
}

}  // namespace
}  // namespace hondana::git
