/// Rounds have numbers of their own.
#include "base/executor/batching.hpp"

#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace hondana::executor {
namespace {

TEST(round, has_a_number_while_it_lives_and_only_on_its_thread) {
  EXPECT_EQ(round::present(), 0u);
  std::uint64_t first = 0;
  {
    const round one;
    first = round::present();
    EXPECT_NE(first, 0u);
    EXPECT_EQ(round::present(), first);
    std::thread([] { EXPECT_EQ(round::present(), 0u); }).join();
  }
  EXPECT_EQ(round::present(), 0u);
  const round another;
  EXPECT_NE(round::present(), first);
}

TEST(round, has_one_time) {
  const auto before = round::clock::now();
  {
    const round one;
    const auto time = round::time();
    EXPECT_GE(time, before);
    while (round::clock::now() == time) {
    }
    EXPECT_EQ(round::time(), time);
    std::thread([time] { EXPECT_GT(round::time(), time); }).join();
  }
  const auto after = round::time();
  EXPECT_GT(after, before);
  const round another;
  EXPECT_GE(round::time(), after);
}

}  // namespace
}  // namespace hondana::executor
