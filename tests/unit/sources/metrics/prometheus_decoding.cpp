/// Answers of a Prometheus as they are, and as they must not be.
#include "sources/metrics/prometheus_response.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sources/metrics/prometheus_metadata.hpp"

namespace {

using namespace hondana;
using namespace hondana::metrics;

constexpr std::string_view who = "Prometheus at http://p:9090";

std::string success(std::string_view data) { return R"({"status":"success","data":)" + std::string(data) + '}'; }

result<std::vector<series::time_series>> decoded(std::string_view data, const prometheus_limits& most = {},
                                                 std::vector<std::string>* warnings = nullptr) {
  auto opened = parse_prometheus_answer(200, success(data), who);
  if (!opened) return tl::unexpected<failure>(opened.error());
  std::vector<std::string> told;
  return parse_series(opened->data, most, who, warnings == nullptr ? told : *warnings);
}

std::string matrix(std::string_view result) { return R"({"resultType":"matrix","result":)" + std::string(result) + '}'; }
std::string vector(std::string_view result) { return R"({"resultType":"vector","result":)" + std::string(result) + '}'; }

/// What a failing answer says; "" where it does not fail.
std::string words(std::string_view data) {
  const auto got = decoded(data);
  if (got) return "";
  EXPECT_EQ(got.error().code, errc::protocol_error) << data;
  EXPECT_TRUE(got.error().public_text.starts_with("Prometheus at http://p:9090 sent an invalid answer: "))
      << got.error().public_text;
  return got.error().public_text.substr(52);
}

failure refused(int status, std::string_view body) {
  auto got = parse_prometheus_answer(status, body, who);
  EXPECT_FALSE(got.has_value()) << body;
  return got ? failure{} : got.error();
}

}  // namespace

TEST(prometheus_series, are_read_with_their_labels_in_order_and_numbers_of_every_spelling) {
  const auto got = decoded(
      matrix(R"([{"metric":{"z":"1","__name__":"up","a":"\"q\" 日本","empty":""},"values":[[1.5,"1"],[2,"NaN"],[3,"+Inf"],)"
             R"([4.0016,"-Inf"],[5,"1e-3"],[7,"-0"]]},{"metric":{},"values":[[-1.25,"0.1"]]}])"));
  ASSERT_TRUE(got.has_value()) << got.error().public_text;
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ((*got)[0].id, series::identity());
  EXPECT_EQ((*got)[0].samples[0].time, -1250);
  EXPECT_EQ((*got)[0].samples[0].value, 0.1);
  const auto& up = (*got)[1];
  EXPECT_EQ(up.id, (series::identity{"up", {{"a", "\"q\" 日本"}, {"z", "1"}}}));
  ASSERT_EQ(up.samples.size(), 6u);
  EXPECT_EQ(up.samples[0].time, 1500);
  EXPECT_TRUE(std::isnan(up.samples[1].value));
  EXPECT_FALSE(series::is_stale(up.samples[1].value));
  EXPECT_EQ(up.samples[2].value, INFINITY);
  EXPECT_EQ(up.samples[3].value, -INFINITY);
  EXPECT_EQ(up.samples[3].time, 4002);
  EXPECT_EQ(up.samples[4].value, 0.001);
  EXPECT_TRUE(std::signbit(up.samples[5].value));
}

TEST(prometheus_series, come_from_vectors_scalars_and_nothing_too) {
  const auto one =
      decoded(vector(R"([{"metric":{"__name__":"b"},"value":[1,"2"]},{"metric":{"__name__":"a"},"value":[1,"3"]}])"));
  ASSERT_TRUE(one.has_value());
  ASSERT_EQ(one->size(), 2u);
  EXPECT_EQ((*one)[0].id.name, "a");
  EXPECT_EQ((*one)[0].samples[0].value, 3);
  const auto scalar = decoded(R"({"resultType":"scalar","result":[1700000000.123,"42"]})");
  ASSERT_TRUE(scalar.has_value());
  ASSERT_EQ(scalar->size(), 1u);
  EXPECT_EQ((*scalar)[0].samples[0].time, 1700000000123);
  EXPECT_EQ((*scalar)[0].samples[0].value, 42);
  EXPECT_TRUE(decoded(matrix("[]"))->empty());
  EXPECT_TRUE(decoded(matrix("null"))->empty());
  const auto text = decoded(R"({"resultType":"string","result":[1,"hello"]})");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, errc::invalid_argument);
}

