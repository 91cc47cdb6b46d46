/// Files that are read as a whole.
#include "os/disk/whole_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {
namespace {

namespace fs = std::filesystem;

struct whole_files : testing::Test {
  fs::path top;

  whole_files() {
    std::string made = (fs::temp_directory_path() / "whole-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    top = made;
    std::ofstream(top / "file") << "0123456789";
  }
  ~whole_files() override { fs::remove_all(top); }

  [[nodiscard]] handle open(const char* name) const {
    return handle(::open((top / name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
};

TEST_F(whole_files, have_their_bytes_and_their_stamp) {
  const auto file = open("file");
  const auto whole = read_whole(file.get(), 10);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->is_complete());
  EXPECT_EQ(whole->bytes, "0123456789");
  struct stat attributes{};
  ASSERT_EQ(::fstat(file.get(), &attributes), 0);
  EXPECT_EQ(whole->state, stamp_of(attributes));
}

TEST_F(whole_files, are_read_from_the_beginning_each_time) {
  const auto file = open("file");
  EXPECT_EQ(read_whole(file.get(), 10)->bytes, "0123456789");
  EXPECT_EQ(read_whole(file.get(), 10)->bytes, "0123456789");
}

TEST_F(whole_files, above_the_limit_are_not_read) {
  const auto whole = read_whole(open("file").get(), 9);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->is_too_large());
  EXPECT_FALSE(whole->is_complete());
  EXPECT_EQ(whole->bytes, "");
  EXPECT_EQ(whole->state.size, 10U);
}

TEST_F(whole_files, are_regular_files) {
  ASSERT_EQ(::mkfifo((top / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_whole(open("pipe").get(), 10).error(), EINVAL);
  EXPECT_EQ(read_whole(open(".").get(), 10).error(), EINVAL);
  EXPECT_EQ(read_whole(-1, 10).error(), EBADF);
}

}  // namespace
}  // namespace hondana::disk
