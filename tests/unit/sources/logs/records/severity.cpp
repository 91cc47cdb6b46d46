/// Levels of records, and fields.
#include "sources/logs/records/severity.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/fields.hpp"

namespace hondana::records {
namespace {

TEST(severity, is_found_where_programs_put_it) {
  struct line_with_level {
    std::string_view line;
    std::optional<severity> level;
  };
  const std::vector<line_with_level> all{
      {R"({"level":"error","msg":"info"})", severity::error},
      {R"({"msg":"x","severity":"WARNING"})", severity::warning},
      {R"({"lvl":"dbg"})", severity::debug},
      {R"({"log.level":"warn"})", severity::warning},
      {R"({"log":{"level":"fatal"}})", severity::critical},
      {R"({"levelname":"CRITICAL"})", severity::critical},
      {R"({"level":30})", severity::info},
      {R"({"level":50})", severity::error},
      {R"({"level":60})", severity::critical},
      {R"({"level":3})", severity::error},
      {R"({"PRIORITY":"4"})", severity::warning},
      {R"({"msg":"ERROR in text only"})", std::nullopt},
      {"time=2026-01-02T12:04:05Z level=warn msg=x", severity::warning},
      {"lvl=eror msg=x", severity::error},
      {"<11>Jan  2 12:04:05 host app: x", severity::error},
      {"<165>1 2026-01-02T12:04:05Z host app - - - x", severity::notice},
      {"W0102 12:04:05.500000   7 main.cc:7] x", severity::warning},
      {"F0102 12:04:05.500000   7 main.cc:7] x", severity::critical},
      {"2026-01-02 12:04:05,500 ERROR root x", severity::error},
      {"2026-01-02 12:04:05 [error] 7#7: *1 x", severity::error},
      {"2026-01-02 12:04:05 [Warning] [MY-1] x", severity::warning},
      {"2026-01-02 12:04:05.500 UTC [7] FATAL:  x", severity::critical},
      {"2026-01-02 12:04:05.500 UTC [7] LOG:  x", severity::info},
      {"2026-01-02T12:04:05Z  INFO app: warning about errors", severity::info},
      {"01-02 12:04:05.500  7  7 E/Tag: android", severity::error},
      {"Jan  2 12:04:05 host app[7]: error: no such file", severity::error},
      {"[2026-01-02 12:04:05] local.NOTICE: laravel", severity::notice},
      {"192.0.2.1 - - [02/Jan/2026:21:04:05 +0900] \"GET / HTTP/1.1\" 503 7", severity::error},
      {"192.0.2.1 - - [02/Jan/2026:21:04:05 +0900] \"GET /ERROR HTTP/1.1\" 404 7", severity::warning},
      {"192.0.2.1 - - [02/Jan/2026:21:04:05 +0900] \"GET / HTTP/2.0\" 200 7", severity::info},
      {"2026-01-02 12:04:05 it went on without errors", std::nullopt},
      {"Error handling was improved", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& one : all) {
    const auto found = detect_severity(one.line);
    EXPECT_EQ(found, one.level) << one.line << ": " << (found ? name_of(*found) : "none");
  }
}

TEST(severity, has_the_usual_names) {
  for (std::size_t i = 0; i < 7; ++i) {
    const auto one = static_cast<severity>(i);
    EXPECT_EQ(parse_severity(name_of(one)), one);
  }
  EXPECT_EQ(parse_severity("WARN"), severity::warning);
  EXPECT_EQ(parse_severity("Err"), severity::error);
  EXPECT_EQ(parse_severity("emerg"), severity::critical);
  EXPECT_EQ(parse_severity("3"), std::nullopt);
  EXPECT_EQ(parse_severity(""), std::nullopt);
  EXPECT_EQ(parse_severity("errors"), std::nullopt);
}

TEST(fields, are_found_by_paths) {
  const std::string_view json =
      R"({"a":{"b":{"c":"x\n\u00e9\ud83d\ude00"},"n":[1,{"k":true}]},"d.e":7.50,"f":null,"a.b":{"z":"w"},"q":"say \"hi\""})";
  EXPECT_EQ(find_field(json, "a.b.c"), "x\n\u00e9\U0001F600");
  EXPECT_EQ(find_field(json, "a.n.0"), "1");
  EXPECT_EQ(find_field(json, "a.n.1.k"), "true");
  EXPECT_EQ(find_field(json, "d.e"), "7.50");
  EXPECT_EQ(find_field(json, "f"), "null");
  EXPECT_EQ(find_field(json, "a.b.z"), "w");
  EXPECT_EQ(find_field(json, "q"), "say \"hi\"");
  for (const auto* none : {"", "a.b.c.d", "b", "a.n.2", "a.n.x", "a..b", "."})
    EXPECT_EQ(find_field(json, none), std::nullopt) << none;
  // Masked and cut.
  EXPECT_EQ(find_field(R"({"pin":*****,"user":"ann"})", "user"), "ann");
  EXPECT_EQ(find_field(R"({"user":"ann","text":"and so o)", "text"), "and so o");
  EXPECT_EQ(find_field(R"({"user)", "user"), std::nullopt);
}

TEST(fields, of_all_elements_of_an_array_are_found_without_their_numbers) {
  const auto values_of = [](std::string_view text, std::string_view path) {
    std::vector<std::string> out;
    for_each_value(text, path, [&out](std::string_view raw) {
      out.push_back(decode_value(raw));
      return true;
    });
    return out;
  };
  using strings = std::vector<std::string>;
  const std::string_view json = R"({"tags":["a","b"],"spans":[{"name":"x"},{"name":"y"}],"grid":[[{"name":"z"}]]})";
  EXPECT_EQ(values_of(json, "tags"), (strings{R"(["a","b"])", "a", "b"}));
  EXPECT_EQ(values_of(json, "tags.1"), strings{"b"});
  EXPECT_EQ(values_of(json, "spans.name"), (strings{"x", "y"}));
  EXPECT_EQ(values_of(json, "spans.1.name"), strings{"y"});
  EXPECT_EQ(values_of(json, "grid.name"), strings{"z"});
  EXPECT_EQ(values_of("user=ann user=bob", "user"), (strings{"ann", "bob"}));
  const std::string deep(100'000, '[');
  EXPECT_EQ(values_of("{\"a\":" + deep, "a.x"), strings{});
}

TEST(fields, of_logfmt_and_behind_headers_are_found_as_well) {
  EXPECT_EQ(find_field("ts=1 user=ann msg=\"it is \\\"so\\\"\" code=7", "msg"), "it is \"so\"");
  EXPECT_EQ(find_field("ts=1 user=ann", "user"), "ann");
  EXPECT_EQ(find_field("2026-01-02T12:04:05Z stdout F {\"user\":{\"id\":7}}", "user.id"), "7");
  EXPECT_EQ(find_field("no fields here", "no"), std::nullopt);
}

TEST(fields, take_linear_time) {
  const std::string deep(2'000'000, '[');
  EXPECT_EQ(find_field("{\"a\":" + deep, "a.0.0.0.0.x"), std::nullopt);
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += "\"a\":{\"a\":1},";
  EXPECT_EQ(find_field(many, "a.a.b"), std::nullopt);
}

}  // namespace
}  // namespace hondana::records
