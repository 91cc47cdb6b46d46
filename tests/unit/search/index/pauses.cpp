/// How long a store that fails is left alone.
#include "search/index/shared_index.hpp"

#include <gtest/gtest.h>

namespace hondana::search {
namespace {

using namespace std::chrono_literals;

TEST(pauses, grow_with_failures_in_a_row_up_to_a_minute) {
  EXPECT_EQ(failure_backoff(1), 5s);
  EXPECT_EQ(failure_backoff(2), 10s);
  EXPECT_EQ(failure_backoff(4), 40s);
  for (const std::size_t many : {std::size_t{5}, std::size_t{1000}, SIZE_MAX}) EXPECT_EQ(failure_backoff(many), 60s);
}

}  // namespace
}  // namespace hondana::search
