/// The server's own files are members of no log.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/rotated_files.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

constexpr std::string_view own_line = "of the server alone\n";

/// A path without links, as settings hand them on.
std::string real_path(const made_log& in, std::string_view name) {
  return std::filesystem::canonical(in.folder()).string() + '/' + std::string(name);
}

std::vector<std::string> texts_beside(made_log& made, const std::vector<std::string>& kept_back) {
  made.with.own_files = kept_back;
  return texts_of(page_of(*made.open(), newest(1000)).records);
}

TEST(kept_back, files_are_not_taken_in_by_a_pattern) {
  made_log made;
  made.write("app.log", "mine\n");
  for (const auto* name : {"tokens", "server.toml", "server.toml.1", "server.toml-20260102", "server.toml~"})
    made.write(name, own_line);
  made.with.pattern = "tokens|server.*";
  EXPECT_EQ(texts_beside(made, {}).size(), 6U);
  EXPECT_EQ(texts_beside(made, {real_path(made, "tokens"), real_path(made, "server.toml")}), std::vector<std::string>{"mine"});
}

TEST(kept_back, files_are_not_found_in_a_folder_that_a_link_leads_to) {
  made_log made;
  made.write("app.log", "mine\n");
  made.write("app.log.1", own_line);
  std::filesystem::create_directory_symlink(made.folder(), made.path("linked"));
  const auto own = real_path(made, "app.log.1");
  made.with.path = made.path("linked") + "/app.log";
  EXPECT_EQ(texts_beside(made, {own}), std::vector<std::string>{"mine"});
}

TEST(kept_back, files_are_known_by_any_name_they_were_linked_to) {
  made_log made;
  made.write("app.log", "mine\n");
  std::filesystem::create_directory(made.path("etc"));
  made.write("etc/tokens", own_line);
  std::filesystem::create_hard_link(made.path("etc/tokens"), made.path("app.log.1"));
  EXPECT_EQ(texts_beside(made, {real_path(made, "etc/tokens")}), std::vector<std::string>{"mine"});
}

TEST(kept_back, a_file_that_was_linked_since_it_was_listed_is_not_opened) {
  made_log made;
  std::filesystem::create_directory(made.path("etc"));
  made.write("app.log", own_line);
  log_file_set where;
  where.folder = made.folder();
  where.live_name = "app.log";
  where.own_files = {real_path(made, "etc/tokens")};
  const auto all = list_files(where);
  ASSERT_TRUE(all);
  ASSERT_TRUE(open_listed(*all, all->files.front()));
  std::filesystem::create_hard_link(made.path(), made.path("etc/tokens"));
  const auto opened = open_listed(*all, all->files.front());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::resource_not_found);
}

TEST(kept_back, a_log_of_such_a_file_alone_is_not_there) {
  made_log made;
  made.write("app.log", own_line);
  made.with.own_files = {real_path(made, "app.log")};
  const auto got = made.open()->read({}, {}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::records
