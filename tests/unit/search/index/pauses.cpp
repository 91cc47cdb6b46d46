/// How long a store that fails is left alone.
#include "search/index/index_state.hpp"

#include <gtest/gtest.h>

namespace hondana::search {
namespace {

using namespace std::chrono_literals;

TEST(pauses, grow_with_failures_in_a_row_up_to_a_minute) {
  EXPECT_EQ(pause_after(1), 5s);
  EXPECT_EQ(pause_after(2), 10s);
  EXPECT_EQ(pause_after(4), 40s);
  for (const std::size_t many : {std::size_t{5}, std::size_t{1000}, SIZE_MAX}) EXPECT_EQ(pause_after(many), 60s);
}

}  // namespace
}  // namespace hondana::search
