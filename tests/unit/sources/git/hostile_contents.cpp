/// Links, special files, programs and owners: nothing is followed, nothing runs, nothing hangs.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/references.hpp"
#include "sources/git/repository.hpp"
#include "unit/sources/git/hostile_pair.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

namespace fs = std::filesystem;

TEST(git_hostile_contents, nothing_that_is_configured_runs) {
  const hostile_pair pair;
  const auto marker = pair.inside.path() + "/ran";
  const auto script = pair.inside.path() + "/script";
  overwrite(script, "#!/bin/sh\ntouch '" + marker + "'\ncat\n");
  fs::permissions(script, fs::perms::owner_all);
  append_to(pair.git_folder() + "/config",
            "[core]\nfsmonitor=" + script + "\nhooksPath=" + pair.inside.path() + "/hooks\npager=" + script +
                "\nsshCommand=" + script + "\n[filter \"x\"]\nclean=" + script + "\nsmudge=" + script + "\nprocess=" + script +
                "\nrequired=true\n[diff \"x\"]\ncommand=" + script + "\ntextconv=" + script + "\n[diff]\nexternal=" + script +
                "\n[core]\nalternateRefsCommand=" + script + "\n");
  pair.inside.write(".gitattributes", "* filter=x diff=x\n");
  fs::create_directory(pair.inside.path() + "/hooks");
  for (const std::string_view hook :
       {"post-checkout", "post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman"}) {
    for (const auto& folder : {pair.inside.path() + "/hooks", pair.git_folder() + "/hooks"}) {
      fs::create_directories(folder);
      fs::copy_file(script, folder + '/' + std::string(hook), fs::copy_options::overwrite_existing);
    }
  }
  auto served = repository::open("shelf", pair.find().value(), {pair.inside.path()});
  ASSERT_TRUE(served) << served.error().public_text;
  const auto handle = (*served)->acquire();
  ASSERT_TRUE(handle);
  git_index* raw_index = nullptr;
  ASSERT_EQ(git_repository_index(&raw_index, handle->get()), 0);
  const index_pointer index(raw_index);
  git_diff* raw_diff = nullptr;
  ASSERT_EQ(git_diff_index_to_workdir(&raw_diff, handle->get(), raw_index, nullptr), 0) << last_error_message();
  const diff_pointer diff(raw_diff);
  EXPECT_TRUE(head_of(handle->get()));
  EXPECT_TRUE(branches(handle->get(), "", 10));
  // That it would run is proved by git itself.
  EXPECT_FALSE(fs::exists(marker));
  pair.inside.try_git({"status"});
  EXPECT_TRUE(fs::exists(marker));
}

TEST(git_hostile_contents, repository_of_another_owner_is_refused_as_git_refuses_it) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const hostile_pair pair;
  const auto refuses_as_git = [&] {
    EXPECT_NE(pair.inside.try_git({"status"}), 0);
    pair.expect_refusal(errc::access_denied, "another user");
  };
  ASSERT_EQ(::chown(pair.inside.path().c_str(), 1234, 1234), 0);
  refuses_as_git();
  ASSERT_EQ(::chown(pair.inside.path().c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(pair.git_folder().c_str(), 1234, 1234), 0);
  refuses_as_git();
  ASSERT_EQ(::chown(pair.git_folder().c_str(), 0, 0), 0);
  EXPECT_TRUE(pair.find());
}

TEST(git_hostile_contents, git_file_and_bare_repository_of_another_owner_are_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const made_repository made({"--separate-git-dir=../kept"});
  ASSERT_TRUE(locate(made.path(), {made.above()}));
  ASSERT_EQ(::chown((made.path() + "/.git").c_str(), 1234, 1234), 0);
  EXPECT_NE(made.try_git({"status"}), 0);
  EXPECT_EQ(locate(made.path(), {made.above()}).error().code, errc::access_denied);
  const made_repository bare({"--bare"});
  ASSERT_EQ(::chown(bare.path().c_str(), 1234, 1234), 0);
  EXPECT_NE(bare.try_git({"log"}), 0);
  EXPECT_EQ(locate(bare.path(), {bare.above()}).error().code, errc::access_denied);
}

