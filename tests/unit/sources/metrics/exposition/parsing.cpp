/// Expositions as exporters write them, and as they should not.
#include <gtest/gtest.h>

#include "unit/sources/metrics/exposition/heard.hpp"

namespace hondana::exposition {
namespace {

using format = parser::format;

constexpr std::string_view usual_text =
    "# HELP http_requests_total The \"total\" \\\\ of\\nrequests.\n"
    "# TYPE http_requests_total counter\n"
    "http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\n"
    "http_requests_total{ method = \"post\" , code=\"400\", }    3\t1395066363000  \n"
    "\n"
    "# A comment, and # HELPFUL ones\n"
    "#TYPE none\n"
    "   \t\n"
    "# UNIT x y\n"
    "# TYPE is counted\n"
    "msdos_file_access_time_seconds{path=\"C:\\\\DIR\\\\FILE.TXT\",error=\"Cannot find file:\\n\\\"FILE.TXT\\\"\"} "
    "1.458255915e9\n"
    "metric_without_timestamp_and_labels 12.47\n"
    "something_weird{problem=\"division by zero\"} +Inf -3982045\n"
    "empty{} NaN\n"
    "close{a=\"b\"}1\n"
    "dropped{b=\"2\",none=\"\",a=\"1\"} -Inf\n"
    "no_end -0";

TEST(exposition_parser, reads_the_text_format_in_pieces_of_any_length) {
  // "# TYPE is counted" is a type line of a family "is", and there is no such type.
  std::string text(usual_text);
  text.replace(text.find("# TYPE is counted\n"), 18, "# TYPE is gauge\n");
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}}) {
    heard all;
    const auto done = parse(text, format::prometheus, all, {}, piece);
    ASSERT_TRUE(done) << done.error().public_text;
    EXPECT_TRUE(all.is_normal);
    const std::vector<heard::entry> expected{
        {"http_requests_total{code=\"200\",method=\"post\"}", "1027", 1395066363000},
        {"http_requests_total{code=\"400\",method=\"post\"}", "3", 1395066363000},
        {"msdos_file_access_time_seconds{error=\"Cannot find file:\\n\\\"FILE.TXT\\\"\",path=\"C:\\\\DIR\\\\FILE.TXT\"}",
         "1458255915",
         {}},
        {"metric_without_timestamp_and_labels", "12.47", {}},
        {"something_weird{problem=\"division by zero\"}", "+Inf", -3982045},
        {"empty", "NaN", {}},
        {"close{a=\"b\"}", "1", {}},
        {"dropped{a=\"1\",b=\"2\"}", "-Inf", {}},
        {"no_end", "-0", {}}};
    EXPECT_EQ(all.samples, expected);
    ASSERT_EQ(all.families.size(), 2u);
    EXPECT_EQ(all.families[0].first, "http_requests_total");
    EXPECT_EQ(all.families[0].second, (series::metadata{series::kind::counter, "", "The \"total\" \\ of\nrequests."}));
    EXPECT_EQ(all.families[1].first, "is");
  }
}

TEST(exposition_parser, reads_openmetrics) {
  const std::string text =
      "# TYPE acme_http_router_request_seconds summary\n"
      "# UNIT acme_http_router_request_seconds seconds\n"
      "# HELP acme_http_router_request_seconds Latency \\\"though\\\" all.\n"
      "acme_http_router_request_seconds_sum{path=\"/api/v1\",method=\"GET\"} 9036.32\n"
      "acme_http_router_request_seconds_created{path=\"/api/v1\",method=\"GET\"} 1605281325.0\n"
      "# TYPE foo histogram\n"
      "foo_bucket{le=\"0.01\"} 0 1520879607.789 # {trace_id=\"x\"} 0.67\n"
      "foo_bucket{le=\"+Inf\"} 17 # {} 9.8 1520879607.7\n"
      "# TYPE s stateset\n"
      "s{s=\"a\"} 1 -0.0005\n"
      "# EOF\n";
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{13}}) {
    heard all;
    const auto done = parse(text, format::open_metrics, all, {}, piece);
    ASSERT_TRUE(done) << done.error().public_text;
    EXPECT_TRUE(all.is_normal);
    ASSERT_EQ(all.samples.size(), 5u);
    EXPECT_EQ(all.samples[2], (heard::entry{"foo_bucket{le=\"0.01\"}", "0", 1520879607789}));
    EXPECT_EQ(all.samples[3], (heard::entry{"foo_bucket{le=\"+Inf\"}", "17", {}}));
    EXPECT_EQ(all.samples[4].at, -1);
    ASSERT_EQ(all.families.size(), 3u);
    EXPECT_EQ(all.families[0].second, (series::metadata{series::kind::summary, "seconds", "Latency \"though\" all."}));
    EXPECT_EQ(all.families[1].second.kind, series::kind::histogram);
  }
}

