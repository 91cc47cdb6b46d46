/// What is hidden is neither found by searches nor confirmed by asking for it by name.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/commit_walk.hpp"
#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view hidden_token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

/// All URIs but those of one file or folder, at any revision.
std::shared_ptr<const access_filter> all_but(const std::string& name) {
  return std::make_shared<const test_view>([name](std::string_view uri) {
    const auto path = uri.substr(0, uri.find('?'));
    return path.find('/' + name + '/') == std::string_view::npos && !path.ends_with('/' + name);
  });
}

/// What is answered, text or failure, with `name` written as NAME.
std::string answer(const served_repository& shelf, std::string uri, const std::string& name,
                   const std::shared_ptr<const access_filter>& through = nullptr) {
  uri.replace(uri.find("NAME"), 4, name);
  const auto made = shelf.try_read(uri, through);
  auto text = made ? *std::get<shared_bytes>(made->contents.front().data)
                   : std::to_string(static_cast<int>(made.error().code)) + ' ' + made.error().public_text;
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) text.replace(at, name.size(), "NAME");
  return text;
}

TEST(git_hidden, secrets_in_messages_are_not_found_by_searching_for_them) {
  made_repository made;
  made.write("a", "1");
  made.commit("uses " + std::string(hidden_token) + "\n\nAuthorization: Bearer\n");
  made.write("a", "2");
  made.commit("plain");
  const served_repository shelf(made), open(made, false);
  const auto is_found = [](const served_repository& in, const std::string& pattern) {
    return in.text("git://shelf/log?grep=" + pattern).find("uses ") != std::string::npos;
  };
  const std::string whole_token(hidden_token);
  // What kind of token it is can be read, and so be found.
  for (const auto& pattern : {whole_token, whole_token.substr(0, 5), whole_token.substr(20), std::string("ghp_%5B%5E%2A%5D"),
                              std::string("ghp_%28A%7Cx%29")}) {
    EXPECT_FALSE(is_found(shelf, pattern)) << pattern;
    EXPECT_TRUE(is_found(open, pattern)) << pattern;
  }
  // These fit the mask, too: if the text without it had to fit as well, they would tell one letter after the other.
  for (const auto* pattern : {"uses", "uses%20ghp_%5C%2A%2B%24", "ghp_%28%5C%2A%7CA%29", "ghp_%28%5C%2A%7Cx%29"})
    EXPECT_TRUE(is_found(shelf, pattern)) << pattern;
  EXPECT_THAT(shelf.text("git://shelf/log?grep=plain"), HasSubstr("plain"));
}

TEST(git_hidden, a_secret_that_shows_only_where_lines_are_joined_is_not_found) {
  made_repository made;
  made.write("a", "1");
  const std::string secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQ1";
  made.commit("Authorization: Bearer\n" + secret);
  const served_repository shelf(made);
  const auto shown = shelf.text("git://shelf/log");
  EXPECT_THAT(shown, Not(HasSubstr(secret)));
  EXPECT_THAT(shelf.text("git://shelf/log?grep=" + secret), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/log?grep=" + secret.substr(0, 3)), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/log?grep=%5EAuthorization"), HasSubstr("Authorization"));
}

TEST(git_hidden, secrets_in_names_of_people_are_masked_and_not_found) {
  made_repository made;
  made.write("a", "1");
  const std::string whole_token(hidden_token);
  const auto tag = made.git({"mktag"}, "object " + made.commit("first") + "\ntype commit\ntag v0\ntagger Ada " + whole_token +
                                           " <ada@example.org> 1700000000 +0900\n\nx\n");
  made.git({"update-ref", "refs/tags/v0", tag.substr(0, 40)});
  made.git({"commit", "--quiet", "--amend", "--author=Ada " + whole_token + " <ada@example.org>", "-m", "second"});
  const served_repository shelf(made);
  for (const auto* uri :
       {"git://shelf/log", "git://shelf/log?format=json", "git://shelf/commit/HEAD", "git://shelf/branches",
        "git://shelf/branches?format=json", "git://shelf/tags", "git://shelf/tags?format=json", "git://shelf/overview"}) {
    EXPECT_THAT(shelf.text(uri), Not(HasSubstr(whole_token.substr(8)))) << uri;
    EXPECT_THAT(shelf.text(uri), HasSubstr("Ada")) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/log?author=" + whole_token), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/log?author=ghp_A"), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/log?author=%5Eada.%2A%3Cada%40"), HasSubstr("second"));
  for (const auto& one : shelf.complete("git://{repo}/log{?author}", "author", "").values)
    EXPECT_THAT(one, Not(HasSubstr(whole_token.substr(8))));
}

