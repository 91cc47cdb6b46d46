/// No secret leaves, whole or in part, by reading, by expressions or by fields.
#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/masking.hpp"
#include "text/secrets/redactor.hpp"
#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

using test::lots;

struct drawn_secrets {
  std::string text;
  std::vector<std::string> secrets;
};

/// Records in which secrets stand: in lines of their own, in the middle of others, many, far apart and close together.
drawn_secrets log_of_secrets(std::uint64_t seed, std::size_t noise = 9000) {
  lots from(seed);
  drawn_secrets out;
  auto shapes = test::secret_shapes();
  const auto more = test::shapes_of_files();
  shapes.insert(shapes.end(), more.begin(), more.end());
  for (const auto& shape : shapes) {
    const auto one = shape.draw(from);
    out.text += "2026-01-02T12:04:05Z INFO ";
    if (from.below(2) == 0) out.text += from.word(8 + from.below(40)) + "\n";
    out.text += one.text() + "\n";
    if (from.below(4) == 0) out.text += "2026-01-02T12:04:06Z DEBUG " + from.word(8 + from.below(noise)) + "\n";
    out.secrets.push_back(one.secret);
  }
  return out;
}

/// Long pieces of secrets; short ones may stand anywhere.
bool holds_some_of(std::string_view text, std::string_view secret) {
  constexpr std::size_t piece = 16;
  if (secret.size() <= piece) return text.find(secret) != std::string_view::npos;
  for (std::size_t at = 0; at + piece <= secret.size(); at += piece) {
    const auto part = secret.substr(at, piece);
    if (part.find('\n') == std::string_view::npos && text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

TEST(secrets_in_logs, are_masked_as_in_the_whole_file_however_it_is_read) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const auto drawn = log_of_secrets(seed);
    auto masked = drawn.text;
    secrets::redactor(secrets::masking_policy::settings, drawn.text).mask(masked);
    std::vector<secrets::span> of_keys;
    find_key_lines(drawn.text, of_keys);
    for (const auto& one : of_keys)
      for (auto at = one.begin; at < one.end; ++at) masked[at] = '*';
    made_log made;
    made_log expected;
    made.write("app.log", drawn.text);
    expected.write("app.log", masked);
    expected.with.redact = false;
    const auto one = made.open();
    const auto other = expected.open();
    const auto wanted = texts_of(walked(*other));
    EXPECT_EQ(texts_of(walked(*one)), wanted);
    for (const std::uint64_t scanned : {5'000u, 70'000u, 10'000'000u}) {
      read_budget most;
      most.max_scanned_bytes = scanned;
      auto got = texts_of(all_pages(*one, newest(7), most));
      std::reverse(got.begin(), got.end());
      EXPECT_EQ(got, wanted);
    }
    read_budget narrow;
    narrow.max_record_bytes = 300;
    for (const auto& each : all_pages(*one, newest(50), narrow)) {
      for (const auto& secret : drawn.secrets) {
        EXPECT_FALSE(secret.size() > 12 && holds_some_of(each.text, secret)) << each.text.substr(0, 200);
      }
    }
    EXPECT_GT(page_of(*one, newest(1000)).masked_count, drawn.secrets.size() / 2);
  }
}

TEST(secrets_in_logs, are_found_by_no_expression_and_no_field) {
  const auto drawn = log_of_secrets(7, 100);
  made_log made;
  made.write("app.log", drawn.text);
  const auto one = made.open();
  for (const auto& secret : drawn.secrets) {
    if (secret.size() < 12) continue;
    log_query what;
    const auto line = secret.substr(0, std::min(secret.find('\n', 1), secret.size()));
    what.grep = re2::RE2::QuoteMeta(line.substr(0, 200));
    EXPECT_TRUE(page_of(*one, what).records.empty()) << line.size();
    // Nor letter by letter.
    what.grep = re2::RE2::QuoteMeta(line.substr(line.size() / 2, 12)) + "[^ ]*";
    for (const auto& each : page_of(*one, what).records) EXPECT_FALSE(holds_some_of(each.text, secret)) << each.text;
  }
  lots from(9);
  const auto password = from.alnum(16);
  made.write("app.log", R"({"user":"ann","password":")" + password + "\"}\n");
  log_query what;
  what.fields = {{"password", password}};
  EXPECT_TRUE(page_of(*one, what).records.empty());
  what.fields = {{"password", std::string(16, '*')}, {"user", "ann"}};
  EXPECT_EQ(page_of(*one, what).records.size(), 1u);
}

/// A private key, line by line, as a program logs it that has gone wrong.
std::string key_lines(lots& from, std::size_t lines) {
  return "-----BEGIN PRIVATE "
         "KEY-----\n" +
         from.lines(lines * 64) +
         "-----END PRIVATE "
         "KEY-----\n";
}

TEST(secrets_in_logs, that_go_over_records_blocks_and_files_are_masked) {
  lots from(11);
  // Each line is a record of its own.
  const auto key = key_lines(from, 900);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  text += key;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  for (const std::size_t cut : {std::size_t{0}, text.find("KEY") + 20'000}) {
    SCOPED_TRACE(cut);
    made_log made;
    made.with.multi_line = "never";
    const auto border = cut == 0 ? 0 : text.find('\n', cut) + 1;
    if (border != 0) made.write("app.log.1", text.substr(0, border));
    made.write("app.log", text.substr(border));
    for (const bool is_compressed : {false, true}) {
      if (is_compressed && border != 0) made.run("gzip app.log.1");
      for (const std::size_t lines : {1000u, 10u}) {
        for (const auto& each : all_pages(*made.open(), newest(lines))) {
          if (each.text.starts_with("line ") || each.text.starts_with("-----")) continue;
          ASSERT_EQ(each.text, std::string(each.text.size(), '*'));
        }
      }
      for (const auto& each : walked(*made.open())) {
        if (each.text.starts_with("line ") || each.text.starts_with("-----")) continue;
        ASSERT_EQ(each.text, std::string(each.text.size(), '*'));
      }
    }
  }
}

TEST(secrets_in_logs, that_colours_stand_in_are_masked_once_they_are_taken_out) {
  lots from(13);
  const auto password = from.alnum(20);
  made_log made;
  made.write("app.log", "2026-01-02T12:04:05Z \x1B[33mpassword\x1B[0m=\x1B[1m" + password + "\x1B[0m x\n");
  const auto page = page_of(*made.open());
  ASSERT_EQ(page.records.size(), 1u);
  EXPECT_EQ(page.records[0].text.find(password), std::string::npos);
  EXPECT_EQ(page.records[0].text.find('\x1B'), std::string::npos);
  EXPECT_EQ(page.records[0].time, 1767355445'000000);
}

TEST(secrets_in_logs, stay_where_it_is_wanted) {
  lots from(17);
  const auto password = from.alnum(20);
  made_log made;
  made.with.redact = false;
  made.write("app.log", "2026-01-02T12:04:05Z password=" + password + "\n");
  log_query what;
  what.grep = password;
  const auto page = page_of(*made.open(), what);
  ASSERT_EQ(page.records.size(), 1u);
  EXPECT_EQ(page.masked_count, 0u);
}

}  // namespace
}  // namespace hondana::records
