/// A log's path may not lead to what the server keeps for itself.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/logs/settings.hpp"
#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

result<settings> settings_of_path(const std::string& path, const std::string& own) {
  config::section from("/etc/h.toml", "source", 2, {{"path", {path, 3}}});
  from.set_own_files({own});
  return read_settings(from);
}

TEST(log_settings, refuse_the_servers_own_files_by_whatever_name) {
  made_folder made;
  made.append("tokens", "x\n");
  made.append("tokens.1", "x\n");
  made.append("app.log", "x\n");
  std::filesystem::create_directory(made.path("logs"));
  std::filesystem::create_directory_symlink(made.path(""), made.path("logs/linked"));
  std::filesystem::create_hard_link(made.path("tokens"), made.path("logs/hard.log"));
  const auto own = std::filesystem::canonical(made.path("tokens")).string();
  for (const auto* path : {"tokens", "tokens.1", "logs/linked/tokens", "logs/hard.log"}) {
    const auto got = settings_of_path(made.path(path), own);
    ASSERT_FALSE(got) << path;
    EXPECT_NE(got.error().public_text.find("belongs to the server itself"), std::string::npos) << got.error().public_text;
  }
  const auto got = settings_of_path(made.path("app.log"), own);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->files.own_files, std::vector<std::string>{own});
}

}  // namespace
}  // namespace hondana::logs
