/// What git computes besides the recorded objects: attributes, submodules, replaced history, and partial or shallow clones.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/diff.hpp"
#include "sources/git/repository_watcher.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/patch_judge.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Gives every file another time, so that contents are compared and not times.
void touch(const made_repository& made, const std::string& file) {
  const timespec times[] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (made.path() + '/' + file).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

std::string changes_of(const made_repository& made) { return served_repository(made).text("git://shelf/changes"); }

constexpr const char* no_changes = "# Uncommitted changes of shelf\n\nNone.\n";

TEST(git_as_git_shows, line_ends_of_a_checkout_are_no_changes) {
  made_repository made;
  made.write(".gitattributes", "*.bat text eol=crlf\n*.txt text=auto\n*.id ident\n");
  made.write("x.bat", "one\ntwo\n");
  made.write("sub/.gitattributes", "*.dat eol=crlf\n");
  made.write("sub/y.dat", "one\n");
  made.write("z.id", "$Id$\n");
  made.commit("first");
  for (const char* file : {"x.bat", "sub/y.dat", "z.id"}) fs::remove(made.path() + '/' + file);
  made.git({"checkout", "-q", "."});
  made.write("t.txt", "one\r\n");
  made.git({"add", "t.txt"});
  made.git({"commit", "-q", "-m", "second"});
  for (const char* file : {"x.bat", "sub/y.dat", "z.id", "t.txt"}) touch(made, file);
  EXPECT_EQ(made.git({"diff"}), "");
  EXPECT_EQ(changes_of(made), no_changes);
}

TEST(git_as_git_shows, a_patch_has_the_line_ends_that_git_stores) {
  made_repository made;
  made.write(".gitattributes", "*.bat text eol=crlf\n");
  made.write("x.bat", "one\ntwo\n");
  made.commit("first");
  made.write("x.bat", "one\r\nthree\r\n");
  EXPECT_THAT(changes_of(made), HasSubstr("- `x.bat`: modified, +1 -1\n"));
  EXPECT_THAT(changes_of(made), HasSubstr("\n one\n-two\n+three\n"));
}

TEST(git_as_git_shows, autocrlf_of_the_repository_counts) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  made.git({"config", "core.autocrlf", "true"});
  made.write("a", "one\r\n");
  EXPECT_EQ(made.git({"diff"}), "");
  EXPECT_EQ(changes_of(made), no_changes);
}

TEST(git_as_git_shows, attributes_in_a_link_are_not_read) {
  made_repository made;
  made.write("x.bat", "one\n");
  made.commit("first");
  made.write("../rules", "*.bat eol=crlf\n");
  fs::create_symlink("../rules", made.path() + "/.gitattributes");
  made.write("x.bat", "one\r\n");
  EXPECT_THAT(changes_of(made), HasSubstr("- `x.bat`: modified, +1 -1\n"));
}

TEST(git_as_git_shows, attributes_in_a_fifo_are_not_opened) {
  made_repository made;
  made.write("x.bat", "one\n");
  made.commit("first");
  ASSERT_EQ(::mkfifo((made.path() + "/.gitattributes").c_str(), 0600), 0);
  made.write("x.bat", "two\n");
  EXPECT_THAT(changes_of(made), HasSubstr("- `x.bat`: modified, +1 -1\n"));
}

TEST(git_as_git_shows, media_types_are_those_of_the_files_source) {
  made_repository made;
  std::string packets;
  for (int i = 0; i < 20; ++i) packets += "\x47\x40" + std::string(1, '\0') + '\x10' + std::string(184, '\0');
  made.write("clip.ts", packets);
  made.write("code.ts", "export const a: number = 1;\n");
  made.write("large.ts", std::string(300 << 10, ' '));
  made.write("Makefile", "all:\n");
  made.write("run.sh", "true\n");
  made.write("sheet.xlsx", std::string("PK\3\4\0\0", 6));
  made.write("start", "#!/usr/bin/python3\n");
  made.commit("first");
  const served_repository shelf(made);
  children_request request;
  request.uri = "git://shelf/tree/HEAD";
  const auto page = shelf.provider().children(request);
  ASSERT_TRUE(page);
  std::vector<std::string> listed, read;
  for (const auto& entry : page->entries) {
    listed.push_back(entry.mime_type);
    read.push_back(shelf.read(entry.uri).contents.at(0).mime_type);
  }
  const std::string sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  EXPECT_THAT(read, ElementsAre("text/x-makefile", "video/mp2t", "text/typescript", "text/typescript", "text/x-shellscript",
                                sheet, "text/x-python"));
  EXPECT_THAT(listed, ElementsAre("text/x-makefile", "video/mp2t", "text/typescript", "", "text/x-shellscript", sheet, ""));
}

