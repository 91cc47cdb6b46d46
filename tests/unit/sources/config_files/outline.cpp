/// Texts that cannot be read, with their values masked.
#include "sources/config_files/masked_values.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using located::config_format;
using testing::HasSubstr;
using testing::Not;

std::string outline_of(std::string text, config_format how) {
  const auto before = text;
  if (!mask_values(text, how)) return "neither";
  EXPECT_EQ(text.size(), before.size());
  return text;
}

TEST(outline, of_yaml_keeps_keys_dashes_and_comments) {
  EXPECT_EQ(outline_of("# why\na: 1\nlist:\n  - one: two\n    b: c d\n  - plain\n  - x:y\n\"q r\": s\n---\nother: [1\n",
                       config_format::yaml),
            "# why\na: *\nlist:\n  - one: ***\n    b: ***\n  - *****\n  - ***\n\"q r\": *\n---\nother: **\n");
}

TEST(outline, of_yaml_hides_what_goes_on_with_a_value) {
  EXPECT_EQ(
      outline_of("a: |\n  # not: a comment\n\n  key: value\nb: >\n  x: y\nc: 1\n  d: e\nf:\n  g: h\n", config_format::yaml),
      "a: *\n  ****************\n\n  **********\nb: *\n  ****\nc: *\n  ****\nf:\n  g: *\n");
  EXPECT_EQ(outline_of("a: \"x\nkey: v\nmore\" x\nb: 1\n", config_format::yaml), "a: **\n******\n*******\nb: *\n");
  EXPECT_EQ(outline_of("a:\n  words\n  b: c\nd:\n- - |\n   e: f\n- g: h\n", config_format::yaml),
            "a:\n  *****\n  ****\nd:\n- - *\n   ****\n- g: *\n");
  EXPECT_EQ(outline_of("--- |\na: b\n", config_format::yaml), "*****\n****\n");
  EXPECT_EQ(outline_of("a: &x\n  b: !y 1\n", config_format::yaml), "a: **\n  b: ****\n");
}

TEST(outline, of_templates_keeps_keys) {
  EXPECT_EQ(outline_of("stringData:\n  adm: word\n  {{- if x }}\n  cfg: {{ .Values.x }}\n  {{- end }}\n  z: 1\n",
                       config_format::yaml),
            "stringData:\n  adm: ****\n  ***********\n  cfg: ***************\n  **********\n  z: *\n");
}

TEST(outline, of_json_keeps_keys_and_brackets) {
  EXPECT_EQ(
      outline_of("{\n  // why\n  \"a\": {\n    \"b\": \"c\",\n    \"d\": [\n      \"e:f\",\n      1\n    ]\n  },\n  \"g\": \"h",
                 config_format::json),
      "{\n  // why\n  \"a\": {\n    \"b\": ***,\n    \"d\": [\n      ******\n      *\n    ]\n  },\n  \"g\": **");
  EXPECT_EQ(outline_of(R"({"x":"\ud800","password":["word"]})", config_format::json), R"({"x":)" + std::string(29, '*'));
}

TEST(outline, of_toml_keeps_sections_and_hides_lists_and_long_texts) {
  EXPECT_EQ(outline_of("[a.b]\nc = 1\n[[d]]\ne = [\n  \"f = g\",\n  [12345]\n]\nh = \"\"\"\nx = y\n\"\"\"\n\"i j\" = 2\nk = \n",
                       config_format::toml),
            "[a.b]\nc = *\n[[d]]\ne = *\n  ********\n  *******\n*\nh = ***\n*****\n***\n\"i j\" = *\nk = \n");
}

TEST(outline, of_lines_hides_what_goes_on_behind_a_backslash_or_deeper) {
  EXPECT_EQ(outline_of("[s t]\n; why\na = b\n  c = d\ne:f\ng\n", config_format::ini), "[s t]\n; why\na = *\n  *****\ne:*\n*\n");
  EXPECT_EQ(outline_of("a=b\\\nc=d\ne f\n! why\n", config_format::properties), "a=**\n***\n***\n! why\n");
  EXPECT_EQ(outline_of("export A=b\nC='d\nE=f'\nG=h\n", config_format::dotenv), "export A=*\nC=**\n****\nG=*\n");
  EXPECT_EQ(outline_of("[Unit]\r\nExecStart=/bin/x --y=z\r\n", config_format::systemd), "[Unit]\r\nExecStart=************\r\n");
}

