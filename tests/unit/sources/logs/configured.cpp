/// The `[[source]]` table of a log.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/logs/settings.hpp"
#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);

namespace {

config::value text_value(const char* text) { return {std::string(text), 3}; }

result<settings> settings_from(config::table members, std::vector<std::string> kept_back = {}) {
  config::section from("/etc/h.toml", "source", 2, std::move(members));
  from.set_own_files(std::move(kept_back));
  return read_settings(from);
}

std::string settings_error(config::table members, std::vector<std::string> kept_back = {}) {
  const auto got = settings_from(std::move(members), std::move(kept_back));
  EXPECT_FALSE(got);
  return got ? std::string() : got.error().public_text;
}

}  // namespace

TEST(log_settings, a_file_is_named_after_itself_and_the_rest_is_usual) {
  const auto got = settings_from({{"path", text_value("logs/My App.log")}});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->name, "my-app");
  EXPECT_EQ(got->files.path, "/etc/logs/My App.log");
  EXPECT_FALSE(got->journal);
  EXPECT_TRUE(got->redact);
  EXPECT_TRUE(got->files.redact);
  EXPECT_TRUE(got->watch);
  EXPECT_EQ(got->lines, 100U);
  EXPECT_EQ(got->max_scanned_bytes, 268'435'456U);
  EXPECT_EQ(got->timeout.count(), 2000);
}

TEST(log_settings, all_that_can_be_said_of_files_is_taken) {
  const auto got = settings_from({{"path", text_value("/var/log/a.log")},
                                  {"name", text_value("web-1")},
                                  {"rotated_pattern", text_value("a-.*")},
                                  {"multi_line", text_value("never")},
                                  {"time_zone", text_value("+09:00")},
                                  {"max_file_bytes", text_value("2GiB")},
                                  {"max_cached_bytes", text_value("100MiB")},
                                  {"redact", {false, 3}},
                                  {"watch", {false, 3}},
                                  {"lines", {std::int64_t{20}, 3}},
                                  {"max_scanned_bytes", text_value("1GiB")},
                                  {"query_timeout", text_value("500ms")},
                                  {"lookback", text_value("7d")}});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->name, "web-1");
  EXPECT_EQ(got->files.pattern, "a-.*");
  EXPECT_EQ(got->files.multi_line, "never");
  EXPECT_EQ(got->files.zone, "+09:00");
  EXPECT_EQ(got->files.max_file_bytes, 2'147'483'648U);
  EXPECT_EQ(got->files.max_cached_bytes, 104'857'600U);
  EXPECT_FALSE(got->files.redact);
  EXPECT_FALSE(got->watch);
  EXPECT_EQ(got->lines, 20U);
  EXPECT_EQ(got->max_scanned_bytes, 1'073'741'824U);
  EXPECT_EQ(got->timeout.count(), 500);
  EXPECT_EQ(got->lookback, 7 * day);
}

TEST(log_settings, a_journal_is_named_after_its_unit) {
  const auto got = settings_from({{"journal", {true, 3}},
                                  {"units", {config::list{text_value("nginx.service")}, 3}},
                                  {"journal_folder", text_value("j")},
                                  {"min_level", text_value("warning")}});
  ASSERT_TRUE(got) << got.error().public_text;
  ASSERT_TRUE(got->journal);
  EXPECT_EQ(got->name, "nginx");
  EXPECT_EQ(got->journal->folder, "/etc/j");
  EXPECT_EQ(got->journal->min_level, records::severity::warning);
  EXPECT_EQ(settings_from({{"journal", {true, 3}}})->name, "journal");
}

TEST(log_settings, mistakes_are_told_with_file_line_and_key) {
  EXPECT_EQ(settings_error({}), "/etc/h.toml:2: source.path: set either path, the log file, or journal = true");
  EXPECT_NE(settings_error({{"path", {std::int64_t{3}, 3}}}).find("source.path: expected a string"), std::string::npos)
      << settings_error({{"path", {std::int64_t{3}, 3}}});
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"journal", {true, 3}}}).find("set either path"), std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"units", text_value("x")}})
                .find("source.units: allowed only for journals"),
            std::string::npos);
  EXPECT_NE(settings_error({{"journal", {true, 3}}, {"time_zone", text_value("UTC")}})
                .find("source.time_zone: allowed only for log files"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"name", text_value("Not A Slug")}}).find("lower-case"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("ログ.log")}}).find("source.name: missing"), std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"lines", {std::int64_t{10'001}, 3}}}).find("lines"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"query_timeout", text_value("1h")}}).find("source.query_timeout"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"lookback", text_value("soon")}}).find("source.lookback"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"max_scanned_bytes", text_value("1KiB")}})
                .find("source.max_scanned_bytes"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("a.log")}, {"tail", text_value("x")}}).find("tail"), std::string::npos);
  EXPECT_NE(settings_error({{"journal", {true, 3}}, {"min_level", text_value("eror")}})
                .find("source.min_level: expected \"trace\", \"debug\", \"info\", \"notice\", \"warning\", \"error\" or "
                      "\"critical\", not \"eror\"; did you mean \"error\"?"),
            std::string::npos);
  EXPECT_NE(settings_error({{"path", text_value("/srv/own/audit.log")}}, {"/srv/own"}).find("belongs to the server itself"),
            std::string::npos);
}