TEST(prometheus_series, with_native_histograms_are_left_out_with_a_warning) {
  std::vector<std::string> warnings;
  const auto got = decoded(matrix(R"([{"metric":{"__name__":"h"},"histograms":[[1,{"count":"1","sum":"1"}]]},)"
                                  R"({"metric":{"__name__":"m"},"values":[[1,"1"]],"histograms":[[2,{}]]}])"),
                           {}, &warnings);
  ASSERT_TRUE(got.has_value());
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ((*got)[0].id.name, "m");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("2 series with native histograms are left out")) << warnings[0];
}

TEST(prometheus_series, that_lie_are_refused_with_the_place_of_the_lie) {
  EXPECT_EQ(words("7"), "data: expected an object, got a number");
  EXPECT_EQ(words("{}"), "data.resultType: missing");
  EXPECT_EQ(words(R"({"resultType":"matrix"})"), "data.result: missing");
  EXPECT_EQ(words(R"({"resultType":"streams","result":[]})"),
            R"(data.resultType: expected "matrix", "vector", "scalar" or "string")");
  EXPECT_EQ(words(matrix("{}")), "data.result: expected an array, got an object");
  EXPECT_EQ(words(matrix("[1]")), "data.result[0]: expected an object, got a number");
  EXPECT_EQ(words(matrix(R"([{"values":[]}])")), "data.result[0].metric: missing");
  EXPECT_EQ(words(matrix(R"([{"metric":{"a":1},"values":[]}])")), "data.result[0].metric: expected a string, got a number");
  EXPECT_EQ(words(matrix(R"([{"metric":{"":"x"},"values":[]}])")), "data.result[0].metric: a label has no name");
  EXPECT_EQ(words(matrix(R"([{"metric":{"a":"1","a":"2"},"values":[]}])")), "data.result[0].metric: a label occurs twice");
  EXPECT_EQ(words(matrix(R"([{"metric":{}}])")), "data.result[0]: has no values");
  EXPECT_EQ(words(vector(R"([{"metric":{},"values":[]}])")), "data.result[0]: has no value");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":7}])")), "data.result[0].values: expected an array, got a number");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1]]}])")), "data.result[0].values: expected a time and a value");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[["1","1"]]}])")), "data.result[0].values: expected a number, got a string");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1e300,"1"]]}])")), "data.result[0].values: the time is out of range");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1,2]]}])")), "data.result[0].values: expected a string, got a number");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1,"one"]]}])")), "data.result[0].values: the value is not a number");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1,"0x10"]]}])")), "data.result[0].values: the value is not a number");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[2,"1"],[1,"1"]]}])")),
            "data.result[0].values: the times are not increasing");
  EXPECT_EQ(words(matrix(R"([{"metric":{},"values":[[1,"1"],[1.0001,"1"]]}])")),
            "data.result[0].values: the times are not increasing");
  EXPECT_EQ(words(matrix(R"([{"metric":{"a":"b"},"values":[[1,"1"]]},{"metric":{"a":"b"},"values":[[2,"1"]]}])")),
            "data.result: a series occurs twice");
  std::string labels;
  for (int i = 0; i < 200; ++i) labels += (i == 0 ? "\"l" : ",\"l") + std::to_string(i) + "\":\"v\"";
  EXPECT_EQ(words(matrix(R"([{"metric":{)" + labels + R"(},"values":[]}])")), "data.result[0].metric: too many labels");
}

TEST(prometheus_series, beyond_the_budget_are_refused_with_how_to_narrow_down) {
  const std::string two =
      R"([{"metric":{"a":"1"},"values":[[1,"1"],[2,"1"]]},{"metric":{"a":"2"},"values":[[1,"1"],[2,"1"]]}])";
  EXPECT_TRUE(decoded(matrix(two), {2, 4}).has_value());
  const auto series = decoded(matrix(two), {1, 4});
  ASSERT_FALSE(series.has_value());
  EXPECT_EQ(series.error().code, errc::response_too_large);
  EXPECT_NE(series.error().public_text.find("2 series; at most 1 series are allowed: narrow it down with match"),
            std::string::npos)
      << series.error().public_text;
  const auto points = decoded(matrix(two), {2, 3});
  ASSERT_FALSE(points.has_value());
  EXPECT_EQ(points.error().code, errc::response_too_large);
}

