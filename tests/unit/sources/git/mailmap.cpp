/// Names of people are those of `.mailmap`, as git shows them.
#include "sources/git/mailmap.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string mapped(const mailmap& people, std::string name, std::string email) {
  people.apply(name, email);
  return name + " <" + email + '>';
}

// Expectations are those of `git check-mailmap` 2.39.
TEST(git_mailmap, all_four_forms_are_applied_without_regard_to_case) {
  const auto people = mailmap::parse(
      "# comment\nAnn Lee <ann@new> <Ann@Old.example>\nBob <bob@x>\nCarl R <carl@r> carl <c@o>\n<only@mail> <o@ld>\n"
      "New Name <n@n> old NAME <n@o>\n");
  EXPECT_EQ(mapped(people, "ann", "ann@old.example"), "Ann Lee <ann@new>");
  EXPECT_EQ(mapped(people, "bb", "BOB@X"), "Bob <BOB@X>");
  EXPECT_EQ(mapped(people, "Carl", "C@o"), "Carl R <carl@r>");
  EXPECT_EQ(mapped(people, "other", "c@o"), "other <c@o>");
  EXPECT_EQ(mapped(people, "zed", "o@ld"), "zed <only@mail>");
  EXPECT_EQ(mapped(people, "Old Name", "n@o"), "New Name <n@n>");
  EXPECT_EQ(mapped(people, "x", "y"), "x <y>");
}

TEST(git_mailmap, malformed_lines_map_nothing) {
  for (const char* text : {"", "\n\n", "no address\n", "Name <open\n", "> <\n", "Ann <> <a@b>\n", "<a@b>\n", "# Ann <a@b>\n"}) {
    EXPECT_EQ(mailmap::parse(text).stamp(), "") << text;
    EXPECT_EQ(mapped(mailmap::parse(text), "n", "a@b"), "n <a@b>") << text;
  }
}

TEST(git_mailmap, logs_commits_blame_and_the_author_filter_show_mapped_people) {
  made_repository made;
  made.write("a.txt", "one\n");
  made.write(".mailmap", "Ada Lovelace <ada@new.example> <ada@example.com>\n");
  const auto id = made.commit("first").substr(0, 40);
  EXPECT_EQ(made.git({"log", "--format=%aN <%aE>"}), "Ada Lovelace <ada@new.example>\n");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/log"), HasSubstr("Ada Lovelace: first"));
  EXPECT_THAT(shelf.text("git://shelf/log?author=lovelace"), HasSubstr("Ada Lovelace: first"));
  EXPECT_THAT(shelf.text("git://shelf/log?author=ada%40example"), HasSubstr("No commits."));
  EXPECT_THAT(shelf.text("git://shelf/commit/" + id), HasSubstr("- Author: Ada Lovelace (`ada@new.example`)"));
  EXPECT_THAT(shelf.text("git://shelf/blame/HEAD/a.txt"), HasSubstr("Ada Lovelace: first"));
  EXPECT_THAT(shelf.text("git://shelf/branches"), HasSubstr("Ada Lovelace: first"));
  // What is named by a whole id changes with the mailmap.
  const auto before = shelf.read("git://shelf/commit/" + id).version;
  made.write(".mailmap", "Ada King <ada@example.com>\n");
  EXPECT_THAT(shelf.text("git://shelf/commit/" + id), HasSubstr("- Author: Ada King (`ada@example.com`)"));
  EXPECT_NE(shelf.read("git://shelf/commit/" + id).version, before);
}

TEST(git_mailmap, of_a_bare_repository_is_that_of_head) {
  made_repository made;
  made.write(".mailmap", "Ada Lovelace <ada@example.com>\n");
  made.commit("first");
  run_git(made.above(), {"clone", "-q", "--bare", "shelf", "bare.git"});
  const served_repository shelf(git_options{.repositories = {made.above() + "/bare.git"}, .watch = false});
  EXPECT_THAT(shelf.text("git://bare/log"), HasSubstr("Ada Lovelace: first"));
}

TEST(git_mailmap, that_is_a_link_is_not_followed) {
  made_repository made;
  made.write("names", "Ada Lovelace <ada@example.com>\n");
  made.commit("first");
  made.git({"rev-parse", "HEAD"});
  ASSERT_EQ(::symlink("names", (made.path() + "/.mailmap").c_str()), 0);
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/log"), Not(HasSubstr("Lovelace")));
}

}  // namespace
}  // namespace hondana::git
