/// Folders with very many entries: a page costs what is on it, and all can be stopped.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "os/disk/private_file.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/resource_entries.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t entries_made = 12'000;

std::string number_name(std::size_t number) {
  auto digits = std::to_string(number);
  return "n" + digits.insert(0, 6 - std::min<std::size_t>(digits.size(), 6), '0');
}

/// Commits a tree of lines that `git mktree` takes; `BLOB` and `TREE` stand for ids.
void commit_tree(const made_repository& made, const std::string& lines) {
  const auto tree = made.git({"mktree", "-z"}, lines).substr(0, 40);
  const auto commit = made.git({"commit-tree", "-m", "many", tree}).substr(0, 40);
  made.git({"update-ref", "HEAD", commit});
}

std::string blob_in(const made_repository& made) { return made.git({"hash-object", "-w", "--stdin"}, "x").substr(0, 40); }

/// Names n000000 and so on, and a folder at the end.
void fill_with_many(const made_repository& made) {
  const auto blob = blob_in(made);
  const auto folder = made.git({"mktree"}, "100644 blob " + blob + "\tinner\n").substr(0, 40);
  std::string lines;
  for (std::size_t i = 0; i < entries_made; ++i) lines += "100644 blob " + blob + '\t' + number_name(i) + '\0';
  commit_tree(made, lines + "040000 tree " + folder + "\tzfolder" + '\0');
}

/// Counts how often it is asked.
std::shared_ptr<const access_filter> counting(std::size_t& asked) {
  return std::make_shared<const test_view>([&asked](std::string_view /*uri*/) {
    ++asked;
    return true;
  });
}

TEST(git_large_folders, have_their_children_in_segment_order_whatever_their_names) {
  made_repository made;
  const auto blob = blob_in(made);
  const auto folder = made.git({"mktree"}, "100644 blob " + blob + "\tinner\n").substr(0, 40);
  std::string lines;
  std::vector<std::string> expected;
  const auto add = [&](const std::string& name, bool is_folder) {
    lines += (is_folder ? "040000 tree " + folder : "100644 blob " + blob) + '\t' + name + '\0';
    expected.push_back(
        uri_of({.repo = "shelf", .kind = is_folder ? resource_kind::tree : resource_kind::blob, .rev = "HEAD", .path = name}));
  };
  for (const std::string front : {"a", "a!", "b", "\xC3\xA1", "\xFF"})
    for (const std::string back :
         {"", " ", "!", "$", "%", "&", "#", "-", ".", "0", "@", "A", "[", "~", "\x01", "\xE6\x9C\xAC", "\xFE", "\xFF"})
      add(front + back, back.empty() || back == "-");
  std::sort(expected.begin(), expected.end(),
            [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a, b)); });
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  commit_tree(made, lines);
  const served_repository shelf(made);
  for (const std::size_t a_page : {1, 7, 500}) {
    auto found = shelf.children("git://shelf/tree/HEAD", a_page);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    EXPECT_EQ(found, expected) << a_page;
  }
}

TEST(git_large_folders, that_are_not_sorted_are_refused_by_name) {
  made_repository made;
  const auto blob = id_from(blob_in(made)), folder = id_from(made.git({"mktree"}, "").substr(0, 40));
  const auto line = [](const std::string& front, const git_oid& id) {
    return front + '\0' + std::string(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
  };
  const auto commit = [&](const std::string& entries) {
    auto tree = made.git({"hash-object", "--literally", "-t", "tree", "-w", "--stdin"}, entries).substr(0, 40);
    made.git({"update-ref", "HEAD", made.git({"commit-tree", "-m", "one", tree}).substr(0, 40)});
    return tree;
  };
  const served_repository shelf(made);
  for (const auto& entries :
       {line("100644 b", blob) + line("100644 a", blob), line("40000 a", folder) + line("100644 a-", blob),
        line("100644 ab", blob) + line("100644 a", blob)}) {
    const auto tree = commit(entries);
    const auto why = shelf.error("git://shelf/tree/HEAD");
    EXPECT_EQ(why.code, errc::source_unavailable);
    EXPECT_THAT(why.public_text, HasSubstr(tree));
    EXPECT_THAT(why.public_text, HasSubstr("treeNotSorted"));
    children_request request;
    request.uri = "git://shelf/tree/HEAD";
    const auto page = shelf.provider().children(request);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, errc::source_unavailable);
  }
  commit(line("100644 a-", blob) + line("40000 a", folder) + line("100644 a0", blob));
  EXPECT_THAT(shelf.children("git://shelf/tree/HEAD"), SizeIs(3));
}

TEST(git_large_folders, ask_the_view_about_a_page_of_children_only) {
  made_repository made;
  fill_with_many(made);
  const served_repository shelf(made);
  std::size_t asked = 0;
  children_request request;
  request.caller.access_filter = counting(asked);
  request.uri = "git://shelf/tree/HEAD";
  request.limit = 10;
  request.after_key = "git://shelf/blob/HEAD/n005000";
  const auto page = shelf.provider().children(request);
  ASSERT_TRUE(page);
  ASSERT_THAT(page->entries, SizeIs(10));
  EXPECT_EQ(page->entries.front().uri, "git://shelf/blob/HEAD/n005001");
  EXPECT_LE(asked, 2 * request.limit);
  EXPECT_THAT(shelf.children("git://shelf/tree/HEAD", 5000), SizeIs(entries_made + 1));
}

