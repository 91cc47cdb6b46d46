/// Logs that can be read in part, or not at all.
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/logs/journal.hpp"
#include "unit/sources/logs/made_journal.hpp"

namespace hondana::logs {
namespace {

/// This thread may read no more than anybody, also when the tests are run by root.
class anybody {
 public:
  anybody() : before_(static_cast<uid_t>(::setfsuid(::geteuid() == 0 ? 65534 : ::geteuid()))) {}
  ~anybody() { ::setfsuid(before_); }
  anybody(const anybody&) = delete;
  anybody& operator=(const anybody&) = delete;

 private:
  uid_t before_;
};

std::string minutes_before_noon(int from, int to) {
  std::string out;
  for (int i = from; i > to; --i) {
    const auto at = 12 * 60 - i;
    char line[80];
    std::snprintf(line, sizeof line, "2026-01-31T%02d:%02d:00Z INFO request %d of %x served\n", at / 60, at % 60, i, i * 7919);
    out += line;
  }
  return out;
}

bool contains(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST(log_troubles, a_summary_has_all_that_can_be_read_when_a_member_is_damaged_and_names_it) {
  const made_folder folder;
  folder.append("z.log.1", minutes_before_noon(500, 101));
  folder.append("z.log", minutes_before_noon(101, 0));
  ASSERT_EQ(std::system(("gzip " + folder.path("z.log.1")).c_str()), 0);
  const served_log whole(folder.path("z.log"));
  EXPECT_EQ(whole.json("log://app/summary?format=json").integer_at("records").value(), 500);
  std::filesystem::resize_file(folder.path("z.log.1.gz"), std::filesystem::file_size(folder.path("z.log.1.gz")) / 2);
  const served_log app(folder.path("z.log"));
  const auto readable = app.page("log://app/?lines=10000&format=json").first.size();
  ASSERT_GT(readable, 101U);
  ASSERT_LT(readable, 500U);
  const auto got = app.json("log://app/summary?format=json");
  EXPECT_EQ(got.integer_at("records").value(), static_cast<std::int64_t>(readable));
  EXPECT_TRUE(contains(got.string_at("/warnings/0").value(), "z.log.1.gz: only its first "));
  EXPECT_TRUE(got.find("warnings")->as_array()->size() == 1U);
  EXPECT_TRUE(got.find("unusual")->as_array()->empty()) << app.text("log://app/summary");
  EXPECT_EQ(got.find("warnings")->as_array()->size(), 1U);
  // And again, with slices that were kept.
  EXPECT_TRUE(contains(app.text("log://app/summary"), "z.log.1.gz: only its first "));
  // A file that may not be read at all is as good as none.
  std::filesystem::permissions(folder.path("z.log.1.gz"), std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(""), std::filesystem::perms::all);
  std::filesystem::permissions(folder.path("z.log"), std::filesystem::perms::all);
  const anybody now;
  const served_log other(folder.path("z.log"));
  const auto rest = other.json("log://app/summary?format=json");
  EXPECT_EQ(rest.integer_at("records").value(), 101);
  EXPECT_EQ(rest.string_at("/warnings/0").value(), "z.log.1.gz is left out: the server has no permission to read it.");
}

TEST(log_troubles, what_stands_in_the_place_of_a_log_is_named) {
  const made_folder folder;
  std::filesystem::create_directory(folder.path("folder.log"));
  std::filesystem::create_symlink("folder.log", folder.path("link.log"));
  const auto why_not = [&](const char* name) {
    const served_log app(folder.path(name));
    const auto why = app.error("log://app/");
    EXPECT_EQ(why.code, errc::source_unavailable);
    EXPECT_FALSE(contains(why.public_text, folder.path("")));
    EXPECT_EQ(app.error("log://app/summary").public_text, why.public_text);
    return why.public_text;
  };
  EXPECT_EQ(why_not("folder.log"), "path in this log's table is a folder; set the path of a file.");
  EXPECT_EQ(why_not("link.log"), "path in this log's table is a link; set the path of a file.");
  EXPECT_EQ(why_not("none/app.log"),
            "The folder of this log does not exist (yet). Retry when it does, or correct path in its table.");
  folder.append("own.log", "x\n");
  std::filesystem::permissions(folder.path(""), std::filesystem::perms::all);
  std::filesystem::permissions(folder.path("own.log"), std::filesystem::perms::none);
  const anybody now;
  EXPECT_EQ(why_not("own.log"), "The file of this log is not readable: give the server's user permission to read it.");
}

TEST(log_troubles, rotated_files_are_read_while_the_file_that_is_written_is_not_there) {
  const made_folder folder;
  folder.append("app.log.1", "2026-01-31T11:00:00Z INFO one\n");
  const served_log app(folder.path("app.log"));
  EXPECT_EQ(
      app.text("log://app/"),
      "2026-01-31T11:00:00Z INFO one\n-- remark: app.log does not exist (now). The records are those of its rotated files.\n");
  EXPECT_TRUE(contains(app.text("log://app/summary"), "app.log does not exist (now)."));
  EXPECT_TRUE(app.provider().health().is_healthy);
  folder.append("app.log", "2026-01-31T11:00:01Z INFO two\n");
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T11:00:00Z INFO one\n2026-01-31T11:00:01Z INFO two\n");
}

TEST(log_troubles, health_has_the_log_looked_at_behind) {
  const auto of = std::make_shared<kept_log>();
  of->is_in_trouble("It is not there.");
  const served_log app(of);
  EXPECT_EQ(app.provider().health().detail, "It is not there.");
  ASSERT_TRUE(hondana_test::eventually([&of] { return of->looks != 0; }));
  EXPECT_EQ(of->looks, 1);
}

TEST(log_troubles, a_journal_that_may_not_be_read_is_an_error_that_names_the_group) {
  made_journal made({{noon, {{"MESSAGE", "first"}}}});
  std::filesystem::permissions(std::filesystem::path(made.folder()).parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(made.folder(), std::filesystem::perms::all);
  for (const auto& one : std::filesystem::directory_iterator(made.folder()))
    std::filesystem::permissions(one.path(), std::filesystem::perms::none);
  const served_log app(open_journal({.folder = made.folder()}).value(), [](provider_options& with) { with.is_journal = true; });
  {
    const anybody now;
    for (const auto* uri : {"log://app/", "log://app/summary"}) {
      const auto why = app.error(uri);
      EXPECT_EQ(why.code, errc::source_unavailable);
      EXPECT_TRUE(contains(why.public_text, "systemd-journal")) << why.public_text;
      EXPECT_FALSE(contains(why.public_text, made.folder()));
    }
    EXPECT_FALSE(app.provider().health().is_healthy);
  }
  made.add({{noon + second, {{"MESSAGE", "second"}}}});
  for (const auto& one : std::filesystem::directory_iterator(made.folder()))
    if (contains(one.path().string(), "entries-2")) std::filesystem::permissions(one.path(), std::filesystem::perms::all);
  const anybody now;
  const auto text = app.text("log://app/");
  EXPECT_TRUE(contains(text, "second\n-- remark: 1 of 2 journal files are left out: ")) << text;
  EXPECT_FALSE(contains(text, "first"));
  EXPECT_TRUE(contains(app.text("log://app/summary"), "1 of 2 journal files are left out: "));
  EXPECT_TRUE(app.provider().health().is_healthy);
}

TEST(log_troubles, fields_of_journals_are_completed_from_what_their_entries_have) {
  const manual_clock clock;  // reading for a completion ends after 300 ms
  const made_journal made({{noon, {{"MESSAGE", "a"}, {"_PID", "812"}, {"SSH_KEY", "Horse88Battery"}}},
                           {noon + second, {{"MESSAGE", "b"}, {"_PID", "812"}, {"CODE_FUNC", "main"}}},
                           {noon + 2 * second, {{"MESSAGE", "user=anna x=1"}, {"_PID", "7"}}}});
  const served_log app(open_journal({.folder = made.folder()}).value(), [](provider_options& with) { with.is_journal = true; });
  EXPECT_EQ(app.completed("field", "_PID:"), (std::vector<std::string>{"_PID:7", "_PID:812"}));
  EXPECT_EQ(app.completed("field", "user:"), (std::vector<std::string>{"user:anna"}));
  EXPECT_TRUE(app.completed("field", "SSH_KEY:").empty());
  const auto names = app.completed("field", "");
  const auto has = [&names](const char* one) { return std::find(names.begin(), names.end(), one) != names.end(); };
  EXPECT_TRUE(has("_PID:") && has("CODE_FUNC:") && has("SSH_KEY:") && has("user:"));
  EXPECT_FALSE(has("_COMM:") || has("_UID:") || has("MESSAGE:"));
}

}  // namespace hondana::logs
