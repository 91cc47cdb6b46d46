/// Paths beneath a folder, and what kind of folder one is.
#include "os/disk/confined_dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::disk {
namespace {

namespace fs = std::filesystem;

/// top/inner/file, links beside them, and a file outside.
struct resolved_paths : testing::Test {
  fs::path top;
  handle folder;

  resolved_paths() {
    std::string made = (fs::temp_directory_path() / "disk-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    top = made;
    fs::create_directories(top / "served/inner");
    std::ofstream(top / "served/inner/file") << "here";
    std::ofstream(top / "outside") << "not here";
    fs::create_symlink("inner", top / "served/linked");
    fs::create_symlink("../outside", top / "served/away");
    folder = handle(::open((top / "served").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  ~resolved_paths() override { fs::remove_all(top); }

  [[nodiscard]] int refusal_of(const std::string& path) const {
    errno = 0;
    const auto opened = open_without_links(folder.get(), path, O_RDONLY | O_CLOEXEC);
    return opened.is_open() ? 0 : errno;
  }
};

TEST_F(resolved_paths, lead_to_what_lies_beneath) {
  EXPECT_EQ(refusal_of("inner/file"), 0);
  EXPECT_EQ(refusal_of("inner"), 0);
  EXPECT_EQ(refusal_of("."), 0);
  EXPECT_EQ(refusal_of("inner/none"), ENOENT);
  EXPECT_EQ(refusal_of("inner/file/below"), ENOTDIR);
}

TEST_F(resolved_paths, are_followed_through_no_link) {
  EXPECT_EQ(refusal_of("linked/file"), ELOOP);
  EXPECT_EQ(refusal_of("linked"), ELOOP);
  EXPECT_EQ(refusal_of("away"), ELOOP);
  EXPECT_TRUE(open_without_links(folder.get(), "linked", O_PATH | O_NOFOLLOW | O_CLOEXEC).is_open());
}

TEST_F(resolved_paths, stay_beneath_where_links_are_allowed) {
  const handle inside(open_resolved(folder.get(), "linked/file", O_RDONLY | O_CLOEXEC, RESOLVE_BENEATH));
  EXPECT_TRUE(inside.is_open());
  errno = 0;
  const handle outside(open_resolved(folder.get(), "away", O_RDONLY | O_CLOEXEC, RESOLVE_BENEATH));
  EXPECT_FALSE(outside.is_open());
  EXPECT_EQ(errno, EXDEV);
}

TEST_F(resolved_paths, are_listed_by_a_stream_that_keeps_the_folder_open) {
  const auto stream = open_folder_stream(open_without_links(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(stream);
  std::set<std::string> names;
  while (const auto* one = ::readdir(stream.get())) names.insert(one->d_name);
  EXPECT_EQ(names, (std::set<std::string>{".", "..", "inner", "linked", "away"}));
  EXPECT_EQ(::faccessat(::dirfd(stream.get()), "inner", R_OK, 0), 0);
}

TEST_F(resolved_paths, that_cannot_be_opened_or_listed_have_no_stream) {
  errno = 0;
  EXPECT_FALSE(open_folder_stream(open_without_links(folder.get(), "none", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(open_folder_stream(open_without_links(folder.get(), "inner/file", O_RDONLY | O_CLOEXEC)));
  EXPECT_EQ(errno, ENOTDIR);
}

TEST_F(resolved_paths, to_repositories_and_the_kernels_own_folders_are_told_apart) {
  EXPECT_FALSE(is_bare_repository(folder.get()));
  fs::create_directory(top / "served/objects");
  fs::create_directory(top / "served/refs");
  EXPECT_FALSE(is_bare_repository(folder.get()));
  std::ofstream(top / "served/HEAD") << "ref: refs/heads/main\n";
  EXPECT_TRUE(is_bare_repository(folder.get()));

  EXPECT_FALSE(is_on_kernel_file_system(folder.get()));
  const handle processes(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(is_on_kernel_file_system(processes.get()));
}

}  // namespace
}  // namespace hondana::disk
