/// The provider as the catalog uses it: lists, folders, completion, versions and errors.
#include "sources/git/git_provider.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string head_of_made(const made_repository& made) { return made.git({"rev-parse", "HEAD"}).substr(0, 40); }

TEST(git_provider, lists_what_each_repository_has_in_segment_order_page_by_page) {
  made_repository one, bare({"--bare"});
  one.write("a", "1");
  one.commit("first");
  const served_repository both(git_options{.repositories = {one.path(), bare.path()}});
  std::vector<std::string> uris;
  list_request request;
  request.limit = 3;
  for (;;) {
    const auto page = both.provider().list(request).value();
    EXPECT_LE(page.entries.size(), 3U);
    for (const auto& entry : page.entries) {
      uris.push_back(entry.uri);
      EXPECT_FALSE(entry.name.empty());
      EXPECT_FALSE(entry.kind.empty());
    }
    if (!page.next_key) break;
    request.after_key = *page.next_key;
  }
  EXPECT_THAT(uris, ElementsAre("git://shelf/branches", "git://shelf/changes", "git://shelf/log", "git://shelf/overview",
                                "git://shelf/stashes", "git://shelf/tags", "git://shelf/tree/HEAD", "git://shelf/worktrees",
                                "git://shelf-2/branches", "git://shelf-2/log", "git://shelf-2/overview",
                                "git://shelf-2/stashes", "git://shelf-2/tags", "git://shelf-2/worktrees"));
  EXPECT_TRUE(std::is_sorted(uris.begin(), uris.end(),
                             [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a, b)); }));
}

TEST(git_provider, every_kind_and_every_listed_uri_is_documented_and_read) {
  made_repository made;
  made.write("a", "1");
  made.commit("first");
  const served_repository shelf(made);
  std::set<std::string> kinds;
  const auto documented = shelf.provider().documentation();
  for (const auto& one : documented.kinds) kinds.insert(one.name);
  const auto listed = shelf.provider().list({}).value();
  for (const auto& entry : listed.entries) {
    EXPECT_TRUE(kinds.contains(entry.kind)) << entry.kind;
    const auto read = shelf.read(entry.uri);
    describe_request request;
    request.uri = entry.uri;
    const auto described = shelf.provider().describe(request).value();
    EXPECT_EQ(described.kind, entry.kind);
    EXPECT_EQ(described.version, read.version);
    EXPECT_FALSE(read.version.empty());
  }
}

TEST(git_provider, finds_repositories_below_a_folder_and_leaves_out_what_cannot_be_served) {
  made_repository made;
  made.write("a", "1");
  made.commit("first");
  run_git(made.above(), {"clone", "-q", "shelf", "My Clone"});
  run_git(made.above(), {"clone", "-q", "shelf", "bad"});
  run_git(made.above() + "/bad", {"config", "include.path", "/etc/passwd"});
  std::string said;
  const served_repository all(git_options{.folders = {made.above()}, .log = [&](std::string_view line) { said += line; }});
  EXPECT_THAT(all.complete("git://{repo}/overview{?format}", "repo", "", {}).values, ElementsAre("my-clone", "shelf"));
  EXPECT_THAT(said, HasSubstr("bad is left out: "));
  EXPECT_THAT(said, HasSubstr("/My Clone is served as git://my-clone/"));
  EXPECT_THAT(all.provider().health().detail, HasSubstr("1 repositories were left out"));
  const auto needs = all.provider().requirements();
  EXPECT_EQ(needs.folders.size(), 2U);
  const served_repository one(
      git_options{.folders = {made.above()}, .max_repositories = 1, .log = [&](std::string_view line) { said += line; }});
  EXPECT_THAT(said, HasSubstr(" has more than 1 repositories; the others are left out"));
  EXPECT_THAT(one.provider().health().detail, HasSubstr("left out"));
  EXPECT_FALSE(git_provider::open({.repositories = {made.above() + "/bad"}}));
  EXPECT_FALSE(git_provider::open({.repositories = {made.above() + "/none"}}));
  EXPECT_FALSE(git_provider::open({}));
}

