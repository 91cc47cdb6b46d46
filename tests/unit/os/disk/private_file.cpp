/// Files that others must not see.
#include "os/disk/private_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace hondana::disk {
namespace {

class private_file : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/private_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string at(const std::string& name) const { return folder_ + '/' + name; }
  static mode_t mode_of(const std::string& path) {
    struct stat facts{};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 0777;
  }
  std::string folder_;
};

TEST_F(private_file, is_made_for_its_owner_alone_with_its_folder) {
  const auto path = at("a/b/secret");
  const auto lock = acquire_lock(path);
  ASSERT_TRUE(lock) << lock.error().public_text;
  ASSERT_TRUE(replace_private(path, "one"));
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(mode_of(at("a/b")), 0700u);
  const auto got = read_private(path, 100);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->bytes, "one");
}

TEST_F(private_file, that_others_can_read_or_its_group_can_write_is_refused_with_the_remedy) {
  const auto path = at("secret");
  ASSERT_TRUE(replace_private(path, "one"));
  for (const mode_t mode : {0644u, 0604u, 0660u, 0602u, 0610u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto got = read_private(path, 100);
    ASSERT_FALSE(got) << mode;
    EXPECT_EQ(got.error().code, errc::access_denied);
    EXPECT_NE(got.error().public_text.find("chmod 600"), std::string::npos) << got.error().public_text;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_TRUE(read_private(path, 100));
  ASSERT_TRUE(replace_private(path, "two"));
  EXPECT_EQ(mode_of(path), 0640u);
}

/// As another user, for as long as it lives; only root can.
class acting_as {
 public:
  explicit acting_as(uid_t user) { is_other_ = ::seteuid(user) == 0; }
  ~acting_as() { EXPECT_TRUE(!is_other_ || ::seteuid(0) == 0); }
  acting_as(const acting_as&) = delete;
  acting_as& operator=(const acting_as&) = delete;

 private:
  bool is_other_ = false;
};

constexpr uid_t somebody = 4242;
constexpr gid_t some_group = 4343;

TEST_F(private_file, of_another_user_is_refused_and_of_root_is_not) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto path = at("secret");
  ASSERT_TRUE(replace_private(path, "one"));
  ASSERT_EQ(::chown(path.c_str(), somebody, some_group), 0);
  const auto got = read_private(path, 100);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::access_denied);
  EXPECT_NE(got.error().public_text.find("belongs to user 4242"), std::string::npos) << got.error().public_text;
  EXPECT_TRUE(read_private(path, 100, accepted_owners::anyone_if_root));
  // The group's reader is somebody else than its owner, and then than root.
  ASSERT_EQ(::chown(path.c_str(), somebody + 1, ::getegid()), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  {
    const acting_as other(somebody);
    EXPECT_EQ(read_private(path, 100, accepted_owners::anyone_if_root).error().code, errc::access_denied);
  }
  ASSERT_EQ(::chown(path.c_str(), 0, ::getegid()), 0);
  const acting_as other(somebody);
  EXPECT_TRUE(read_private(path, 100));
}

TEST_F(private_file, that_root_changes_stays_its_owners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto path = at("tokens");
  ASSERT_TRUE(replace_private(path, "one"));
  ASSERT_EQ(::chown(path.c_str(), somebody, some_group), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(replace_private(path, "two"));
  struct stat facts{};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, somebody);
  EXPECT_EQ(facts.st_gid, some_group);
  EXPECT_EQ(mode_of(path), 0640u);
}

TEST_F(private_file, whose_group_cannot_be_kept_is_changed_and_hidden_from_the_group) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto path = at("tokens");
  ASSERT_TRUE(replace_private(path, "one"));
  ASSERT_EQ(::chown(path.c_str(), somebody, some_group), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(::chown(folder_.c_str(), somebody, some_group), 0);
  {
    const acting_as other(somebody);
    ASSERT_TRUE(replace_private(path, "two"));
    EXPECT_EQ(read_private(path, 100)->bytes, "two");
  }
  EXPECT_EQ(mode_of(path), 0600u);
}

TEST_F(private_file, that_is_missing_too_large_or_no_file_is_an_error_of_its_own) {
  EXPECT_EQ(read_private(at("none"), 100).error().code, errc::resource_not_found);
  ASSERT_TRUE(replace_private(at("large"), std::string(101, 'x')));
  EXPECT_EQ(read_private(at("large"), 100).error().code, errc::response_too_large);
  EXPECT_EQ(read_private(folder_, 100).error().code, errc::source_unavailable);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_private(at("pipe"), 100).error().code, errc::source_unavailable);
}

TEST_F(private_file, behind_a_link_is_replaced_where_it_is) {
  ASSERT_TRUE(replace_private(at("real"), "one"));
  std::filesystem::create_symlink("real", at("link"));
  ASSERT_TRUE(replace_private(at("link"), "two"));
  EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
  EXPECT_EQ(read_private(at("real"), 100)->bytes, "two");
}

TEST_F(private_file, changed_by_several_at_once_loses_no_change) {
  const auto path = at("count");
  ASSERT_TRUE(replace_private(path, ""));
  std::vector<std::thread> all;
  for (int one = 0; one < 4; ++one) {
    all.emplace_back([&path] {
      for (int turn = 0; turn < 20; ++turn) {
        const auto lock = acquire_lock(path);
        auto now = read_private(path, 1000);
        ASSERT_TRUE(lock && now);
        ASSERT_TRUE(replace_private(path, now->bytes + 'x'));
      }
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(read_private(path, 1000)->bytes.size(), 80u);
}

}  // namespace
}  // namespace hondana::disk
