/// Secrets in labels: they are masked, and nothing tells them bit by bit.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/metrics/masking.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

constexpr const char* password = "correcthorse77";
constexpr const char* url_with_one = "postgres://app:correcthorse77@db.example/app";

/// "pool" says where it leads to, "login" has a label that says itself what it holds.
std::shared_ptr<made_backend> leaky() {
  auto of = std::make_shared<made_backend>();
  of->describe("pool", series::kind::gauge, "", std::string("Connections of ") + url_with_one);
  of->add_line("pool", {{"dsn", url_with_one}, {"kind", "db"}}, noon, 10, [](std::size_t) { return 1.0; });
  of->add_line("pool", {{"dsn", "postgres://db.example/other"}, {"kind", "other"}}, noon, 10, [](std::size_t) { return 1.0; });
  of->add_line("login", {{"db_password", password}, {"user", "a"}}, noon, 10, [](std::size_t) { return 1.0; });
  of->add_line("clean", {{"dsn", "postgres://db.example/clean"}}, noon, 10, [](std::size_t) { return 1.0; });
  return of;
}

std::string values_uri(const std::string& metric, const std::string& match) {
  return "metrics://app/" + metric + "?match=" + percent_encode(match);
}

std::string query_uri(const std::string& promql) { return "metrics://app/query?promql=" + percent_encode(promql); }

using label_set = std::set<std::string, std::less<>>;
using offered = std::vector<std::string>;

}  // namespace

TEST(metrics_masking, leaves_no_secret_in_any_form) {
  const served_metrics app(leaky());
  for (const auto* const metric : {"pool", "login"})
    for (const auto* const format : {"json", "csv", "openmetrics", "svg"}) {
      const auto uri = "metrics://app/" + std::string(metric) + "?agg=raw&format=" + format;
      EXPECT_EQ(app.text(uri).find(password), std::string::npos) << uri;
    }
  for (const auto* const uri : {"metrics://app/", "metrics://app/query?promql=pool", "metrics://app/query?promql=login",
                                "metrics://app/pool?above=0", "metrics://app/summary", "metrics://app/summary?format=text"})
    EXPECT_EQ(app.text(uri).find(password), std::string::npos) << uri;
  EXPECT_EQ(app.json("metrics://app/login").at("/series/0/labels/db_password")->to_text(), "\"**************\"");
  const auto page = app.provider().list({});
  ASSERT_TRUE(page);
  for (const auto& one : page->entries) EXPECT_EQ(one.title.find(password), std::string::npos) << one.uri;
}

TEST(metrics_masking, says_how_many_values_it_has_masked) {
  const served_metrics app(leaky());
  EXPECT_FALSE(app.read("metrics://app/login").contents.front().metadata.empty());
  EXPECT_TRUE(app.read("metrics://app/clean").contents.front().metadata.empty());
}

TEST(metrics_masking, can_be_switched_off) {
  const served_metrics app(leaky(), [](provider_options& how) { how.redact = false; });
  EXPECT_NE(app.text("metrics://app/login").find(password), std::string::npos);
  EXPECT_EQ(app.json(values_uri("login", "db_password=~\"c.*\"")).array_at("series")->size(), 1U);
  EXPECT_EQ(app.provider().traits().masking, secret_masking::none);
}

TEST(metrics_masking, lets_nobody_match_a_label_that_has_secrets_whether_the_guess_is_right_or_not) {
  const served_metrics app(leaky());
  for (const auto* const match :
       {"db_password=~\"c.*\"", "db_password=~\"x.*\"", "db_password!=\"\"", "user=\"a\",db_password!~\"c.*\""}) {
    const auto error = app.error(values_uri("login", match));
    EXPECT_EQ(error.code, errc::invalid_argument) << match;
    EXPECT_NE(error.public_text.find("label db_password"), std::string::npos) << error.public_text;
    EXPECT_EQ(error.public_text.find(password), std::string::npos);
  }
  const auto right = app.error(values_uri("pool", "dsn=~\".*:correct.*\""));
  const auto wrong = app.error(values_uri("pool", "dsn=~\".*:wrong.*\""));
  EXPECT_EQ(right.code, errc::invalid_argument);
  EXPECT_EQ(right.public_text, wrong.public_text);
}

TEST(metrics_masking, lets_labels_be_matched_that_have_none) {
  const served_metrics app(leaky());
  EXPECT_EQ(app.json(values_uri("pool", "kind=\"db\"")).array_at("series")->size(), 1U);
  EXPECT_EQ(app.json(values_uri("clean", "dsn=~\"postgres:.*\"")).array_at("series")->size(), 1U);
  EXPECT_EQ(app.json(values_uri("login", "user=\"a\"")).array_at("series")->size(), 1U);
}

