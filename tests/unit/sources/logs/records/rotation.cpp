/// logrotate itself, while somebody writes, and others read.
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/record_walker.hpp"
#include "sources/logs/records/rotated_files.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

constexpr int rotations = 24;

/// Writes numbered lines, and opens its file anew when it is told to, as servers do.
class line_writer {
 public:
  explicit line_writer(std::string path) : path_(std::move(path)), thread_([this] { run(); }) {}
  ~line_writer() { end(); }
  line_writer(const line_writer&) = delete;
  line_writer& operator=(const line_writer&) = delete;

  void open_anew() { wants_anew_ = true; }
  std::size_t end() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
    return written_;
  }
  [[nodiscard]] std::size_t written() const { return written_; }
  /// Waits until so many more lines have been written; and others are written meanwhile.
  void wait_for(std::size_t more, std::size_t and_then = 400) {
    std::unique_lock lock(mutex_);
    const auto wanted = written_ + more;
    allowed_ = wanted + and_then;
    advanced_.notify_all();
    ASSERT_TRUE(advanced_.wait_for(lock, hondana_test::event_deadline, [&] { return written_ >= wanted; }));
  }

 private:
  void run() {
    auto out = std::make_unique<std::ofstream>(path_, std::ios::app | std::ios::binary);
    while (!is_over_) {
      if (wants_anew_.exchange(false)) out = std::make_unique<std::ofstream>(path_, std::ios::app | std::ios::binary);
      std::string some;
      for (int i = 0; i < 20; ++i) {
        some += "line " + std::to_string(written_ + static_cast<std::size_t>(i)) +
                " of a log that is rotated while it is written\n";
      }
      *out << some << std::flush;
      std::unique_lock lock(mutex_);
      written_ += 20;
      advanced_.notify_all();
      // Told by a file, which goes when it has been done.
      advanced_.wait_for(lock, std::chrono::milliseconds(1), [this] { return written_ < allowed_ || is_over_ || wants_anew_; });
      std::error_code none;
      if (std::filesystem::exists(path_ + ".reopen", none)) {
        out = std::make_unique<std::ofstream>(path_, std::ios::app | std::ios::binary);
        std::filesystem::remove(path_ + ".reopen", none);
      }
    }
  }

  const std::string path_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> wants_anew_{false};
  std::atomic<std::size_t> written_{0};
  std::size_t allowed_ = 0;
  std::mutex mutex_;
  std::condition_variable advanced_;
  std::thread thread_;
};

std::optional<std::size_t> number_of(const log_record& one) {
  std::size_t out = 0;
  if (!one.text.starts_with("line ") || !one.text.ends_with(" while it is written")) return std::nullopt;
  std::from_chars(one.text.data() + 5, one.text.data() + one.text.size(), out);
  return out;
}

/// Each number once, from some newest one down to 0.
void expect_every_line(const std::vector<log_record>& all, const char* who) {
  ASSERT_FALSE(all.empty()) << who;
  auto expected = number_of(all.front());
  ASSERT_TRUE(expected) << who;
  for (const auto& one : all) {
    const auto number = number_of(one);
    ASSERT_TRUE(number) << who << ": " << one.text;
    ASSERT_EQ(*number, *expected) << who << " in " << one.source;
    --*expected;
  }
  EXPECT_EQ(*expected, static_cast<std::size_t>(-1)) << who;
}

/// Hears of changes and reads down to what it has seen.
class follower {
 public:
  explicit follower(std::shared_ptr<log_backend> of) : of_(std::move(of)), thread_([this] { run(); }) {
    of_->follow([this] {
      const std::lock_guard lock(mutex_);
      is_rung_ = true;
      rung_.notify_all();
    });
  }
  ~follower() { end(); }
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;
  /// Waits until it has read so many.
  [[nodiscard]] bool has_read(std::size_t lines) {
    std::unique_lock lock(mutex_);
    return rung_.wait_for(lock, hondana_test::event_deadline, [&] { return next_ >= lines; });
  }
  void end() {
    of_->follow({});
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      rung_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        rung_.wait_for(lock, hondana_test::event_deadline, [this] { return is_rung_ || is_over_; });
        if (!is_rung_) return;
        is_rung_ = false;
      }
      take_news();
    }
  }
  void take_news() {
    std::vector<std::size_t> news;
    log_query what;
    what.lines = 500;
    for (bool is_done = false; !is_done;) {
      const auto one = page_of(*of_, what);
      for (const auto& each : one.records) {
        const auto number = number_of(each);
        if (!number) {
          ADD_FAILURE() << "the follower got " << each.text;
          return;
        }
        is_done = *number < next_;
        if (is_done) break;
        news.push_back(*number);
      }
      if (!one.next) break;
      what.cursor = *one.next;
    }
    const std::lock_guard lock(mutex_);
    for (auto one = news.rbegin(); one != news.rend(); ++one) {
      ASSERT_EQ(*one, next_) << "lost or twice";
      ++next_;
    }
    rung_.notify_all();
  }

  std::shared_ptr<log_backend> of_;
  std::size_t next_ = 0;
  std::mutex mutex_;
  std::condition_variable rung_;
  bool is_rung_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

