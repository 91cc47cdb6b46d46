/// Following a log that has thousands of files beside it.
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/logs/records/rotated_files.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

std::int64_t processor_time() {
  timespec now{};
  EXPECT_EQ(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

TEST(following_timing, does_not_list_a_big_folder_for_every_line) {
  made_log made;
  made.write("app.log", "first\n");
  made.run("seq -f other-%g 20000 | xargs touch");
  log_file_set where;
  where.folder = made.folder();
  where.live_name = "app.log";
  const auto before_listing = processor_time();
  ASSERT_TRUE(list_files(where));
  const auto listing = processor_time() - before_listing;

  std::mutex mutex;
  std::condition_variable news;
  std::size_t heard = 0;
  const auto one = made.open();
  one->follow([&] {
    const std::lock_guard lock(mutex);
    ++heard;
    news.notify_all();
  });
  constexpr std::size_t lines = 40;
  std::ofstream out(made.path(), std::ios::binary | std::ios::app);  // which stays open, as a program's does
  const auto before = processor_time();
  for (std::size_t i = 0; i < lines; ++i) {
    std::unique_lock lock(mutex);
    const auto known = heard;
    out << "line\n" << std::flush;
    ASSERT_TRUE(news.wait_for(lock, hondana_test::event_deadline, [&] { return heard > known; }));
  }
  const auto taken = processor_time() - before;
  one->follow(nullptr);
  EXPECT_LT(taken, listing * static_cast<std::int64_t>(lines) / 4);
}

}  // namespace
}  // namespace hondana::records