TEST(git_hostile_contents, links_that_leave_the_roots_are_refused_wherever_they_are) {
  const std::vector<std::string> files{"HEAD",
                                       "config",
                                       "packed-refs",
                                       "index",
                                       "info/attributes",
                                       "logs/HEAD",
                                       "refs/heads/evil",
                                       "refs/tags/deep/evil",
                                       "objects/pack/pack-0.idx",
                                       "objects/00/evil",
                                       "shallow",
                                       "objects/info/alternates",
                                       "commondir"};
  const hostile_pair pair;
  for (const auto& one : files) {
    const room_at free(pair.git_folder() + '/' + one, pair.inside.above());
    fs::create_symlink(pair.outside.path() + "/secret.txt", free.path());
    pair.expect_refusal(errc::invalid_argument, "leads out of the served folders");
    // The same whether anything is there.
    fs::remove(free.path());
    fs::create_symlink(pair.outside.path() + "/gone.txt", free.path());
    pair.expect_refusal(errc::invalid_argument, "leads out of the served folders");
  }
  for (const std::string one : {"objects", "refs", "objects/pack", "refs/heads/more", "objects/aa"}) {
    const room_at free(pair.git_folder() + '/' + one, pair.inside.above());
    fs::create_directory_symlink(pair.outside.path() + "/.git/objects", free.path());
    const auto found = pair.find();
    ASSERT_FALSE(found) << one;
    EXPECT_EQ(found.error().code, errc::invalid_argument) << one;
  }
  EXPECT_TRUE(pair.find());
}

TEST(git_hostile_contents, links_that_stay_inside_are_followed) {
  const hostile_pair pair;
  fs::rename(pair.git_folder() + "/objects", pair.inside.path() + "/kept");
  fs::create_directory_symlink(pair.inside.path() + "/kept", pair.git_folder() + "/objects");
  fs::rename(pair.git_folder() + "/config", pair.inside.path() + "/config");
  fs::create_symlink("../config", pair.git_folder() + "/config");
  const auto found = pair.find();
  ASSERT_TRUE(found) << found.error().public_text;
  EXPECT_EQ(found->object_folders.front(), pair.inside.path() + "/kept");
}

TEST(git_hostile_contents, what_is_no_file_is_refused_before_it_hangs_anybody) {
  const hostile_pair pair;
  for (const std::string one : {"HEAD", "config", "packed-refs", "index", "refs/heads/main", "refs/heads/evil",
                                "objects/00/evil", "commondir", "objects/info/alternates"}) {
    const room_at free(pair.git_folder() + '/' + one, pair.inside.above());
    ASSERT_EQ(::mkfifo(free.path().c_str(), 0600), 0);
    pair.expect_refusal(errc::invalid_argument, "not a regular file");
    fs::remove(free.path());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    free.path().copy(address.sun_path, sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << one;
    pair.expect_refusal(errc::invalid_argument, "not a regular file");
    ::close(socket);
  }
  EXPECT_TRUE(pair.find());
}

TEST(git_hostile_contents, files_larger_than_any_use_are_refused_before_they_are_read) {
  const hostile_pair pair;
  for (const std::string one : {"HEAD", "config", "packed-refs", "index", "shallow", "info/attributes", "refs/heads/main",
                                "refs/heads/evil", "objects/00/evil", "commondir", "objects/info/alternates"}) {
    const room_at free(pair.git_folder() + '/' + one, pair.inside.above());
    overwrite(free.path(), "x");
    fs::resize_file(free.path(), std::uintmax_t{3} << 30);  // of nothing
    const auto found = pair.find();
    ASSERT_FALSE(found) << one;
    EXPECT_EQ(found.error().code, errc::invalid_argument) << one;
    EXPECT_TRUE(found.error().public_text.find("too large") != std::string::npos || one == "config")
        << found.error().public_text;
  }
  // Packs are mapped piece by piece.
  const room_at pack(pair.git_folder() + "/objects/pack/pack-0.pack", pair.inside.above());
  overwrite(pack.path(), "x");
  fs::resize_file(pack.path(), std::uintmax_t{3} << 30);
  EXPECT_TRUE(pair.find());
}

TEST(git_hostile_contents, more_files_than_can_be_looked_through_are_refused) {
  const hostile_pair pair;
  screening_limits few;
  few.entries = 5;
  const auto found = locate(pair.inside.path(), {pair.inside.path()}, few);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::unsupported);
}

}  // namespace
}  // namespace hondana::git