TEST(git_as_git_shows, encodings_of_the_work_tree_and_lfs_are_those_that_git_stores) {
  made_repository made;
  made.write(".gitattributes", "*.u16 working-tree-encoding=UTF-16LE\n*.big filter=lfs\n");
  made.write("a.u16", std::string("a\0b\0", 4));
  // `printf content | sha256sum`
  made.write("b.big",
             "version https://git-lfs.github.com/spec/v1\n"
             "oid sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73\nsize 7\n");
  made.commit("first");
  EXPECT_EQ(made.git({"show", "HEAD:a.u16"}), "ab");
  touch(made, "a.u16");
  made.write("b.big", "content");
  EXPECT_EQ(changes_of(made), no_changes);
  made.write("b.big", "contents");
  EXPECT_THAT(changes_of(made), HasSubstr("-size 7\n+oid sha256:"));
}

TEST(git_as_git_shows, without_symbolic_links_a_file_with_the_target_is_the_link) {
  made_repository made;
  made.write("a", "x\n");
  fs::create_symlink("a", made.path() + "/l");
  made.commit("first");
  made.git({"config", "core.symlinks", "false"});
  fs::remove(made.path() + "/l");
  made.write("l", "a");
  EXPECT_EQ(made.git({"diff"}), "");
  EXPECT_EQ(changes_of(made), no_changes);
  made.write("l", "b");
  EXPECT_THAT(changes_of(made), HasSubstr("- `l`: modified, +1 -1\n"));
}

TEST(git_as_git_shows, a_submodule_at_another_commit_is_changed) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "shelf", "inner"});
  made.git({"submodule", "--quiet", "add", made.above() + "/inner", "mod"});
  made.commit("with a submodule");
  EXPECT_EQ(changes_of(made), no_changes);
  const auto first = run_git(made.path() + "/mod", {"rev-parse", "HEAD"}).substr(0, 40);
  run_git(made.path() + "/mod", {"commit", "-q", "--allow-empty", "-m", "moved"});
  const auto moved = run_git(made.path() + "/mod", {"rev-parse", "HEAD"}).substr(0, 40);
  const auto expected = "-Subproject commit " + first + "\n+Subproject commit " + moved + '\n';
  EXPECT_THAT(made.git({"diff"}), HasSubstr(expected));
  EXPECT_THAT(changes_of(made), HasSubstr(expected));
  run_git(made.path() + "/mod", {"pack-refs", "--all"});
  EXPECT_THAT(changes_of(made), HasSubstr(expected));
  EXPECT_THAT(served_repository(made).text("git://shelf/overview"), HasSubstr("0 staged, 1 not staged, 0 untracked"));
  made.git({"add", "mod"});
  EXPECT_THAT(changes_of(made), HasSubstr("## Staged\n\n1 file changed"));
  run_git(made.path() + "/mod", {"checkout", "-q", "--detach", first});
  EXPECT_THAT(changes_of(made), HasSubstr("## Not staged\n\n1 file changed"));
}

TEST(git_as_git_shows, a_replaced_commit_is_shown_under_its_own_id) {
  made_repository made;
  made.write("a", "1\n");
  const auto old_id = made.commit("typo mesage").substr(0, 40);
  made.write("a", "2\n");
  made.commit("two");
  auto bytes = made.git({"cat-file", "commit", old_id});
  bytes.replace(bytes.find("mesage"), 6, "message");
  const auto new_id = made.git({"hash-object", "-t", "commit", "-w", "--stdin"}, bytes).substr(0, 40);
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr("typo mesage"));
  made.git({"replace", old_id, new_id});
  EXPECT_EQ(made.git({"log", "--format=%H %s", "-1", old_id}), old_id + " typo message\n");
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr(old_id.substr(0, 10)));
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr("typo message"));
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD~1"), HasSubstr("typo message"));
  EXPECT_THAT(shelf.text("git://shelf/log?grep=message"), HasSubstr("typo message"));
  made.git({"pack-refs", "--all"});
  EXPECT_THAT(shelf.text("git://shelf/commit/" + old_id), HasSubstr("typo message"));
  made.git({"config", "core.useReplaceRefs", "false"});
  EXPECT_THAT(shelf.text("git://shelf/commit/" + old_id), HasSubstr("typo mesage"));
}

