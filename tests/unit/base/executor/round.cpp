/// Rounds have numbers of their own.
#include "base/executor/batching.hpp"

#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace hondana::executor {
namespace {

TEST(round, has_a_number_while_it_lives_and_only_on_its_thread) {
  EXPECT_EQ(message_batch::current_id(), 0u);
  std::uint64_t first = 0;
  {
    const message_batch one;
    first = message_batch::current_id();
    EXPECT_NE(first, 0u);
    EXPECT_EQ(message_batch::current_id(), first);
    std::thread([] { EXPECT_EQ(message_batch::current_id(), 0u); }).join();
  }
  EXPECT_EQ(message_batch::current_id(), 0u);
  const message_batch another;
  EXPECT_NE(message_batch::current_id(), first);
}

TEST(round, has_one_time) {
  const auto before = message_batch::clock::now();
  {
    const message_batch one;
    const auto time = message_batch::now();
    EXPECT_GE(time, before);
    while (message_batch::clock::now() == time) {
    }
    EXPECT_EQ(message_batch::now(), time);
    std::thread([time] { EXPECT_GT(message_batch::now(), time); }).join();
  }
  const auto after = message_batch::now();
  EXPECT_GT(after, before);
  const message_batch another;
  EXPECT_GE(message_batch::now(), after);
}

}  // namespace
}  // namespace hondana::executor