/// A repository with files that are changed, renamed and removed under names that are hidden, and elsewhere.
void fill(made_repository& made, const std::string& folder, const std::string& file) {
  made.write(folder + '/' + file, "one\ntwo\nthree\n");
  made.write("open/plan", "a\nb\nc\n");
  made.commit("first");
  made.write(folder + '/' + file, "one\ntwo\nthree\nfour\n");
  made.write("open/plan", "a\nb\nc\nd\n");
  made.commit("second");
  made.write(folder + '/' + file, "changed\n");
  made.write(folder + '/' + file + "-new", "untracked\n");
}

TEST(git_hidden, a_path_that_a_view_hides_is_answered_as_one_that_is_not_there) {
  made_repository made;
  fill(made, "secret", "plan");
  const served_repository shelf(made);
  const auto through = all_but("secret");
  for (const auto* uri : {"git://shelf/blame/HEAD/secret/NAME", "git://shelf/blame/HEAD~1/secret/NAME?format=json",
                          "git://shelf/blame/nowhere/secret/NAME", "git://shelf/history/HEAD/secret/NAME",
                          "git://shelf/history/HEAD/secret/NAME?format=json", "git://shelf/history/nowhere/secret/NAME",
                          "git://shelf/log?path=secret%2FNAME", "git://shelf/log?path=secret%2F%2FNAME",
                          "git://shelf/log?path=secret%2FNAME&limit=1", "git://shelf/log?path=secret%2FNAME&format=json",
                          "git://shelf/log?ref=HEAD~1&path=secret%2FNAME", "git://shelf/diff/HEAD~1..HEAD?path=secret%2FNAME",
                          "git://shelf/diff/HEAD~1..HEAD?path=secret%2FNAME&format=json",
                          "git://shelf/changes?path=secret%2FNAME", "git://shelf/changes?path=secret%2FNAME&format=json"}) {
    const auto there = answer(shelf, uri, "plan", through);
    EXPECT_EQ(there, answer(shelf, uri, "none", through)) << uri;
    if (std::string_view(uri).find("nowhere") == std::string_view::npos) {
      EXPECT_NE(there, answer(shelf, uri, "plan")) << uri;
    }
  }
  // Folders, too.
  for (const auto* uri :
       {"git://shelf/log?path=NAME", "git://shelf/log?path=NAME%2F&format=json", "git://shelf/diff/HEAD~1..HEAD?path=NAME",
        "git://shelf/changes?path=NAME", "git://shelf/history/HEAD/NAME", "git://shelf/blame/HEAD/NAME"}) {
    EXPECT_EQ(answer(shelf, uri, "secret", through), answer(shelf, uri, "another", through)) << uri;
  }
}

TEST(git_hidden, a_name_of_credentials_is_answered_alike_whether_it_is_there_or_not) {
  made_repository made;
  fill(made, "keys", "id_rsa");
  fill(made, ".ssh", "known");
  const served_repository shelf(made);
  for (const auto* front :
       {"git://shelf/blame/HEAD/", "git://shelf/blob/HEAD/", "git://shelf/tree/HEAD/", "git://shelf/history/HEAD/",
        "git://shelf/log?path=", "git://shelf/diff/HEAD~3..HEAD?path=", "git://shelf/diff/HEAD~3..HEAD?format=json&path=",
        "git://shelf/changes?path=", "git://shelf/changes?format=json&path="}) {
    const bool is_parameter = std::string_view(front).ends_with('=');
    const auto slash = is_parameter ? "%2F" : "/";
    std::string uri = std::string(front) + "NAME" + slash + "id_rsa";
    EXPECT_EQ(answer(shelf, uri, "keys"), answer(shelf, uri, "none")) << uri;
    uri = std::string(front) + ".ssh" + slash + "NAME";
    EXPECT_EQ(answer(shelf, uri, "known"), answer(shelf, uri, "none")) << uri;
    EXPECT_EQ(answer(shelf, uri, "known-new"), answer(shelf, uri, "none")) << uri;
    // The folder itself, and one that is hidden by the same rule.
    if (is_parameter) {
      EXPECT_EQ(answer(shelf, std::string(front) + "NAME", ".ssh"), answer(shelf, std::string(front) + "NAME", ".gnupg"))
          << front;
    }
  }
  // Named by nothing that lists what is around it.
  for (const auto* uri : {"git://shelf/diff/HEAD~3..HEAD", "git://shelf/diff/HEAD~3..HEAD?path=keys", "git://shelf/commit/HEAD",
                          "git://shelf/changes", "git://shelf/changes?format=json"}) {
    EXPECT_THAT(shelf.text(uri), Not(HasSubstr("id_rsa"))) << uri;
    EXPECT_THAT(shelf.text(uri), Not(HasSubstr("known"))) << uri;
  }
}