TEST(outline, of_texts_with_carriage_returns_alone_has_no_value) {
  EXPECT_EQ(outline_of("# why\rpassword:\r- word\r", config_format::yaml), "# why\rpassword:\r- ****\r");
}

TEST(outline, of_two_bytes_each_is_the_same) {
  const std::string narrow = "a: word\n# why\n";
  for (const bool is_low_first : {true, false}) {
    std::string wide = is_low_first ? "\xFF\xFE" : "\xFE\xFF";
    std::string expected = wide;
    for (const auto& [from, to] : {std::pair(&narrow, &wide), std::pair(&narrow, &expected)}) {
      for (std::size_t i = 0; i < from->size(); ++i) {
        const char c = to == &expected && i >= 3 && i < 7 ? '*' : (*from)[i];
        is_low_first ? (to->push_back(c), to->push_back('\0')) : (to->push_back('\0'), to->push_back(c));
      }
    }
    EXPECT_EQ(outline_of(wide, config_format::yaml), expected);
  }
}

TEST(outline, of_other_bytes_is_none) {
  EXPECT_EQ(outline_of("a: \xFF\n", config_format::yaml), "neither");
  EXPECT_EQ(outline_of(std::string("\xFF\xFE\x61", 3), config_format::yaml), "neither");
}

TEST(outline_timing, of_many_lines_takes_linear_time) {
  std::string text;
  while (text.size() < (4u << 20)) text += "a: \"\n\\\n";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(mask_values(text, config_format::yaml));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

struct treeless_files : served_set {};

TEST_F(treeless_files, show_no_more_than_they_did_when_they_could_be_read) {
  const std::string good = "password:\n  - fourteen\n  - blue seas\nother: [1]\n";
  write("conf/a.yaml", good);
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/a.yaml"), "password:\n  - ********\n  - *********\nother: [1]\n");
  EXPECT_EQ(fact_at(*from, "config://conf/file/a.yaml", "dev.hondana/warnings"), "");
  for (std::size_t size = 1; size < good.size(); ++size) {
    replace("conf/a.yaml", good.substr(0, size));
    const auto text = text_at(*from, "config://conf/file/a.yaml");
    EXPECT_THAT(text, Not(HasSubstr("fo"))) << size;
    EXPECT_THAT(text, Not(HasSubstr("bl"))) << size;
  }
  replace("conf/a.yaml", good.substr(0, good.size() - 2));
  EXPECT_EQ(text_at(*from, "config://conf/file/a.yaml"), "password:\n  - ********\n  - *********\nother: **");
  EXPECT_EQ(fact_at(*from, "config://conf/file/a.yaml", "dev.hondana/warnings"),
            "it cannot be read as yaml, so everything that may be a value is masked");
  EXPECT_EQ(fact_at(*from, "config://conf/file/a.yaml?format=json", "dev.hondana/stale").substr(0, 5), "line ");
}

TEST_F(treeless_files, of_any_reason_show_no_values) {
  const std::string list = "password:\n  - fourteen\n";
  write("conf/deep.yaml", list + "x: " + std::string(101, '[') + std::string(101, ']') + "\n");
  write("conf/bytes.yaml", list + "x: \xFF\n");
  write("conf/pair.json", R"({"x":"\ud800","password":["fourteen"]})");
  write("conf/template.yaml",
        "apiVersion: v1\nkind: Secret\nstringData:\n  a: fourteen\n  {{- if x }}\n  b: 1\n  {{- end }}\n");
  write("conf/quote.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  a: fourteen\n  b: '{{ .Values.x }}\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  for (const auto* name : {"deep.yaml", "bytes.yaml", "pair.json", "template.yaml", "quote.yaml"}) {
    EXPECT_THAT(text_at(*from, "config://conf/file/" + std::string(name)), Not(HasSubstr("fourteen"))) << name;
  }
  EXPECT_THAT(text_at(*from, "config://conf/file/template.yaml"), HasSubstr("stringData:\n  a: ********\n"));
  const auto plain = serve("path = \"conf\"\nname = \"plain\"\nwatch = false\nredact = false\n");
  EXPECT_EQ(text_at(*plain, "config://plain/file/bytes.yaml"), list + "x: \xFF\n");
}

}  // namespace
}  // namespace hondana::config_files
