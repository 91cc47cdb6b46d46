/// Branches, tags, stashes and what else a repository has names for.
#include "sources/git/references.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/screened_handle.hpp"

namespace hondana::git {
namespace {

/// All pages of so many, one after the other.
template <class T>
std::vector<T> all_reference_pages(result<reference_page<T>> (*page_of)(git_repository*, const std::string&, std::size_t),
                                   git_repository* in, std::size_t limit) {
  std::vector<T> all;
  std::string after;
  for (;;) {
    auto page = page_of(in, after, limit);
    EXPECT_TRUE(page);
    if (!page) return all;
    EXPECT_LE(page->items.size(), limit);
    for (auto& one : page->items) all.push_back(std::move(one));
    if (!page->next) return all;
    EXPECT_LT(after, *page->next);
    after = *page->next;
  }
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> lines;
  for (; !text.empty(); text.remove_prefix(lines.back().size() + 1)) lines.emplace_back(text.substr(0, text.find('\n')));
  return lines;
}

TEST(git_references, list_branches_as_git_does) {
  made_repository made;
  made.write("a", "1");
  made.commit("first");
  for (const std::string name : {"b", "a/b", "a-b", "a.b", "topic/1", "é"}) made.git({"branch", name});
  made.git({"checkout", "--quiet", "topic/1"});
  made.write("a", "2");
  made.commit("second\nline\n\nbody");
  made.git({"checkout", "--quiet", "main"});
  made.git({"pack-refs", "--all"});
  made.git({"branch", "loose"});
  made.git({"update-ref", "refs/heads/b", "topic/1"});
  run_git(made.above(), {"clone", "--quiet", "shelf", "copy"});
  const auto handle = screened_handle(made.above() + "/copy", made.above());
  run_git(made.above() + "/copy", {"branch", "--quiet", "more", "origin/b"});
  const auto judged = names_in(
      run_git(made.above() + "/copy", {"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes"}));
  EXPECT_EQ(judged.size(), 11u);
  for (const std::size_t limit : {1u, 3u, 100u}) {
    std::vector<std::string> ours;
    for (const auto& one : all_reference_pages(branches, handle.get(), limit))
      ours.push_back(one.full_name + ' ' + to_hex(one.target));
    EXPECT_EQ(ours, judged);
  }
  const auto page = branches(handle.get(), "refs/heads/", 100);
  EXPECT_EQ(page->items[0].name, "main");
  EXPECT_TRUE(page->items[0].is_head);
  EXPECT_EQ(page->items[0].upstream, "origin/main");
  EXPECT_EQ(page->items[1].summary, "second line");
  EXPECT_EQ(page->items[1].author, (signature{"Ada Writer", "ada@example.com", 1'700'000'000 + 120, 540}));
  EXPECT_EQ(page->items[2].name, "origin/HEAD");
  EXPECT_TRUE(page->items[2].is_remote);
  EXPECT_FALSE(page->items[2].is_head);
}

TEST(git_references, count_what_branches_are_ahead_and_behind_as_git_does) {
  made_repository made;
  made.commit("first");
  run_git(made.above(), {"clone", "--quiet", "shelf", "copy"});
  const auto copy = made.above() + "/copy";
  for (int i = 0; i < 3; ++i) made.commit("theirs");
  made.git({"checkout", "--quiet", "-b", "side", "HEAD~2"});
  made.commit("side");
  made.git({"checkout", "--quiet", "main"});
  made.git({"merge", "--quiet", "--no-edit", "side"});
  run_git(copy, {"commit", "--quiet", "--allow-empty", "-m", "ours"});
  run_git(copy, {"commit", "--quiet", "--allow-empty", "-m", "ours, too"});
  run_git(copy, {"fetch", "--quiet"});
  run_git(copy, {"branch", "--quiet", "gone"});
  run_git(copy, {"config", "branch.gone.remote", "origin"});
  run_git(copy, {"config", "branch.gone.merge", "refs/heads/gone"});
  const auto handle = screened_handle(copy, made.above());
  const auto page = branches(handle.get(), "", 100);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items[0].name, "gone");
  EXPECT_EQ(page->items[0].upstream, "origin/gone");
  EXPECT_FALSE(page->items[0].ahead_behind);
  ASSERT_EQ(page->items[1].name, "main");
  ASSERT_TRUE(page->items[1].ahead_behind);
  EXPECT_EQ(
      std::to_string(page->items[1].ahead_behind->first) + '\t' + std::to_string(page->items[1].ahead_behind->second) + '\n',
      run_git(copy, {"rev-list", "--left-right", "--count", "main...origin/main"}));
  EXPECT_EQ(page->items[1].ahead_behind->second, 5u);
}

TEST(git_references, name_upstreams_as_git_does) {
  made_repository made;
  made.commit("first");
  for (const std::string name : {"a", "b", "c", "d", "e", "f/g"}) made.git({"branch", name});
  const auto set = [&](const std::string& name, const std::string& value) { made.git({"config", "--add", name, value}); };
  set("remote.o.url", "https://example.com/x");
  set("remote.o.fetch", "^refs/heads/c");
  set("remote.o.fetch", "+refs/heads/one:refs/remotes/other/uno");
  set("remote.o.fetch", "+refs/heads/*:refs/remotes/o/*");
  const auto follow = [&](const std::string& name, const std::string& remote, const std::string& merge) {
    set("branch." + name + ".remote", remote);
    set("branch." + name + ".merge", merge);
  };
  follow("a", "o", "refs/heads/x/y");
  follow("b", "o", "refs/heads/one");
  follow("c", ".", "refs/heads/a");
  set("branch.c.merge", "refs/heads/b");
  follow("d", "gone", "refs/heads/x");
  set("branch.e.remote", "o");
  follow("f/g", "gone", "refs/heads/z");
  set("branch.f/g.remote", "o");
  const auto handle = screened_handle(made.path(), made.above());
  std::string ours;
  const auto page = branches(handle.get(), "", 100);
  for (const auto& one : page->items) ours += one.name + ' ' + one.upstream + '\n';
  EXPECT_EQ(ours, made.git({"for-each-ref", "--format=%(refname:lstrip=2) %(upstream:lstrip=2)", "refs/heads"}));
}

#ifdef HONDANA_IS_SANITIZED
constexpr int tags_in_a_list = 10'000;  // every comparison of names by libgit2 is checked
#else
constexpr int tags_in_a_list = 100'000;
#endif

TEST(git_references_timing, of_a_long_list_cost_little_a_page) {
  const auto name_of = [](int which) { return "v" + std::to_string(100'000 + which); };
  constexpr int middle = tags_in_a_list / 2;
  made_repository made;
  const auto id = made.commit("first");
  std::string packed = "# pack-refs with: peeled fully-peeled sorted \n";
  for (int i = 0; i < tags_in_a_list; ++i) packed += id + " refs/tags/" + name_of(i) + '\n';
  std::ofstream(made.path() + "/.git/packed-refs") << packed;
  const auto handle = screened_handle(made.path(), made.above());
  EXPECT_EQ(tags(handle.get(), "", 2)->items[1].name, "v100001");
  const auto last_but_one = "refs/tags/" + name_of(tags_in_a_list - 2);
  const auto began = std::chrono::steady_clock::now();
  const auto page = tags(handle.get(), "refs/tags/" + name_of(middle), 100);
  const auto took = std::chrono::steady_clock::now() - began;
  ASSERT_TRUE(page);
  ASSERT_EQ(page->items.size(), 100u);
  EXPECT_EQ(page->items.front().name, name_of(middle + 1));
  EXPECT_EQ(page->items.front().kind, "commit");
  EXPECT_EQ(page->next, "refs/tags/" + name_of(middle + 100));
  // A guard against looking at every object, generous for slow builds; typically it is below 50 ms.
  EXPECT_LT(took, std::chrono::seconds(2));
  EXPECT_EQ(tags(handle.get(), last_but_one, 5)->items.size(), 1u);
  EXPECT_FALSE(tags(handle.get(), last_but_one, 5)->next);
  EXPECT_TRUE(tags(handle.get(), "refs/tags/w", 5)->items.empty());
}

TEST(git_references, leave_out_what_is_broken_and_go_on) {
  made_repository made;
  made.commit("first");
  const auto heads = made.path() + "/.git/refs/heads/";
  std::ofstream(heads + "a") << "ref: refs/heads/b\n";
  std::ofstream(heads + "b") << "ref: refs/heads/a\n";
  std::ofstream(heads + "c") << "nothing\n";
  std::ofstream(heads + "d") << "ref: refs/heads/gone\n";
  std::ofstream(heads + "e") << std::string(40, '1') << '\n';
  std::filesystem::copy_file(heads + "main", heads + "--output=evil.txt");
  const auto handle = screened_handle(made.path(), made.above());
  std::vector<std::string> names;
  for (const auto& one : all_reference_pages(branches, handle.get(), 1)) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"--output=evil.txt", "e", "main"}));
  const auto page = branches(handle.get(), "refs/heads/d", 1);
  EXPECT_EQ(page->items.front().summary, "");
}

TEST(git_references, tell_what_tags_lead_to_and_say) {
  made_repository made;
  made.write("a.txt", "one\n");
  const auto id = made.commit("first");
  made.git({"tag", "light"});
  made.git({"tag", "-a", "-m", "heavy\n\nwith a body", "heavy"});
  made.git({"tag", "-a", "-m", "nested", "nested", "heavy"});
  made.git({"tag", "blob", "HEAD:a.txt"});
  made.git({"tag", "-a", "-m", "of a tree", "tree", "HEAD^{tree}"});
  made.git({"update-ref", "refs/tags/gone", id});
  std::ofstream(made.path() + "/.git/refs/tags/gone") << std::string(40, '1') << '\n';
  const auto handle = screened_handle(made.path(), made.above());
  const auto all = all_reference_pages(tags, handle.get(), 2);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].name, "blob");
  EXPECT_EQ(all[0].kind, "blob");
  EXPECT_FALSE(all[0].is_annotated);
  EXPECT_EQ(all[1].name, "gone");
  EXPECT_EQ(all[1].kind, "");
  EXPECT_EQ(all[2].name, "heavy");
  EXPECT_EQ(to_hex(all[2].target), id);
  EXPECT_EQ(all[2].message, "heavy\n\nwith a body");
  EXPECT_TRUE(all[2].is_annotated);
  EXPECT_EQ(all[2].tagger, (signature{"Carl Committer", "carl@example.com", 1'700'000'000 + 60, 540}));
  EXPECT_EQ(all[3].kind, "commit");
  EXPECT_FALSE(all[3].tagger);
  EXPECT_EQ(all[4].name, "nested");
  EXPECT_EQ(to_hex(all[4].target), id);
  EXPECT_EQ(all[4].kind, "commit");
  EXPECT_EQ(all[4].message, "nested");
  EXPECT_EQ(all[5].kind, "tree");
}

TEST(git_references, in_other_encodings_are_read_as_text) {
  made_repository made;
  made.commit("first");
  // 日本語 and 山田 in Shift_JIS; Müller in latin-1.
  const std::string japanese = "\x93\xfa\x96\x7b\x8c\xea", yamada = "\x8e\x52\x93\x63";
  const auto commit_saying = [&](const std::string& name, const std::string& message, const std::string& encoding,
                                 const std::string& who) {
    const auto tree = made.git({"rev-parse", "HEAD^{tree}"});
    auto id = made.git({"hash-object", "-t", "commit", "-w", "--stdin"},
                       "tree " + tree + "author " + who +
                           " <a@example.com> 1700000000 +0900\ncommitter C <c@example.com> 1700000000 +0900\n" + encoding +
                           "\n" + message + "\n");
    id.pop_back();
    made.git({"update-ref", "refs/heads/" + name, id});
  };
  commit_saying("a", japanese, "encoding Shift_JIS\n", yamada);
  commit_saying("b", japanese, "", yamada);
  commit_saying("c", "gr\xfc\xdf", "encoding ISO-8859-1\n", "J\xfcrgen M\xfcller");
  commit_saying("d", "gr\xfc\xdf", "", "J\xfcrgen M\xfcller");
  commit_saying("e", "caf\xc3\xa9", "encoding no-such-thing\n", "A");
  const auto handle = screened_handle(made.path(), made.above());
  const auto page = branches(handle.get(), "", 5);
  ASSERT_TRUE(page);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(page->items[i].summary, "日本語");
    EXPECT_EQ(page->items[i].author.name, "山田");
  }
  for (int i = 2; i < 4; ++i) {
    EXPECT_EQ(page->items[i].summary, "grüß");
    EXPECT_EQ(page->items[i].author.name, "Jürgen Müller");
  }
  EXPECT_EQ(page->items[4].summary, "café");
}

}  // namespace
}  // namespace hondana::git
