/// When something that is being written counts as written.
#include "os/watch/debounce.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::watch {
namespace {

using namespace std::chrono_literals;
using names = debouncer<std::string>;
const names::clock::time_point start{1h};

TEST(settling, is_over_after_a_time_of_quiet) {
  names open({20ms, 100ms});
  open.touch("a", start);
  open.touch("a", start + 15ms);
  EXPECT_EQ(open.next_due(), start + 35ms);
  EXPECT_TRUE(open.pop_due(start + 34ms).empty());
  EXPECT_EQ(open.pop_due(start + 35ms), std::vector<std::string>{"a"});
  EXPECT_EQ(open.size(), 0u);
  EXPECT_FALSE(open.next_due());
}

TEST(settling, of_what_never_rests_is_over_at_the_latest_time) {
  names open({20ms, 100ms});
  int told = 0;
  for (auto now = start; now < start + 1s; now += 10ms) {
    open.touch("log", now);
    told += static_cast<int>(open.pop_due(now).size());
  }
  EXPECT_EQ(told, 9);
}

TEST(settling, is_not_told_twice) {
  names open({20ms, 100ms});
  open.touch("a", start);
  open.erase("a");
  EXPECT_TRUE(open.pop_due(start + 1s).empty());
}

TEST(settling, of_too_many_is_over_for_all) {
  names open({20ms, 100ms}, 10);
  for (int i = 0; i < 10; ++i) open.touch(std::to_string(i), start);
  EXPECT_TRUE(open.pop_due(start).empty());
  open.touch("one too many", start);
  EXPECT_EQ(open.pop_due(start).size(), 11u);
}

}  // namespace
}  // namespace hondana::watch