TEST(log_settings, a_source_is_made_of_a_table_and_its_expressions_are_checked) {
  const made_folder folder;
  folder.append("app.log", "2026-01-31T08:00:00Z INFO hello\n");
  config::section good("/etc/h.toml", "source", 2, {{"path", {folder.path("app.log"), 3}}});
  const auto made = configure(good, {});
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ((*made)->claims(), std::vector<std::string>{"log://app/"});
  config::section bad("/etc/h.toml", "source", 2,
                      {{"path", {folder.path("app.log"), 3}}, {"rotated_pattern", text_value("(")}});
  const auto refused = configure(bad, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text,
            "/etc/h.toml:3: source.rotated_pattern: not a valid regular expression (missing ): (). Use RE2 syntax, without "
            "look-around "
            "and back references.");
  for (const auto* key : {"time_zone", "multi_line"}) {
    config::section other("/etc/h.toml", "source", 2, {{"path", {folder.path("app.log"), 3}}, {key, {std::string("("), 7}}});
    const auto wrong = configure(other, {});
    ASSERT_FALSE(wrong);
    EXPECT_TRUE(wrong.error().public_text.starts_with("/etc/h.toml:7: source." + std::string(key) + ": "))
        << wrong.error().public_text;
  }
}

/// The lines of a log that more than one thread writes.
class told_lines {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    all_.emplace_back(line);
    changed_.notify_all();
  }
  /// All of them, once there are so many; fewer when that does not come.
  [[nodiscard]] std::vector<std::string> once_there_are(std::size_t count) {
    std::unique_lock lock(mutex_);
    (void)changed_.wait_for(lock, hondana_test::event_deadline, [&] { return all_.size() >= count; });
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

TEST(log_settings, a_log_that_cannot_be_read_is_told_when_the_server_starts_and_once) {
  const made_folder folder;
  const auto said = std::make_shared<told_lines>();
  config::section from("/etc/h.toml", "source", 2, {{"path", {folder.path("app.log"), 3}}});
  const auto made = configure(from, [said](std::string_view line) { said->add(line); });
  ASSERT_TRUE(made);
  const auto health = [&made] { return dynamic_cast<health_source&>(**made).health(); };
  EXPECT_EQ(said->once_there_are(1), (std::vector<std::string>{"the log app: The file of this log does not exist "
                                                               "(yet). Retry when it does, or correct path in its table."}));
  EXPECT_FALSE(health().is_healthy);
  EXPECT_FALSE(health().detail.empty());
  read_request request;
  request.uri = request.requested_uri = "log://app/";
  EXPECT_FALSE((*made)->read(request));
  EXPECT_FALSE((*made)->read(request));
  EXPECT_EQ(said->once_there_are(1).size(), 1U);
  folder.append("app.log", "2026-01-31T08:00:00Z INFO hello\n");
  EXPECT_TRUE((*made)->read(request));
  EXPECT_TRUE((*made)->read(request));
  const auto all = said->once_there_are(2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1], "the log app can be read again");
  EXPECT_TRUE(health().is_healthy);
}

}  // namespace hondana::logs