TEST(prometheus_failures, say_what_to_do_and_hold_no_more_of_the_servers_words_than_they_should) {
  const auto bad = refused(400, R"({"status":"error","errorType":"bad_data","error":"1:5: parse error:\nunexpected }"})");
  EXPECT_EQ(bad.code, errc::invalid_argument);
  EXPECT_EQ(bad.public_text, "Prometheus at http://p:9090 rejects this request: 1:5: parse error: unexpected }");
  const auto late = refused(503, R"({"status":"error","errorType":"timeout","error":"query timed out"})");
  EXPECT_EQ(late.code, errc::timed_out);
  const auto full = refused(422, R"({"status":"error","errorType":"execution","error":"too many samples"})");
  EXPECT_EQ(full.code, errc::invalid_argument);
  EXPECT_NE(full.public_text.find("too many samples"), std::string::npos);
  const auto lost = refused(404, "404 page not found");
  EXPECT_EQ(lost.code, errc::unsupported);
  EXPECT_EQ(refused(405, "").code, errc::unsupported);
  const auto stranger = refused(401, R"({"status":"error","errorType":"bad_data","error":"Basic abcdef is wrong"})");
  EXPECT_EQ(stranger.code, errc::source_unavailable);
  EXPECT_EQ(stranger.public_text.find("abcdef"), std::string::npos);
  EXPECT_EQ(refused(403, "no").code, errc::source_unavailable);
  EXPECT_EQ(refused(429, "").code, errc::source_unavailable);
  EXPECT_EQ(refused(302, "").code, errc::source_unavailable);
  EXPECT_EQ(refused(503, "<html>").public_text, "Prometheus at http://p:9090 failed (503)");
  // An error that calls itself a success of HTTP.
  const auto quiet = refused(200, R"({"status":"error","errorType":"internal","error":"no disk"})");
  EXPECT_EQ(quiet.code, errc::source_unavailable);
  EXPECT_NE(quiet.public_text.find("no disk"), std::string::npos);
  for (const auto* const body : {"<html><body>Sign in</body></html>", "", "[]", "7", "null", "{}", R"({"status":7})",
                                 R"({"status":"fine"})", R"({"status":"success","status":"error"})",
                                 R"({"status":"success","warnings":"x"})", R"({"status":"success","warnings":[1]})"}) {
    EXPECT_EQ(refused(200, body).code, errc::protocol_error) << body;
  }
}

TEST(prometheus_failures, show_long_and_hostile_words_in_one_line_and_well_formed) {
  const auto long_one =
      refused(400, R"({"status":"error","errorType":"bad_data","error":")" + std::string(10'000, 'x') + "\"}");
  EXPECT_LT(long_one.public_text.size(), 400u);
  EXPECT_EQ(sanitize_text("a\r\nb\tc\x7f\x01"), "a  b c  ");
  EXPECT_EQ(sanitize_text("日本語", 4), "日…");
  EXPECT_EQ(sanitize_text("\xff"), "\xef\xbf\xbd");
}

TEST(prometheus_warnings, are_passed_on_and_bounded) {
  std::string many = "[";
  for (int i = 0; i < 100; ++i) many += (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + '"';
  const auto got =
      parse_prometheus_answer(200, R"({"status":"success","data":[],"infos":["i"],"warnings":)" + many + "]}", who);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->warnings.size(), 16u);
  EXPECT_EQ(got->warnings.front(), "w0");
}

TEST(prometheus_times, are_seconds_to_the_millisecond) {
  EXPECT_EQ(prometheus_time(0), "0.000");
  EXPECT_EQ(prometheus_time(1'700'000'000'007), "1700000000.007");
  EXPECT_EQ(prometheus_time(-1), "-0.001");
  EXPECT_EQ(prometheus_time(INT64_MIN), "-9223372036854775.808");
  EXPECT_EQ(parse_timestamp("2023-11-14T22:13:20Z"), 1'700'000'000'000);
  EXPECT_EQ(parse_timestamp("2023-11-14T22:13:20.0079999+00:00"), 1'700'000'000'007);
  EXPECT_EQ(parse_timestamp("2023-11-15T07:13:20.5+09:00"), 1'700'000'000'500);
  EXPECT_EQ(parse_timestamp("2023-11-14T12:13:20-10:00"), 1'700'000'000'000);
  for (const auto* const none :
       {"", "now", "0001-01-01T00:00:00Z", "2023-02-30T00:00:00Z", "2023-11-14T22:13:20", "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20+0900", "2023-11-14 22:13:20Z", "2023-11-14T24:13:20Z"}) {
    EXPECT_FALSE(parse_timestamp(none).has_value()) << none;
  }
}

