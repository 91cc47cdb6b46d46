/// What is no regular file is listed by what it is and never opened; odd regular files are read within bounds.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>

#include <string>

#include "bytes_read.hpp"
#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

// attacks: special files (FIFO, socket)
TEST(special_files, are_listed_by_what_they_are) {
  const scratch_folder root;
  root.make_fifo("pipe");
  root.make_socket("sock");
  root.make_folder("folder");
  root.write("file.txt", "x");
  root.link("link", "file.txt");
  const auto files = open_provider(root);
  const auto entries = list_all(*files);
  EXPECT_EQ(entry_named(entries, "pipe").mime_type, "inode/fifo");
  EXPECT_EQ(entry_named(entries, "sock").mime_type, "inode/socket");
  EXPECT_EQ(entry_named(entries, "folder").mime_type, "inode/directory");
  EXPECT_EQ(entry_named(entries, "link").mime_type, "inode/symlink");
  EXPECT_EQ(entry_named(entries, "file.txt").mime_type, "text/plain");
  EXPECT_EQ(entry_named(entries, "pipe").kind, "special");
  EXPECT_EQ(entry_named(entries, "folder").kind, "folder");
  EXPECT_EQ(entry_named(entries, "file.txt").kind, "file");
  EXPECT_FALSE(entry_named(entries, "pipe").size.has_value());
  EXPECT_FALSE(entry_named(entries, "folder").size.has_value());
}

// attacks: special files (device)
TEST(special_files, devices_have_types_of_their_own) {
  const scratch_folder root;
  if (::mknod(root.path("null").c_str(), S_IFCHR | 0666, 0x103) != 0) GTEST_SKIP() << "only root makes devices";
  const auto files = open_provider(root);
  EXPECT_EQ(entry_named(list_all(*files), "null").mime_type, "inode/chardevice");
  EXPECT_EQ(read_error(*files, root.uri("null")), errc::invalid_argument);
}

// attacks: special files (FIFO, socket)
TEST(special_files, reading_a_fifo_or_a_socket_says_what_it_is_and_does_not_wait) {
  const scratch_folder root;
  root.make_fifo("pipe");
  root.make_socket("sock");
  const auto files = open_provider(root);
  const auto pipe = read(*files, root.uri("pipe"));
  ASSERT_FALSE(pipe.has_value());
  EXPECT_EQ(pipe.error().code, errc::invalid_argument);
  EXPECT_EQ(pipe.error().public_text,
            root.uri("pipe") + " is a named pipe, which has no content to read. Only regular files and folders can be read.");
  EXPECT_EQ(read_error(*files, root.uri("sock")), errc::invalid_argument);
  EXPECT_EQ(read_error(*files, root.uri("pipe?bytes=0-1")), errc::invalid_argument);
}

// attacks: special files (directory where a file is expected)
TEST(special_files, a_folder_where_a_file_is_expected_is_read_as_a_folder_and_has_no_parts) {
  const scratch_folder root;
  root.write("folder/a.txt", "a");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("folder")), root.uri("folder/a.txt") + "\n");
  EXPECT_EQ(read_error(*files, root.uri("folder?lines=1-2")), errc::invalid_argument);
}

// attacks: special files (sparse 1 TiB file)
TEST(special_files, a_sparse_terabyte_is_refused_at_once_naming_size_limit_and_the_way_round) {
  const scratch_folder root;
  root.make_sparse("huge", 1ull << 40);
  const auto files = open_provider(root);
  const auto before = hondana_test::bytes_read();
  const auto answer = read(*files, root.uri("huge"));
  EXPECT_LT(hondana_test::bytes_read() - before, 16u << 20);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::response_too_large);
  EXPECT_NE(answer.error().public_text.find("1099511627776"), std::string::npos);
  EXPECT_NE(answer.error().public_text.find("67108864"), std::string::npos);
  EXPECT_NE(answer.error().public_text.find("?lines="), std::string::npos);
  EXPECT_NE(answer.error().public_text.find("?bytes="), std::string::npos);
}

// attacks: special files (sparse 1 TiB file)
TEST(special_files, parts_of_a_sparse_terabyte_are_read) {
  const scratch_folder root;
  root.make_sparse("huge", 1ull << 40);
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("huge?bytes=1099511627770-")), std::string(6, '\0'));
  EXPECT_EQ(read_error(*files, root.uri("huge?bytes=1099511627776-")), errc::invalid_argument);
  for (const char* lines : {"huge?lines=1-100", "huge?lines=1-", "huge?lines=1000000000"}) {
    const auto refused = read(*files, root.uri(lines));
    ASSERT_FALSE(refused.has_value()) << lines;
    EXPECT_EQ(refused.error().code, errc::invalid_argument) << lines;
    EXPECT_NE(refused.error().public_text.find("?bytes="), std::string::npos) << lines;
  }
}

// attacks: special files (/proc)
TEST(special_files, kernel_file_systems_are_no_roots) {
  std::vector<std::string> paths{"/proc", "/proc/self"};
  if (std::filesystem::exists("/sys/kernel")) paths.emplace_back("/sys");  // a container may be without it
  for (const auto& path : paths) {
    const auto opened = files_provider::open(serving(path));
    ASSERT_FALSE(opened.has_value()) << path;
    EXPECT_EQ(opened.error().code, errc::source_unavailable);
  }
}

// attacks: special files (/proc/self/environ)
TEST(special_files, kernel_file_systems_below_a_root_are_left_out) {
  const auto files = open_provider(serving("/"));
  EXPECT_EQ(read_error(*files, "file:///proc/self/environ"), errc::resource_not_found);
  EXPECT_EQ(read_error(*files, "file:///proc"), errc::resource_not_found);
  EXPECT_EQ(read_error(*files, "file:///sys/kernel"), errc::resource_not_found);
  EXPECT_EQ(read_error(*files, "file:///etc/shadow"), errc::resource_not_found);
  EXPECT_EQ(files->claims(), std::vector<std::string>{"file:///"});
  EXPECT_EQ(files->templates().front().uri_template, "file:///{+path}{?lines,bytes}");
}

TEST(special_files, hidden_names_this_user_may_not_reach_are_as_good_as_absent) {
  as_ordinary_user([] {
    const scratch_folder root;
    root.write(".locked/a", "x");
    root.write("locked/a/b", "x");
    ASSERT_EQ(::chmod(root.path(".locked").c_str(), 0), 0);
    ASSERT_EQ(::chmod(root.path("locked").c_str(), 0), 0);
    const auto files = open_provider(root);
    EXPECT_EQ(read_error(*files, root.uri(".locked/a")), errc::resource_not_found);
    EXPECT_EQ(read_error(*files, root.uri("locked/a/b")), errc::access_denied);
    ::chmod(root.path(".locked").c_str(), 0755);
    ::chmod(root.path("locked").c_str(), 0755);
  });
}

TEST(special_files, what_this_user_may_not_read_is_an_error_of_its_own) {
  as_ordinary_user([] {
    const scratch_folder root;
    root.write("locked.txt", "x");
    ASSERT_EQ(::chmod(root.path("locked.txt").c_str(), 0), 0);
    const auto files = open_provider(root);
    EXPECT_EQ(read_error(*files, root.uri("locked.txt")), errc::access_denied);
  });
}

}  // namespace
}  // namespace hondana::files
