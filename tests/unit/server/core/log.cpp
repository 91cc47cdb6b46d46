/// What a server tells its log.
#include <hondana/server.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "server/core/core.hpp"
#include "support/must.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;

TEST(the_log_of_a_server, is_never_told_a_secret) {
  const auto token = "ghp_" + test::lots(3).alnum(36);
  std::vector<std::string> lines;
  const auto log = [&lines](std::string_view line) { lines.emplace_back(line); };
  server of = must(server::create({.name = "s", .version = "1", .log = log}));
  of.core()->options().log("asked with " + token);
  ASSERT_TRUE(of.replace({.name = "s", .version = "1", .log = log}, {}));
  of.core()->options().log("password=" + token);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "asked with ghp_" + std::string(36, '*'));
  EXPECT_EQ(lines[1], "password=" + std::string(40, '*'));
}

TEST(the_log_of_a_server, may_come_and_go) {
  std::string told;
  server of = must(server::create({.name = "s", .version = "1"}));
  EXPECT_FALSE(of.core()->options().log);
  ASSERT_TRUE(of.replace({.name = "s", .version = "1", .log = [&told](std::string_view line) { told = line; }}, {}));
  of.core()->options().log("a line");
  EXPECT_EQ(told, "a line");
  ASSERT_TRUE(of.replace({.name = "s", .version = "1"}, {}));
  EXPECT_FALSE(of.core()->options().log);
}

}  // namespace
