/// The kernel's events, cut from its bytes.
#include "os/watch/inotify.hpp"

#include <fcntl.h>
#include <stdlib.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/executor/batching.hpp"
#include "os/disk/file_descriptor.hpp"

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
  EXPECT_TRUE(for_each_event(bytes, [&](const event& one) {
    seen.push_back(std::to_string(one.watch) + ":" + std::to_string(one.mask) + ":" + std::string(one.name));
  }));
  EXPECT_EQ(seen,
            (std::vector<std::string>{"3:" + std::to_string(IN_CREATE) + ":a", "4:" + std::to_string(IN_DELETE_SELF) + ":"}));
}

TEST(inotify_events, that_end_early_are_not_made_up) {
  const auto whole = raw(3, IN_CREATE, std::string("abc\0", 4), 4);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    int seen = 0;
    EXPECT_FALSE(for_each_event(std::string_view(whole).substr(0, size), [&](const event&) { ++seen; })) << size;
    EXPECT_EQ(seen, 0) << size;
  }
  EXPECT_FALSE(for_each_event(raw(3, IN_CREATE, "a", 0xFFFFFFFF), [](const event&) { FAIL(); }));
}

TEST(inotify, says_why_a_folder_cannot_be_watched) {
  const auto queue = inotify::open();
  ASSERT_TRUE(queue);
  const auto watch = queue->add(-1);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error(), ENOENT);
}

TEST(inotify, that_was_found_silent_is_so_for_the_rest_of_a_round) {
  std::string path = std::filesystem::temp_directory_path() / "hondana-inotify-XXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  const disk::handle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto first = inotify::open(), second = inotify::open();
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->add(folder.get()) && second->add(folder.get()));
  const auto touch = [&path] { std::ofstream(path + "/a") << "a"; };
  {
    const executor::message_batch now;
    EXPECT_TRUE(first->is_idle());
    touch();
    EXPECT_TRUE(first->is_idle()) << "what this round answers had arrived before";
    EXPECT_FALSE(second->is_idle()) << "nothing was known of it";
    std::thread([&] { EXPECT_FALSE(first->is_idle()) << "it has no round"; }).join();
  }
  EXPECT_FALSE(first->is_idle());
  {
    const executor::message_batch next;
    EXPECT_FALSE(first->is_idle());
  }
  auto reads = inotify::open();
  ASSERT_TRUE(reads && reads->add(folder.get()));
  touch();
  {
    const executor::message_batch now;
    EXPECT_FALSE(reads->is_idle());
    while (reads->read([](const event&) {})) {
    }
    EXPECT_TRUE(reads->is_idle()) << "that it was not is not remembered";
  }
  std::filesystem::remove_all(path);
}

TEST(event_waiters, end_a_wait_once_for_a_wake_that_came_before) {
  const event_waiter waiter;
  waiter.wake();
  waiter.wake();
  EXPECT_TRUE(waiter.wait(-1, monotonic_clock::now() + std::chrono::hours(1)));
  EXPECT_FALSE(waiter.wait(-1, monotonic_clock::now()));
}

TEST(event_waiters, end_a_wait_when_the_queue_is_readable) {
  std::string path = std::filesystem::temp_directory_path() / "hondana-waiter-XXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  const disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto queue = inotify::open();
  ASSERT_TRUE(queue && queue->add(folder.get()));
  const event_waiter waiter;
  EXPECT_FALSE(waiter.wait(queue->descriptor(), monotonic_clock::now()));
  std::ofstream(path + "/a") << "a";
  EXPECT_TRUE(waiter.wait(queue->descriptor(), monotonic_clock::now() + std::chrono::hours(1)));
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace hondana::watch
