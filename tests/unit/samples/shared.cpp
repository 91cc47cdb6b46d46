/// Readers, a writer and the store's own thread at once.
#include <gtest/gtest.h>

#include <thread>

#include "unit/samples/kept.hpp"

namespace hondana::samples {
namespace {

class shared_store : public kept {
 protected:
  /// Batches are appended while three look; each look finds whole batches, and no fewer than the one before.
  void run_all() {
    constexpr int batches = 400, series_count = 30;
    options_.sync_every = std::chrono::milliseconds(10);
    options_.most_memory = 60'000;
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
            if (one.samples[i].at == some_day + static_cast<series::instant>(i) * 1000 &&
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
                             last->front().samples.front().at >= some_day + (static_cast<series::instant>(now) - 1) * 1000));
        EXPECT_LE(store_->names("", some_day, 10).size(), 1u);
      }
      EXPECT_EQ(seen, static_cast<std::size_t>(batches));
    };
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) readers.emplace_back(look);
    for (int i = 0; i < batches; ++i) {
      batch all;
      for (int j = 0; j < series_count; ++j)
        all.entries.push_back({named("x", {{"j", std::to_string(j)}}), {some_day + i * 1000, static_cast<double>(i)}});
      EXPECT_EQ(put(all).kept, static_cast<std::size_t>(series_count));
      ++written;
      if (i % 100 == 99) settle(clock_);
    }
    for (auto& one : readers) one.join();
  }
};

TEST_F(shared_store, is_read_while_it_is_written_and_settled) { run_all(); }

TEST_F(shared_store, is_read_in_memory_while_it_is_written_and_settled) {
  options_.path.clear();
  run_all();
}

}  // namespace
}  // namespace hondana::samples
