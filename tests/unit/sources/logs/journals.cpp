/// Journals, beside journalctl.
#include "sources/logs/journal.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "base/json/utf8.hpp"
#include "sources/logs/journal_library.hpp"
#include "unit/sources/logs/made_journal.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::logs {
namespace {

using lines = std::vector<journal_line>;

lines many_entries(int count) {
  lines out;
  for (int i = 0; i < count; ++i) {
    const bool is_nginx = i % 3 == 0;
    out.push_back({noon - (count - i) * second,
                   {{"PRIORITY", std::to_string(i % 8)},
                    {"_PID", std::to_string(100 + i % 5)},
                    {"_SYSTEMD_UNIT", is_nginx ? "nginx.service" : "app.service"},
                    {"SYSLOG_IDENTIFIER", i % 2 == 0 ? "even" : "odd"},
                    {"CODE_LINE", std::to_string(i % 7)},
                    {"MESSAGE", "message number " + std::to_string(i)}}});
  }
  return out;
}

std::shared_ptr<records::log_backend> opened_journal(const made_journal& of, journal_options with = {}) {
  with.folder = of.folder();
  auto got = open_journal(with);
  EXPECT_TRUE(got) << (got ? "" : got.error().public_text);
  return got ? *got : nullptr;
}

records::log_page journal_page(records::log_backend& of, const records::log_query& what) {
  auto got = of.read(what, {}, {});
  EXPECT_TRUE(got) << (got ? "" : got.error().public_text + got.error().private_text);
  return got ? std::move(*got) : records::log_page{};
}

/// The oldest first.
std::vector<std::string> all_messages(records::log_backend& of, records::log_query what) {
  std::vector<std::string> out;
  for (int i = 0; i < 1000; ++i) {
    auto page = journal_page(of, what);
    for (auto& one : page.records) out.push_back(one.text);
    if (!page.next) break;
    what.cursor = *page.next;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string> messages_of(const std::vector<value>& all) {
  std::vector<std::string> out;
  for (const auto& one : all) out.push_back(*one.find("MESSAGE")->as_string());
  return out;
}

}  // namespace

TEST(journal, pages_have_what_journalctl_has_in_its_order) {
  const made_journal made(many_entries(1000));
  const auto of = opened_journal(made);
  const auto wanted = made.by_journalctl("");
  ASSERT_EQ(wanted.size(), 1000U);
  for (const std::size_t a_page : {1000U, 999U, 257U, 100U, 7U}) {
    records::log_query what;
    what.lines = a_page;
    EXPECT_EQ(all_messages(*of, what), messages_of(wanted)) << a_page;
  }
  records::log_query newest;
  newest.lines = 3;
  const auto page = journal_page(*of, newest);
  ASSERT_EQ(page.records.size(), 3U);
  EXPECT_EQ(page.records[0].text, "message number 999");
  EXPECT_EQ(page.records[0].time, noon - second);
  EXPECT_EQ(page.records[0].level, records::severity::debug);
  EXPECT_EQ(page.records[0].source, "nginx.service");
  EXPECT_TRUE(page.next);
}

TEST(journal, units_identifiers_and_priorities_choose_what_journalctl_chooses) {
  auto entries = many_entries(300);
  entries.push_back({noon,
                     {{"_PID", "1"},
                      {"_UID", "0"},
                      {"UNIT", "nginx.service"},
                      {"PRIORITY", "6"},
                      {"_SYSTEMD_UNIT", "init.scope"},
                      {"MESSAGE", "Started nginx.service"}}});
  const made_journal made(entries);
  records::log_query what;
  what.lines = 1000;
  EXPECT_EQ(all_messages(*opened_journal(made, {.units = {"nginx.service"}}), what),
            messages_of(made.by_journalctl("-u nginx.service")));
  EXPECT_EQ(all_messages(*opened_journal(made, {.units = {"nginx.service"}}), what).back(), "Started nginx.service");
  EXPECT_EQ(all_messages(*opened_journal(made, {.identifiers = {"odd"}}), what), messages_of(made.by_journalctl("-t odd")));
  EXPECT_EQ(all_messages(*opened_journal(made, {.min_level = records::severity::error}), what),
            messages_of(made.by_journalctl("-p err")));
  EXPECT_EQ(
      all_messages(
          *opened_journal(made, {.units = {"nginx.service"}, .identifiers = {"even"}, .min_level = records::severity::warning}),
          what),
      messages_of(made.by_journalctl("-u nginx.service -t even -p warning")));
}

TEST(journal, times_levels_expressions_and_fields_choose_records) {
  const made_journal made(many_entries(600));
  const auto of = opened_journal(made);
  records::log_query what;
  what.lines = 50;
  what.since = noon - 100 * second;
  what.until = noon - 50 * second;
  EXPECT_EQ(all_messages(*of, what),
            messages_of(made.by_journalctl("--since=@" + std::to_string((noon - 100 * second) / second) + " --until=@" +
                                           std::to_string((noon - 50 * second) / second - 1))));
  what = {};
  what.lines = 20;
  what.min_level = records::severity::error;
  EXPECT_EQ(all_messages(*of, what), messages_of(made.by_journalctl("-p err")));
  what = {};
  what.lines = 20;
  what.grep = "number [0-9]*7$";
  EXPECT_EQ(all_messages(*of, what).size(), 60U);
  what = {};
  what.fields = {{"CODE_LINE", "3"}, {"_SYSTEMD_UNIT", "nginx.service"}};
  EXPECT_EQ(all_messages(*of, what), messages_of(made.by_journalctl("CODE_LINE=3 _SYSTEMD_UNIT=nginx.service")));
  what.fields = {{"CODE_LINE", "3"}, {"CODE_LINE", "4"}};
  EXPECT_TRUE(all_messages(*of, what).empty()) << "all fields must hold";
}

TEST(journal, a_walk_goes_from_the_oldest_on) {
  const made_journal made(many_entries(700));
  const auto of = opened_journal(made);
  std::vector<std::string> got;
  const auto each = [&got](const records::log_record& one) {
    got.push_back(one.text);
    return true;
  };
  ASSERT_TRUE(of->walk({}, {}, {}, {}, each).value().is_complete);
  EXPECT_EQ(got, messages_of(made.by_journalctl("")));
  got.clear();
  ASSERT_TRUE(of->walk(noon - 20 * second, noon - 10 * second, {}, {}, each).value().is_complete);
  ASSERT_EQ(got.size(), 10U);
  EXPECT_EQ(got.front(), "message number 680");
  EXPECT_FALSE(of->walk({}, {}, {}, {}, [](const records::log_record&) { return false; }).value().is_complete);
}

TEST(journal, cursors_go_on_after_new_entries_and_in_other_files) {
  made_journal made(many_entries(100));
  const auto of = opened_journal(made);
  records::log_query what;
  what.lines = 10;
  const auto first = journal_page(*of, what);
  made.add({{noon + second, {{"MESSAGE", "later"}, {"_PID", "1"}}}});
  what.cursor = *first.next;
  EXPECT_EQ(journal_page(*of, what).records.front().text, "message number 89");
  what.cursor.clear();
  EXPECT_EQ(journal_page(*of, what).records.front().text, "later");
}

TEST(journal, cursors_of_other_queries_and_what_is_none_are_refused) {
  const made_journal made(many_entries(10));
  const auto of = opened_journal(made);
  records::log_query what;
  what.lines = 2;
  const auto cursor = *journal_page(*of, what).next;
  for (const auto& bad :
       {std::string("x"), cursor + "!", cursor.substr(0, 17), std::string(5000, 'a'), std::string("."), "a." + cursor}) {
    what.cursor = bad;
    const auto got = of->read(what, {}, {});
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
  }
  what.cursor = cursor;
  what.grep = "other";
  EXPECT_FALSE(of->read(what, {}, {}));
}

TEST(journal, binary_long_and_ill_formed_messages_become_text) {
  std::string nul("a\0b", 3);
  lines entries{{noon, {{"MESSAGE", nul}}},
                {noon + 1, {{"MESSAGE", "bad \xff\xfe byte\x01"}}},
                {noon + 2, {{"MESSAGE", "two\nlines\n"}}},
                {noon + 3, {{"MESSAGE", std::string(200'000, 'x')}}},
                {noon + 4, {{"PRIORITY", "3"}}},
                {noon + 5, {{"MESSAGE", "日本語"}, {"PRIORITY", "nonsense"}}}};
  const made_journal made(entries);
  const auto page = journal_page(*opened_journal(made), {});
  ASSERT_EQ(page.records.size(), 6U);
  for (const auto& one : page.records) {
    EXPECT_TRUE(json::is_utf8(one.text));
    EXPECT_FALSE(json::has_nul(one.text));
  }
  EXPECT_EQ(page.records[5].text,
            "a\xE2\x90\x80"
            "b");
  EXPECT_EQ(page.records[3].text, "two\nlines");
  EXPECT_EQ(page.records[2].text.size(), 65'536U);
  EXPECT_EQ(page.records[2].cut_bytes, 134'464U);
  EXPECT_EQ(page.records[1].text, "");
  EXPECT_EQ(page.records[1].level, records::severity::error);
  EXPECT_FALSE(page.records[0].level);
  EXPECT_EQ(page.records[0].text, "日本語");
}

TEST(journal, secrets_in_messages_are_masked_and_cannot_be_found_out) {
  lines entries;
  std::vector<test::specimen> drawn;
  test::lots lots(11);
  for (const auto& shape : test::secret_shapes()) {
    drawn.push_back(shape.draw(lots));
    entries.push_back({noon + static_cast<records::instant>(drawn.size()),
                       {{"MESSAGE", drawn.back().text()}, {"_PID", std::to_string(drawn.size())}}});
  }
  const made_journal made(entries);
  const served_log app(opened_journal(made), [](provider_options& with) { with.is_journal = true; });
  for (const auto* uri :
       {"log://app/?lines=10000", "log://app/?lines=10000&format=json", "log://app/summary", "log://app/summary?format=json"}) {
    const auto text = app.text(uri);
    EXPECT_FALSE(text.empty());
    for (const auto& one : drawn)
      if (one.secret.find('\n') == std::string::npos && one.secret.size() > 6) {
        EXPECT_EQ(text.find(one.secret), std::string::npos) << uri << ": " << one.before;
      }
  }
  // The secrets do stand there: without masking they are answered.
  const auto bare = served_log(opened_journal(made, {.redact = false})).text("log://app/?lines=10000");
  std::size_t bare_ones = 0;
  for (const auto& one : drawn) bare_ones += bare.find(one.secret) == std::string::npos ? 0U : 1U;
  EXPECT_GT(bare_ones, drawn.size() / 2);
  const auto of = opened_journal(made);
  int guessed = 0;
  for (const auto& one : drawn) {
    if (++guessed % 5 != 0) continue;
    if (one.secret.find('\n') != std::string::npos || one.secret.size() < 8) continue;
    records::log_query what;
    what.fields = {{"MESSAGE", one.text()}};
    EXPECT_TRUE(journal_page(*of, what).records.empty()) << one.before;
    what = {};
    what.grep = "\\Q" + one.secret + "\\E";
    EXPECT_TRUE(journal_page(*of, what).records.empty()) << one.before;
  }
}

TEST(journal, a_private_key_that_a_process_logs_line_by_line_is_masked_wherever_a_page_begins) {
  test::lots lots(3);
  lines entries;
  std::vector<std::string> body;
  entries.push_back({noon, {{"MESSAGE", "-----BEGIN RSA PRIVATE KEY-----"}, {"_PID", "7"}}});
  for (int i = 0; i < 20; ++i) {
    body.push_back(lots.base64(64));
    entries.push_back({noon + i + 1, {{"MESSAGE", body.back()}, {"_PID", "7"}}});
    entries.push_back({noon + i + 1, {{"MESSAGE", "harmless words of another process"}, {"_PID", "8"}}});
  }
  entries.push_back({noon + 30, {{"MESSAGE", "-----END RSA PRIVATE KEY-----"}, {"_PID", "7"}}});
  entries.push_back({noon + 31, {{"MESSAGE", "all is well"}, {"_PID", "7"}}});
  const made_journal made(entries);
  const auto of = opened_journal(made);
  for (const std::size_t a_page : {100U, 10U, 3U, 1U}) {
    records::log_query what;
    what.lines = a_page;
    const auto all = all_messages(*of, what);
    ASSERT_EQ(all.size(), entries.size());
    for (const auto& one : all)
      for (const auto& line : body) ASSERT_EQ(one.find(line), std::string::npos) << a_page;
    EXPECT_EQ(std::count(all.begin(), all.end(), "harmless words of another process"), 20);
    EXPECT_EQ(all.back(), "all is well");
  }
}

TEST(journal, pages_for_people_have_time_source_and_level_before_each_message) {
  const manual_clock clock;  // reading for a completion ends after 300 ms
  const made_journal made(
      lines{{noon, {{"MESSAGE", "upstream is down"}, {"PRIORITY", "3"}, {"_SYSTEMD_UNIT", "nginx.service"}}}});
  const served_log app(opened_journal(made), [](provider_options& with) { with.is_journal = true; });
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T12:00:00Z nginx.service error: upstream is down\n");
  EXPECT_NE(app.text("log://app/?format=json").find(R"("source":"nginx.service","text":"upstream is down")"),
            std::string::npos);
  const auto fields = app.completed("field", "_SYS");
  ASSERT_FALSE(fields.empty());
  EXPECT_EQ(fields.front(), "_SYSTEMD_UNIT:");
}

TEST(journal, new_entries_change_the_version_and_are_told) {
  made_journal made(many_entries(10));
  const auto of = opened_journal(made, {.units = {"nginx.service"}});
  const served_log app(of, [](provider_options& with) { with.is_journal = true; });
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  const auto before = of->version({}).value();
  EXPECT_EQ(of->version({}).value(), before);
  app.provider().watch("log://app/");
  made.add({{noon + second, {{"MESSAGE", "new"}, {"_SYSTEMD_UNIT", "nginx.service"}}}});
  EXPECT_TRUE(told->await("log://app/"));
  EXPECT_NE(of->version({}).value(), before);
  EXPECT_EQ(app.text("log://app/?lines=1&format=json").find("message number"), std::string::npos);
  app.provider().unwatch("log://app/");
}

TEST(journal, a_folder_that_is_not_there_is_a_clear_error_until_it_comes) {
  const made_folder place;
  const auto path = place.path("none");
  const auto of = open_journal({.folder = path}).value();
  const auto got = of->read({}, {}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::resource_not_found);
  EXPECT_EQ(got.error().public_text.find(path), std::string::npos);
  EXPECT_FALSE(of->last_error().empty());
  std::filesystem::create_directory(path);
  EXPECT_NE(of->read({}, {}, {}).error().public_text.find("no journal files"), std::string::npos);
  EXPECT_FALSE(of->last_error().empty());
  const made_journal made(many_entries(3));
  for (const auto& one : std::filesystem::directory_iterator(made.folder())) std::filesystem::copy(one.path(), path);
  of->check();
  EXPECT_TRUE(of->last_error().empty());
  EXPECT_EQ(journal_page(*of, {}).records.size(), 3U);
  EXPECT_EQ(of->requirements().folders.at(0).path, path);
}

TEST(journal, a_file_that_is_no_journal_hurts_no_other) {
  made_journal made(many_entries(10));
  {
    std::ofstream out(made.folder() + "/broken.journal", std::ios::binary);
    out << "LPKSHHRH" << std::string(5000, '\xAA');
  }
  records::log_query what;
  what.lines = 100;
  EXPECT_EQ(all_messages(*opened_journal(made), what).size(), 10U);
}

TEST(journal, a_budget_that_is_used_up_ends_a_page_early_and_the_next_one_goes_on) {
  const made_journal made(many_entries(1000));
  const auto of = opened_journal(made);
  records::log_query what;
  what.grep = "number 5$";
  const records::read_budget small{.max_scanned_bytes = 1000};
  std::vector<records::log_record> found;
  int pages = 0;
  for (; pages < 100; ++pages) {
    const auto got = of->read(what, small, {});
    ASSERT_TRUE(got);
    found.insert(found.end(), got->records.begin(), got->records.end());
    if (!got->next) break;
    EXPECT_FALSE(got->early_end_reason.empty());
    what.cursor = *got->next;
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "message number 5");
  EXPECT_GT(pages, 2);
}

}  // namespace hondana::logs