TEST(git_large_folders, are_left_when_nobody_waits_any_more) {
  made_repository made;
  fill_with_many(made);
  const auto repository = opened(made.path());
  const disk::own_files own{};
  ignored_paths ignored(repository.get(), false);
  const visibility_filter hides(true, nullptr, "shelf", own, ignored);
  const address folder{.repo = "shelf", .kind = resource_kind::tree, .rev = "HEAD"};
  std::size_t stopped = 0;
  for (std::size_t answers = 0;; ++answers) {
    std::size_t left = answers;
    const std::function<bool()> is_stopped = [&left] { return left-- == 0; };
    const auto page =
        child_entries(repository.get(), folder, hides, {.after_key = {}, .limit = entries_made, .is_stopped = is_stopped});
    if (page) break;
    ASSERT_EQ(page.error().code, errc::cancelled);
    ++stopped;
  }
  EXPECT_GT(stopped, 2 * entries_made / 1024);
}

TEST(git_large_folders, are_shown_page_by_page) {
  made_repository made;
  fill_with_many(made);
  const served_repository shelf(made);
  std::size_t asked = 0;
  const auto text = shelf.text("git://shelf/tree/HEAD", counting(asked));
  EXPECT_THAT(text, HasSubstr("[`n004999`]"));
  EXPECT_THAT(text, Not(HasSubstr("[`n005000`]")));
  EXPECT_THAT(text, HasSubstr("\n[More entries](<git://shelf/tree/HEAD?cursor=n004999>)\n"));
  EXPECT_LT(asked, 11'000u);
  const auto last = shelf.text("git://shelf/tree/HEAD?cursor=n011998");
  EXPECT_THAT(last, HasSubstr("\n\n- [`n011999`](<git://shelf/blob/HEAD/n011999>), 1 byte\n- [`zfolder/`]"));
  EXPECT_THAT(last, Not(HasSubstr("More entries")));
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD?cursor=zfolder%2F"), HasSubstr("No entries.\n"));
  std::set<std::string> names;
  std::size_t pages = 0;
  for (std::string uri = "git://shelf/tree/HEAD?format=json"; !uri.empty(); ++pages) {
    const auto json = shelf.json(uri);
    const auto entries = json.array_at("/entries");
    ASSERT_TRUE(entries) << uri;
    for (const auto& one : *entries) EXPECT_TRUE(names.insert(one.string_at("name").value_or("")).second);
    const auto next = json.string_at("/next");
    uri = next ? canonical_uri(*next).value_or("none") : std::string();
  }
  EXPECT_EQ(pages, 3u);
  EXPECT_THAT(names, SizeIs(entries_made + 1));
}

TEST(git_large_folders, complete_what_begins_with_what_was_typed) {
  made_repository made;
  fill_with_many(made);
  const served_repository shelf(made);
  const std::string blob = "git://{repo}/blob/{rev}/{+path}{?lines}";
  EXPECT_THAT(shelf.complete(blob, "path", "n01199").values,
              ElementsAre("n011990", "n011991", "n011992", "n011993", "n011994", "n011995", "n011996", "n011997", "n011998",
                          "n011999"));
  EXPECT_THAT(shelf.complete(blob, "path", "zf").values, ElementsAre("zfolder/"));
  EXPECT_THAT(shelf.complete("git://{repo}/tree/{rev}/{+path}{?cursor,format}", "path", "").values, ElementsAre("zfolder/"));
  complete_request request;
  std::size_t asked = 0;
  request.caller.access_filter = counting(asked);
  request.uri_template = blob;
  request.argument = "path";
  request.value = "n0";
  request.context = {{"repo", "shelf"}};
  const auto found = shelf.provider().complete(request);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->values, SizeIs(100));
  EXPECT_TRUE(found->has_more);
  EXPECT_FALSE(found->total);
  EXPECT_LT(asked, 500u);
}

TEST(git_large_folders, of_more_than_a_million_entries_are_not_listed) {
  made_repository made;
  const auto blob = id_from(blob_in(made));
  const std::string id(reinterpret_cast<const char*>(blob.id), GIT_OID_RAWSZ);
  std::string entries;
  for (std::size_t i = 0; i <= 1'000'000; ++i) (((entries += "100644 ") += std::to_string(10'000'000 + i)) += '\0') += id;
  const auto tree = made.git({"-c", "core.compression=0", "hash-object", "-t", "tree", "-w", "--stdin"}, entries).substr(0, 40);
  made.git({"update-ref", "HEAD", made.git({"commit-tree", "-m", "many", tree}).substr(0, 40)});
  const served_repository shelf(made);
  const auto why = shelf.error("git://shelf/tree/HEAD");
  EXPECT_EQ(why.code, errc::response_too_large);
  EXPECT_THAT(why.public_text, HasSubstr("more than 1000000 entries"));
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/10999999"), "x");
}

}  // namespace
}  // namespace hondana::git
