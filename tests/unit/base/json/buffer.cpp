/// Buffers: what was appended, what is used again, and what moves.
#include "base/json/buffer.hpp"

#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

using hondana::json::buffer;

TEST(json_buffer, has_what_was_appended_and_written_into_its_room) {
  buffer out;
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(out.view(), "");
  out.append("");
  EXPECT_EQ(out.capacity(), 0u);
  out.append("one ");
  std::memcpy(out.prepare(3), "two", 3);
  EXPECT_EQ(out.view(), "one ") << "not said yet";
  out.commit(3);
  EXPECT_EQ(out.view(), "one two");
  std::string expected = "one two";
  for (int i = 0; i < 1000; ++i) {
    out.append("0123456789");
    expected += "0123456789";
  }
  EXPECT_EQ(out.view(), expected);
}

TEST(json_buffer, keeps_its_memory_when_it_is_cleared) {
  buffer out;
  out.append(std::string(1000, 'x'));
  const auto* const at = out.view().data();
  const auto room = out.capacity();
  out.clear();
  EXPECT_TRUE(out.empty());
  out.append(std::string(room, 'y'));
  EXPECT_EQ(out.view().data(), at);
  EXPECT_EQ(out.capacity(), room);
  out.reserve(room);
  EXPECT_EQ(out.capacity(), room);
}

TEST(json_buffer, that_was_moved_is_empty_and_may_be_used) {
  buffer one;
  one.append("one");
  buffer two(std::move(one));
  EXPECT_EQ(two.view(), "one");
  buffer three;
  three.append("three");
  three = std::move(two);
  EXPECT_EQ(three.view(), "one");
  for (auto* moved : {&one, &two}) {
    EXPECT_TRUE(moved->empty());
    moved->append("again");
    EXPECT_EQ(moved->view(), "again");
  }
}

}  // namespace
