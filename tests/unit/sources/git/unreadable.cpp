/// What the operating system does not let be read ends no view, and its name is in none.
#include <sys/fsuid.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/diff.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

/// While it lives, this thread has the rights of nobody where files are concerned: root may read everything.
class without_rights {
 public:
  without_rights() : before_(static_cast<uid_t>(::setfsuid(::geteuid() == 0 ? nobody : ::geteuid()))) {}
  ~without_rights() { ::setfsuid(before_); }
  without_rights(const without_rights&) = delete;
  without_rights& operator=(const without_rights&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  const uid_t before_;
};

/// Takes all rights of paths away, and gives them back in the end.
class closed_paths {
 public:
  explicit closed_paths(std::vector<std::string> all) : all_(std::move(all)) { allow(std::filesystem::perms::none); }
  ~closed_paths() { allow(std::filesystem::perms::owner_all); }
  closed_paths(const closed_paths&) = delete;
  closed_paths& operator=(const closed_paths&) = delete;

 private:
  void allow(std::filesystem::perms rights) const {
    for (const auto& one : all_) std::filesystem::permissions(one, rights);
  }
  const std::vector<std::string> all_;
};

TEST(git_unreadable, files_and_folders_are_counted_and_not_named) {
  made_repository made;
  for (const auto* file : {".env", "closed", "open"}) made.write(file, "A=1\n");
  made.commit("first");
  for (const auto* file : {".env", "closed", "open"}) made.write(file, "A=22\n");
  made.write(".ssh/known", "x");
  made.write("new", "x");
  for (const auto& one : {made.above(), made.path()}) std::filesystem::permissions(one, std::filesystem::perms::all);
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const closed_paths closed({made.path() + "/.env", made.path() + "/closed", made.path() + "/.ssh"});
  const without_rights now;
  ASSERT_NE(::access((made.path() + "/open").c_str(), F_OK), -1);
  for (const auto* uri : {"git://shelf/changes", "git://shelf/changes?format=json", "git://shelf/overview"}) {
    const auto text = shelf.text(uri);
    for (const auto* name : {".env", "closed", ".ssh"}) EXPECT_THAT(text, Not(HasSubstr(name))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("+A=22"));
  EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("- `new`\n\n3 could not be read: "));
  EXPECT_EQ(shelf.json("git://shelf/changes?format=json").integer_at("/unreadable").value(), 3);
  EXPECT_THAT(shelf.text("git://shelf/overview"), HasSubstr("1 not staged, 1 untracked, 3 could not be read ("));
  EXPECT_EQ(shelf.json("git://shelf/overview?format=json").integer_at("/changes/unreadable").value(), 3);
  // Asked for by name, they are told of as what is not there, but for what the caller may know of.
  EXPECT_THAT(shelf.text("git://shelf/changes?path=closed"), HasSubstr("1 could not be read"));
  for (const auto* path : {".env", ".ssh", ".ssh%2Fknown"})
    EXPECT_THAT(shelf.text("git://shelf/changes?path=" + std::string(path)), HasSubstr("\n\nNone.\n")) << path;
  const auto through =
      std::make_shared<const test_view>([](std::string_view uri) { return uri.find("/closed") == std::string_view::npos; });
  EXPECT_THAT(shelf.text("git://shelf/changes", through), HasSubstr("2 could not be read"));
  EXPECT_THAT(shelf.text("git://shelf/changes?path=closed", through), HasSubstr("None."));
}

TEST(git_unreadable, a_folder_with_tracked_files_counts_for_each_of_them_and_not_itself) {
  made_repository made;
  made.write("closed/a", "1");
  made.write("closed/b", "1");
  made.commit("first");
  made.write("closed/new", "1");
  for (const auto& one : {made.above(), made.path()}) std::filesystem::permissions(one, std::filesystem::perms::all);
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const closed_paths closed({made.path() + "/closed"});
  const without_rights now;
  EXPECT_EQ(shelf.json("git://shelf/changes?format=json").integer_at("/unreadable").value(), 2);
}

TEST(git_unreadable, the_top_counts_for_each_tracked_file_and_not_itself) {
  made_repository made;
  made.write("a", "1");
  made.write("folder/b", "1");
  made.commit("first");
  std::filesystem::rename(made.path() + "/.git", made.above() + "/store");
  made.write(".git", "gitdir: " + made.above() + "/store\n");
  for (const auto& one : {made.above(), made.path()}) std::filesystem::permissions(one, std::filesystem::perms::all);
  const auto in = opened(made.path());
  const closed_paths closed({made.path()});
  const without_rights now;
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes) << changes.error().public_text << changes.error().private_text;
  EXPECT_THAT(changes->unreadable, testing::ElementsAre("a", "folder/b"));
}

TEST(git_unreadable, an_ignore_file_hides_what_is_beside_it) {
  made_repository made;
  made.write("docs/page", "page\n");
  made.write("open", "open\n");
  made.commit("first");
  made.write("docs/.hondanaignore", "draft\n");
  for (const auto& one : {made.above(), made.path()}) std::filesystem::permissions(one, std::filesystem::perms::all);
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const auto is_shown = [&shelf] { return shelf.try_read("git://shelf/blob/HEAD/docs/page").has_value(); };
  EXPECT_TRUE(is_shown());
  for (const auto* one : {"/docs/.hondanaignore", "/docs"}) {
    const closed_paths closed({made.path() + one});
    const without_rights now;
    EXPECT_FALSE(is_shown()) << one;
    EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/open"), "open\n") << one;
  }
}

}  // namespace
}  // namespace hondana::git
