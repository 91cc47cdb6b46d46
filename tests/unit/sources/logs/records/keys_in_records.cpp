/// Private keys whose lines are records, each with other text around it.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/masking.hpp"
#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

using test::lots;

const std::string key_begin =
    "-----BEGIN RSA PRIVATE "
    "KEY-----";
const std::string key_end =
    "-----END RSA PRIVATE "
    "KEY-----";

std::vector<std::string> drawn_key(lots& from, std::size_t lines, std::size_t last) {
  std::vector<std::string> out{key_begin};
  for (std::size_t i = 0; i < lines; ++i) out.push_back(from.base64(64));
  out.push_back(from.base64(last) + "==");
  out.push_back(key_end);
  return out;
}

std::string number(std::size_t i) { return std::to_string(10 + i % 50); }

using wrapping = std::function<std::string(const std::string& line, std::size_t number)>;

std::vector<wrapping> wrappings() {
  return {[](const std::string& line, std::size_t i) {
            return R"({"log":")" + line + R"(\n","stream":"stdout","time":"2026-01-02T12:04:)" + number(i) + "Z\"}\n";
          },
          [](const std::string& line, std::size_t i) {
            return R"({"time":"2026-01-02T12:04:)" + number(i) + R"(Z","level":"info","msg":")" + line + "\"}\n";
          },
          [](const std::string& line, std::size_t i) {
            return "time=2026-01-02T12:04:" + number(i) + "Z level=info msg=\"" + line + "\"\n";
          },
          [](const std::string& line, std::size_t i) {
            return "2026-01-02T12:04:" + number(i) + "Z level=info logger=io.of.some.long.name msg=" + line + " host=web-" +
                   number(i * 7) + "\n";
          }};
}

/// Whether a piece of a line of the key stands anywhere.
bool holds_key(std::string_view text, const std::vector<std::string>& key) {
  for (std::size_t i = 1; i + 1 < key.size(); ++i)
    for (std::size_t at = 0; at + 7 <= key[i].size(); at += 7)
      if (text.find(std::string_view(key[i]).substr(at, 7)) != std::string_view::npos) return true;
  return false;
}

TEST(keys_in_records, are_masked_line_by_line_and_what_stands_around_them_stays) {
  lots from(101);
  for (const auto& wrap : wrappings()) {
    for (const std::size_t last : {10u, 20u, 44u}) {
      const auto key = drawn_key(from, 25, last);
      std::string text = wrap("before it", 0);
      for (std::size_t i = 0; i < key.size(); ++i) text += wrap(key[i], i);
      text += wrap("behind it", 0);
      made_log made;
      made.write("app.log", text);
      for (const std::size_t lines : {1000u, 3u}) {
        const auto all = all_pages(*made.open(), newest(lines));
        ASSERT_EQ(all.size(), key.size() + 2) << text.substr(0, 100);
        for (const auto& one : all) {
          EXPECT_FALSE(holds_key(one.text, key)) << one.text;
          EXPECT_TRUE(one.has_own_time) << one.text;
        }
        EXPECT_NE(all.front().text.find("behind it"), std::string::npos);
        EXPECT_NE(all.back().text.find("before it"), std::string::npos);
      }
      for (const auto& one : walked(*made.open())) EXPECT_FALSE(holds_key(one.text, key)) << one.text;
    }
  }
}

TEST(keys_in_records, are_masked_where_others_write_in_between_who_are_not_masked) {
  lots from(103);
  const auto wrap = wrappings().front();
  const auto key = drawn_key(from, 25, 30);
  const auto trace = from.hex(32);
  std::string text;
  for (std::size_t i = 0; i < key.size(); ++i) {
    text += wrap(key[i], i);
    text += R"({"log":"served /usr/share/a/long/path/of/one/file trace )" + trace + "\"}\n";
  }
  made_log made;
  made.write("app.log", text);
  for (const auto& one : all_pages(*made.open(), newest(7))) {
    EXPECT_FALSE(holds_key(one.text, key)) << one.text;
    if (one.text.find("served") != std::string::npos) {
      EXPECT_NE(one.text.find(trace), std::string::npos) << one.text;
    }
  }
}

TEST(keys_in_records, are_found_in_parts_as_in_the_whole) {
  lots from(107);
  const auto all = wrappings();
  std::string text;
  while (text.size() < 400'000) {
    const auto& wrap = all[from.below(all.size())];
    auto key = drawn_key(from, from.below(120), 4 + from.below(50));
    if (from.below(3) == 0) key.pop_back();
    for (std::size_t i = 0; i < key.size(); ++i) text += wrap(key[i], i);
    for (auto i = from.below(30); i > 0; --i) text += wrap(from.word(20), i);
  }
  std::vector<secrets::span> whole;
  find_key_lines(text, whole);
  ASSERT_GT(whole.size(), 500u);
  const auto is_in = [](const std::vector<secrets::span>& spans, std::size_t at) {
    for (const auto& one : spans)
      if (at >= one.begin && at < one.end) return true;
    return false;
  };
  for (int i = 0; i < 60; ++i) {
    const auto begin = from.below(text.size() - 1000);
    const auto front = begin - std::min(begin, secrets::margin);
    std::vector<secrets::span> part;
    find_key_lines(std::string_view(text).substr(front, begin - front + 1000 + secrets::margin), part);
    for (auto at = begin; at < begin + 1000; at += 11) ASSERT_EQ(is_in(part, at - front), is_in(whole, at)) << at;
  }
}

TEST(keys_in_records, whose_first_half_lies_in_a_long_compressed_file_are_masked) {
  lots from(109);
  const auto key = drawn_key(from, 40, 30);
  std::string older;
  while (older.size() < (7u << 20)) older += "line " + from.alnum(9) + " " + from.alnum(9) + " " + from.alnum(9) + "\n";
  std::string newer;
  for (std::size_t i = 0; i < key.size(); ++i) (i < 20 ? older : newer) += key[i] + "\n";
  made_log made;
  made.with.multi_line = "never";
  made.write("app.log.1", older);
  made.write("app.log", newer + "the end of it\n");
  made.run("gzip -1 app.log.1");
  ASSERT_GT(std::filesystem::file_size(made.path("app.log.1.gz")), 4u << 20);
  const auto page = page_of(*made.open(), newest(20));
  ASSERT_EQ(page.records.size(), 20u);
  EXPECT_EQ(page.records[0].text, "the end of it");
  for (const auto& one : page.records) EXPECT_FALSE(holds_key(one.text, key)) << one.text;
}

TEST(keys_in_records, whose_halves_have_empty_files_between_them_are_masked) {
  lots from(113);
  const auto key = drawn_key(from, 40, 30);
  std::string older = "line\n", newer;
  for (std::size_t i = 0; i < key.size(); ++i) (i < 20 ? older : newer) += key[i] + "\n";
  for (const bool are_compressed : {false, true}) {
    made_log made;
    made.with.multi_line = "never";
    made.write("app.log.13", older);
    for (int i = 1; i < 13; ++i) made.write("app.log." + std::to_string(i), "");
    if (are_compressed) made.run("gzip app.log.[1-9] app.log.1[0-2]");
    made.write("app.log", newer + "the end of it\n");
    for (const auto& one : all_pages(*made.open(), newest(20))) EXPECT_FALSE(holds_key(one.text, key)) << one.text;
  }
}

}  // namespace
}  // namespace hondana::records
