/// Readers, a writer and the store's own thread at once.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <thread>
#include <utility>

#include "unit/sources/metrics/samples/kept.hpp"

namespace hondana::samples {
namespace {

class shared_store : public kept {
 protected:
  /// Batches are appended while three look; each look finds whole batches, and no fewer than the one before.
  void run_all() {
    constexpr int batches = 400, series_count = 30;
    options_.sync_interval = std::chrono::milliseconds(10);
    options_.max_memory_bytes = 60'000;
    open();
    std::atomic<int> written{0};
    const auto look = [&] {
      std::size_t seen = 0;
      for (bool is_last = false; !is_last;) {
        is_last = written == batches;
        const auto least = static_cast<std::size_t>(written);
        const auto got = store_->read({"x", {}}, some_day, some_day + one_day, {});
        if (!got) {
          ADD_FAILURE() << got.error().public_text << " | " << got.error().private_text;
          return;
        }
        std::size_t now = 0;
        for (const auto& one : *got) {
          now = one.samples.size();
          // In one look all series have the same batches, though none of those that come meanwhile need be there.
          EXPECT_EQ(now, got->front().samples.size());
          for (std::size_t i = 0; i < now; ++i) {
            if (one.samples[i].time == some_day + static_cast<series::instant>(i) * 1000 &&
                one.samples[i].value == static_cast<double>(i))
              continue;
            ADD_FAILURE() << "sample " << i << " of " << now;
            return;
          }
        }
        EXPECT_GE(now, seen);
        EXPECT_GE(now, least);
        seen = now;
        const auto last = store_->last({"x", {}}, some_day, {});
        EXPECT_TRUE(last && (last->empty() ||
                             last->front().samples.front().time >= some_day + (static_cast<series::instant>(now) - 1) * 1000));
        EXPECT_LE(store_->metric_names("", some_day, 10).size(), 1u);
      }
      EXPECT_EQ(seen, static_cast<std::size_t>(batches));
    };
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) readers.emplace_back(look);
    for (int i = 0; i < batches; ++i) {
      batch all;
      for (int j = 0; j < series_count; ++j)
        all.entries.push_back({named("x", {{"j", std::to_string(j)}}), {some_day + i * 1000, static_cast<double>(i)}});
      EXPECT_EQ(put(all).stored, static_cast<std::size_t>(series_count));
      ++written;
      time_.advance(options_.sync_interval);
      if (i % 100 == 99) settle(clock_);
    }
    for (auto& one : readers) one.join();
  }
};

/// Called once, when SQLite opens a connection next.
std::function<void()>& at_next_connection() {
  static std::function<void()> what;
  return what;
}

int call_at_connection() {
  if (const auto what = std::exchange(at_next_connection(), {})) what();
  return SQLITE_OK;
}

TEST_F(shared_store, is_read_as_it_was_though_what_comes_meanwhile_is_settled) {
  open();
  const auto put_both = [&](int i) {
    batch both;
    for (const auto* j : {"0", "1"})
      both.entries.push_back({named("x", {{"j", j}}), {some_day + i * 1000, static_cast<double>(i)}});
    put(both);
  };
  put_both(0);
  // The first look connects once it knows what memory has, and before it looks at the file.
  bool is_called = false;
  at_next_connection() = [&] {
    is_called = true;
    put_both(1);
    settle(clock_);
    put_both(2);
  };
  const auto calling = reinterpret_cast<void (*)()>(call_at_connection);
  ASSERT_EQ(sqlite3_auto_extension(calling), SQLITE_OK);
  const auto then = read({"x", {}});
  EXPECT_EQ(sqlite3_cancel_auto_extension(calling), 1);
  EXPECT_TRUE(is_called);
  ASSERT_EQ(then.size(), 2u);
  for (const auto& one : then) EXPECT_EQ(one.samples.size(), 1u);
  const auto now = read({"x", {}});
  ASSERT_EQ(now.size(), 2u);
  for (const auto& one : now) EXPECT_EQ(one.samples.size(), 3u);
}

TEST_F(shared_store, is_read_while_it_is_written_and_settled) { run_all(); }

TEST_F(shared_store, is_read_in_memory_while_it_is_written_and_settled) {
  options_.path.clear();
  run_all();
}

}  // namespace
}  // namespace hondana::samples
