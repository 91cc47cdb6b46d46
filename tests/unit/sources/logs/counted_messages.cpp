/// Counting templates.
#include "sources/logs/message_templates.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

records::log_record record_saying(std::string text, records::instant time = noon,
                                  std::optional<records::severity> level = records::severity::info) {
  return {.time = time, .has_own_time = true, .level = level, .text = std::move(text), .cut_bytes = 0, .source = {}};
}

/// A word of letters alone for each number.
std::string word_of(int number) {
  std::string out = "w";
  for (; number > 0; number /= 26) out += static_cast<char>('a' + number % 26);
  return out;
}

}  // namespace

TEST(message_counter, counts_by_template_with_the_times_of_the_first_and_the_last) {
  message_counter all;
  all.add(record_saying("job 1 done", noon + 5));
  all.add(record_saying("job 2 done", noon + 1, records::severity::error));
  all.add(record_saying("other", noon));
  all.add(record_saying("job 3 done", noon + 9));
  const auto got = all.sorted();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].pattern, "job <num> done");
  EXPECT_EQ(got[0].count, 3U);
  EXPECT_EQ(got[0].first, noon + 1);
  EXPECT_EQ(got[0].last, noon + 9);
  EXPECT_EQ(got[0].max_level, records::severity::error);
  EXPECT_TRUE(got[0].is_mixed);
  EXPECT_FALSE(got[1].is_mixed);
  EXPECT_EQ(got[0].example, "job 1 done");
  EXPECT_EQ(all.count_error(), 0U);
}

TEST(message_counter, stays_bounded_and_keeps_what_is_frequent) {
  message_counter all(100);
  for (int i = 0; i < 20'000; ++i) {
    all.add(record_saying("a rare " + word_of(i) + " message"));
    if (i % 4 == 0) all.add(record_saying("often"));
    ASSERT_LE(all.size(), 200U);
  }
  const auto* const often = all.find("often");
  ASSERT_NE(often, nullptr);
  EXPECT_EQ(often->count, 5000U);
  EXPECT_EQ(all.sorted().front().pattern, "often");
  EXPECT_GT(all.count_error(), 0U);
}

TEST(message_counter, adds_up_with_another_one) {
  message_counter one, other;
  one.add(record_saying("job 1 done", noon + 5));
  other.add(record_saying("job 7 done", noon + 2));
  other.add(record_saying("more", noon));
  one.add(other);
  const auto got = one.sorted();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].count, 2U);
  EXPECT_EQ(got[0].example, "job 7 done");
  EXPECT_EQ(got[0].first, noon + 2);
  EXPECT_EQ(got[0].last, noon + 5);
}

TEST(first_line, is_cut_between_letters) {
  EXPECT_EQ(first_line("a\nb", 100), "a");
  EXPECT_EQ(first_line("日本", 4), "日");
  EXPECT_EQ(first_line("日本", 6), "日本");
}

}  // namespace hondana::logs
