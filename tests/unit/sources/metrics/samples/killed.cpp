/// What is left of a store when its process is killed, or its log is cut off as by a power cut.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "unit/sources/metrics/samples/kept.hpp"

namespace hondana::samples {
namespace {

using killed_store = kept;

constexpr std::size_t members = 20;

/// Batch number `number`: a sample of each of some series.
batch numbered(std::uint64_t number) {
  batch out;
  for (std::size_t i = 0; i < members; ++i)
    out.entries.push_back({named("x", {{"i", std::to_string(i)}}),
                           {some_day + static_cast<series::instant>(number) * 1000, static_cast<double>(number * (i + 1))}});
  return out;
}

/// How many batches there are, all of them whole and with the values that they were given.
std::uint64_t whole_batches(const store& of) {
  query_limits all;
  all.max_samples = 100'000'000;
  const auto got = of.read({"x", {}}, some_day, some_day + 1000 * one_day, all);
  EXPECT_TRUE(got);
  if (!got || got->empty()) return 0;
  EXPECT_EQ(got->size(), members);
  for (const auto& one : *got) {
    EXPECT_EQ(one.samples.size(), got->front().samples.size());
    const auto i = static_cast<double>(std::atoi(std::string(one.id.value_of("i")).c_str()));
    for (std::size_t j = 0; j < one.samples.size(); ++j) {
      if (one.samples[j].time == some_day + static_cast<series::instant>(j) * 1000 &&
          one.samples[j].value == static_cast<double>(j) * (i + 1))
        continue;
      ADD_FAILURE() << "sample " << j << " of " << to_text(one.id);
      break;
    }
  }
  return got->front().samples.size();
}

/// A process that does something and says so by bytes. Nothing else runs in this one meanwhile.
class other_process {
 public:
  explicit other_process(const std::function<void(const std::function<void()>& tell)>& work) {
    int ends[2]{};
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      work([&] {
        if (::write(ends[1], "x", 1) != 1) ::_exit(2);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~other_process() { kill(); }
  /// Waits for so many words; false when it ends before.
  bool await(std::size_t words) {
    for (char one = 0; words > 0; --words) {
      if (::read(from_, &one, 1) != 1) return false;
      ++told_;
    }
    return true;
  }
  /// How many words there were in all.
  std::uint64_t kill() {
    if (pid_ < 0) return told_;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    while (await(1)) {
    }
    ::close(from_);
    return told_;
  }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
  std::uint64_t told_ = 0;
};

TEST_F(killed_store, keeps_whole_batches_and_all_that_it_has_said_are_kept_whenever_it_is_killed) {
  std::mt19937 draw(5);
  // Memory is short and syncing is often, so that it is killed in the midst of everything that a store does.
  options_.max_memory_bytes = 30'000;
  options_.sync_interval = std::chrono::milliseconds(10);
  std::uint64_t there = 0;
  for (int round = 0; round < 10; ++round) {
    store_.reset();
    other_process writer([&](const std::function<void()>& tell) {
      auto made = store::open(options_);
      if (!made) ::_exit(3);
      for (auto number = there;; ++number) {
        if (!(*made)->append(numbered(number))) ::_exit(4);
        time_.advance(options_.sync_interval);
        tell();
      }
    });
    EXPECT_TRUE(writer.await(draw() % 400));
    const auto told = writer.kill();
    open();
    const auto now = whole_batches(*store_);
    EXPECT_GE(now, there + told);
    EXPECT_LE(now, there + told + 1);
    EXPECT_EQ(store_->statistics().samples, now * members);
    there = now;
  }
  EXPECT_EQ(log(), "");
  settle(clock_);
  EXPECT_EQ(whole_batches(*store_), there);
  EXPECT_EQ(put(numbered(there)).stored, members);
}

TEST_F(killed_store, has_the_batches_before_the_place_where_a_power_cut_ended_its_log) {
  options_.sync_interval = std::chrono::hours(1);
  open();
  for (std::uint64_t i = 0; i < 300; ++i) {
    put(numbered(i));
    if (i == 100) settle(clock_);
  }
  // By another process, since closing a file gives up this one's locks of it.
  ASSERT_EQ(std::system(("cp -r " + folder_ + "/below " + folder_ + "/cut").c_str()), 0);
  store_.reset();
  const auto whole = options_.path;
  const auto log_at = folder_ + "/cut/metrics.db-wal";
  const auto size = std::filesystem::file_size(log_at);
  std::mt19937_64 draw(3);
  std::uint64_t before = 0;
  for (int round = 0; round < 12; ++round) {
    const auto from = folder_ + "/cut", to = folder_ + "/again" + std::to_string(round);
    std::filesystem::copy(from, to);
    std::filesystem::resize_file(to + "/metrics.db-wal", round == 0 ? size : draw() % size);
    options_.path = to + "/metrics.db";
    open();
    const auto now = whole_batches(*store_);
    if (round == 0) {
      EXPECT_EQ(now, 300u);
    }
    EXPECT_GE(now, 101u);
    before = std::max(before, now);
    EXPECT_EQ(put(numbered(now)).stored, members);
  }
  EXPECT_EQ(before, 300u);
  EXPECT_EQ(log(), "");
  options_.path = whole;
}

TEST_F(killed_store, is_refused_to_a_second_process_until_the_first_has_ended) {
  other_process holder([&](const std::function<void()>& tell) {
    auto made = store::open(options_);
    if (!made || !(*made)->append(numbered(0))) ::_exit(3);
    tell();
    ::pause();
  });
  ASSERT_TRUE(holder.await(1));
  const auto refused = open_as_time_passes();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_EQ(refused.error().public_text,
            "cannot store metrics in " + folder_ +
                "/below/metrics.db: another process uses it for its metrics; stop that process, or give another path");
  holder.kill();
  open();
  EXPECT_EQ(whole_batches(*store_), 1u);
  EXPECT_EQ(log(), "");
}

TEST_F(killed_store, is_refused_to_a_second_store_of_the_same_process) {
  open();
  EXPECT_FALSE(open_as_time_passes());
  put(numbered(0));
  store_.reset();
  open();
  EXPECT_EQ(whole_batches(*store_), 1u);
}

}  // namespace
}  // namespace hondana::samples