TEST(exposition_parser, refuses_what_is_malformed_with_its_line) {
  const std::vector<std::pair<std::string, std::string>> lines{{"1a 1", "metric's name"},
                                                               {"a", "a tab"},
                                                               {"a ", "a value"},
                                                               {"a{ 1", "label's name"},
                                                               {"a{b} 1", "expected ="},
                                                               {"a{b=c} 1", "quotes"},
                                                               {"a{b=\"c} 1", "ends with a quote"},
                                                               {"a{b=\"c\\\"} 1", "ends with a quote"},
                                                               {"a{b=\"c\" d=\"e\"} 1", "a comma or }"},
                                                               {"a{b=\"c\"", "a comma or }"},
                                                               {"a{,} 1", "label's name"},
                                                               {"a{b=\"c\",,} 1", "label's name"},
                                                               {"a{b=\"c\",b=\"d\"} 1", "twice"},
                                                               {"a{b=\"c\",b=\"\"} 1", "twice"},
                                                               {"a{__name__=\"c\"} 1", "__name__"},
                                                               {"a{b:c=\"c\"} 1", "expected ="},
                                                               {"a 0x1p3", "a value"},
                                                               {"a 1_0", "a value"},
                                                               {"a one", "a value"},
                                                               {"a 1e999", "a value"},
                                                               {"a 1 2 3", "end of the line"},
                                                               {"a 1 1.5", "milliseconds"},
                                                               {"a 1 99999999999999999999", "milliseconds"},
                                                               {"a 1 9223372036854775807", "milliseconds"},
                                                               {"a 1 # {}", "milliseconds"},
                                                               {"a 1\r", "CR LF"},
                                                               {"# TYPE a counter\r", "CR LF"},
                                                               {"a{b=\"\xff\"} 1", "UTF-8"},
                                                               {"# HELP a \xed\xa0\x80", "UTF-8"},
                                                               {std::string("a{b=\"\0\"} 1", 10), "NUL"},
                                                               {"\xef\xbb\xbf"
                                                                "a 1",
                                                                "metric's name"},
                                                               {"# TYPE a bogus", "type"},
                                                               {"<html>", "metric's name"}};
  for (const auto& [line, part] : lines)
    for (const std::size_t piece : {SIZE_MAX, std::size_t{1}}) {
      heard all;
      const auto done = parse("ok 1\n\n" + line + "\nok 2\n", format::prometheus, all, {}, piece);
      ASSERT_FALSE(done) << line;
      EXPECT_EQ(done.error().code, errc::invalid_argument);
      EXPECT_NE(done.error().public_text.find("line 3"), std::string::npos) << done.error().public_text;
      EXPECT_NE(done.error().public_text.find(part), std::string::npos) << line << ": " << done.error().public_text;
      EXPECT_EQ(all.samples.size(), 1u) << line;
    }
}

TEST(exposition_parser, is_strict_with_openmetrics) {
  for (const std::string line : {"",
                                 "# comment",
                                 "#TYPE a counter",
                                 "# TYPE a",
                                 "# TYPE  a counter",
                                 "a  1",
                                 "a 1 ",
                                 "a\t1",
                                 " a 1",
                                 "a{b=\"c\", d=\"e\"} 1",
                                 "a{b=\"c\",} 1",
                                 "a{b=\"c\"}1",
                                 "a 1 x",
                                 "a 1 nan",
                                 "a 1 1e300",
                                 "a 1 # {b} 1",
                                 "a 1 # {}",
                                 "a 1 # {} x",
                                 "a 1 # {} 1 2 3",
                                 "a 1 #{} 1",
                                 "# EOF ",
                                 "a 1 2 3",
                                 "# UNIT 1 s"}) {
    heard all;
    const auto done = parse("ok 1\n" + line + "\n# EOF\n", format::open_metrics, all);
    ASSERT_FALSE(done) << line;
    EXPECT_NE(done.error().public_text.find("line 2"), std::string::npos) << done.error().public_text;
  }
  heard all;
  EXPECT_FALSE(parse("a 1\n", format::open_metrics, all));
  EXPECT_FALSE(parse("", format::open_metrics, all));
  EXPECT_FALSE(parse("a 1\n# EOF\na 2\n", format::open_metrics, all));
  EXPECT_FALSE(parse("a 1\n# EOF\n\n", format::open_metrics, all));
  EXPECT_FALSE(parse("# TYPE a counter\n# TYPE a gauge\n# EOF\n", format::open_metrics, all));
  EXPECT_TRUE(parse("a 1\n# EOF", format::open_metrics, all));
  EXPECT_TRUE(parse("# EOF\n", format::open_metrics, all));
}