TEST(git_provider, children_come_in_segment_order_and_are_folders_or_blobs) {
  made_repository made;
  for (const auto* name : {"b", "a-b/x", "a/x", "a.txt", "z/y/x", "a+"}) made.write(name, name);
  made.commit("first");
  const served_repository shelf(made);
  const std::vector<std::string> wanted{"git://shelf/blob/HEAD/a+", "git://shelf/blob/HEAD/a.txt", "git://shelf/blob/HEAD/b",
                                        "git://shelf/tree/HEAD/a",  "git://shelf/tree/HEAD/a-b",   "git://shelf/tree/HEAD/z"};
  for (const std::size_t a_page : {1U, 2U, 4U, 500U}) EXPECT_EQ(shelf.children("git://shelf/tree/HEAD", a_page), wanted);
  EXPECT_THAT(shelf.children("git://shelf/tree/HEAD/z"), ElementsAre("git://shelf/tree/HEAD/z/y"));
  children_request request;
  request.uri = "git://shelf/tree/HEAD";
  const auto page = shelf.provider().children(request).value();
  EXPECT_EQ(page.entries[3].mime_type, "inode/directory");
  EXPECT_EQ(page.entries[3].kind, "tree");
  EXPECT_EQ(page.entries[0].kind, "blob");
  EXPECT_EQ(page.entries[0].version + '\n', made.git({"rev-parse", "HEAD:a+"}));
  request.uri = "git://shelf/overview";
  EXPECT_EQ(shelf.provider().children(request).error().code, errc::invalid_argument);
  request.uri = "git://shelf/tree/HEAD/b";
  EXPECT_EQ(shelf.provider().children(request).error().code, errc::invalid_argument);
  request.uri = "git://shelf/tree/HEAD/none";
  EXPECT_EQ(shelf.provider().children(request).error().code, errc::resource_not_found);
}

TEST(git_provider, completes_revisions_paths_and_authors) {
  made_repository made;
  made.write("src/main file.cpp", "1");
  made.write("src/deep/x", "1");
  made.write("readme", "1");
  made.commit("first");
  made.git({"tag", "v1"});
  made.git({"branch", "feature/x"});
  made.git({"rm", "-q", "readme"});
  made.commit("second");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.complete("git://{repo}/commit/{rev}{?format}", "rev", "").values,
              ElementsAre("HEAD", "feature/x", "main", "v1"));
  EXPECT_THAT(shelf.complete("git://{repo}/diff/{from}..{to}{?path,format}", "to", "fea").values, ElementsAre("feature/x"));
  const auto id = head_of_made(made);
  EXPECT_THAT(shelf.complete("git://{repo}/commit/{rev}{?format}", "rev", id.substr(0, 5)).values,
              ElementsAre(id.substr(0, 10)));
  EXPECT_THAT(shelf.complete("git://{repo}/commit/{rev}{?format}", "rev", id.substr(0, 3)).values,
              Not(Contains(id.substr(0, 10))));
  const std::vector<std::pair<std::string, std::string>> at_v1{{"repo", "shelf"}, {"rev", "v1"}};
  constexpr auto blob = "git://{repo}/blob/{rev}/{+path}{?lines}";
  EXPECT_THAT(shelf.complete(blob, "path", "", at_v1).values, ElementsAre("readme", "src/"));
  EXPECT_THAT(shelf.complete(blob, "path", "").values, ElementsAre("src/"));
  EXPECT_THAT(shelf.complete(blob, "path", "src/m", at_v1).values, ElementsAre("src/main file.cpp"));
  EXPECT_THAT(shelf.complete("git://{repo}/tree/{rev}/{+path}{?format}", "path", "src/", at_v1).values,
              ElementsAre("src/deep/"));
  EXPECT_THAT(shelf
                  .complete("git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}", "path", "rea",
                            {{"repo", "shelf"}, {"ref", "v1"}})
                  .values,
              ElementsAre("readme"));
  EXPECT_THAT(shelf.complete("git://{repo}/log{?ref,path,author,grep,since,until,limit,cursor,format}", "author", "ada").values,
              ElementsAre("Ada Writer"));
  EXPECT_THAT(shelf.complete("git://{repo}/overview{?format}", "format", "j").values, ElementsAre("json"));
  EXPECT_THAT(shelf.complete("git://{repo}/commit/{rev}{?format}", "rev", "", {{"repo", "none"}}).values, ElementsAre());
  EXPECT_THAT(shelf.complete(blob, "path", "x", {{"repo", "shelf"}, {"rev", "--output=x"}}).values, ElementsAre());
}

