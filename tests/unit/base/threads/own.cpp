/// Variables of a thread's own.
#include "base/threads/thread_instance.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>

namespace hondana::threads {
namespace {

std::atomic<int> counted = 0;

struct counting {
  ~counting() { ++counted; }
  int number = 7;
};

TEST(own_of_thread, is_made_once_for_each_thread_and_destroyed_with_it) {
  counted = 0;
  auto* const here = thread_instance<counting>();
  ASSERT_NE(here, nullptr);
  here->number = 8;
  std::thread([&] {
    auto* const there = thread_instance<counting>();
    ASSERT_NE(there, nullptr);
    EXPECT_NE(there, here);
    EXPECT_EQ(there->number, 7);
    there->number = 9;
    EXPECT_EQ(thread_instance<counting>()->number, 9);
    EXPECT_EQ(counted, 0);
  }).join();
  EXPECT_EQ(counted, 1);
  EXPECT_EQ(thread_instance<counting>(), here);
  EXPECT_EQ(here->number, 8);
}

struct uses_another {
  ~uses_another() {
    if (auto* const other = thread_instance<counting>()) other->number = 1;
  }
};

TEST(own_of_thread, may_be_used_by_the_destructor_of_another) {
  for (const bool other_first : {true, false}) {
    counted = 0;
    std::thread([&] {
      if (other_first) {
        ASSERT_NE(thread_instance<counting>(), nullptr);
      }
      ASSERT_NE(thread_instance<uses_another>(), nullptr);
    }).join();
    EXPECT_EQ(counted, 1) << other_first;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
struct larger_than_memory {
  char bytes[std::size_t{1} << 50];
};

TEST(own_of_thread, is_null_while_there_is_no_memory) {
  EXPECT_EQ(thread_instance<larger_than_memory>(), nullptr);
  EXPECT_EQ(thread_instance<larger_than_memory>(), nullptr);
}
#endif

}  // namespace
}  // namespace hondana::threads
