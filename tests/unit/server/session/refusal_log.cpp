/// Lines about refusals, and their bound.
#include "server/session/rejections.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace {

using hondana::session::rejection_log;

TEST(refusal_log, says_whom_and_why) {
  rejection_log log;
  EXPECT_EQ(log.make_line(401, "192.0.2.1", "", "The token has expired."),
            "refused 192.0.2.1 with 401: The token has expired.");
  EXPECT_EQ(log.make_line(403, "192.0.2.1", "alice", "the token lacks some of the scopes a"),
            "refused 192.0.2.1 (alice) with 403: the token lacks some of the scopes a");
  EXPECT_EQ(log.make_line(429, "", "local", "Too many requests."), "refused local with 429: Too many requests.");
}

TEST(refusal_log, is_no_flood) {
  rejection_log log;
  const auto now = rejection_log::clock::now();
  for (std::size_t i = 0; i < rejection_log::burst; ++i) EXPECT_TRUE(log.make_line(401, "a", "", "b", now));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(log.make_line(401, "a", "", "b", now));
  const auto later = log.make_line(401, "a", "", "b", now + std::chrono::seconds(1));
  ASSERT_TRUE(later);
  EXPECT_EQ(*later, "refused a with 401: b; 5 more were not logged");
  EXPECT_FALSE(log.make_line(401, "a", "", "b", now + std::chrono::seconds(1)));
}

}  // namespace
