/// What hides secrets in journals, and what reading long entries takes.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/journal.hpp"
#include "unit/sources/logs/made_journal.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::logs {
namespace {

journal_line written(int number, std::string message, std::string process = "5") {
  return {noon + number * second,
          {{"PRIORITY", "6"}, {"_PID", std::move(process)}, {"SYSLOG_IDENTIFIER", "app"}, {"MESSAGE", std::move(message)}}};
}

std::shared_ptr<records::log_backend> journal_in(const made_journal& of) {
  journal_options with;
  with.folder = of.folder();
  auto got = open_journal(with);
  EXPECT_TRUE(got) << (got ? "" : got.error().public_text);
  return got ? *got : nullptr;
}

std::vector<records::log_record> entries_of(records::log_backend& of, std::size_t a_page,
                                            const records::read_budget& most = {}) {
  std::vector<records::log_record> out;
  records::log_query what;
  what.lines = a_page;
  for (int i = 0; i < 1000; ++i) {
    auto page = of.read(what, most, {});
    EXPECT_TRUE(page) << (page ? "" : page.error().public_text);
    if (!page) break;
    for (auto& one : page->records) out.push_back(std::move(one));
    if (!page->next) break;
    what.cursor = *page->next;
  }
  return out;
}

/// KiB that this process ever had in memory, from now on.
std::size_t peak_kib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  ADD_FAILURE() << "no VmHWM";
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

TEST(journal_masking, sees_through_colours_control_bytes_and_escapes) {
  test::lots from(401);
  const auto password = from.alnum(15) + "7q";
  const std::string nul(1, '\0');
  const made_journal made({
      written(1, "\x1b[90m1:00PM\x1b[0m login \x1b[36mpassword=\x1b[0m" + password),
      written(2, "password\x1b[0m=\x1b[33m" + password),
      written(3, "password=" + password.substr(0, 9) + nul + password.substr(9)),
      written(4, R"({"msg":"password\u003d)" + password + "\"}"),
      written(5, R"({"msg":"{\u0022password\u0022:\u0022)" + password + R"(\u0022}"})"),
      written(6, "\x1b]0;title\x07\x1b[2Jvisible"),
  });
  const auto all = entries_of(*journal_in(made), 4);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].text, "visible");
  for (const auto& one : all) {
    EXPECT_EQ(one.text.find(password.substr(9)), std::string::npos) << one.text;
    EXPECT_EQ(one.text.find('\x1b'), std::string::npos);
  }
}

TEST(journal_masking, of_a_key_is_the_same_for_all_pages_whatever_long_entries_stand_between) {
  test::lots from(403);
  std::vector<journal_line> all;
  std::vector<std::string> key;
  int number = 0;
  const auto word = [&from] { return from.of("abcdefghij", 7) + ' '; };
  std::string filler;
  while (filler.size() < 150'000) filler += word();
  all.push_back(written(++number, filler + "\n-----BEGIN PRIVATE "
                                           "KEY-----"));
  for (int i = 0; i < 26; ++i) {
    key.push_back(from.base64(64));
    all.push_back(written(++number, key.back()));
    for (int n = 0; n < 4; ++n, ++number) all.push_back(written(number, std::to_string(number) + ' ' + filler, "6"));
  }
  all.push_back(written(++number,
                        "-----END PRIVATE "
                        "KEY-----"));
  const made_journal made(all);
  const auto log = journal_in(made);
  const auto whole = entries_of(*log, 1000);
  EXPECT_EQ(whole.size(), all.size());
  for (const auto& one : whole)
    for (const auto& line : key) EXPECT_EQ(one.text.find(line.substr(8, 20)), std::string::npos);
  for (const std::size_t lines : {40U, 23U}) {
    const auto parts = entries_of(*log, lines);
    ASSERT_EQ(parts.size(), whole.size()) << lines;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ASSERT_EQ(parts[i].text, whole[i].text) << lines;
      ASSERT_EQ(parts[i].cut_bytes, whole[i].cut_bytes) << lines;
    }
  }
}

TEST(journal_masking, holds_little_of_long_entries_at_a_time) {
  test::lots from(407);
  std::vector<journal_line> all;
  const auto piece = from.base64(4'000);
  std::string filler;
  while (filler.size() < 400'000) filler += piece + ' ';
  for (int i = 0; i < 520; ++i) all.push_back(written(i, std::to_string(i) + ' ' + filler));
  const made_journal made(all);
  all.clear();
  const auto log = journal_in(made);
  records::log_query what;
  what.lines = 1;
  static_cast<void>(log->read(what, {}, {}));
  forget_peak();
  const auto before = peak_kib();
  const auto page = log->read(what, {}, {});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->records.size(), 1U);
  EXPECT_TRUE(page->records[0].text.starts_with("519 "));
  EXPECT_EQ(page->records[0].text.size() + page->records[0].cut_bytes, filler.size() + 4);
  // 520 of them have 200 MiB; files of the journal that are mapped count, too.
  EXPECT_LT(peak_kib() - before, 100U << 10);
}

}  // namespace hondana::logs
