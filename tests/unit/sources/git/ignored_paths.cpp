/// What ignore files cost where folders are many or deep, and what is said when they cannot be read for want of something.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/disk/private_file.hpp"
#include "sources/git/change_list.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/rendering.hpp"
#include "unit/descriptors_left.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t wide_count = 3000, chain_depth = 1900, chain_tops = 30;
const std::string chain_name(30, 'n');

std::string wide_folder(std::size_t number) { return "f" + std::to_string(number); }

/// A commit with many folders at the top, each with a file of its own.
void fill_with_folders(const made_repository& made) {
  std::string stream = "commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nx\n";
  for (std::size_t i = 0; i < wide_count; ++i) {
    const auto name = wide_folder(i);
    stream += "M 644 inline " + name + "/a" + "\ndata " + std::to_string(name.size()) + '\n' + name + '\n';
  }
  made.git({"fast-import", "--quiet"}, stream);
  made.git({"symbolic-ref", "HEAD", "refs/heads/main"});
}

std::string chain_folder(std::size_t top) {
  std::string path = "t" + std::to_string(100 + top);
  for (std::size_t depth = 1; depth < chain_depth; ++depth) (path += '/') += chain_name;
  return path;
}

/// A commit with some folders at the top that are all one deep chain.
void fill_with_chain(const made_repository& made) {
  std::string stream = "commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nx\nM 644 inline " +
                       chain_folder(0) + "/file\ndata 1\nx\n";
  for (std::size_t i = 1; i < chain_tops; ++i) stream += "C t100 t" + std::to_string(100 + i) + '\n';
  made.git({"fast-import", "--quiet"}, stream);
  made.git({"symbolic-ref", "HEAD", "refs/heads/main"});
}

