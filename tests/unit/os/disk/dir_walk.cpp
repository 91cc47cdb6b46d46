/// Walks through everything below a folder.
#include "os/disk/dir_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/disk/served_dir.hpp"
#include "unit/descriptors_left.hpp"

namespace hondana::disk {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// Records a walk. Stops at the name `stop`, and does not enter folders named `skip`.
struct recorder final : dir_visitor {
  std::set<std::string> visited;
  std::set<std::string> entered;
  std::map<std::string, std::string> denied;
  std::map<std::string, std::size_t> depths;
  int left = 0;
  std::string stop;
  std::string skip;

  void enter_folder(const std::string& path, int /*descriptor*/) override { entered.insert(path); }
  void leave_folder(int /*descriptor*/) override { ++left; }
  walk_action select(const dirent& entry) override { return entry.d_name[0] == '.' ? walk_action::skip : walk_action::descend; }
  walk_action visit(const walk_entry& entry) override {
    visited.insert(entry.path);
    depths[entry.path] = entry.depth;
    if (entry.name == stop) return walk_action::stop;
    return entry.name == skip ? walk_action::skip : walk_action::descend;
  }
  void on_denied(const std::string& path, std::string reason) override { denied.emplace(path, std::move(reason)); }
};

struct walks : testing::Test {
  fs::path top;

  walks() {
    std::string made = (fs::temp_directory_path() / "walk-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    top = made;
    fs::create_directories(top / "a/b");
    std::ofstream(top / "a/b/file") << "x";
    std::ofstream(top / ".hidden") << "x";
    fs::create_directory_symlink("a", top / "link");
  }
  ~walks() override { fs::remove_all(top); }

  [[nodiscard]] handle open_top() const { return handle(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }
};

TEST_F(walks, visit_everything_once_and_follow_no_link) {
  recorder seen;
  EXPECT_TRUE(walk(open_top(), seen));
  EXPECT_THAT(seen.visited, ElementsAre("a", "a/b", "a/b/file", "link"));
  EXPECT_THAT(seen.entered, ElementsAre("", "a", "a/b"));
  EXPECT_EQ(seen.left, 3);
  EXPECT_EQ(seen.depths["a"], 1U);
  EXPECT_EQ(seen.depths["a/b/file"], 3U);
}

TEST_F(walks, enter_no_skipped_folder) {
  recorder seen;
  seen.skip = "b";
  EXPECT_TRUE(walk(open_top(), seen));
  EXPECT_THAT(seen.visited, ElementsAre("a", "a/b", "link"));
}

TEST_F(walks, that_are_stopped_leave_every_folder_they_entered) {
  recorder seen;
  seen.stop = "file";
  EXPECT_TRUE(walk(open_top(), seen));
  EXPECT_TRUE(seen.visited.contains("a/b/file"));
  EXPECT_EQ(seen.left, 3);
}

TEST_F(walks, of_a_folder_that_is_not_open_fail_with_the_reason) {
  recorder seen;
  const auto walked = walk(handle(::open((top / "none").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), seen);
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().error, ENOENT);
  EXPECT_EQ(walked.error().path, "");
}

TEST_F(walks, name_folders_that_cannot_be_opened_and_continue) {
  fs::create_directory(top / "closed");
  fs::permissions(top / "closed", fs::perms::none);
  fs::permissions(top, fs::perms::all);
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  recorder seen;
  const auto walked = walk(open_top(), seen);
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(top / "closed", fs::perms::owner_all);
  EXPECT_TRUE(walked);
  EXPECT_THAT(seen.denied, UnorderedElementsAre(testing::Pair("closed", "it cannot be opened: Permission denied")));
  EXPECT_TRUE(seen.visited.contains("a/b/file"));
}

TEST_F(walks, fail_when_descriptors_run_out_and_leave_nothing_out) {
  recorder seen;
  auto opened = open_top();
  tl::expected<void, walk_error> walked;
  {
    const hondana_test::descriptors_left few(0);
    walked = walk(std::move(opened), seen);
  }
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().error, EMFILE);
  EXPECT_EQ(walked.error().path, "a");
}

TEST_F(walks, of_a_served_folder_follow_the_folder_that_its_path_names) {
  auto served = served_dir::open(top / "a", {fs::canonical(top / "a/b/file")});
  ASSERT_TRUE(served);
  const auto before = *served->current();
  EXPECT_EQ(before->open_file("b/file").error().kind, lookup_error_kind::missing);
  EXPECT_TRUE(before->dir.may_exist("b/file"));
  fs::rename(top / "a", top / "moved");
  EXPECT_EQ(served->current().error(), ENOENT);
  fs::create_directory(top / "a");
  std::ofstream(top / "a/new") << "x";
  const auto after = served->current();
  ASSERT_TRUE(after);
  EXPECT_TRUE((*after)->open_file("new"));
  EXPECT_EQ(*served->current(), *after);
}

}  // namespace
}  // namespace hondana::disk