TEST(metrics_masking, lets_no_expression_name_a_label_that_has_secrets) {
  const served_metrics app(leaky());
  for (const auto* const promql :
       {"login{db_password=~\"c.*\"}", "count(login{user=\"a\", db_password !~ 'c.*'})", "pool{dsn=~\".*:c.*\"}",
        "{\"db_password\"=~\"c.*\"}", "label_replace(login, \"x\", \"$1\", \"db_password\", \"(.*)\")",
        "label_join(pool, `x`, ``, `dsn`)", "label_replace(login, \"x\", \"$1\", \"db_pass\\x77ord\", \"(.*)\")"}) {
    const auto error = app.error(query_uri(promql));
    EXPECT_EQ(error.code, errc::invalid_argument) << promql << ": " << error.public_text;
    EXPECT_EQ(error.public_text.find("promql: the label d"), 0U) << error.public_text;
  }
  EXPECT_EQ(app.json(query_uri("login")).array_at("series")->size(), 1U);
}

TEST(metrics_masking, offers_nothing_that_tells_whether_a_guess_is_right) {
  const served_metrics app(leaky());
  const std::vector<std::pair<std::string, std::string>> of_pool{{"name", "pool"}}, of_login{{"name", "login"}};
  for (const auto* const typed : {"dsn=\"", "dsn=\"postgres://app:c", "dsn=\"postgres://app:x", "dsn=\"postgres://db",
                                  "dsn=~\"postgres://app:c.*\",kind=\"", "dsn=~\"postgres://app:x.*\",kind=\"", "dsn!=\"a\",k"})
    EXPECT_EQ(app.completed("match", typed, of_pool), offered{}) << typed;
  EXPECT_EQ(app.completed("match", "db_password=\"", of_login), offered{});
  EXPECT_EQ(app.completed("match", "db_password=~\"c.*\",user=\"", of_login), offered{});
  EXPECT_EQ(app.completed("match", "kind=\"d", of_pool), offered{"kind=\"db\""});
  EXPECT_EQ(app.completed("match", "user=\"", of_login), offered{"user=\"a\""});
}

TEST(metrics_masking, finds_the_labels_of_an_expression_and_not_what_only_looks_like_one) {
  const std::vector<std::pair<std::string, label_set>> all{
      {R"(rate(http_requests_total{job="password", code =~ '5..'}[5m]))", {"code", "job"}},
      {"password_resets_total > 5 and on(token) x", {}},
      {"sum by (secret) (a) # {password=\"x\"}\n + b{c!~`d`}", {"c"}},
      {"a # {\r + b{c=\"d\"}", {"c"}},
      {R"(label_replace(a, 'dst', '$1', "src", '(.*)'))", {"dst", "src"}},
      {R"({"quoted"="v",plain!="w"})", {"plain", "quoted"}},
      {R"(a{b="}", c="{"} + d{e="\"f\""})", {"b", "c", "e"}},
      {"{{{}}}}a b \"unclosed", {"unclosed"}},
      {std::string(16'000, '{'), {}}};
  for (const auto& [promql, labels] : all) {
    const auto found = extract_labels(promql);
    ASSERT_TRUE(found) << promql;
    EXPECT_EQ(*found, labels) << promql;
  }
}

TEST(metrics_masking, refuses_an_expression_that_it_cannot_read_whole) {
  const served_metrics app(leaky());
  for (const auto* const promql : {R"(a{b="\q"} + login{db_password=~"c.*"})", R"(a{b="\xff"} + login{db_password=~"c.*"})"}) {
    const auto error = app.error(query_uri(promql));
    EXPECT_EQ(error.code, errc::invalid_argument) << promql << ": " << error.public_text;
    EXPECT_TRUE(error.public_text.starts_with("promql, byte ")) << error.public_text;
  }
}

TEST(metrics_masking, finds_every_label_that_a_selector_matches_whatever_the_values_hold) {
  const std::vector<std::string> hostile{"",   "\"",   "\\",      "\\\"",         "}",        "{",      "#",
                                         "\n", "'`\"", "=~\"x\"", "\xE6\x9C\xAC", "\x01\x7f", "a\"} # "};
  for (const auto& one : hostile)
    for (const auto how : {series::matcher::match_type::equal, series::matcher::match_type::not_equal}) {
      series::selector of{"m", {*series::matcher::create("first", how, one), *series::matcher::create("second", how, one)}};
      const auto found = extract_labels("sum(" + of.to_text() + ") # end");
      ASSERT_TRUE(found) << of.to_text();
      EXPECT_EQ(*found, (label_set{"first", "second"})) << of.to_text();
    }
}

TEST(metrics_masking, looks_at_the_values_of_a_label_once_a_minute) {
  manual_clock clock;
  const auto of = leaky();
  secret_labels all(of);
  EXPECT_TRUE(*all.has_secrets("pool", "dsn", {}));
  EXPECT_FALSE(*all.has_secrets("pool", "kind", {}));
  of->add("pool", {{"kind", url_with_one}}, noon, 1);
  EXPECT_FALSE(*all.has_secrets("pool", "kind", {}));
  EXPECT_TRUE(*secret_labels(of).has_secrets("pool", "kind", {}));
  clock.advance(std::chrono::minutes(1));
  EXPECT_TRUE(*all.has_secrets("pool", "kind", {}));
}

}  // namespace hondana::metrics