TEST(prometheus_facts, tell_the_interval_of_the_configuration_and_not_of_one_job) {
  const auto interval = [](std::string_view yaml) {
    const auto opened = parse_prometheus_answer(200, success(R"({"yaml":")" + std::string(yaml) + "\"}"), who);
    return parse_scrape_interval(opened->data);
  };
  EXPECT_EQ(
      interval(
          R"(global:\n  scrape_interval: 1m\n  scrape_timeout: 10s\nscrape_configs:\n- job_name: a\n  scrape_interval: 7s\n)"),
      60'000);
  EXPECT_EQ(interval(R"(scrape_configs:\n- job_name: a\n  scrape_interval: 7s\n)"), std::nullopt);
  EXPECT_EQ(interval(R"(global:\n  scrape_interval: soon\n)"), std::nullopt);
  EXPECT_EQ(interval(""), std::nullopt);
}

TEST(prometheus_facts, of_targets_hold_no_user_name_and_no_query) {
  const auto opened = parse_prometheus_answer(
      200,
      success(
          R"({"activeTargets":[{"labels":{"job":"j","instance":"i:1"},"scrapeUrl":"http://me:word@i:1/metrics?token=abc#f",)"
          R"("health":"down","lastError":"Get \"http://me:word@i:1/metrics?token=abc#f\": refused",)"
          R"("lastScrape":"2023-11-14T22:13:20Z","lastScrapeDuration":0.25,"scrapeInterval":"1m"}],"droppedTargets":[]})"),
      who);
  const auto got = parse_targets(opened->data, 10, who);
  ASSERT_TRUE(got.has_value()) << got.error().public_text;
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ((*got)[0].job, "j");
  EXPECT_EQ((*got)[0].instance, "i:1");
  EXPECT_EQ((*got)[0].url, "http://i:1/metrics");
  EXPECT_FALSE((*got)[0].is_up);
  EXPECT_EQ((*got)[0].last_error, "Get \"http://i:1/metrics\": refused");
  EXPECT_EQ((*got)[0].last_scrape, 1'700'000'000'000);
  EXPECT_EQ((*got)[0].duration, std::chrono::milliseconds(250));
  EXPECT_EQ((*got)[0].interval, std::chrono::minutes(1));
  for (const auto* const lie :
       {"{}", R"({"activeTargets":7})", R"({"activeTargets":[7]})", R"({"activeTargets":[{}]})",
        R"({"activeTargets":[{"labels":{"job":7}}]})", R"({"activeTargets":[{"labels":{},"lastScrapeDuration":"long"}]})"}) {
    const auto lied = parse_prometheus_answer(200, success(lie), who);
    const auto read = parse_targets(lied->data, 10, who);
    ASSERT_FALSE(read.has_value()) << lie;
    EXPECT_EQ(read.error().code, errc::protocol_error);
  }
}

TEST(prometheus_facts, of_rules_are_refused_where_they_lie) {
  for (const auto* const lie :
       {"{}", R"({"groups":7})", R"({"groups":[7]})", R"({"groups":[{"name":"g"}]})",
        R"({"groups":[{"name":"g","rules":[{}]}]})",
        R"({"groups":[{"name":"g","rules":[{"name":"r","query":"q","type":"alerting","duration":"x"}]}]})",
        R"({"groups":[{"name":"g","rules":[{"name":"r","query":"q","type":"alerting","alerts":[{"labels":[]}]}]}]})"}) {
    const auto lied = parse_prometheus_answer(200, success(lie), who);
    const auto read = parse_rules(lied->data, 10, who);
    ASSERT_FALSE(read.has_value()) << lie;
    EXPECT_EQ(read.error().code, errc::protocol_error);
  }
  const auto lied = parse_prometheus_answer(200, success(R"({"alerts":[{"labels":{}}]})"), who);
  EXPECT_FALSE(parse_alerts(lied->data, 10, who).has_value());
}

