/// The work tree against the index and HEAD, with the git program as the judge.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/diff.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/patch_judge.hpp"

namespace hondana::git {
namespace {

namespace fs = std::filesystem;

std::string patches_of(git_repository* in, const std::vector<change>& changes) {
  std::string patches;
  for (const auto& one : changes) {
    const auto done = append_patch(patches, in, one);
    EXPECT_TRUE(done) << done.error().public_text;
  }
  return patches;
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\0', begin);
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> paths_of(const std::vector<change>& changes) {
  std::vector<std::string> paths;
  for (const auto& one : changes) paths.push_back(one.new_side.path);
  return paths;
}

void expect_equal_work_tree(const made_repository& made, const compare_options& options = {}) {
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get(), options);
  ASSERT_TRUE(changes) << changes.error().public_text << changes.error().private_text;
  const std::vector<std::string> how{"-c", "diff.indentHeuristic=false", "diff", "--no-ext-diff", "--full-index", "-M"};
  auto staged = how, files = how;
  staged.push_back("--cached");
  std::vector<std::string> others{"ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z"};
  for (auto* words : {&staged, &files, &others}) {
    words->push_back("--");
    words->insert(words->end(), options.paths.begin(), options.paths.end());
  }
  EXPECT_EQ(patches_of(in.get(), changes->staged), made.git(staged));
  EXPECT_EQ(patches_of(in.get(), changes->unstaged), made.git(files));
  EXPECT_EQ(changes->untracked, split_at_nul(made.git(others)));
}

std::string lines_for(std::string_view word) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::string(word) + ' ' + std::to_string(i) + '\n';
  return text;
}

TEST(git_work_tree_changes, nothing_has_changed_after_a_commit) {
  made_repository made;
  made.write("a", "one\n");
  made.write("b/c", "");
  made.commit("first");
  expect_equal_work_tree(made);
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->staged.empty() && changes->unstaged.empty() && changes->untracked.empty());
}

TEST(git_work_tree_changes, before_the_first_commit_all_is_new) {
  const made_repository made;
  expect_equal_work_tree(made);
  made.write("a", "one\n");
  made.write("b c/\xe6\x9c\xac", "two");
  expect_equal_work_tree(made);
  made.git({"add", "a"});
  expect_equal_work_tree(made);
}

TEST(git_work_tree_changes, all_kinds_of_changes) {
  made_repository made;
  for (const char* name : {"same", "changed", "gone", "executable", "to link", "moved", "hidden", "believed", "dir/inside",
                           "changed twice", "tab\there", "fifo"})
    made.write(name, lines_for(name));
  fs::create_symlink("nowhere", made.path() + "/link");
  fs::create_symlink("nowhere", made.path() + "/to file");
  made.commit("first");
  made.write("changed", lines_for("other"));
  made.write("tab\there", "short");
  fs::remove(made.path() + "/gone");
  fs::permissions(made.path() + "/executable", fs::perms::owner_exec, fs::perm_options::add);
  fs::remove(made.path() + "/to link");
  fs::create_symlink("changed", made.path() + "/to link");
  fs::remove(made.path() + "/link");
  fs::create_symlink("elsewhere", made.path() + "/link");
  fs::remove(made.path() + "/to file");
  made.write("to file", "nowhere");
  made.git({"mv", "moved", "moved away"});
  made.write("changed twice", lines_for("staged"));
  made.git({"add", "changed twice"});
  made.write("changed twice", lines_for("unstaged"));
  made.git({"update-index", "--skip-worktree", "hidden"});
  made.git({"update-index", "--assume-unchanged", "believed"});
  fs::remove(made.path() + "/hidden");
  made.write("believed", "not looked at");
  made.write("new", "new\n");
  made.git({"add", "new"});
  made.write("intended", "to be added\n");
  made.git({"add", "--intent-to-add", "intended"});
  made.write("empty", "");
  made.git({"add", "empty"});
  fs::remove(made.path() + "/fifo");
  ASSERT_EQ(::mkfifo((made.path() + "/untracked fifo").c_str(), 0600), 0);
  expect_equal_work_tree(made);
  for (const char* path : {"changed", "dir", "no such", "moved away"}) expect_equal_work_tree(made, {{path}});
  expect_equal_work_tree(made, {{"link", "new", "tab\there"}});
  made.git({"commit", "--quiet", "-m", "second"});
  expect_equal_work_tree(made);
}