void rotate_under_load(const std::string& how, int times = rotations, bool by_seconds = false) {
  made_log made;
  made.write("app.log", "");
  made.write("rotate.conf", made.path() + " {\n  su root root\n  rotate 100\n  size 1\n" + how + "}\n");
  made.with.max_files = 200;
  const auto one = made.open();
  ASSERT_TRUE(one);
  line_writer writer(made.path());
  follower tail(one);
  writer.wait_for(400);
  std::atomic<bool> is_over{false};
  std::atomic<int> passes{0};
  std::thread reader([&] {
    log_query what;
    what.lines = 300;
    do {
      expect_every_line(all_pages(*one, what), "the reader");
      ++passes;
      passes.notify_all();
    } while (!is_over && !testing::Test::HasFailure());
  });
  for (int i = 0; i < times; ++i) {
    // Names with dates are of seconds.
    const auto second = std::time(nullptr);
    while (by_seconds && std::time(nullptr) == second && !testing::Test::HasFailure()) passes.wait(passes);
    writer.wait_for(400);
    made.run("/usr/sbin/logrotate -f -s state rotate.conf 2>> errors");
    writer.open_anew();
  }
  writer.wait_for(400);
  const auto written = writer.end();
  is_over = true;
  reader.join();
  EXPECT_GT(passes, 0);
  log_query all;
  all.lines = 1000;
  const auto records = all_pages(*one, all);
  expect_every_line(records, "whoever comes later");
  EXPECT_EQ(records.size(), written);
  std::ifstream state(made.path("errors"));
  const std::string errors{std::istreambuf_iterator<char>(state), {}};
  EXPECT_EQ(errors, "");
  EXPECT_TRUE(tail.has_read(written));
  tail.end();
  EXPECT_GT(std::distance(std::filesystem::directory_iterator(made.folder()), std::filesystem::directory_iterator()), times);
}

TEST(rotation, loses_and_repeats_nothing_when_files_are_renamed_and_made_anew) { rotate_under_load("  create\n"); }
TEST(rotation, loses_and_repeats_nothing_when_files_are_compressed_at_once) {
  rotate_under_load(
      "  create\n  compress\n  postrotate\n    touch app.log.reopen; while [ -e app.log.reopen ]; do :; done\n  endscript\n");
}
TEST(rotation, loses_and_repeats_nothing_when_files_are_compressed_a_rotation_later) {
  rotate_under_load("  create\n  compress\n  delaycompress\n");
}
TEST(rotation, loses_and_repeats_nothing_with_dates_in_names) {
  rotate_under_load("  nocreate\n  dateext\n  dateformat -%Y%m%d-%s\n  compress\n  delaycompress\n", 3, true);
}
TEST(rotation, by_copying_and_truncating_loses_nothing_while_nobody_writes) {
  made_log made;
  made.write("rotate.conf",
             made.path() + " {\n  su root root\n  rotate 100\n  size 1\n  copytruncate\n  compress\n  delaycompress\n}\n");
  const auto one = made.open();
  std::size_t lines = 0;
  log_query what;
  what.lines = 7;
  for (int i = 0; i < 6; ++i) {
    std::string some;
    for (int j = 0; j < 50; ++j) some += "line " + std::to_string(lines++) + " of a log that is rotated while it is written\n";
    made.append("app.log", some);
    // Begun before a rotation, and gone on with behind it, in the copy.
    const auto first = page_of(*one, what);
    made.run("/usr/sbin/logrotate -f -s state rotate.conf");
    auto rest = what;
    rest.cursor = first.next.value_or("");
    auto all = first.records;
    for (auto& each : all_pages(*one, rest)) all.push_back(std::move(each));
    ASSERT_EQ(all.size(), lines);
    expect_every_line(all, "whoever reads on in the copy");
  }
}

TEST(rotation, loses_and_repeats_nothing_when_xz_compresses) {
  rotate_under_load("  create\n  compress\n  delaycompress\n  compresscmd /usr/bin/xz\n  compressext .xz\n");
}

TEST(rotation, is_waited_for_by_whoever_goes_through_the_log) {
  made_log made;
  made.write("app.log", "one line\nanother line\n");
  file_opener all({.is_every_line = true}, time_zone(0), 1u << 20, 1u << 20);
  int looks = 0;
  const auto list = [&]() -> result<file_listing> {
    if (++looks < 10) return fail(errc::content_changed, "The log files kept being renamed. Retry.");
    return list_files({.folder = made.folder(), .live_name = "app.log"});
  };
  int lines = 0;
  const std::function<bool(const log_record&)> each = [&](const log_record&) { return ++lines > 0; };
  const read_budget most;
  const request_context by;
  const auto gone = walk_records(list, all, {.budget = most, .context = by, .visit = each});
  ASSERT_TRUE(gone) << gone.error().public_text;
  EXPECT_TRUE(gone->is_complete);
  EXPECT_EQ(lines, 2);
  looks = -1'000;
  const auto never = walk_records(list, all, {.budget = most, .context = by, .visit = each});
  ASSERT_TRUE(never);
  EXPECT_FALSE(never->is_complete);
  EXPECT_EQ(never->notes.size(), 1u);
}

}  // namespace
}  // namespace hondana::records
