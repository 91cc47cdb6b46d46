/// Versions of what is taken as it was before.
#include <gtest/gtest.h>

#include "unit/sources/env/env_folders.hpp"

namespace hondana::env {
namespace {

struct stale_variables : env_folders {};

TEST_F(stale_variables, have_another_version_until_the_file_is_mended) {
  write("prod.env", "A_X=1\nA_Y=2\n");
  const auto from = open(with_file("prod.env"));
  for (const std::string uri : {"env://prod/A_X", "env://prod"}) {
    const auto whole = uri == "env://prod" ? listed(*from).front() : uri;
    const auto good = read_at(*from, whole);
    ASSERT_TRUE(good) << good.error().public_text;
    EXPECT_EQ(described(*from, whole)->version, good->version);
    replace("prod.env", "A_X=1\nA_Y=\"\n");
    read_request asked;
    asked.uri = asked.requested_uri = whole;
    asked.cached_version = good->version;
    const auto stale = from->read(asked);
    ASSERT_TRUE(stale);
    ASSERT_EQ(stale->contents.size(), 1U) << whole;
    ASSERT_FALSE(stale->contents[0].metadata.empty());
    EXPECT_EQ(stale->contents[0].metadata[0].first, "dev.hondana/stale");
    EXPECT_EQ(described(*from, whole)->version, stale->version);
    replace("prod.env", "A_X=1\nA_Y=2\n");
    asked.cached_version = stale->version;
    const auto mended = from->read(asked);
    ASSERT_TRUE(mended);
    ASSERT_EQ(mended->contents.size(), 1U) << whole;
    EXPECT_TRUE(mended->contents[0].metadata.empty());
    EXPECT_EQ(mended->version, good->version);
  }
}

}  // namespace
}  // namespace hondana::env
