/// What `.hondanaignore` names is shown at no revision.
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deadline.hpp"
#include "os/disk/file_descriptor.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view ignored_words = "not for everybody";

void fill_with_private(made_repository& made) {
  made.write("private/plan", std::string(ignored_words) + " 1\n");
  made.write("docs/draft", std::string(ignored_words) + " 1\n");
  made.write("docs/page", "page 1\n");
  made.write("open", "open 1\n");
  made.commit("first");
  made.write("private/plan", std::string(ignored_words) + " 2\n");
  made.write("docs/draft", std::string(ignored_words) + " 2\n");
  made.write("docs/page", "page 2\n");
  made.commit("second");
}

/// A read that names the version that it has.
read_result read_again(const served_repository& shelf, const std::string& uri, const std::string& version) {
  read_request request;
  request.uri = request.requested_uri = uri;
  request.cached_version = version;
  auto made = shelf.provider().read(request);
  EXPECT_TRUE(made) << uri << ": " << made.error().public_text;
  return made ? std::move(*made) : read_result();
}

TEST(git_ignored, what_an_ignore_file_of_the_work_tree_names_is_shown_at_no_revision) {
  made_repository made;
  fill_with_private(made);
  made.write("private/new", "not tracked\n");
  made.write("docs/draft", std::string(ignored_words) + " 3\n");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("private/plan"));
  EXPECT_THAT(shelf.text("git://shelf/log?path=private"), HasSubstr("second"));
  made.write(".hondanaignore", "/private/\n");
  made.write("docs/.hondanaignore", "draft\n");
  for (const auto* uri : {"git://shelf/commit/HEAD", "git://shelf/commit/HEAD?format=json", "git://shelf/diff/HEAD~1..HEAD",
                          "git://shelf/diff/HEAD~1..HEAD?path=docs", "git://shelf/diff/HEAD~1..HEAD?path=private&format=json",
                          "git://shelf/tree/HEAD", "git://shelf/tree/HEAD~1", "git://shelf/tree/HEAD/docs",
                          "git://shelf/tree/HEAD/docs?format=json", "git://shelf/changes", "git://shelf/changes?format=json",
                          "git://shelf/changes?path=docs"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text, Not(HasSubstr(ignored_words))) << uri;
    EXPECT_THAT(text, Not(HasSubstr("private/"))) << uri;
    EXPECT_THAT(text, Not(HasSubstr("`private`"))) << uri;
    EXPECT_THAT(text, Not(HasSubstr("draft"))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("page 2"));
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("\n- 2 left out: "));
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD"), HasSubstr("1 more left out"));
  for (const auto* uri :
       {"git://shelf/blob/HEAD/private/plan", "git://shelf/blob/HEAD~1/docs/draft", "git://shelf/blame/HEAD/private/plan",
        "git://shelf/history/HEAD/docs/draft", "git://shelf/tree/HEAD/private", "git://shelf/blob/HEAD/private/none"}) {
    const auto why = shelf.error(uri);
    EXPECT_EQ(why.code, errc::resource_not_found) << uri;
    EXPECT_THAT(why.public_text, HasSubstr("a .hondanaignore file excludes it")) << uri;
  }
  const auto diff_of = [&shelf](const std::string& name) {
    auto text = shelf.text("git://shelf/diff/HEAD~1..HEAD?path=private%2F" + name);
    return text.erase(text.find("private/" + name), 8 + name.size());
  };
  EXPECT_EQ(diff_of("plan"), diff_of("none"));
  for (const auto* path : {"private", "private%2Fplan", "private%2F%2Fplan", "docs%2Fdraft"})
    EXPECT_THAT(shelf.text("git://shelf/log?path=" + std::string(path)), HasSubstr("No commits.")) << path;
  EXPECT_EQ(shelf.children("git://shelf/tree/HEAD"),
            (std::vector<std::string>{"git://shelf/blob/HEAD/open", "git://shelf/tree/HEAD/docs"}));
  EXPECT_EQ(shelf.complete("git://{repo}/blob/{rev}/{+path}{?lines}", "path", "docs/").values,
            std::vector<std::string>{"docs/page"});
  EXPECT_EQ(shelf.complete("git://{repo}/tree/{rev}/{+path}", "path", "pri").values, std::vector<std::string>());
}

TEST(git_ignored, what_is_answered_changes_with_the_ignore_files) {
  made_repository made;
  fill_with_private(made);
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  const served_repository shelf(made);
  const auto blob = "git://shelf/blob/" + id + "/docs/draft";
  const std::vector<std::string> views{"git://shelf/commit/" + id, "git://shelf/diff/" + id + "~1.." + id,
                                       "git://shelf/tree/" + id + "/docs", "git://shelf/log?ref=" + id + "&path=docs%2Fdraft"};
  std::vector<read_result> before;
  for (const auto& uri : views) {
    before.push_back(shelf.read(uri));
    EXPECT_TRUE(read_again(shelf, uri, before.back().version).contents.empty()) << uri;
  }
  const auto file = shelf.read(blob);
  // By folder, in a folder that had none.
  made.write("docs/.hondanaignore", "draft\n");
  ASSERT_TRUE(file.validator);
  EXPECT_FALSE(file.validator->is_valid());
  EXPECT_EQ(shelf.error(blob).code, errc::resource_not_found);
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_FALSE(before[i].validator && before[i].validator->is_valid()) << views[i];
    const auto now = read_again(shelf, views[i], before[i].version);
    EXPECT_NE(now.version, before[i].version) << views[i];
    EXPECT_FALSE(now.contents.empty()) << views[i];
    EXPECT_TRUE(read_again(shelf, views[i], now.version).contents.empty()) << views[i];
  }
  std::filesystem::remove(made.path() + "/docs/.hondanaignore");
  for (std::size_t i = 0; i < views.size(); ++i) EXPECT_EQ(shelf.read(views[i]).version, before[i].version) << views[i];
  EXPECT_EQ(shelf.read(blob).version, file.version);
}