TEST(git_work_tree_changes, a_folder_in_a_files_place) {
  made_repository made;
  made.write("a", "a\n");
  made.commit("first");
  fs::remove(made.path() + "/a");
  made.write("a/file", "x\n");
  made.write("a/more/file", "x\n");
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_EQ(patches_of(in.get(), changes->unstaged), made.git({"diff", "--full-index"}));
  // Git says so only when asked for this folder.
  EXPECT_EQ(changes->untracked, std::vector<std::string>{"a/"});
}

TEST(git_work_tree_changes, submodules_are_the_same_while_their_folders_are_there) {
  made_repository made;
  made.write("a", "a\n");
  made.commit("first");
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  for (const char* name : {"module", "gone", "replaced"})
    made.git({"update-index", "--add", "--cacheinfo", "160000," + id + ',' + name});
  fs::create_directory(made.path() + "/module");
  made.write("replaced", "a file\n");
  expect_equal_work_tree(made);
}

TEST(git_work_tree_changes, a_change_that_times_and_size_do_not_show_is_found) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  // At once, of the same size, in the same file, and with the times of before.
  struct stat before{};
  ASSERT_EQ(::stat((made.path() + "/a").c_str(), &before), 0);
  made.write("a", "two\n");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (made.path() + "/a").c_str(), times, 0), 0);
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_EQ(paths_of(changes->unstaged), std::vector<std::string>{"a"});
}

TEST(git_work_tree_changes, an_index_that_another_program_wrote_is_read_again) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  const auto in = open_judged(made.path());
  ASSERT_TRUE(compare_work_tree(in.get()));
  made.write("b", "two\n");
  made.git({"add", "b"});
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_EQ(paths_of(changes->staged), std::vector<std::string>{"b"});
}

TEST(git_work_tree_changes, what_is_in_conflict_is_ours_against_the_file) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  made.git({"checkout", "--quiet", "-b", "side"});
  made.write("a", "theirs\n");
  made.commit("second");
  made.git({"checkout", "--quiet", "main"});
  made.write("a", "ours\n");
  made.commit("third");
  EXPECT_NE(made.try_git({"merge", "side"}), 0);
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->staged.empty());
  EXPECT_EQ(changes->conflicted, std::vector<std::string>{"a"});
  ASSERT_EQ(changes->unstaged.size(), 1u);
  const auto patch = patches_of(in.get(), changes->unstaged);
  EXPECT_NE(patch.find("\n+<<<<<<< HEAD\n ours\n+=======\n+theirs\n"), std::string::npos) << patch;
  EXPECT_TRUE(changes->untracked.empty());
}

TEST(git_work_tree_changes, links_lead_nowhere) {
  made_repository made;
  made.write("dir/a", "inside\n");
  made.write("b", "inside\n");
  made.commit("first");
  fs::create_directory(made.above() + "/outside");
  fs::remove_all(made.path() + "/dir");
  fs::create_symlink(made.above() + "/outside", made.path() + "/dir");
  made.git({"config", "core.pager", "false"});
  fs::copy_file(made.path() + "/b", made.above() + "/outside/a");
  fs::copy_file(made.path() + "/b", made.above() + "/outside/secret");
  fs::remove(made.path() + "/b");
  fs::create_symlink(made.above() + "/outside/secret", made.path() + "/b");
  expect_equal_work_tree(made);
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_EQ(paths_of(changes->unstaged), (std::vector<std::string>{"b", "dir/a"}));
  EXPECT_EQ(changes->untracked, std::vector<std::string>{"dir"});
  EXPECT_EQ(patches_of(in.get(), changes->unstaged).find("inside\n+"), std::string::npos);
}

