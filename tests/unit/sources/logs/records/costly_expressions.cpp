/// Expressions that take many steps for every byte.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

std::string lines_of_letters(std::size_t count) {
  std::string out;
  std::uint32_t drawn = 7;
  for (std::size_t i = 0; i < count; ++i) {
    out += "2026-01-02T08:00:00Z INFO ";
    for (int k = 0; k < 100; ++k) {
      drawn = drawn * 1'664'525 + 1'013'904'223;
      out += "abcxyw "[drawn / 65'536 % 7];
    }
    out += "\n";
  }
  return out;
}

std::string many(std::string_view what, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += what;
  return out;
}

TEST(costly_expressions, are_refused_beyond_a_size) {
  for (const auto& one : {many("[^z]{0,900}", 20) + "z", std::string("[^z]{0,900}z"), std::string("(?s).{1000}z")}) {
    const auto got = compile_expression(one, "grep");
    ASSERT_FALSE(got) << one;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_NE(got.error().public_text.find("grep"), std::string::npos);
  }
  for (const std::string one :
       {"timeout after \\d{1,6}ms", "(?i)user=\\w{1,64}.{0,80}denied", "[a-f0-9]{8}-[a-f0-9]{4}", "\\p{Lu}+"})
    EXPECT_TRUE(compile_expression(one, "grep")) << one;
}

TEST(costly_expressions_timing, end_a_page_when_the_time_is_up) {
  made_log made;
  made.write("app.log", lines_of_letters(40'000));
  const auto one = made.open();
  for (const auto* expression :
       {"[^z]{0,300}zz", "(?:[ab][a-y]{0,60}){12}zz", "(?s)[ax].{0,100}.*[^z]{0,300}zz", "([ab][^z]*z|qq)"}) {
    auto what = newest(10);
    what.grep = expression;
    ASSERT_TRUE(compile_expression(what.grep, "grep")) << expression;
    read_budget most;
    most.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    const auto got = page_of(*one, what, most);
    EXPECT_LT(std::chrono::steady_clock::now() - most.deadline, std::chrono::milliseconds(1500)) << expression;
    EXPECT_TRUE(got.records.empty()) << expression;
    EXPECT_TRUE(!got.next || !got.early_end_reason.empty()) << expression;
  }
}

TEST(costly_expressions_timing, that_look_far_ahead_from_every_record_take_linear_time) {
  made_log made;
  made.write("app.log", lines_of_letters(40'000));
  auto what = newest(50'000);
  what.grep = "(a[^z]*z|INFO)";  // of which every record shows the second part, and the first is looked for to the end
  read_budget most;
  most.max_answer_bytes = 64u << 20;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(page_of(*made.open(), what, most).records.size(), 40'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(60));
}

TEST(costly_expressions, find_the_same_with_any_size_of_what_is_searched_at_once) {
  made_log made;
  std::string text;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < 30'000; ++i) {
    const bool is_one = i % 97 == 0 || i > 29'900 || (i > 400 && i < 420);
    wanted += is_one ? 1u : 0u;
    text += "2026-01-02T08:00:00Z INFO " + std::string(is_one ? "needle" : "straw") + " " + std::to_string(i) + "\n";
    if (i % 1000 == 0) text += "  " + std::string(90'000, 'x') + "\n";
  }
  made.write("app.log", text);
  const auto one = made.open();
  for (const auto* expression : {"needle", "needle \\d+", "n[e]{2}dle(.{0,90})", "needle[^q]{0,120}"}) {
    auto what = newest(333);
    what.grep = expression;
    const auto got = all_pages(*one, what);
    EXPECT_EQ(got.size(), wanted) << expression;
  }
}

}  // namespace
}  // namespace hondana::records