TEST(git_as_git_shows, a_graft_gives_a_commit_other_parents) {
  made_repository made;
  const auto first = made.commit("first").substr(0, 40);
  made.commit("second");
  const auto third = made.commit("third").substr(0, 40);
  made.write(".git/info/grafts", "# skip one\n" + third + ' ' + first + "\nmalformed\n");
  EXPECT_EQ(made.git({"log", "--format=%s"}), "third\nfirst\n");
  const auto log = served_repository(made).text("git://shelf/log");
  EXPECT_THAT(log, HasSubstr("third"));
  EXPECT_THAT(log, HasSubstr("first"));
  EXPECT_THAT(log, Not(HasSubstr("second")));
}

TEST(git_as_git_shows, a_tag_of_a_tree_is_read_as_a_folder) {
  made_repository made;
  made.write("d/x", "content\n");
  made.commit("first");
  made.git({"tag", "-a", "keys", "-m", "keys", "HEAD:d"});
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/tree/keys"), HasSubstr("[`x`](<git://shelf/blob/keys/x>), 8 bytes"));
  EXPECT_EQ(shelf.text("git://shelf/blob/keys/x"), "content\n");
  EXPECT_THAT(shelf.error("git://shelf/log?ref=keys").public_text, HasSubstr("is a tree, not a commit"));
}

TEST(git_as_git_shows, a_partial_clone_names_what_is_missing) {
  made_repository made;
  made.write("a.txt", "one\n");
  made.commit("first");
  made.git({"mv", "a.txt", "b.txt"});
  made.commit("second");
  made.write("b.txt", "one\ntwo\n");
  const auto third = made.commit("third");
  made.git({"config", "uploadpack.allowFilter", "true"});
  run_git(made.above(), {"clone", "-q", "--filter=blob:none", "--no-checkout", "file://" + made.path(), "partial"});
  const served_repository shelf(git_options{.repositories = {made.above() + "/partial"}, .watch = false});
  const auto blob = made.git({"rev-parse", "HEAD:b.txt"}).substr(0, 40);
  EXPECT_EQ(shelf.error("git://partial/blob/HEAD/b.txt").public_text,
            "The content of \"b.txt\", blob " + blob +
                ", is missing: it was not fetched into this partial clone; run `git fetch --refetch` in the repository.");
  EXPECT_THAT(shelf.error("git://partial/blame/HEAD/b.txt").public_text, HasSubstr("was not fetched into this partial clone"));
  // Renames of equal files are found without their contents.
  const auto history = shelf.text("git://partial/history/HEAD/b.txt");
  for (const char* subject : {"first", "second", "third"}) EXPECT_THAT(history, HasSubstr(subject));
}

TEST(git_as_git_shows, a_history_says_where_a_missing_content_hides_a_rename) {
  made_repository made;
  made.write("a.txt", "one\ntwo\nthree\nfour\n");
  made.commit("first");
  made.git({"mv", "a.txt", "b.txt"});
  made.write("b.txt", "one\ntwo\nthree\nfive\n");
  made.commit("second");
  made.git({"config", "uploadpack.allowFilter", "true"});
  run_git(made.above(), {"clone", "-q", "--filter=blob:none", "--no-checkout", "file://" + made.path(), "partial"});
  const served_repository shelf(git_options{.repositories = {made.above() + "/partial"}, .watch = false});
  EXPECT_THAT(shelf.text("git://partial/history/HEAD/b.txt"),
              HasSubstr("; earlier names are unknown, because this content was not fetched into the partial clone\n"));
}

TEST(git_as_git_shows, a_split_index_is_read_with_its_shared_one) {
  made_repository made;
  made.write(".gitattributes", "*.bat text eol=crlf\n");
  for (const char* name : {"a", "b", "c", "d/x", "e.bat"}) made.write(name, std::string(name) + '\n');
  made.commit("first");
  made.git({"config", "splitIndex.maxPercentChange", "100"});
  made.git({"update-index", "--split-index"});
  made.write("e.bat", "e.bat\r\n");
  const served_repository shelf(made);
  EXPECT_EQ(shelf.text("git://shelf/changes"), no_changes);
  made.write("b", "changed\n");
  made.write("new", "new\n");
  made.git({"add", "b", "new"});
  made.git({"rm", "-q", "--cached", "c"});
  made.write("a", "other\n");
  EXPECT_EQ(made.git({"diff", "--name-status"}), "M\ta\n");
  EXPECT_EQ(made.git({"diff", "--cached", "--name-status"}), "M\tb\nD\tc\nA\tnew\n");
  const auto text = shelf.text("git://shelf/changes");
  for (const char* line : {"- `a`: modified", "- `b`: modified", "- `c`: deleted", "- `new`: added", "- `c`\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(shelf.text("git://shelf/overview"), HasSubstr("3 staged, 1 not staged, 1 untracked"));
}

TEST(git_as_git_shows, a_sparse_index_has_the_files_of_its_folders) {
  made_repository made;
  for (const char* name : {"d/x", "e/y", "e/f/z", "top"}) made.write(name, std::string(name) + '\n');
  made.commit("first");
  made.git({"sparse-checkout", "set", "--sparse-index", "d"});
  const served_repository shelf(made);
  EXPECT_EQ(made.git({"status", "--porcelain"}), "");
  EXPECT_EQ(shelf.text("git://shelf/changes"), no_changes);
  made.write("d/x", "changed\n");
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("- `d/x`: modified, +1 -1\n"));
  made.git({"sparse-checkout", "reapply", "--no-sparse-index"});
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("- `d/x`: modified, +1 -1\n"));
}

TEST(git_as_git_shows, blame_marks_lines_at_the_boundary_of_a_shallow_clone) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  made.write("a", "1\n2\n");
  const auto second = made.commit("second").substr(0, 10);
  run_git(made.above(), {"clone", "-q", "--depth=1", "file://" + made.path(), "cut"});
  const served_repository cut(git_options{.repositories = {made.above() + "/cut"}, .watch = false});
  const auto text = cut.text("git://cut/blame/HEAD/a");
  EXPECT_THAT(text, HasSubstr("\n^" + second + " 1: 1\n^" + second + " 2: 2\n"));
  EXPECT_THAT(text, HasSubstr("`^`: the shallow clone ends there, and an older commit may have written the line."));
  const auto whole = served_repository(made).text("git://shelf/blame/HEAD/a");
  EXPECT_THAT(whole, HasSubstr("\n" + second + " 2: 2\n"));
  EXPECT_THAT(whole, Not(HasSubstr("shallow")));
}

