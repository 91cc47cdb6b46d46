/// The kernel's events, cut from its bytes.
#include "watch/inotify.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::watch {
namespace {

std::string raw(int watch, std::uint32_t what, const std::string& name, std::uint32_t length) {
  inotify_event head{};
  head.wd = watch;
  head.mask = what;
  head.len = length;
  std::string bytes(sizeof head, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  bytes += name;
  return bytes;
}

TEST(inotify_events, are_cut_with_their_padding_taken_off) {
  const auto bytes = raw(3, IN_CREATE, std::string("a\0\0\0", 4), 4) + raw(4, IN_DELETE_SELF, "", 0);
  std::vector<std::string> seen;
  EXPECT_TRUE(each_event(bytes, [&](const event& one) {
    seen.push_back(std::to_string(one.watch) + ":" + std::to_string(one.what) + ":" + std::string(one.name));
  }));
  EXPECT_EQ(seen,
            (std::vector<std::string>{"3:" + std::to_string(IN_CREATE) + ":a", "4:" + std::to_string(IN_DELETE_SELF) + ":"}));
}

TEST(inotify_events, that_end_early_are_not_made_up) {
  const auto whole = raw(3, IN_CREATE, std::string("abc\0", 4), 4);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    int seen = 0;
    EXPECT_FALSE(each_event(std::string_view(whole).substr(0, size), [&](const event&) { ++seen; })) << size;
    EXPECT_EQ(seen, 0) << size;
  }
  EXPECT_FALSE(each_event(raw(3, IN_CREATE, "a", 0xFFFFFFFF), [](const event&) { FAIL(); }));
}

TEST(inotify, says_why_a_folder_cannot_be_watched) {
  const auto queue = inotify::open();
  ASSERT_TRUE(queue);
  const auto watch = queue->add(-1);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error(), ENOENT);
}

}  // namespace
}  // namespace hondana::watch