namespace {

prometheus_names some_names() {
  return {{"a_seconds_bucket", "a_seconds_count", "a_seconds_sum", "b_total", "bad.name", "c", "go_seconds", "go_seconds_count",
           "go_seconds_sum", "job:x:sum", "lone_bucket", "n_info", "node_free_bytes", "o_count", "o_sum"},
          {{"a_seconds", {series::kind::histogram, "", "How long."}},
           {"b", {series::kind::counter, "", "Of OpenMetrics."}},
           {"c", {series::kind::counter, "", ""}},
           {"go_seconds", {series::kind::summary, "", ""}},
           {"n", {series::kind::info, "", ""}},
           {"node_free_bytes", {series::kind::gauge, "", ""}},
           {"not_there", {series::kind::gauge, "", ""}},
           {"o", {series::kind::summary, "", ""}}}};
}

}  // namespace

TEST(prometheus_names, list_families_once_and_everything_else_by_its_series) {
  const auto names = some_names();
  std::vector<std::string> listed;
  for (const auto& one : names.page("", "", 100)) listed.push_back(one.name);
  EXPECT_EQ(listed, (std::vector<std::string>{"a_seconds", "b_total", "c", "go_seconds", "job:x:sum", "lone_bucket", "n_info",
                                              "node_free_bytes", "o_count", "o_sum"}));
  const auto page = names.page("", "b_total", 2);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].name, "c");
  ASSERT_EQ(names.page("n", "", 10).size(), 2u);
  EXPECT_TRUE(names.page("n", "o", 10).empty());
  for (const auto& one : names.page("", "", 100)) EXPECT_TRUE(names.find(one.name)) << one.name;
  EXPECT_EQ(names.page("n", "a", 10).size(), 2u);
  EXPECT_TRUE(names.page("x", "", 10).empty());
}

TEST(prometheus_names, have_the_kind_of_their_family_or_of_what_they_say_themselves) {
  const auto names = some_names();
  const auto kind = [&](std::string_view name) { return names.find(name).value().metadata.kind; };
  EXPECT_EQ(kind("a_seconds"), series::kind::histogram);
  EXPECT_EQ(names.find("a_seconds")->metadata.unit, "seconds");
  EXPECT_EQ(names.find("a_seconds")->metadata.help, "How long.");
  EXPECT_EQ(kind("a_seconds_bucket"), series::kind::counter);
  EXPECT_EQ(kind("a_seconds_sum"), series::kind::counter);
  EXPECT_EQ(names.find("a_seconds_sum")->metadata.unit, "seconds");
  EXPECT_EQ(names.find("a_seconds_count")->metadata.unit, "");
  EXPECT_EQ(kind("b_total"), series::kind::counter);
  EXPECT_EQ(kind("go_seconds"), series::kind::summary);
  EXPECT_EQ(kind("go_seconds_count"), series::kind::counter);
  EXPECT_FALSE(names.find("o")) << "no series has this name";
  EXPECT_EQ(kind("o_count"), series::kind::counter);
  EXPECT_EQ(kind("n_info"), series::kind::info);
  EXPECT_EQ(kind("job:x:sum"), series::kind::unknown);
  EXPECT_FALSE(names.find("not_there").has_value());
  EXPECT_FALSE(names.find("bad.name").has_value());
  EXPECT_EQ(names.series_name("a_seconds"), "a_seconds_bucket");
  EXPECT_EQ(names.series_name("go_seconds"), "go_seconds");
  EXPECT_EQ(names.series_name("unheard"), "unheard");
}

TEST(prometheus_names, tell_the_kinds_where_there_is_no_metadata) {
  const prometheus_names names({"h_bucket", "h_count", "h_sum", "requests_total", "size_bytes"}, {});
  EXPECT_EQ(names.find("h")->metadata.kind, series::kind::histogram);
  EXPECT_EQ(names.find("requests_total")->metadata.kind, series::kind::counter);
  EXPECT_EQ(names.find("size_bytes")->metadata.kind, series::kind::unknown);
  EXPECT_EQ(names.find("size_bytes")->metadata.unit, "bytes");
}