/// "open" was called `before` once.
void rename_to_open(made_repository& made, const std::string& before) {
  made.write(before, "one\ntwo\nthree\nfour\nfive\nsix\n");
  made.commit("earliest");
  made.write(before, "one\ntwo\nthree\nfour\nfive\nseven\n");
  made.commit("second");
  made.git({"mv", before, "open"});
  made.commit("third");
}

TEST(git_hidden, a_name_that_a_file_had_once_is_told_by_neither_blame_nor_history_nor_cursors) {
  for (const std::string before : {"secret", "id_rsa"}) {
    made_repository made;
    rename_to_open(made, before);
    const served_repository shelf(made);
    const auto through = before == "secret" ? all_but("secret") : nullptr;
    for (const auto* uri :
         {"git://shelf/blame/HEAD/open", "git://shelf/blame/HEAD/open?format=json", "git://shelf/history/HEAD/open",
          "git://shelf/history/HEAD/open?format=json", "git://shelf/history/HEAD/open?limit=1", "git://shelf/commit/HEAD",
          "git://shelf/commit/HEAD?format=json", "git://shelf/diff/HEAD~1..HEAD"}) {
      const auto text = shelf.text(uri, through);
      EXPECT_THAT(text, Not(HasSubstr(before))) << uri;
      EXPECT_THAT(text, Not(HasSubstr("earliest"))) << uri;
    }
    // What is in it now was always there, as far as anybody can tell.
    EXPECT_THAT(shelf.text("git://shelf/commit/HEAD", through), HasSubstr("- `open`: added, +6 -0\n"));
    const auto told = shelf.json("git://shelf/blame/HEAD/open?format=json", through);
    EXPECT_EQ(told.at("/runs").value().as_array()->size(), 1U);
    EXPECT_THAT(shelf.text("git://shelf/history/HEAD/open", through), HasSubstr("third"));
  }
}

TEST(git_hidden, a_name_that_a_file_got_later_is_not_told_where_it_went) {
  made_repository made;
  made.write("open", "one\ntwo\nthree\n");
  made.commit("first");
  made.git({"mv", "open", "id_rsa"});
  made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/commit/HEAD");
  EXPECT_THAT(text, HasSubstr("- `open`: deleted, +0 -3\n"));
  EXPECT_THAT(text, Not(HasSubstr("id_rsa")));
}

TEST(git_hidden, a_cursor_that_somebody_made_for_a_hidden_name_is_refused) {
  made_repository made;
  rename_to_open(made, "secret");
  const auto repository = opened(made.path());
  log_request request;
  request.limit = 1;
  const auto head = id_at(repository.get(), "main");
  const auto seen = [&](const std::string& hidden) {
    request.is_visible = [hidden](const git_oid&, const std::string& path) { return path != hidden; };
    return file_history(repository.get(), head, "open", request);
  };
  const auto open_page = seen("none");
  ASSERT_TRUE(open_page && open_page->next);
  request.cursor = *open_page->next;
  const auto older = seen("none");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->steps.at(0).path, "secret");
  const auto refused = seen("secret");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_THAT(refused.error().public_text, HasSubstr("`cursor`"));
  // Followed without it, the file is new where it got its name.
  request.cursor.clear();
  const auto page = seen("secret");
  ASSERT_TRUE(page && page->next);
  request.cursor = *page->next;
  const auto rest = seen("secret");
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->steps.empty());
  EXPECT_FALSE(rest->next);
}

TEST(git_hidden, what_a_view_hides_is_not_even_counted_among_secrets) {
  made_repository made;
  made.write("secret/id_rsa", "1");
  made.write("open/a", "1");
  made.commit("first");
  made.write("secret/other/id_rsa", "2");
  const served_repository shelf(made);
  for (const auto* uri : {"git://shelf/commit/HEAD", "git://shelf/changes", "git://shelf/commit/HEAD?format=json"}) {
    EXPECT_THAT(shelf.text(uri, all_but("secret")), Not(HasSubstr("eft out"))) << uri;
    EXPECT_THAT(shelf.text(uri, all_but("secret")), Not(HasSubstr("eftOut"))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("- 1 left out"));
}

}  // namespace
}  // namespace hondana::git
