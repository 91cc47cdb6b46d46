/// Bytes on their way through: few in memory, many in a nameless file.
#include "os/disk/spool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace hondana::disk {
namespace {

std::string drain(byte_reader& from, std::size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto got = from.read(std::span(buffer));
    EXPECT_TRUE(got);
    if (!got || *got == 0) return all;
    all.append(buffer, 0, *got);
  }
}

TEST(spool, keeps_what_is_small_in_memory) {
  spool one;
  ASSERT_TRUE(one.append("a"));
  ASSERT_TRUE(one.append("bc"));
  EXPECT_EQ(one.size(), 3u);
  const auto data = one.finish();
  ASSERT_TRUE(data);
  EXPECT_EQ(*std::get<shared_bytes>(*data), "abc");
}

TEST(spool, gives_back_what_is_big_byte_by_byte_and_again) {
  spool one;
  std::string all;
  for (int i = 0; i < 40'000; ++i) {
    const auto piece = std::to_string(i) + std::string(static_cast<std::size_t>(i % 97), static_cast<char>(i));
    all += piece;
    ASSERT_TRUE(one.append(piece));
  }
  ASSERT_GT(all.size(), spool::max_memory_bytes);
  auto data = one.finish();
  ASSERT_TRUE(data);
  const auto reader = std::get<std::shared_ptr<byte_reader>>(*data);
  EXPECT_EQ(reader->size(), all.size());
  EXPECT_EQ(drain(*reader, 70'001), all);
  ASSERT_TRUE(reader->rewind());
  EXPECT_EQ(drain(*reader, 4096), all);
}

TEST(spool, has_a_folder_that_is_its_users_alone) {
  const auto where = spool::folder();
  struct stat facts{};
  ASSERT_EQ(::lstat(where.c_str(), &facts), 0) << where;
  EXPECT_TRUE(where.ends_with("/hondana-" + std::to_string(::geteuid()))) << where;
  EXPECT_TRUE(S_ISDIR(facts.st_mode));
  EXPECT_EQ(facts.st_uid, ::geteuid());
  EXPECT_EQ(facts.st_mode & 0077, 0u);
}

TEST(spool, leaves_a_folder_alone_that_others_can_look_into) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  std::string around = "/tmp/hondana-spool-XXXXXX";
  ASSERT_NE(::mkdtemp(around.data()), nullptr);
  const auto own = around + "/hondana-" + std::to_string(::geteuid());
  ASSERT_EQ(::mkdir(own.c_str(), 0755), 0);
  ASSERT_EQ(::setenv("TMPDIR", around.c_str(), 1), 0);
  EXPECT_EQ(spool::folder(), around);
  ASSERT_EQ(::chmod(own.c_str(), 0700), 0);
  EXPECT_EQ(spool::folder(), own);
  ASSERT_EQ(::rmdir(own.c_str()), 0);
  EXPECT_EQ(spool::folder(), own) << "it is made";
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_EQ(::rmdir(own.c_str()), 0);
  EXPECT_EQ(::rmdir(around.c_str()), 0);
}

TEST(spool, says_so_when_there_is_no_folder_for_it) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  spool one;
  const auto outcome = one.append(std::string(spool::max_memory_bytes + 1, 'x'));
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::source_unavailable);
  EXPECT_NE(outcome.error().private_text.find("No such file"), std::string::npos);
}

TEST(spool, says_so_when_no_more_fits) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handled = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2u << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  spool one;
  const std::string piece(1u << 20, 'x');
  std::size_t taken = 0;
  result<void> outcome;
  for (; outcome && taken < 10; ++taken) outcome = one.append(piece);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handled);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::source_unavailable);
  EXPECT_NE(outcome.error().private_text.find("writing a temporary file"), std::string::npos) << outcome.error().private_text;
  EXPECT_LE(taken, 4u);
}

}  // namespace
}  // namespace hondana::disk
