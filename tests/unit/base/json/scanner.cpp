/// The scanner: parts in order, paths, and what it refuses, whole and one byte at a time.
#include "base/json/scanner.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;
using hondana::json::scanner;

/// One letter a part, runs joined: m mark, a atom, k key, o open, t text, e escape, c close, ! malformed.
std::string parts_of(std::string_view text, std::size_t width, std::string* decoded = nullptr) {
  scanner scanner;
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size()))) {
    auto piece = text.substr(0, width);
    for (auto part = scanner.next(piece); part.kind != scanner::part_kind::none; part = scanner.next(piece)) {
      const char letter = "-makotec!"[static_cast<int>(part.kind)];
      if (out.empty() || out.back() != letter) out += letter;
      if (decoded != nullptr && letter != 'k') *decoded += part.decoded;
      if (letter == '!') return out;
    }
  }
  if (!scanner.is_complete()) out += "...";
  return out;
}

std::string parts(std::string_view text) {
  auto whole = parts_of(text, text.size());
  EXPECT_EQ(parts_of(text, 1), whole) << text;
  EXPECT_EQ(parts_of(text, 3), whole) << text;
  return whole;
}

std::string decoded_text(std::string_view string) {
  std::string whole;
  const auto text = "\"" + std::string(string) + "\"";
  EXPECT_EQ(parts_of(text, text.size(), &whole).find('!'), std::string::npos) << text;
  for (std::size_t width = 1; width < 13; ++width) {
    std::string cut;
    parts_of(text, width, &cut);
    EXPECT_EQ(cut, whole) << text;
  }
  return whole;
}

TEST(json_scanner, tells_the_parts_of_a_text_apart_however_it_is_cut) {
  EXPECT_EQ(parts(R"({"a":[1,"b\n",true],"c":{}})"), "mkmamotecmamkm");
  EXPECT_EQ(parts(R"( "s" )"), "motcm");
  EXPECT_EQ(parts("12"), "a");
  EXPECT_EQ(parts("[]"), "m");
  EXPECT_EQ(parts(R"("")"), "oc");
}

TEST(json_scanner, knows_a_text_that_ends_in_the_middle) {
  for (const auto text : {"{"sv, R"({"a")"sv, R"({"a":)"sv, "[1,"sv, R"("abc)"sv, R"("\u00)"sv, R"("\ud83d)"sv, " "sv}) {
    EXPECT_TRUE(parts(text).ends_with("...")) << text;
  }
}

TEST(json_scanner, refuses_what_no_json_has) {
  for (const auto text : {"]"sv,
                          "{]"sv,
                          "[}"sv,
                          "{1:2}"sv,
                          "[,1]"sv,
                          "[1,]"sv,
                          R"({"a",})"sv,
                          R"({"a":1,})"sv,
                          R"({"a":})"sv,
                          "[1 2]"sv,
                          "1 2"sv,
                          "[] []"sv,
                          R"(1"a")"sv,
                          R"("a" "b")"sv,
                          R"({"a" "b"})"sv,
                          "'a'"sv,
                          "\"a\nb\""sv,
                          "\"\0\""sv,
                          R"("\x")"sv,
                          R"("\u12g4")"sv,
                          R"("\ud83d\n")"sv,
                          R"("\ud83d")"sv,
                          R"("\ud83d\u0041")"sv,
                          R"("\ude00")"sv,
                          "\xEF\xBB\xBF[]"sv,
                          "#"sv,
                          ":"sv,
                          ","sv}) {
    // How much of an escape is told before the fault in it depends on the pieces.
    for (const std::size_t width : {std::size_t{1}, std::size_t{2}, text.size()}) {
      EXPECT_TRUE(parts_of(text, width).ends_with('!')) << text;
    }
  }
}

TEST(json_scanner, decodes_every_escape_however_it_is_cut) {
  EXPECT_EQ(decoded_text(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decoded_text(R"(\u0041\u00e9\u20AC\uD83D\uDE00z)"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
  EXPECT_EQ(decoded_text(R"(\u0000)"), "\0"sv);
}

TEST(json_scanner, takes_as_deep_a_nesting_as_the_reader) {
  EXPECT_EQ(parts(std::string(129, '[') + std::string(129, ']')), "m");
  EXPECT_EQ(parts(std::string(130, '[')), "m!");
}

TEST(json_scanner, knows_where_it_is_down_to_the_fourth_level) {
  const auto text = R"({"x":{"text":"1"},"result":{"contents":[{},{"a":[],"t\u0065xt":"here"}]}})"sv;
  for (std::size_t width : {text.size(), std::size_t{1}, std::size_t{5}}) {
    scanner scanner;
    std::size_t found = 0;
    for (auto rest = text; !rest.empty(); rest.remove_prefix(std::min(width, rest.size()))) {
      auto piece = rest.substr(0, width);
      for (auto part = scanner.next(piece); part.kind != scanner::part_kind::none; part = scanner.next(piece)) {
        if (part.kind != scanner::part_kind::open_quote || scanner.depth() != 4) continue;
        ++found;
        EXPECT_TRUE(scanner.is_member(0, "result"));
        EXPECT_TRUE(scanner.is_member(1, "contents"));
        EXPECT_TRUE(scanner.is_array(2));
        EXPECT_EQ(scanner.index(2), 1U);
        EXPECT_TRUE(scanner.is_member(3, "text"));
        EXPECT_FALSE(scanner.is_member(3, "texts"));
      }
    }
    EXPECT_EQ(found, 1U);
  }
}

TEST(json_scanner, takes_a_name_for_itself_only_as_a_whole) {
  for (const auto name : {"text1234567890123456789", "tex", ""}) {
    scanner scanner;
    const auto text = "{\"" + std::string(name) + "\":1";
    std::string_view piece = text;
    while (scanner.next(piece).kind != scanner::part_kind::none) continue;
    EXPECT_FALSE(scanner.is_member(0, "text")) << name;
  }
}

}  // namespace
