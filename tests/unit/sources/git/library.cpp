/// What every call of libgit2 rests on.
#include "sources/git/libgit2.hpp"

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

TEST(git_library, starts_and_opens_what_git_has_made) {
  ASSERT_TRUE(initialize_libgit2());
  made_repository made;
  made.write("a.txt", "one\n");
  const auto id = made.commit("first");
  git_repository* raw = nullptr;
  ASSERT_EQ(git_repository_open_ext(&raw, made.path().c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr), 0)
      << last_error_message();
  const repository_pointer repository(raw);
  git_oid head{};
  ASSERT_EQ(git_reference_name_to_id(&head, raw, "HEAD"), 0);
  EXPECT_EQ(to_hex(head), id);
}

TEST(git_library, says_what_failed_to_the_peer_and_why_to_the_log) {
  ASSERT_TRUE(initialize_libgit2());
  git_repository* raw = nullptr;
  ASSERT_LT(git_repository_open_ext(&raw, "/nonexistent", GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr), 0);
  const auto said = libgit2_failure("no repository").value();
  EXPECT_EQ(said.code, errc::source_unavailable);
  EXPECT_EQ(said.public_text, "no repository");
  EXPECT_NE(said.private_text, "");
}

}  // namespace
}  // namespace hondana::git