std::size_t peak_kib() {
  rusage used{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
  return static_cast<std::size_t>(used.ru_maxrss);
}

TEST(git_ignored_paths, of_a_bare_repository_read_each_tree_once_however_many_folders_there_are) {
  const made_repository made;
  fill_with_folders(made);
  const auto in = opened(made.path());
  ignored_paths ignored(in.get(), false);
  for (std::size_t i = 0; i < wide_count; ++i) ignored.load_folder(wide_folder(i));
  for (std::size_t i = wide_count; i-- > 0;) EXPECT_FALSE(ignored.excludes(wide_folder(i) + "/a", false));
  EXPECT_FALSE(ignored.excludes("none/a", false));
  EXPECT_EQ(ignored.tree_read_count(), wide_count + 1);
  EXPECT_FALSE(ignored.error());
}

TEST(git_ignored_paths, are_left_when_nobody_waits_any_more_and_then_all_is_left_out) {
  const made_repository made;
  fill_with_folders(made);
  const auto in = opened(made.path());
  std::size_t left = 100;
  ignored_paths ignored(in.get(), false, [&left] { return left-- == 0; });
  const disk::own_files own{};
  const visibility_filter hides(true, nullptr, "shelf", own, ignored);
  const address at{.repo = "shelf", .kind = resource_kind::commit, .rev = "HEAD"};
  const std::vector<std::string> roots;
  const auto found = compare_trees({.repo = in.get(), .target = at, .visibility = hides, .roots = roots}, std::nullopt,
                                   id_at(in.get(), "HEAD^{tree}"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::cancelled);
  EXPECT_LT(ignored.tree_read_count(), 101u);
  ASSERT_TRUE(ignored.error());
  EXPECT_EQ(ignored.error()->code, errc::cancelled);
  EXPECT_TRUE(ignored.excludes("f0/a", false));
  EXPECT_TRUE(ignored.excludes("", true));
}

TEST(git_ignored_paths, of_a_deep_chain_that_many_folders_share_take_little) {
  const made_repository made;
  fill_with_chain(made);
  const auto in = opened(made.path());
  const auto before = peak_kib();
  ignored_paths ignored(in.get(), false);
  for (std::size_t i = 0; i < chain_tops; ++i) EXPECT_FALSE(ignored.excludes(chain_folder(i) + "/file", false));
  EXPECT_FALSE(ignored.error());
  EXPECT_EQ(ignored.folder_count(), 1 + chain_tops * chain_depth);
  EXPECT_EQ(ignored.tree_read_count(), 1 + chain_depth);
  EXPECT_LT(ignored.memory_bytes(), std::size_t{32} << 20);
  EXPECT_LT(peak_kib() - before, std::size_t{256} << 10);
}

TEST(git_ignored_paths, that_would_take_too_much_are_refused_and_leave_out_all) {
  const made_repository made;
  fill_with_chain(made);
  const auto in = opened(made.path());
  ignored_paths ignored(in.get(), false, {}, std::size_t{1} << 20);
  for (std::size_t i = 0; i < chain_tops; ++i) ignored.load_folder(chain_folder(i));
  ASSERT_TRUE(ignored.error());
  EXPECT_EQ(ignored.error()->code, errc::response_too_large);
  EXPECT_THAT(ignored.error()->public_text, HasSubstr("more than 1 MiB. Request one folder or file."));
  EXPECT_LT(ignored.folder_count(), std::size_t{1} << 14);
  EXPECT_TRUE(ignored.excludes("other", false));
}

TEST(git_ignored_paths, that_no_descriptor_is_left_for_are_told_and_leave_out_nothing) {
  made_repository made;
  made.write("docs/page", "page\n");
  made.write("open", "open\n");
  const auto id = made.commit("first");
  made.git({"repack", "-a", "-d", "-q"});
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const std::vector<std::string> uris{"git://shelf/tree/" + id, "git://shelf/blob/" + id + "/open",
                                      "git://shelf/blob/" + id + "/docs/page"};
  // The pack is open from now on.
  for (const auto& uri : uris) EXPECT_TRUE(shelf.try_read(uri)) << uri;
  {
    const hondana_test::descriptors_left none(0);
    for (const auto& uri : uris) {
      const auto why = shelf.error(uri);
      EXPECT_EQ(why.code, errc::source_unavailable) << uri << ' ' << why.public_text;
      EXPECT_THAT(why.public_text, HasSubstr("too many files open")) << uri;
    }
  }
  for (const auto& uri : uris) EXPECT_TRUE(shelf.try_read(uri)) << uri;
}

TEST(git_ignored_paths, that_cannot_be_opened_now_are_trouble_and_not_unusable) {
  made_repository made;
  made.write("docs/page", "page\n");
  made.commit("first");
  made.write("docs/.hondanaignore", "draft\n");
  const auto in = opened(made.path());
  // The top and the way to it; then what is to be looked at and read.
  for (const std::size_t more : {0, 1, 2}) {
    ignored_paths ignored(in.get(), true);
    const hondana_test::descriptors_left few(more);
    EXPECT_TRUE(ignored.excludes("docs/page", false)) << more;
    ASSERT_TRUE(ignored.error()) << more;
    EXPECT_EQ(ignored.error()->code, errc::source_unavailable) << more;
    EXPECT_FALSE(ignored.has_unusable()) << more;
  }
  ignored_paths ignored(in.get(), true);
  EXPECT_FALSE(ignored.excludes("docs/page", false));
}

TEST(git_ignored_paths, that_are_unusable_let_nothing_be_kept_for_long) {
  made_repository made;
  made.write("docs/page", "page\n");
  const auto id = made.commit("first");
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const auto uri = "git://shelf/tree/" + id + "/docs", file = made.path() + "/docs/.hondanaignore";
  EXPECT_EQ(shelf.read(uri).ttl, std::chrono::hours(24));
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const auto without = shelf.read(uri);
  EXPECT_LT(without.ttl, std::chrono::minutes(1));
  EXPECT_FALSE(without.validator);
  std::filesystem::remove(file);
  EXPECT_EQ(shelf.read(uri).ttl, std::chrono::hours(24));
}

TEST(git_ignored_paths, files_that_no_descriptor_is_left_for_are_not_counted_as_unreadable) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  const auto in = opened(made.path());
  ASSERT_TRUE(compare_work_tree(in.get()));
  const auto refusal = [&in] {
    // One for the work tree, and one for a look; a read takes two.
    const hondana_test::descriptors_left few(2);
    const auto changes = compare_work_tree(in.get());
    EXPECT_FALSE(changes);
    return changes ? failure{errc::cancelled, {}, {}} : changes.error();
  };
  made.write(".gitignore", "b\n");
  made.write("b", "1\n");
  EXPECT_EQ(refusal().code, errc::source_unavailable);
  EXPECT_THAT(refusal().public_text, HasSubstr("cannot be read now"));
  std::filesystem::remove(made.path() + "/.gitignore");
  made.write("a", "22\n");
  EXPECT_EQ(refusal().code, errc::source_unavailable);
  EXPECT_THAT(refusal().public_text, HasSubstr("cannot be read now"));
  const auto changes = compare_work_tree(in.get());
  ASSERT_TRUE(changes);
  EXPECT_THAT(changes->unreadable, IsEmpty());
}

}  // namespace
}  // namespace hondana::git