TEST(git_provider, versions_stay_while_nothing_moves_and_spare_the_contents) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  const served_repository shelf(made);
  const auto id = head_of_made(made);
  const std::vector<std::string> uris{
      "git://shelf/overview",     "git://shelf/branches",       "git://shelf/tags",        "git://shelf/log",
      "git://shelf/commit/" + id, "git://shelf/tree/HEAD",      "git://shelf/blob/HEAD/a", "git://shelf/diff/" + id + ".." + id,
      "git://shelf/blame/HEAD/a", "git://shelf/history/HEAD/a", "git://shelf/stashes",     "git://shelf/worktrees",
      "git://shelf/changes"};
  std::vector<std::string> versions;
  for (const auto& uri : uris) {
    versions.push_back(shelf.read(uri).version);
    read_request again;
    again.uri = again.requested_uri = uri;
    again.cached_version = versions.back();
    const auto known = shelf.provider().read(again).value();
    EXPECT_TRUE(known.contents.empty()) << uri;
    EXPECT_EQ(known.version, versions.back()) << uri;
    again.cached_version = "another";
    EXPECT_FALSE(shelf.provider().read(again).value().contents.empty()) << uri;
  }
  made.write("a", "2\n");
  made.commit("second");
  for (std::size_t i = 0; i < uris.size(); ++i) {
    const bool is_fixed = uris[i].find(id) != std::string::npos;
    const bool is_same = is_fixed || uris[i].ends_with("tags") || uris[i].ends_with("stashes") || uris[i].ends_with("changes");
    EXPECT_EQ(shelf.read(uris[i]).version == versions[i], is_same) << uris[i];
  }
}

TEST(git_provider, only_what_is_named_by_whole_ids_is_fresh_for_long) {
  using namespace std::chrono_literals;
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  const served_repository shelf(made);
  const auto id = head_of_made(made);
  for (const auto& uri : {"git://shelf/commit/" + id, "git://shelf/blob/" + id + "/a", "git://shelf/tree/" + id,
                          "git://shelf/log?ref=" + id, "git://shelf/diff/" + id + ".." + id, "git://shelf/blame/" + id + "/a"})
    EXPECT_EQ(shelf.read(uri).ttl, 24h) << uri;
  for (const auto& uri :
       {std::string("git://shelf/commit/HEAD"), "git://shelf/commit/" + id.substr(0, 8), std::string("git://shelf/log"),
        "git://shelf/diff/" + id + "..HEAD", std::string("git://shelf/branches")})
    EXPECT_EQ(shelf.read(uri).ttl, 2s) << uri;
  EXPECT_EQ(shelf.read("git://shelf/changes").ttl, 0s);
  EXPECT_EQ(shelf.read("git://shelf/overview").ttl, 0s);
}

TEST(git_provider, a_wrong_revision_names_its_variable_and_what_is_not_there_is_not_found) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  const served_repository shelf(made);
  for (const auto* uri : {"git://shelf/commit/--output%3Dx", "git://shelf/commit/HEAD%40%7B1%7D", "git://shelf/commit/a..b",
                          "git://shelf/commit/none"}) {
    const auto why = shelf.error(uri);
    EXPECT_EQ(why.code, errc::invalid_argument) << uri;
    EXPECT_TRUE(why.public_text.starts_with("rev: ")) << why.public_text;
  }
  EXPECT_TRUE(shelf.error("git://shelf/diff/none..HEAD").public_text.starts_with("from: "));
  EXPECT_TRUE(shelf.error("git://shelf/diff/HEAD..none").public_text.starts_with("to: "));
  EXPECT_TRUE(shelf.error("git://shelf/log?ref=none").public_text.starts_with("ref: "));
  EXPECT_TRUE(shelf.error("git://shelf/log?author=%28").public_text.find("author") != std::string::npos);
  for (const auto* uri :
       {"git://other/overview", "git://shelf/none", "git://shelf/blob/HEAD/none", "git://shelf/blob/HEAD/a/b"})
    EXPECT_EQ(shelf.error(uri).code, errc::resource_not_found) << uri;
  EXPECT_EQ(shelf.error("git://shelf/overview?x=1").code, errc::invalid_argument);
  for (const auto* uri : {"git://shelf/blob/HEAD/.git/config", "git://shelf/blob/HEAD/none"})
    EXPECT_EQ(shelf.error(uri).public_text.find(made.above()), std::string::npos);
}

TEST(git_provider, who_has_left_is_not_worked_for) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  const served_repository shelf(made);
  read_request request;
  request.uri = request.requested_uri = "git://shelf/log";
  std::stop_source left;
  left.request_stop();
  request.stop = left.get_token();
  EXPECT_EQ(shelf.provider().read(request).error().code, errc::cancelled);
  request.stop = {};
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(shelf.provider().read(request).error().code, errc::timed_out);
}

}  // namespace
}  // namespace hondana::git
