/// A store in a folder of its own, and short words for what is put into it and read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "sources/metrics/samples/store.hpp"

namespace hondana::samples {

inline constexpr series::instant some_day = 1'700'000'000'000;
inline constexpr series::duration an_hour = 3'600'000, one_day = 24 * an_hour;

inline series::identity named(const std::string& name, std::vector<series::label> labels = {}) {
  return {name, std::move(labels)};
}

inline series::selector selecting(const std::string& name, const std::string& body = {}) {
  auto matchers = series::parse_matchers(body);
  EXPECT_TRUE(matchers) << body;
  return {name, matchers ? *matchers : std::vector<series::matcher>{}};
}

inline bool are_alike(const std::vector<series::sample>& a, const std::vector<series::sample>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.time == other.time && std::bit_cast<std::uint64_t>(one.value) == std::bit_cast<std::uint64_t>(other.value);
  });
}

class kept : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/samples_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    options_.path = folder_ + "/below/metrics.db";
    options_.clock = [this] { return clock_.load(); };
    options_.log = [this](std::string_view line) {
      const std::lock_guard held(mutex_);
      log_ += std::string(line) + '\n';
    };
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open() {
    store_.reset();
    auto made = store::open(options_);
    ASSERT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    store_ = std::move(*made);
  }
  append_result put(const series::identity& of, const std::vector<series::sample>& samples) {
    batch all;
    for (const auto& one : samples) all.entries.push_back({of, one});
    return put(all);
  }
  append_result put(const batch& what) {
    const auto said = store_->append(what);
    EXPECT_TRUE(said) << said.error().public_text << " | " << said.error().private_text;
    return said ? *said : append_result{};
  }
  void settle(series::instant at) {
    const auto done = store_->compact(at);
    ASSERT_TRUE(done) << done.error().public_text << " | " << done.error().private_text;
  }
  std::vector<series::time_series> read(const series::selector& which, series::instant from = some_day - 1000 * one_day,
                                        series::instant to = some_day + 1000 * one_day) {
    auto got = store_->read(which, from, to, {});
    EXPECT_TRUE(got) << got.error().public_text << " | " << got.error().private_text;
    return got ? *got : std::vector<series::time_series>{};
  }
  std::vector<series::sample> read_one(const std::string& name) {
    const auto all = read({name, {}});
    EXPECT_LE(all.size(), 1u);
    return all.empty() ? std::vector<series::sample>{} : all.front().samples;
  }
  /// As `store::open`, while the time goes by that it waits for others to let the file go.
  result<std::unique_ptr<store>> open_as_time_passes() {
    auto opening = std::async(std::launch::async, [this] { return store::open(options_); });
    const auto is_over = [&] {
      time_.advance(std::chrono::seconds(1));
      return opening.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    EXPECT_TRUE(hondana_test::eventually(is_over));
    return opening.get();
  }
  std::string log() {
    const std::lock_guard held(mutex_);
    return log_;
  }

  manual_clock time_{};  // the store's own thread does nothing before it moves
  std::atomic<series::instant> clock_{some_day + 10 * one_day};
  store_options options_{};
  std::string folder_{};
  std::unique_ptr<store> store_{};

 private:
  std::mutex mutex_;
  std::string log_{};
};

}  // namespace hondana::samples