TEST(git_work_tree_changes, a_folder_replaced_by_a_link_after_comparing_is_not_followed) {
  made_repository made;
  made.write("dir/a", "inside\n");
  made.commit("first");
  made.write("dir/a", "changed\n");
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->unstaged.size(), 1u);
  fs::rename(made.path() + "/dir", made.above() + "/dir");
  fs::create_symlink(made.above() + "/dir", made.path() + "/dir");
  std::string patch = "before";
  const auto done = append_patch(patch, in.get(), changes->unstaged[0]);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::content_changed);
  EXPECT_EQ(patch, "before");
}

TEST(git_work_tree_changes, ignore_files_and_other_repositories_hide_what_they_hide_from_git) {
  made_repository made;
  made.write(".gitignore", "*.log\nbuild/\n!kept.log\n/deep/hidden\n");
  made.write("src/.gitignore", "generated\n");
  for (const char* name : {"src/tracked", "deep/tracked", "a.c"}) made.write(name, "x\n");
  made.commit("first");
  for (const char* name : {"x.log", "kept.log", "build/a", "src/build/a", "src/generated", "src/new", "src/generated2/a",
                           "deep/hidden", "deep/er/hidden", "only/x.log", "only/build/b", "some/x.log", "some/below/y",
                           "excluded/file", "new/.gitignore", "new/b", "nothing/.gitignore"})
    made.write(name, "x\n");
  made.write("nothing/.gitignore", "*\n");
  made.write(".git/info/exclude", "excluded\n");
  fs::create_directories(made.path() + "/empty/er");
  for (const char* name : {"nested", "src/nested"}) run_git(made.above(), {"init", "--quiet", made.path() + '/' + name});
  made.write("nested/file", "x\n");
  expect_equal_work_tree(made);
  for (const char* path : {"src", "only", "some/below", "nested"}) expect_equal_work_tree(made, {{path}});
}

TEST(git_work_tree_changes, no_filter_and_no_hook_runs) {
  made_repository made;
  made.write("a.txt", "one\n");
  made.commit("first");
  const auto trace = made.above() + "/ran";
  for (const char* key : {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
                          "diff.evil.command", "core.fsmonitor", "diff.external"})
    made.git({"config", key, "touch " + trace + "; cat"});
  made.write(".git/info/attributes", "*.txt filter=evil diff=evil\n");
  made.write("a.txt", "two\r\n");
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->unstaged.size(), 1u);
  EXPECT_NE(patches_of(in.get(), changes->unstaged).find("-one\n+two\r\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(trace));
}

TEST(git_work_tree_changes, a_bare_repository_has_no_work_tree_to_compare) {
  const made_repository made({"--bare"});
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, errc::unsupported);
}

TEST(git_work_tree_changes, a_damaged_index_is_said_to_be) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  made.write(".git/index", "DIRC but no index");
  const auto in = open_judged(made.path());
  const auto changes = compare_work_tree(in.get());
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, errc::source_unavailable);
  EXPECT_NE(changes.error().public_text.find("index"), std::string::npos);
  fs::remove(made.path() + "/.git/index");
  ASSERT_EQ(::mkfifo((made.path() + "/.git/index").c_str(), 0600), 0);
  const auto again = compare_work_tree(open_judged(made.path()).get());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, errc::source_unavailable);
}

TEST(git_work_tree_changes, too_many_and_stopped_are_errors) {
  made_repository made;
  made.write("a", "one\n");
  made.commit("first");
  for (const char* name : {"b", "c", "d"}) made.write(name, "x\n");
  const auto in = open_judged(made.path());
  compare_options options;
  options.max_changes = 2;
  EXPECT_EQ(compare_work_tree(in.get(), options).error().code, errc::response_too_large);
  options = {};
  options.is_stopped = [] { return true; };
  EXPECT_EQ(compare_work_tree(in.get(), options).error().code, errc::cancelled);
}

}  // namespace
}  // namespace hondana::git
