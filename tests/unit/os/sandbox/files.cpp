/// What a confined process can do no more with files.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/os/sandbox/confined.hpp"

namespace hondana::sandbox {
namespace {

using namespace hondana_test;

TEST(sandbox_files, are_read_below_what_was_allowed_and_nowhere_else) {
  NEEDS_LANDLOCK(1);
  const place at;
  EXPECT_EQ(in_confined_child(only(at / "allowed"),
                              [&](findings& found, const confinement& how) {
                                found.expect(how.restricts_files() ? 1 : 0, 1, "files are held");
                                found.expect(opening(at / "allowed/file"), 0, "inside");
                                found.expect(opening(at / "allowed", O_RDONLY | O_DIRECTORY), 0, "the folder");
                                found.expect(opening(at / "other/file"), EACCES, "outside");
                                found.expect(opening(at / "allowed/../other/file"), EACCES, "outside by ..");
                                found.expect(opening(at / "other", O_RDONLY | O_DIRECTORY), EACCES, "another folder");
                                found.expect(opening("/etc/passwd"), EACCES, "the system's");
                                found.expect(opening("/proc/self/environ"), EACCES, "its environment");
                              }),
            "");
}

TEST(sandbox_files, are_not_reached_by_links_out_of_what_was_allowed) {
  NEEDS_LANDLOCK(1);
  const place at;
  ASSERT_EQ(::symlink((at / "other/file").c_str(), (at / "allowed/link").c_str()), 0);
  EXPECT_EQ(in_confined_child(only(at / "allowed"),
                              [&](findings& found, const confinement&) {
                                found.expect(opening(at / "allowed/link"), EACCES, "through a link");
                              }),
            "");
}

TEST(sandbox_files, are_changed_only_where_that_was_allowed) {
  NEEDS_LANDLOCK(3);
  const place at;
  auto to = only(at / "allowed");
  to.paths.push_back({at / "other", access::write});
  EXPECT_EQ(in_confined_child(to,
                              [&](findings& found, const confinement&) {
                                found.expect(opening(at / "allowed/file", O_WRONLY), EACCES, "writing");
                                found.expect(opening(at / "allowed/new", O_WRONLY | O_CREAT), EACCES, "making");
                                found.expect(error_of(::unlink((at / "allowed/file").c_str())), EACCES, "removing");
                                found.expect(error_of(::truncate((at / "allowed/file").c_str(), 0)), EACCES, "cutting");
                                found.expect(error_of(::mkdir((at / "allowed/new").c_str(), 0700)), EACCES, "a folder");
                                found.expect(opening(at / "other/new", O_WRONLY | O_CREAT), 0, "making where allowed");
                                found.expect(opening(at / "other", O_TMPFILE | O_RDWR), 0, "a nameless file");
                                found.expect(error_of(::rename((at / "other/new").c_str(), (at / "other/file").c_str())), 0,
                                             "replacing where allowed");
                                found.expect(error_of(::rename((at / "allowed/file").c_str(), (at / "other/x").c_str())),
                                             EACCES, "taking away");
                              }),
            "");
}

TEST(sandbox_files, that_are_allowed_by_name_are_not_listed_and_may_be_replaced) {
  NEEDS_LANDLOCK(1);
  const place at;
  pipe_pair is_confined;
  pipe_pair is_replaced;
  // Whoever replaces it is not confined.
  std::thread replacing([&] {
    if (!is_confined.take()) return;
    std::ofstream(at / "allowed/fresh") << "new";
    std::filesystem::rename(at / "allowed/fresh", at / "allowed/file");
    is_replaced.give();
  });
  EXPECT_EQ(in_confined_child(only(at / "allowed", access::read_named),
                              [&](findings& found, const confinement&) {
                                found.expect(opening(at / "allowed", O_RDONLY | O_DIRECTORY), EACCES, "the list");
                                found.expect(opening(at / "allowed/file"), 0, "the file");
                                is_confined.give();
                                found.expect(is_replaced.take() ? 1 : 0, 1, "it was replaced");
                                found.expect(opening(at / "allowed/file"), 0, "the file that took its place");
                              }),
            "");
  is_confined.give();  // also when the child did not come so far
  replacing.join();
}

TEST(sandbox_files, are_forbidden_only_when_their_mode_would_have_allowed_them) {
  NEEDS_LANDLOCK(1);
  const place at;
  EXPECT_EQ(in_confined_child(only(at / "allowed"),
                              [&](findings& found, const confinement&) {
                                found.expect(is_forbidden(at / "allowed", false) ? 1 : 0, 0, "reading inside");
                                found.expect(is_forbidden(at / "allowed", true) ? 1 : 0, 1, "writing inside");
                                found.expect(is_forbidden(at / "other", false) ? 1 : 0, 1, "reading outside");
                                found.expect(is_forbidden(at / "other/file", false) ? 1 : 0, 1, "a file outside");
                                found.expect(is_forbidden(at / "nothing", false) ? 1 : 0, 0, "what is not there");
                              }),
            "");
  EXPECT_FALSE(is_forbidden(at / "other", true));
}

TEST(sandbox_files, to_be_written_get_their_folder_while_it_can_be_made) {
  const place at;
  EXPECT_EQ(in_confined_child(only(at / "state/hondana", access::write),
                              [&](findings& found, const confinement&) {
                                found.expect(opening(at / "state/hondana/new", O_WRONLY | O_CREAT), 0, "a new file");
                              }),
            "");
  struct stat facts{};
  ASSERT_EQ(::stat((at / "state/hondana").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST(sandbox_files, keep_their_modes_owners_times_and_attributes) {
  const place at;
  const auto file = at / "allowed/file";
  const auto* path = file.c_str();
  const auto check = [&](findings& found, const confinement&) {
    found.expect(error_of(::chmod(path, 0644)), EPERM, "chmod");
    found.expect(error_of(::fchmodat(AT_FDCWD, path, 0644, 0)), EPERM, "fchmodat");
    found.expect(error_of(::syscall(452, AT_FDCWD, path, 0644, 0)), EPERM, "fchmodat2");
    found.expect(error_of(::chown(path, ::geteuid(), ::getegid())), EPERM, "chown");
    found.expect(error_of(::lchown(path, ::geteuid(), ::getegid())), EPERM, "lchown");
    found.expect(error_of(::fchownat(AT_FDCWD, path, ::geteuid(), ::getegid(), 0)), EPERM, "fchownat");
    const std::array<timespec, 2> times{{{1, 0}, {1, 0}}};
    found.expect(error_of(::utimensat(AT_FDCWD, path, times.data(), 0)), EPERM, "utimensat");
    found.expect(error_of(::utimes(path, nullptr)), EPERM, "utimes");
    found.expect(error_of(::setxattr(path, "user.a", "b", 1, 0)), EPERM, "setxattr");
    found.expect(error_of(::lsetxattr(path, "user.a", "b", 1, 0)), EPERM, "lsetxattr");
    found.expect(error_of(::removexattr(path, "user.a")), EPERM, "removexattr");
    found.expect(error_of(::syscall(463, AT_FDCWD, path, 0, "user.a", nullptr, 0)), EPERM, "setxattrat");
    found.expect(error_of(::syscall(466, AT_FDCWD, path, 0, "user.a")), EPERM, "removexattrat");
    found.expect(error_of(::syscall(469, AT_FDCWD, path, nullptr, 0, 0)), EPERM, "file_setattr");
    // What may be opened may be given to its owner only, as private files are.
    const handle open_one(::open(path, O_RDONLY | O_CLOEXEC));
    found.expect(error_of(::fchmod(open_one.get(), 0600)), 0, "fchmod of what may be opened");
    found.expect(error_of(::fchown(open_one.get(), ::geteuid(), ::getegid())), 0, "fchown of what may be opened");
  };
  EXPECT_EQ(in_confined_child(only(at / "allowed"), check), "");
}

TEST(sandbox_files, change_modes_and_groups_where_a_socket_needs_it_and_nothing_else) {
  const place at;
  auto to = only(at / "allowed");
  to.changes_file_modes = true;
  const auto file = at / "allowed/file";
  const auto* path = file.c_str();
  EXPECT_EQ(in_confined_child(to,
                              [path](findings& found, const confinement&) {
                                found.expect(error_of(::chmod(path, 0644)), 0, "chmod");
                                found.expect(error_of(::lchown(path, static_cast<uid_t>(-1), ::getegid())), 0, "lchown");
                                found.expect(error_of(::utimes(path, nullptr)), EPERM, "utimes");
                              }),
            "");
}

}  // namespace
}  // namespace hondana::sandbox
