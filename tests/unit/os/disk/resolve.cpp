/// Paths beneath a folder, and what kind of folder one is.
#include "os/disk/confined_dir.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  dir_stream names(open_without_links(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(names.is_open());
  std::set<std::string> listed;
  while (const auto* entry = names.next()) listed.insert(entry->d_name);
  EXPECT_EQ(listed, (std::set<std::string>{"inner", "linked", "away"}));
  EXPECT_EQ(names.error(), 0);
  EXPECT_EQ(::faccessat(names.descriptor(), "inner", R_OK, 0), 0);
}

TEST_F(resolved_paths, that_cannot_be_opened_or_listed_have_no_stream) {
  dir_stream missing(open_without_links(folder.get(), "none", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(missing.is_open());
  EXPECT_EQ(missing.error(), ENOENT);
  EXPECT_EQ(missing.next(), nullptr);
  const dir_stream file(open_without_links(folder.get(), "inner/file", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(file.error(), ENOTDIR);
}

TEST_F(resolved_paths, of_absolute_folders_lead_through_no_link) {
  const auto real = fs::canonical(top).string();
  EXPECT_TRUE(open_folder_without_links(real + "/served/inner").is_open());
  EXPECT_TRUE(open_folder_without_links(real + "/served/").is_open());
  EXPECT_TRUE(open_folder_without_links("/").is_open());
  EXPECT_FALSE(open_folder_without_links(real + "/served/linked").is_open());
  EXPECT_FALSE(open_folder_without_links(real + "/served/inner/file").is_open());
}

/// A confined folder, with openat2 and without it.
struct confined_paths : resolved_paths, testing::WithParamInterface<bool> {
  [[nodiscard]] confined_dir confined() const {
    return confined_dir(handle(::open((top / "served").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), {}, GetParam());
  }
};

TEST_P(confined_paths, open_regular_files_only) {
  const auto dir = confined();
  ASSERT_EQ(::mkfifo((top / "served/pipe").c_str(), 0600), 0);
  const auto error_of = [&dir](std::string_view path) {
    const auto opened = dir.open_file(path);
    return opened ? std::nullopt : std::optional(opened.error().kind);
  };
  EXPECT_EQ(error_of("inner/file"), std::nullopt);
  EXPECT_EQ(dir.open_file("inner/file")->attributes.st_size, 4);
  for (const auto* path : {"", ".", "..", "/etc/passwd", "../outside", "inner/../inner/file", "inner//file", "none", "inner",
                           "pipe", "inner/file/below"})
    EXPECT_EQ(error_of(path), lookup_error_kind::missing) << path;
  EXPECT_EQ(error_of(std::string_view("inner/file\0x", 12)), lookup_error_kind::missing);
  EXPECT_EQ(error_of("away"), lookup_error_kind::loop);
  const auto through_link = error_of("linked/file");
  EXPECT_TRUE(through_link && is_absence(*through_link));
}

TEST_P(confined_paths, may_exist_unless_nothing_is_there) {
  const auto dir = confined();
  EXPECT_FALSE(dir.may_exist(""));
  EXPECT_TRUE(dir.may_exist("inner/file"));
  EXPECT_TRUE(dir.may_exist("away"));
  EXPECT_FALSE(dir.may_exist("none"));
  EXPECT_FALSE(dir.may_exist("linked/file"));
  EXPECT_FALSE(dir.may_exist("../outside"));
}

TEST_P(confined_paths, are_resolved_through_links_that_stay_inside) {
  const auto dir = confined();
  const auto inside = dir.resolve("linked/file");
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->path, "inner/file");
  EXPECT_EQ(inside->links, std::vector<std::string>{"linked"});
  EXPECT_EQ(dir.resolve("away").error().kind, lookup_error_kind::outside);
}

INSTANTIATE_TEST_SUITE_P(kernels, confined_paths, testing::Bool());

TEST(lookup_errors, of_a_lack_of_resources_or_a_failing_disk_are_no_absence) {
  for (const int error : {ENOENT, ENOTDIR, ELOOP, EXDEV, ENAMETOOLONG, EILSEQ, ENXIO})
    EXPECT_TRUE(is_absence(to_lookup_error(error).kind)) << error;
  for (const int error : {EMFILE, ENFILE, ENOMEM, EIO, EACCES, EPERM, ESTALE})
    EXPECT_FALSE(is_absence(to_lookup_error(error).kind)) << error;
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