TEST(git_ignored, a_reading_holds_while_nothing_changes) {
  constexpr std::uint64_t resolve_cached_only = 0x20;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = resolve_cached_only;
  const disk::handle top(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how)));
  if (!top.is_open()) GTEST_SKIP() << "This kernel cannot tell what it has at hand (Linux 5.12 can).";
  made_repository made;
  struct statfs where{};
  ASSERT_EQ(::statfs(made.path().c_str(), &where), 0);
  if (where.f_type == TMPFS_MAGIC) GTEST_SKIP() << "A tmpfs has nothing at hand of what is not there.";
  fill_with_private(made);
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  const served_repository shelf(made);
  auto file = shelf.read("git://shelf/blob/" + id + "/docs/draft");
  // Not before its ignore files are old enough for their time stamps to tell changes.
  ASSERT_TRUE(hondana_test::eventually([&] {
    file = shelf.read("git://shelf/blob/" + id + "/docs/draft");
    return file.validator && file.validator->is_valid();
  }));
  EXPECT_TRUE(file.validator->is_valid());
  made.write("docs/page", "something else\n");
  EXPECT_TRUE(file.validator->is_valid());
}

TEST(git_ignored, a_reading_holds_until_a_folder_comes_that_could_have_an_ignore_file) {
  made_repository made;
  fill_with_private(made);
  const auto id = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  const auto stands = made.path() + "/docs", aside = made.above() + "/docs";
  std::filesystem::rename(stands, aside);
  const served_repository shelf(made);
  const auto file = shelf.read("git://shelf/blob/" + id + "/docs/draft");
  ASSERT_TRUE(file.validator);
  std::filesystem::rename(aside, stands);
  EXPECT_FALSE(file.validator->is_valid());
}

TEST(git_ignored, the_deepest_ignore_file_decides_and_none_includes_below_an_ignored_folder) {
  made_repository made;
  fill_with_private(made);
  made.write(".hondanaignore", "draft\nprivate\n");
  made.write("docs/.hondanaignore", "!draft\n");
  made.write("private/.hondanaignore", "!plan\n");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/blob/HEAD/docs/draft"), HasSubstr(ignored_words));
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/private/plan").code, errc::resource_not_found);
  // What is not there any more is left out by what is.
  std::filesystem::remove_all(made.path() + "/docs");
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/docs/draft").code, errc::resource_not_found);
  EXPECT_THAT(shelf.text("git://shelf/blob/HEAD/docs/page"), HasSubstr("page 2"));
  made.write(".hondanaignore", "docs/\n");
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/docs/page").code, errc::resource_not_found);
}

TEST(git_ignored, an_ignore_file_that_cannot_be_used_hides_its_folder_and_a_link_is_none) {
  made_repository made;
  fill_with_private(made);
  const served_repository shelf(made);
  const auto file = made.path() + "/docs/.hondanaignore";
  const auto is_shown = [&shelf] { return shelf.try_read("git://shelf/blob/HEAD/docs/page").has_value(); };
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(is_shown());
  EXPECT_TRUE(shelf.try_read("git://shelf/blob/HEAD/open"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(is_shown());
  std::filesystem::remove(file);
  made.write("docs/.hondanaignore", std::string((std::size_t{1} << 20) + 1, '#'));
  EXPECT_FALSE(is_shown());
  std::filesystem::remove(file);
  made.write("rules", "page\n");
  std::filesystem::create_symlink("../rules", file);
  EXPECT_TRUE(is_shown());
}

TEST(git_ignored, of_a_bare_repository_the_ignore_files_of_head_count) {
  made_repository made;
  fill_with_private(made);
  made.write(".hondanaignore", "private/\n");
  made.write("docs/.hondanaignore", "draft\n");
  const auto id = made.commit("ignores");
  made.git({"clone", "--quiet", "--bare", ".", "../bare.git"});
  const served_repository bare(git_options{.repositories = {made.above() + "/bare.git"}});
  for (const auto* path : {"private/plan", "docs/draft"})
    EXPECT_EQ(bare.error("git://bare/blob/" + id + "~1/" + path).code, errc::resource_not_found) << path;
  const auto page = bare.read("git://bare/blob/" + id + "/docs/page");
  EXPECT_FALSE(page.validator);  // HEAD may have others soon
  EXPECT_THAT(bare.text("git://bare/commit/" + id + "~1"), Not(HasSubstr(ignored_words)));
  run_git(made.above() + "/bare.git", {"update-ref", "HEAD", id + "~1"});
  EXPECT_THAT(bare.text("git://bare/blob/" + id + "/private/plan"), HasSubstr(ignored_words));
}

TEST(git_ignored, a_submodule_is_left_out_as_a_folder) {
  made_repository made;
  made.write("a", "1");
  const auto id = made.commit("first");
  made.git({"update-index", "--add", "--cacheinfo", "160000," + id + ",sub"});
  made.git({"commit", "--quiet", "-m", "second"});
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("`sub`"));
  made.write(".hondanaignore", "sub/\n");
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), Not(HasSubstr("`sub`")));
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD"), Not(HasSubstr("`sub`")));
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/sub").code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::git
