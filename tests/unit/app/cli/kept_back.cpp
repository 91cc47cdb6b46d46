/// Files that the configuration names for the server itself.
#include "app/cli/assembly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace hondana;

// attacks: secrets (keys of connections that are served)
TEST(files_kept_back, contain_those_of_the_index_in_postgresql) {
  const auto settings = config::parse(
      "[search]\npostgres_url = "
      "\"postgresql://u@h/d?sslkey=/no/such/a.key&passfile=/no/such/%62&sslcert=/no/such/c&application_name=/no/x\"\n",
      "/no/such/c.toml");
  ASSERT_TRUE(settings) << settings.error().public_text;
  const auto all = cli::collect_own_files(*settings, "/no/such/c.toml", {});
  EXPECT_THAT(all, testing::IsSupersetOf({"/no/such/a.key", "/no/such/b", "/no/such/c"}));
  EXPECT_THAT(all, testing::Not(testing::Contains("/no/x")));
}

}  // namespace
