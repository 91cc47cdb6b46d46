/// Old names of keys and values: they are read, with a warning that says the new name.
#include "sources/config/renamed_keys.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

std::string as_warning(const std::string& renaming) { return renaming + "; the old name will be an error in version 1.0"; }

TEST(renamed_keys, of_every_table_are_read_with_a_warning) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"read_limit = 1", "t.toml:1: max_read_bytes: read_limit is now called max_read_bytes"},
           {"announce_lists = false", "t.toml:1: list_changes: announce_lists is now called list_changes"},
           {"[search]\nmost_passages = 7", "t.toml:2: search.max_passages: most_passages is now called max_passages"},
           {"[audit]\npath = \"a\"\nkeep = 2", "t.toml:3: audit.max_old_files: keep is now called max_old_files"},
           {"[auth.implies]\nadmin = [\"a\"]", "t.toml:1: auth.implied_scopes: implies is now called implied_scopes"},
           {"[limits.identity]\nrequests = 5",
            "t.toml:2: limits.identity.requests_per_second: requests is now called requests_per_second"}}) {
    const auto parsed = parse(text + '\n', "t.toml");
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().public_text;
    EXPECT_EQ(parsed->root_table->old_name_warnings(), std::set<std::string>{as_warning(wanted)});
  }
  EXPECT_EQ(parse("read_limit = 77\n", "t.toml")->max_read_bytes, 77);
}

TEST(renamed_keys, and_values_are_read_under_both_names) {
  const auto parsed =
      parse("[http.tls]\ncertificate = \"c\"\nkey_file = \"k\"\nclient_authorities = \"a\"\nclient_certificates = \"asked\"\n",
            "t.toml");
  ASSERT_TRUE(parsed) << parsed.error().public_text;
  EXPECT_EQ(
      parsed->root_table->old_name_warnings(),
      (std::set<std::string>{as_warning("t.toml:2: http.tls.certificate_file: certificate is now called certificate_file"),
                             as_warning("t.toml:4: http.tls.client_ca_file: client_authorities is now called client_ca_file"),
                             as_warning("t.toml:5: http.tls.client_certificates: \"asked\" is now called \"optional\"")}));
}

TEST(renamed_keys, beside_the_new_key_are_unknown) {
  const auto parsed = parse("read_limit = 1\nmax_read_bytes = 2\n", "t.toml");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().public_text.substr(0, 33), "t.toml:1: read_limit: unknown key");
}

TEST(renamed_keys, of_a_source_are_read_only_if_its_type_has_the_new_key) {
  auto table = parse_toml("[[source]]\ninterval = 1\n", "t.toml")->sections("source")->front();
  ASSERT_TRUE(table.string("path"));
  EXPECT_EQ(table.finish().error().public_text, "t.toml:2: source.interval: unknown key; known here: path");
  EXPECT_EQ(*table.integer("min_poll_interval_s", 1, 60), 1);
  EXPECT_TRUE(table.finish());
}

TEST(renamed_keys, still_name_files_of_the_server) {
  const auto table =
      parse_toml("[http.tls]\ncertificate = \"/c\"\nkey = \"/k\"\n[[source]]\ncert = \"/both\"\nca = \"/ca\"\n", "t.toml");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find_own_files(), (std::vector<std::string>{"/k", "/both"}));
}

}  // namespace
}  // namespace hondana::config
