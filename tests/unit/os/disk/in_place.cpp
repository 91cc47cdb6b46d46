/// Open folders whose paths come to name others.
#include "os/disk/opened_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, with another in it that is open.
struct open_folders : testing::Test {
  fs::path top;
  fs::path served;
  handle opened;

  open_folders() {
    std::string made = (fs::temp_directory_path() / "disk-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    top = made;
    served = top / "served";
    fs::create_directory(served);
    opened = handle(::open(served.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~open_folders() override { fs::remove_all(top); }
};

TEST_F(open_folders, are_in_place_while_their_path_names_them) {
  ASSERT_TRUE(opened.is_open());
  EXPECT_TRUE(is_in_place(opened.get(), served));
  fs::create_directory_symlink(served, top / "link");
  EXPECT_TRUE(is_in_place(opened.get(), top / "link"));
}

TEST_F(open_folders, are_not_when_they_are_deleted_even_if_made_again) {
  fs::remove(served);
  EXPECT_FALSE(is_in_place(opened.get(), served));
  fs::create_directory(served);
  EXPECT_FALSE(is_in_place(opened.get(), served));
}

TEST_F(open_folders, are_not_when_moved_away_or_when_a_file_takes_their_place_or_that_of_one_above) {
  fs::rename(served, top / "elsewhere");
  EXPECT_FALSE(is_in_place(opened.get(), served));
  std::ofstream(served) << "a file";
  EXPECT_FALSE(is_in_place(opened.get(), served));
  EXPECT_FALSE(is_in_place(opened.get(), served / "below"));
}

TEST_F(open_folders, are_in_place_when_that_cannot_be_told) {
  const auto looped = top / "loop";
  fs::create_symlink(looped, looped);
  EXPECT_TRUE(is_in_place(opened.get(), looped));
  EXPECT_TRUE(is_in_place(-1, served));
}

TEST_F(open_folders, have_files_that_are_read_from_anywhere_to_their_end) {
  std::ofstream(served / "a") << "0123456789";
  const handle file(::openat(opened.get(), "a", O_RDONLY | O_CLOEXEC));
  std::string into(8, '-');
  EXPECT_EQ(read_at(file.get(), into.data(), 8, 1), 8u);
  EXPECT_EQ(into, "12345678");
  EXPECT_EQ(read_at(file.get(), into.data(), 8, 7), 3u);
  EXPECT_EQ(into, "78945678");
  EXPECT_EQ(read_at(file.get(), into.data(), 8, 11), 0u);
  EXPECT_EQ(read_at(opened.get(), into.data(), 8, 0), tl::unexpected(EISDIR));
}

}  // namespace
}  // namespace hondana::disk
