/// What other servers say is bounded and harmless before it is passed on.
#include "providers/mcp/foreign.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "json/utf8.hpp"

namespace hondana::mcp {
namespace {

TEST(foreign_text, loses_control_characters_and_turns_of_direction) {
  EXPECT_EQ(clean("a\x1b[31mb\r\nc\x7f", 100), "a [31mb  c ");
  EXPECT_EQ(clean("a\nb\tc\x01", 100, true), "a\nb\tc ");
  EXPECT_EQ(clean("x\xE2\x80\xAEy\xE2\x81\xA6z\xC2\x9Bw", 100), "x y z w");
  EXPECT_EQ(clean("本棚 é", 100), "本棚 é");
}

TEST(foreign_text, is_cut_between_characters) {
  EXPECT_EQ(clean("abcdefgh", 6), "abc…");
  EXPECT_EQ(clean("本棚本棚本", 12), "本棚本…");
  EXPECT_EQ(clean("本棚本棚本", 11), "本棚…");
  EXPECT_EQ(clean("abcdef", 6), "abcdef");
}

TEST(foreign_text, is_well_formed_whatever_it_was) {
  for (const auto* text : {"\xFF\xFE", "a\xC2", "\xE2\x80", "\xC2\xE2\xE2\x81", "\xF0\x9F\x98"}) {
    for (std::size_t most = 0; most < 12; ++most) {
      EXPECT_TRUE(json::is_utf8(clean(text, most))) << most;
      EXPECT_LE(clean(text, most).size(), std::max<std::size_t>(most, 3)) << most;
    }
  }
}

TEST(foreign_entries, keep_what_is_sound_and_lose_the_rest) {
  resource entry{.uri = "demo://1", .title = std::string(5000, 't'), .description = "a\nb", .mimeType = "text/plain\n"};
  entry.annotations.priority = std::numeric_limits<double>::quiet_NaN();
  entry.icons = {{.src = "javascript:x"}, {.src = "https://a/i.png", .mimeType = "image/png", .theme = "purple"}};
  entry.metadata = {{"lines", std::int64_t{3}}, {"bad", std::nan("")}, {"t\n", std::string("x\n")}};
  entry.kind = "file";
  make_fit(entry);
  EXPECT_EQ(entry.name, "demo://1");
  EXPECT_EQ(entry.title.size(), 1024u);
  EXPECT_EQ(entry.description, "a\nb");
  EXPECT_EQ(entry.mimeType, "");
  EXPECT_EQ(entry.annotations.priority, std::nullopt);
  ASSERT_EQ(entry.icons.size(), 1u);
  EXPECT_EQ(entry.icons.front().src, "https://a/i.png");
  EXPECT_EQ(entry.icons.front().theme, "");
  EXPECT_EQ(entry.metadata, (metadata{{"lines", std::int64_t{3}}, {"t ", std::string("x ")}}));
  EXPECT_EQ(entry.kind, "file");
}

TEST(foreign_values, are_left_out_where_they_would_have_to_be_changed) {
  complete_result found;
  found.values = {"good", "b\nad", std::string(9000, 'x')};
  make_fit(found);
  EXPECT_EQ(found.values, std::vector<std::string>{"good"});
  found.values.assign(150, "v");
  make_fit(found);
  EXPECT_EQ(found.values.size(), 100u);
  EXPECT_TRUE(found.has_more);
}

TEST(foreign_failures, name_the_mount_and_are_bounded) {
  const auto refused = passed_on({errc::refused, "no\r\nway", "p\n", std::make_shared<const error_answer>()}, "far");
  EXPECT_EQ(refused.code, errc::refused);
  EXPECT_EQ(refused.public_text, "The mounted server \"far\" refused: no  way");
  EXPECT_EQ(refused.private_text, "p ");
  EXPECT_EQ(refused.answer, nullptr);
  EXPECT_LT(passed_on({errc::timed_out, std::string(100'000, 'x'), {}, {}}, "far").public_text.size(), 1100u);
}

TEST(foreign_failures, of_what_is_not_there_say_what_all_sources_say) {
  const auto gone = passed_on({errc::resource_not_found, "Resource demo://9 not found", {}, {}}, "far");
  EXPECT_EQ(gone.public_text, "Resource not found");
  EXPECT_EQ(gone.private_text, "the mounted server \"far\" says: Resource demo://9 not found");
}

}  // namespace
}  // namespace hondana::mcp
