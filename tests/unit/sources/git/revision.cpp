/// Revisions as people, and others, write them; git's rev-parse is the judge.
#include "sources/git/revision.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/screened_handle.hpp"

namespace hondana::git {
namespace {

std::string parsed_by_git(const made_repository& made, const std::string& revision) {
  auto id = made.git({"rev-parse", "--verify", revision});
  if (id.ends_with('\n')) id.pop_back();
  return id;
}

/// A merge, a branch, tags and a stash.
struct revision_shelf {
  made_repository made;
  std::string first, second, side, merge;
  repository_pointer handle;

  revision_shelf() {
    made.write("a.txt", "one\n");
    first = made.commit("first");
    made.git({"tag", "light"});
    made.git({"tag", "-a", "-m", "heavy", "heavy"});
    made.git({"tag", "-a", "-m", "nested", "nested", "heavy"});
    made.git({"tag", "of-blob", "HEAD:a.txt"});
    made.git({"tag", "-a", "-m", "tree", "of-tree", "HEAD^{tree}"});
    made.git({"checkout", "--quiet", "-b", "side/ways"});
    made.write("b.txt", "b\n");
    side = made.commit("side");
    made.git({"checkout", "--quiet", "main"});
    made.write("a.txt", "two\n");
    second = made.commit("second");
    made.git({"merge", "--quiet", "-m", "merge", "side/ways"});
    merge = parsed_by_git(made, "HEAD");
    handle = screened_handle(made.path(), made.path());
  }
  [[nodiscard]] result<revision> find(std::string_view text) const { return resolve_revision(handle.get(), text, "rev"); }
  void expect_refusal(errc code, std::string_view text, std::string_view word = {}) const {
    const auto found = find(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, code) << found.error().public_text;
    EXPECT_TRUE(found.error().public_text.starts_with("rev: ")) << found.error().public_text;
    EXPECT_NE(found.error().public_text.find(word), std::string::npos) << found.error().public_text;
    EXPECT_LT(found.error().public_text.size(), 600u);
  }
};

TEST(git_revision, leads_where_git_says_it_leads) {
  const revision_shelf shelf;
  for (const std::string one : {"HEAD",
                                "main",
                                "heads/main",
                                "refs/heads/main",
                                "side/ways",
                                "refs/heads/side/ways",
                                "light",
                                "heavy",
                                "nested",
                                "tags/heavy",
                                "refs/tags/nested",
                                "HEAD~1",
                                "HEAD~",
                                "HEAD^",
                                "HEAD^1",
                                "HEAD^2",
                                "HEAD^0",
                                "HEAD~0",
                                "HEAD^2~1",
                                "HEAD^^",
                                "HEAD~~",
                                "heavy^{commit}",
                                "HEAD^{commit}~1^{commit}",
                                "main~2"}) {
    const auto found = shelf.find(one);
    ASSERT_TRUE(found) << one << ": " << found.error().public_text;
    EXPECT_EQ(to_hex(found->commit), parsed_by_git(shelf.made, one + "^{commit}")) << one;
    EXPECT_EQ(to_hex(found->tree), parsed_by_git(shelf.made, one + "^{tree}")) << one;
    EXPECT_FALSE(found->is_fixed) << one;
  }
}

TEST(git_revision, by_a_full_id_always_means_the_same) {
  const revision_shelf shelf;
  const auto heavy = parsed_by_git(shelf.made, "heavy");
  for (const auto& one : {shelf.first, shelf.merge, shelf.merge + "~1", heavy}) {
    const auto found = shelf.find(one);
    ASSERT_TRUE(found) << one;
    EXPECT_EQ(to_hex(found->commit), parsed_by_git(shelf.made, one + "^{commit}"));
    EXPECT_TRUE(found->is_fixed);
  }
  auto upper = shelf.first;
  for (char& c : upper) c = static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  EXPECT_TRUE(shelf.find(upper)->is_fixed);
  // A branch that is called like an id does not come before it.
  std::filesystem::copy_file(shelf.made.path() + "/.git/refs/heads/main",
                             shelf.made.path() + "/.git/refs/heads/" + shelf.first);
  EXPECT_EQ(to_hex(shelf.find(shelf.first)->commit), shelf.first);
}

TEST(git_revision, may_be_abbreviated_to_four_digits) {
  const revision_shelf shelf;
  for (const std::size_t digits : {4u, 7u, 39u}) {
    const auto found = shelf.find(shelf.second.substr(0, digits));
    ASSERT_TRUE(found) << digits;
    EXPECT_EQ(to_hex(found->commit), shelf.second);
    EXPECT_FALSE(found->is_fixed);
  }
  shelf.expect_refusal(errc::invalid_argument, shelf.second.substr(0, 3));
  shelf.expect_refusal(errc::invalid_argument, "0000");
  shelf.expect_refusal(errc::resource_not_found, std::string(40, '0'));
  // Names come before beginnings of ids, as in git.
  shelf.made.git({"branch", shelf.second.substr(0, 4), shelf.first});
  EXPECT_EQ(to_hex(shelf.find(shelf.second.substr(0, 4))->commit), shelf.first);
}

TEST(git_revision, abbreviated_to_several_names_some) {
  made_repository made;
  made.commit("first");
  // Commits until two of them begin alike.
  const auto tree = parsed_by_git(made, "HEAD^{tree}");
  std::string stream;
  for (int i = 0; i < 1200; ++i)
    stream +=
        "commit refs/heads/many\ncommitter C <c@example.com> " + std::to_string(1'700'000'000 + i) + " +0000\ndata 1\nx\n";
  made.git({"fast-import", "--quiet"}, stream);
  std::set<std::string> seen;
  std::string twice;
  const auto ids = made.git({"rev-list", "many"});
  for (std::size_t at = 0; at + 40 < ids.size() && twice.empty(); at += 41)
    if (!seen.insert(ids.substr(at, 4)).second) twice = ids.substr(at, 4);
  ASSERT_FALSE(twice.empty());
  const auto handle = screened_handle(made.path(), made.path());
  const auto found = resolve_revision(handle.get(), twice, "from");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_argument);
  EXPECT_TRUE(found.error().public_text.starts_with("from: \"" + twice + "\" is ambiguous, it is the beginning of " + twice))
      << found.error().public_text;
}

TEST(git_revision, abbreviated_to_one_commit_among_other_objects_is_that_commit) {
  made_repository made;
  const auto first = made.commit("first");
  // Blobs until one begins like the commit.
  std::string stream;
  for (int i = 0; i < 400'000; ++i) {
    const auto text = std::to_string(i);
    git_oid id{};
    ASSERT_EQ(git_odb_hash(&id, text.data(), text.size(), GIT_OBJECT_BLOB), 0);
    if (!to_hex(id).starts_with(first.substr(0, 4))) continue;
    made.git({"hash-object", "-w", "--stdin"}, text);
    break;
  }
  const auto handle = screened_handle(made.path(), made.path());
  const auto found = resolve_revision(handle.get(), first.substr(0, 4), "rev");
  ASSERT_TRUE(found) << found.error().public_text;
  EXPECT_EQ(to_hex(found->commit), first);
  EXPECT_EQ(parsed_by_git(made, first.substr(0, 4) + "^{commit}"), first);
}

TEST(git_revision, that_is_an_option_is_refused) {
  const revision_shelf shelf;
  const auto evil = shelf.made.above() + "/evil";
  for (const auto& one : {"--output=" + evil, std::string("--help"), std::string("--exec=evil"), std::string("--format=evil"),
                          std::string("-"), std::string("--"), std::string("-p")})
    shelf.expect_refusal(errc::invalid_argument, one, "looks like an option");
  EXPECT_FALSE(std::filesystem::exists(evil));
}

TEST(git_revision, of_a_reference_that_is_called_like_an_option_is_taken_in_full_only) {
  const revision_shelf shelf;
  std::filesystem::copy_file(shelf.made.path() + "/.git/refs/heads/main",
                             shelf.made.path() + "/.git/refs/heads/--output=evil.txt");
  shelf.expect_refusal(errc::invalid_argument, "--output=evil.txt", "refs/heads/");
  const auto found = shelf.find("refs/heads/--output=evil.txt");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_hex(found->commit), shelf.merge);
}

TEST(git_revision, that_asks_for_something_else_is_refused_with_what_to_do) {
  using namespace std::string_view_literals;
  const revision_shelf shelf;
  shelf.expect_refusal(errc::invalid_argument, "HEAD@{1}", "reflog");
  shelf.expect_refusal(errc::invalid_argument, "HEAD@{yesterday}", "reflog");
  shelf.expect_refusal(errc::invalid_argument, "@{u}", "reflog");
  shelf.expect_refusal(errc::invalid_argument, "stash@{0}", "reflog");
  shelf.expect_refusal(errc::invalid_argument, "a..b", "range");
  shelf.expect_refusal(errc::invalid_argument, "main...side/ways", "range");
  shelf.expect_refusal(errc::invalid_argument, ":/x", "searches commit messages");
  shelf.expect_refusal(errc::invalid_argument, "HEAD^{/x}", "searches commit messages");
  shelf.expect_refusal(errc::invalid_argument, "^{/x}", "searches commit messages");
  shelf.expect_refusal(errc::invalid_argument, "HEAD:a.txt", "path");
  shelf.expect_refusal(errc::invalid_argument, ":0:a.txt", "path");
  shelf.expect_refusal(errc::invalid_argument, "^main", "excludes");
  shelf.expect_refusal(errc::invalid_argument, "", "is empty");
  shelf.expect_refusal(errc::invalid_argument, std::string(2000, 'a'), "1024 bytes");
  shelf.expect_refusal(errc::invalid_argument, "HEAD\0x"sv, "NUL");
  shelf.expect_refusal(errc::invalid_argument, "HEAD\n"sv, "characters");
  shelf.expect_refusal(errc::invalid_argument, "main side"sv, "characters");
  shelf.expect_refusal(errc::invalid_argument, "ma*n"sv, "characters");
  for (const std::string_view one : {"HEAD^{tree}", "HEAD^{}", "HEAD^-", "HEAD^!", "HEAD^@", "HEAD~x", "HEAD~-1",
                                     "HEAD~99999999999999999999999", "HEAD^{commit"})
    shelf.expect_refusal(errc::invalid_argument, one, "suffix");
  shelf.expect_refusal(errc::invalid_argument, "~1", "no starting point");
  for (const std::string_view one : {"gone", "refs/heads/gone", "heads", "refs/heads", "HEAD/", "/", ".", "a//b", "main.lock",
                                     "@", "\xff\xfe", "config", "index", "../config", "FETCH_HEAD"})
    EXPECT_FALSE(shelf.find(one)) << one;
  shelf.expect_refusal(errc::invalid_argument, "gone", "not a branch, a tag or a commit id");
  EXPECT_TRUE(check_revision("anything/at-all", "rev"));
  EXPECT_FALSE(check_revision("a..b", "rev"));
}

TEST(git_revision, that_leads_to_no_commit_is_not_found) {
  const revision_shelf shelf;
  shelf.expect_refusal(errc::resource_not_found, "of-blob", "is a blob");
  shelf.expect_refusal(errc::resource_not_found, "of-tree", "is a tree");
  shelf.expect_refusal(errc::resource_not_found, parsed_by_git(shelf.made, "HEAD^{tree}"), "is a tree");
  shelf.expect_refusal(errc::resource_not_found, parsed_by_git(shelf.made, "HEAD:a.txt"), "is a blob");
  shelf.expect_refusal(errc::resource_not_found, "HEAD~3", "no such ancestor");
  shelf.expect_refusal(errc::resource_not_found, "HEAD^3", "2 parent(s)");
  shelf.expect_refusal(errc::resource_not_found, "HEAD~1000000000", "no such ancestor");
}

TEST(git_revision, of_references_in_a_circle_is_not_found) {
  const revision_shelf shelf;
  const auto heads = shelf.made.path() + "/.git/refs/heads/";
  std::ofstream(heads + "a") << "ref: refs/heads/b\n";
  std::ofstream(heads + "b") << "ref: refs/heads/a\n";
  std::ofstream(heads + "self") << "ref: refs/heads/self\n";
  shelf.expect_refusal(errc::resource_not_found, "a", "cycle");
  shelf.expect_refusal(errc::resource_not_found, "self", "cycle");
  EXPECT_NE(shelf.made.try_git({"rev-parse", "--verify", "a"}), 0);
  std::ofstream(heads + "alias") << "ref: refs/heads/main\n";
  EXPECT_EQ(to_hex(shelf.find("alias")->commit), shelf.merge);
}

TEST(git_revision, of_references_that_are_broken_or_lead_out_of_refs_is_no_commit) {
  const revision_shelf shelf;
  const auto heads = shelf.made.path() + "/.git/refs/heads/";
  int number = 0;
  for (const std::string_view content : {"ref: config\n", "ref: ../../etc/passwd\n", "ref: refs/../../config\n",
                                         "ref: /etc/passwd\n", "no id\n", "", "ref: \n", "ref: refs/heads/x\0y\n"}) {
    const auto name = "broken" + std::to_string(number++);
    std::ofstream(heads + name) << content;
    EXPECT_FALSE(shelf.find(name)) << content;
  }
}

TEST(git_revision, in_an_empty_repository_says_that_there_is_no_commit_yet) {
  const made_repository made;
  const auto handle = screened_handle(made.path(), made.path());
  const auto found = resolve_revision(handle.get(), "HEAD", "rev");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_argument);
  EXPECT_NE(found.error().public_text.find("points to a branch without commits"), std::string::npos);
}

TEST(git_revision, of_a_detached_head_is_its_commit) {
  const revision_shelf shelf;
  shelf.made.git({"checkout", "--quiet", "--detach", shelf.first});
  EXPECT_EQ(to_hex(shelf.find("HEAD")->commit), shelf.first);
}

TEST(git_revision, behind_the_end_of_a_shallow_clone_is_not_found) {
  revision_shelf shelf;
  run_git(shelf.made.above(), {"clone", "--quiet", "--depth=1", "file://" + shelf.made.path(), "shallow"});
  const auto handle = screened_handle(shelf.made.above() + "/shallow", shelf.made.above() + "/shallow");
  EXPECT_EQ(to_hex(resolve_revision(handle.get(), "origin/main", "rev")->commit), shelf.merge);
  EXPECT_EQ(to_hex(resolve_revision(handle.get(), "origin", "rev")->commit), shelf.merge);
  const auto found = resolve_revision(handle.get(), "HEAD~1", "rev");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::resource_not_found);
  EXPECT_EQ(resolve_revision(handle.get(), shelf.first, "rev").error().code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::git
