/// The table `[audit]`.
#include "sources/config/observability_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace {

using namespace hondana;

std::string said(const std::string& text) {
  const auto read = config::parse(text, "/etc/hondana/h.toml");
  return read ? std::string("nothing") : read.error().public_text;
}

TEST(audit_settings, are_read_whole) {
  const auto read = config::parse(
      "[audit]\npath = \"audit.jsonl\"\nmax_file_bytes = \"1MiB\"\nmax_old_files = 3\nsync_interval_ms = "
      "20\nmax_unsynced_records = 7\nbuffer_bytes = \"1MiB\"\n"
      "when_full = \"serve\"\n",
      "/etc/hondana/h.toml");
  ASSERT_TRUE(read) << read.error().public_text;
  ASSERT_TRUE(read->audit);
  const auto& with = *read->audit;
  EXPECT_EQ(with.path, "/etc/hondana/audit.jsonl") << "relative to the file it stands in";
  EXPECT_EQ(with.max_bytes, 1u << 20);
  EXPECT_EQ(with.max_old_files, 3u);
  EXPECT_EQ(with.sync_interval, std::chrono::milliseconds(20));
  EXPECT_EQ(with.max_unsynced_records, 7u);
  EXPECT_EQ(with.buffer_bytes, 1u << 20);
  EXPECT_TRUE(with.serves_when_full);
}

TEST(audit_settings, have_defaults_for_all_but_the_path) {
  const auto read = config::parse("[audit]\npath = \"/var/log/a.jsonl\"\n", "h.toml");
  ASSERT_TRUE(read && read->audit);
  EXPECT_EQ(read->audit->path, "/var/log/a.jsonl");
  EXPECT_EQ(read->audit->max_bytes, 64u << 20);
  EXPECT_EQ(read->audit->max_old_files, 8u);
  EXPECT_FALSE(read->audit->serves_when_full);
  EXPECT_FALSE(config::parse("", "h.toml")->audit) << "no record without the table";
}

TEST(audit_settings, that_are_wrong_are_named) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "audit.path: missing"},
           {"path = \"logs/\"\n", "audit.path: missing"},
           {"path = \"a\"\nwhen_full = \"maybe\"\n", "audit.when_full: expected \"refuse\""},
           {"path = \"a\"\nmax_file_bytes = 1\n", "audit.max_file_bytes: expected at least 4KiB"},
           {"path = \"a\"\nbuffer_bytes = 1\n", "audit.buffer_bytes: expected at least 64KiB"},
           {"path = \"a\"\nsync_interval_ms = 0\n", "audit.sync_interval_ms"},
           {"path = \"a\"\nrotate = true\n", "audit.rotate"}}) {
    EXPECT_NE(said("[audit]\n" + text).find(part), std::string::npos) << said("[audit]\n" + text);
  }
}

}  // namespace
