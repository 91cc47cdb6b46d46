/// Old names of keys and values: errors that say the new name.
#include "sources/config/renamed_keys.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/section.hpp"
#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

TEST(renamed_keys, of_every_table_are_rejected_with_line_and_new_name) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"read_limit = 1", "t.toml:1: read_limit: read_limit is now called max_read_bytes"},
           {"announce_lists = false", "t.toml:1: announce_lists: announce_lists is now called list_changes"},
           {"[search]\nmost_passages = 7", "t.toml:2: search.most_passages: most_passages is now called max_passages"},
           {"[audit]\npath = \"a\"\nkeep = 2", "t.toml:3: audit.keep: keep is now called max_old_files"},
           {"[audit]\nkeep = 2", "t.toml:2: audit.keep: keep is now called max_old_files"},
           {"[auth.implies]\nadmin = [\"a\"]", "t.toml:1: auth.implies: implies is now called implied_scopes"},
           {"[limits.identity]\nrequests = 5",
            "t.toml:2: limits.identity.requests: requests is now called requests_per_second"},
           {"[http.tls]\ncertificate = \"c\"\nkey = \"k\"",
            "t.toml:2: http.tls.certificate: certificate is now called certificate_file"},
           {"[http.tls]\ncertificate_file = \"c\"\nkey_file = \"k\"\nclient_ca_file = \"a\"\nclient_certificates = \"asked\"",
            "t.toml:5: http.tls.client_certificates: \"asked\" is now called \"optional\""}}) {
    const auto parsed = parse(text + '\n', "t.toml");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().public_text, wanted);
  }
}

TEST(renamed_keys, of_a_source_are_rejected_only_if_its_type_has_the_new_key) {
  auto table = parse_toml("[[source]]\ninterval = 1\n", "t.toml")->sections("source")->front();
  ASSERT_TRUE(table.string("path"));
  EXPECT_EQ(table.finish().error().public_text, "t.toml:2: source.interval: unknown key; known here: path");
  ASSERT_TRUE(table.integer("min_poll_interval_s", 1, 60));
  EXPECT_EQ(table.finish().error().public_text, "t.toml:2: source.interval: interval is now called min_poll_interval_s");
  ASSERT_TRUE(table.integer("interval", 1, 60));
  EXPECT_TRUE(table.finish()) << "a key that sources of another type still have";
}

TEST(find_new_name, depends_on_the_place_and_on_the_known_names) {
  constexpr std::array<std::string_view, 2> known{"include", "max_passages"};
  EXPECT_EQ(find_new_name("search", "most_passages", known), "max_passages");
  EXPECT_EQ(find_new_name("limits", "most_passages", known), "");
  EXPECT_EQ(find_new_name("search", "largest", known), "");
}

}  // namespace
}  // namespace hondana::config
