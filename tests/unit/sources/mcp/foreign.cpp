/// What other servers say is bounded and harmless before it is passed on.
#include "sources/mcp/sanitizer.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"

namespace hondana::mcp {
namespace {

TEST(foreign_text, loses_control_characters_and_turns_of_direction) {
  EXPECT_EQ(sanitize("a\x1b[31mb\r\nc\x7f", 100), "a [31mb  c ");
  EXPECT_EQ(sanitize("a\nb\tc\x01", 100, true), "a\nb\tc ");
  EXPECT_EQ(sanitize("x\xE2\x80\xAEy\xE2\x81\xA6z\xC2\x9Bw", 100), "x y z w");
  EXPECT_EQ(sanitize("本棚 é", 100), "本棚 é");
}

TEST(foreign_text, is_cut_between_characters) {
  EXPECT_EQ(sanitize("abcdefgh", 6), "abc…");
  EXPECT_EQ(sanitize("本棚本棚本", 12), "本棚本…");
  EXPECT_EQ(sanitize("本棚本棚本", 11), "本棚…");
  EXPECT_EQ(sanitize("abcdef", 6), "abcdef");
}

TEST(foreign_text, is_well_formed_whatever_it_was) {
  for (const auto* text : {"\xFF\xFE", "a\xC2", "\xE2\x80", "\xC2\xE2\xE2\x81", "\xF0\x9F\x98"}) {
    for (std::size_t most = 0; most < 12; ++most) {
      EXPECT_TRUE(json::is_utf8(sanitize(text, most))) << most;
      EXPECT_LE(sanitize(text, most).size(), std::max<std::size_t>(most, 3)) << most;
    }
  }
}

TEST(foreign_entries, keep_what_is_sound_and_lose_the_rest) {
  resource entry{.uri = "demo://1", .title = std::string(5000, 't'), .description = "a\nb", .mime_type = "text/plain\n"};
  entry.annotations.priority = std::numeric_limits<double>::quiet_NaN();
  entry.icons = {{.src = "javascript:x"}, {.src = "https://a/i.png", .mime_type = "image/png", .theme = "purple"}};
  entry.metadata = {{"lines", std::int64_t{3}}, {"bad", std::nan("")}, {"t\n", std::string("x\n")}};
  entry.kind = "file";
  sanitize_fields(entry, true);
  EXPECT_EQ(entry.name, "demo://1");
  EXPECT_EQ(entry.title.size(), 1024u);
  EXPECT_EQ(entry.description, "a\nb");
  EXPECT_EQ(entry.mime_type, "");
  EXPECT_EQ(entry.annotations.priority, std::nullopt);
  ASSERT_EQ(entry.icons.size(), 1u);
  EXPECT_EQ(entry.icons.front().src, "https://a/i.png");
  EXPECT_EQ(entry.icons.front().theme, "");
  EXPECT_EQ(entry.metadata, (metadata{{"lines", std::int64_t{3}}, {"t ", std::string("x ")}}));
  EXPECT_EQ(entry.kind, "file");
}

TEST(foreign_entries, are_masked_before_they_are_cut) {
  // Put together here, so that it stands in no file.
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  for (const bool masks : {true, false}) {
    resource entry{.uri = "demo://1",
                   .name = std::string(990, ' ') + token,
                   .title = std::string(1000, ' ') + token,
                   .description = std::string((16u << 10) - 20, ' ') + token};
    resource_template offered{.uri_template = "demo://{x}", .name = entry.name, .title = entry.title};
    offered.description = entry.description;
    sanitize_fields(entry, masks);
    sanitize_fields(offered, masks);
    for (const auto* text :
         {&entry.name, &entry.title, &entry.description, &offered.name, &offered.title, &offered.description})
      EXPECT_EQ(text->find("a1B2") == std::string::npos, masks) << text->substr(text->find_first_not_of(' '));
  }
}

TEST(foreign_values, are_left_out_where_they_would_have_to_be_changed) {
  complete_result found;
  found.values = {"good", "b\nad", std::string(9000, 'x')};
  sanitize_fields(found);
  EXPECT_EQ(found.values, std::vector<std::string>{"good"});
  found.values.assign(150, "v");
  sanitize_fields(found);
  EXPECT_EQ(found.values.size(), 100u);
  EXPECT_TRUE(found.has_more);
}

TEST(foreign_failures, name_the_mount_and_are_bounded) {
  const auto refused =
      relay_failure({errc::server_error, "no\r\nway", "p\n", std::make_shared<const rpc_error>()}, "far", true);
  EXPECT_EQ(refused.code, errc::server_error);
  EXPECT_EQ(refused.public_text, "The mounted server \"far\" rejected the request: no  way");
  EXPECT_EQ(refused.private_text, "p ");
  EXPECT_EQ(refused.server_error, nullptr);
  // attacks: a mounted server that sends back the token it was sent
  const auto shut = relay_failure({errc::unauthorized, "it says: no, eyJtoken", "more", {}}, "far", true);
  EXPECT_EQ(shut.public_text,
            "The mounted server \"far\" failed: it did not authorize this server; this server's log says what to do");
  EXPECT_EQ(shut.private_text, "it says: no, eyJtoken (more)");
  EXPECT_LT(relay_failure({errc::timed_out, std::string(100'000, 'x'), {}, {}}, "far", true).public_text.size(), 1100u);
}

TEST(foreign_failures, of_what_is_not_there_say_what_all_sources_say) {
  const auto gone = relay_failure({errc::resource_not_found, "Resource demo://9 not found", {}, {}}, "far", true);
  EXPECT_EQ(gone.public_text, "Resource not found");
  EXPECT_EQ(gone.private_text, "the mounted server \"far\" says: Resource demo://9 not found");
}

TEST(foreign_failures, tell_no_secrets_where_they_are_masked) {
  // Put together here, so that it stands in no file.
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const auto text = "cannot connect to postgres://u:hunter22x@db/x with " + token;
  for (const auto code : {errc::internal, errc::server_error, errc::access_denied, errc::resource_not_found}) {
    const auto masked = relay_failure({code, text, text, {}}, "far", true);
    EXPECT_EQ((masked.public_text + masked.private_text).find("hunter22x"), std::string::npos);
    EXPECT_EQ((masked.public_text + masked.private_text).find(token), std::string::npos);
  }
  const auto plain = relay_failure({errc::internal, text, text, {}}, "far", false);
  EXPECT_NE(plain.public_text.find("hunter22x"), std::string::npos);
  EXPECT_EQ(plain.private_text.find("hunter22x"), std::string::npos);
  // The log gets the private text, whatever callers get.
  for (const auto code : {errc::resource_not_found, errc::unauthorized}) {
    const auto logged = relay_failure({code, text, {}, {}}, "far", false);
    EXPECT_NE(logged.private_text.find("cannot connect to"), std::string::npos);
    EXPECT_EQ(logged.private_text.find("hunter22x"), std::string::npos);
    EXPECT_EQ(logged.private_text.find(token), std::string::npos);
  }
  // What is cut is masked as it was when it was whole.
  const auto cut = relay_failure({errc::internal, std::string(980, ' ') + token, {}, {}}, "far", true);
  EXPECT_EQ(cut.public_text.find("a1B2"), std::string::npos);
}

TEST(foreign_lines, are_masked_before_they_are_cut) {
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  EXPECT_EQ(sanitize_display("opening\n" + token, max_line_bytes, true), "opening ghp_" + std::string(36, '*'));
  EXPECT_EQ(sanitize_display("opening " + token, max_line_bytes, false), "opening " + token);
  EXPECT_EQ(sanitize_display(std::string(1000, ' ') + token, max_line_bytes, true).find("a1B2"), std::string::npos);
}

}  // namespace
}  // namespace hondana::mcp