TEST(exposition_parser, tells_each_family_once) {
  heard all;
  ASSERT_TRUE(parse(
      "# TYPE a counter\n# TYPE a gauge\n# HELP a one\n# HELP b \n# TYPE b gauge\na 1\n# HELP a two\nb 1\n# HELP c_bytes\n",
      format::prometheus, all));
  ASSERT_EQ(all.families.size(), 3u);
  EXPECT_EQ(all.families[0].second, (series::metadata{series::kind::counter, "", "one"}));
  EXPECT_EQ(all.families[1].second, (series::metadata{series::kind::gauge, "", ""}));
  EXPECT_EQ(all.families[2].second, (series::metadata{series::kind::unknown, "bytes", ""}));
}

TEST(exposition_parser, hears_a_series_twice_that_comes_twice) {
  heard all;
  ASSERT_TRUE(parse("a{b=\"c\"} 1\na{b=\"c\"} 2\n", format::prometheus, all));
  EXPECT_EQ(all.samples.size(), 2u);
}

TEST(exposition_parser, names_its_caps) {
  parse_limits most;
  most.max_bytes = 1000;
  most.max_line_bytes = 100;
  most.max_samples = 5;
  most.max_labels = 3;
  most.max_label_bytes = 20;
  most.max_families = 4;
  const auto refused = [&most](const std::string& text, std::size_t piece) {
    heard all;
    const auto done = parse(text, format::prometheus, all, most, piece);
    if (done) return std::string("taken");
    EXPECT_EQ(done.error().code, errc::response_too_large);
    return done.error().public_text;
  };
  std::string many_samples, many_families;
  for (int i = 0; i < 6; ++i) many_samples += "a 1\n";
  for (int i = 0; i < 5; ++i) many_families += "# HELP a" + std::to_string(i) + " x\n";
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{30}}) {
    EXPECT_NE(refused("a 1\n#" + std::string(100, 'x') + "\n", piece).find("line 2: bytes in one line: more than 100"),
              std::string::npos);
    EXPECT_EQ(refused("a 1\n#" + std::string(99, 'x') + "\n", piece), "taken");
    EXPECT_NE(refused(std::string(1001, '\n'), piece).find("\"body_size_limit\""), std::string::npos);
    EXPECT_EQ(refused(std::string(1000, '\n'), piece), "taken");
    EXPECT_NE(refused(many_samples, piece).find("line 6: samples: more than 5"), std::string::npos);
    EXPECT_NE(refused("a{b=\"\",c=\"\",d=\"\",e=\"\"} 1", piece).find("labels: more than 3"), std::string::npos);
    EXPECT_EQ(refused("a{b=\"\",c=\"\",d=\"\",} 1", piece), "taken");
    EXPECT_NE(refused("a{b=\"" + std::string(21, 'x') + "\"} 1", piece).find("\"label_bytes\""), std::string::npos);
    EXPECT_NE(refused("a{" + std::string(21, 'x') + "=\"\"} 1", piece).find("\"label_bytes\""), std::string::npos);
    EXPECT_NE(refused(std::string(21, 'x') + " 1", piece).find("\"label_bytes\""), std::string::npos);
    EXPECT_NE(refused("# HELP " + std::string(21, 'x') + " 1\n", piece).find("\"label_bytes\""), std::string::npos);
    EXPECT_NE(refused(many_families, piece).find("\"families\""), std::string::npos);
  }
}

TEST(exposition_parser, says_nothing_more_after_an_error_or_when_nothing_is_wanted) {
  heard all;
  parser by(format::prometheus, all);
  EXPECT_TRUE(by.parse("a 1\n"));
  const auto first = by.parse("a x\na 2\n");
  ASSERT_FALSE(first);
  const auto again = by.parse("a 3\n");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().public_text, first.error().public_text);
  EXPECT_FALSE(by.finish());
  EXPECT_EQ(all.samples.size(), 1u);

  heard some;
  some.most = 2;
  EXPECT_TRUE(parse("a 1\na 2\na 3\nbroken\n", format::prometheus, some));
  EXPECT_EQ(some.samples.size(), 2u);
}

TEST(exposition_formats, are_named_by_their_media_types) {
  EXPECT_EQ(format_of(""), format::prometheus);
  EXPECT_EQ(format_of("text/plain; version=0.0.4; charset=utf-8"), format::prometheus);
  EXPECT_EQ(format_of(" Text/Plain "), format::prometheus);
  EXPECT_EQ(format_of("application/openmetrics-text; version=1.0.0; charset=utf-8"), format::open_metrics);
  EXPECT_EQ(format_of("text/html"), std::nullopt);
  EXPECT_EQ(format_of("application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily"), std::nullopt);
  EXPECT_EQ(format_of("text/plainer"), std::nullopt);
}

}  // namespace
}  // namespace hondana::exposition
