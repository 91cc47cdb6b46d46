/// Writes fast-import streams, and compares what we write with what git does.
#include "unit/sources/git/patch_judge.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "sources/git/diff.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

std::string with_length(std::string_view bytes) {
  return "data " + std::to_string(bytes.size()) + '\n' + std::string(bytes) + '\n';
}

std::string in_octal(std::string_view path) {
  std::string out = "\"";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    for (const unsigned shift : {6u, 3u, 0u}) out += static_cast<char>('0' + ((byte >> shift) & 7u));
  }
  return out + '"';
}

/// Where two texts part, with the last line before that names a commit.
std::string parting(std::string_view ours, std::string_view judges) {
  const auto differs = std::mismatch(ours.begin(), ours.end(), judges.begin(), judges.end()).first;
  const auto at = static_cast<std::size_t>(differs - ours.begin());
  std::string_view commit = "(none)";
  std::size_t line_begin = 0;
  for (std::size_t begin = 0; begin < at;) {
    const auto end = std::min(ours.find_first_of(std::string_view("\n\0", 2), begin), ours.size());
    const auto line = ours.substr(begin, end - begin);
    if (line.size() == 40 && line.find_first_not_of("0123456789abcdef") == std::string_view::npos) commit = line;
    line_begin = begin;
    begin = end + 1;
  }
  const auto around = [&](std::string_view text) { return std::string(text.substr(std::min(line_begin, text.size()), 600)); };
  return "in " + std::string(commit) + " ours goes on\n" + around(ours) + "\nand git's\n" + around(judges);
}

std::string judgement(const std::string& folder, const std::vector<judged_commit>& commits,
                      const std::vector<std::string>& how) {
  std::string input;
  for (const auto& one : commits) input += one.parent.empty() ? one.id + '\n' : one.id + ' ' + one.parent + '\n';
  std::vector<std::string> words{
      "-c", "diff.indentHeuristic=false", "diff-tree", "--stdin", "--root", "-r", "--full-index", "-M", "--no-ext-diff"};
  words.insert(words.end(), how.begin(), how.end());
  return run_git(folder, words, input);
}

template <class Write>
void compare_with(const std::string& folder, const std::vector<judged_commit>& commits, const std::vector<std::string>& how,
                  char end, Write&& write) {
  const auto repository = open_judged(folder);
  ASSERT_NE(repository, nullptr);
  std::string ours;
  for (const auto& one : commits) {
    const auto from = judged_tree(repository.get(), one.parent), to = judged_tree(repository.get(), one.id);
    auto changes = compare(repository.get(), from.get(), to.get());
    ASSERT_TRUE(changes) << one.id << ": " << changes.error().public_text;
    if (!changes->empty()) ours += one.id + end;
    for (auto& change : *changes) ASSERT_NO_FATAL_FAILURE(write(ours, repository.get(), change));
  }
  const auto judges = judgement(folder, commits, how);
  EXPECT_TRUE(ours == judges) << parting(ours, judges);
}

}  // namespace

written_history& written_history::commit() {
  return commit_on(count_ == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{count_});
}

written_history& written_history::commit_on(const std::vector<std::size_t>& parents) {
  ++count_;
  if (parents.empty()) stream_ += "reset refs/heads/main\n";
  stream_ += "commit refs/heads/main\nmark :" + std::to_string(count_) + "\ncommitter Carl Committer <carl@example.com> " +
             std::to_string(1'700'000'000 + 60 * count_) + " +0900\n" + with_length("change " + std::to_string(count_));
  for (std::size_t i = 0; i < parents.size(); ++i)
    stream_ += (i == 0 ? "from :" : "merge :") + std::to_string(parents[i]) + '\n';
  return *this;
}

written_history& written_history::file(std::string_view path, std::string_view bytes, std::string_view mode) {
  stream_ += "M " + std::string(mode) + " inline " + in_octal(path) + '\n' + with_length(bytes);
  return *this;
}

written_history& written_history::submodule(std::string_view path, char digit) {
  stream_ += "M 160000 " + std::string(40, digit) + ' ' + in_octal(path) + '\n';
  return *this;
}

written_history& written_history::remove(std::string_view path) {
  stream_ += "D " + in_octal(path) + '\n';
  return *this;
}

void written_history::write_to(const std::string& folder) const {
  run_git(folder, {"fast-import", "--quiet", "--force"}, stream_);
}

std::vector<judged_commit> judged_commits_of(const std::string& folder) {
  const auto listed = run_git(folder, {"log", "--all", "--format=%H %P"});
  std::vector<judged_commit> commits;
  for (std::size_t begin = 0; begin < listed.size();) {
    const auto end = listed.find('\n', begin);
    const auto line = listed.substr(begin, end - begin);
    commits.push_back({line.substr(0, 40), line.size() > 80 ? line.substr(41, 40) : std::string()});
    begin = end + 1;
  }
  return commits;
}

void compare_patches_with_git(const std::string& folder, const std::vector<judged_commit>& commits) {
  compare_with(folder, commits, {"-p"}, '\n', [](std::string& to, git_repository* in, const change& one) {
    const auto done = append_patch(to, in, one);
    ASSERT_TRUE(done) << one.new_side.path << ": " << done.error().public_text;
  });
}

void compare_numbers_with_git(const std::string& folder, const std::vector<judged_commit>& commits) {
  compare_with(folder, commits, {"--numstat", "-z"}, '\0', [](std::string& to, git_repository* in, change& one) {
    const auto done = measure(one, in);
    ASSERT_TRUE(done) << one.new_side.path << ": " << done.error().public_text;
    to += one.is_binary ? "-\t-\t" : std::to_string(one.added_lines) + '\t' + std::to_string(one.deleted_lines) + '\t';
    if (one.status == change::kind::renamed) to += '\0' + one.old_side.path + '\0';
    to += one.new_side.path + '\0';
  });
}

void expect_equal_patches(const written_history& history) {
  const made_repository bare({"--bare"});
  history.write_to(bare.path());
  const auto commits = judged_commits_of(bare.path());
  ASSERT_EQ(commits.size(), history.size());
  compare_patches_with_git(bare.path(), commits);
  compare_numbers_with_git(bare.path(), commits);
}

repository_pointer open_judged(const std::string& folder) {
  EXPECT_TRUE(initialize_libgit2());
  git_repository* raw = nullptr;
  EXPECT_EQ(git_repository_open_ext(&raw, folder.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr), 0) << last_error_message();
  return repository_pointer(raw);
}

tree_pointer judged_tree(git_repository* in, const std::string& commit) {
  if (commit.empty()) return nullptr;
  git_object* object = nullptr;
  EXPECT_EQ(git_revparse_single(&object, in, (commit + "^{tree}").c_str()), 0) << last_error_message();
  return tree_pointer(reinterpret_cast<git_tree*>(object));
}

}  // namespace hondana::git