TEST(git_as_git_shows, an_author_of_old_commits_is_completed_with_the_total) {
  const made_repository made;
  std::string stream;
  for (int i = 1; i <= 6000; ++i) {
    const std::string who = i <= 10 ? "Founder Person" : "Newcomer Person";
    stream += "commit refs/heads/main\nmark :" + std::to_string(i) + "\ncommitter " + who + " <p@example.com> " +
              std::to_string(1'600'000'000 + i) + " +0000\ndata 1\nx\n";
    if (i > 1) stream += "from :" + std::to_string(i - 1) + "\n";
  }
  made.git({"fast-import", "--quiet"}, stream);
  const served_repository shelf(made);
  const std::string log_template = "git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}";
  const auto completed = shelf.complete(log_template, "author", "found");
  EXPECT_THAT(completed.values, ElementsAre("Founder Person"));
  EXPECT_EQ(completed.total, 1u);
}

TEST(git_as_git_shows, the_rename_limit_of_the_configuration_counts) {
  made_repository made;
  for (const char* name : {"a", "b", "c"}) made.write(name, std::string(name) + "\n1\n2\n3\n4\n5\n6\n7\n8\n");
  made.commit("first");
  for (const char* name : {"a", "b", "c"}) {
    fs::remove(made.path() + '/' + name);
    made.write(std::string("new ") + name, std::string(name) + "\n1\n2\n3\n4\n5\n6\n7\nnine\n");
  }
  made.commit("second");
  EXPECT_THAT(served_repository(made).text("git://shelf/commit/HEAD"), HasSubstr("3 files changed"));
  made.git({"config", "diff.renameLimit", "2"});
  EXPECT_THAT(served_repository(made).text("git://shelf/commit/HEAD"), HasSubstr("6 files changed"));
}

TEST(git_as_git_shows, packing_references_leaves_their_state_the_same) {
  made_repository made;
  made.commit("first");
  for (const char* name : {"a", "z"}) {
    made.git({"branch", name});
    made.git({"tag", name});
  }
  made.git({"pack-refs", "--all"});
  made.commit("second");
  made.git({"branch", "b"});
  made.git({"tag", "b"});
  const auto location = locate(made.path(), {made.above()});
  ASSERT_TRUE(location);
  const auto etags = [&] {
    const auto read = read_reference_etags(open_judged(made.path()).get(), *location, [] { return false; });
    EXPECT_TRUE(read);
    return read ? read->branches + read->tags : std::string();
  };
  const auto before = etags();
  made.git({"pack-refs", "--all"});
  EXPECT_EQ(etags(), before);
  made.git({"branch", "-f", "b", "refs/heads/a"});
  EXPECT_NE(etags(), before);
}

}  // namespace
}  // namespace hondana::git
