/// A source of metrics in the real program: what it measures and keeps, what it says of its configuration, whom it never asks,
/// and what it never tells.
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/answering_service.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::answering_service;
using program_test::asked;
using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::misused;
using program_test::page;
using program_test::patience;
using program_test::read_request;
using program_test::request;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

/// In the text of a read, which is JSON in JSON.
constexpr std::string_view up_and_scraped = R"(\"up\":true,\"lastScrape\")";

constexpr std::string_view host_alone = "[[source]]\ntype = \"metrics\"\n";

std::string source(std::string_view name, std::string_view more) {
  return "[[source]]\ntype = \"metrics\"\nname = \"" + std::string(name) + "\"\ninterval = \"1s\"\n" + std::string(more) + "\n";
}
std::string scrape(std::string_view url, std::string_view more = {}) {
  return "[[source.scrape]]\njob = \"made\"\nurl = \"" + std::string(url) + "\"\n" + std::string(more) + "\n";
}

/// A served folder with its configuration, whose stores are in it.
struct configured : folder {
  explicit configured(std::string_view text) { put("hondana.toml", text); }
  [[nodiscard]] std::vector<std::string> options() const { return {"--config", path("hondana.toml")}; }
};

/// The one item of a read; the whole answer when it is an error.
boost::json::object content_of(http_client& by, const std::string& uri) {
  const auto answer = message(by.post(read_request(1, uri), "resources/read", uri));
  return answer.at("result").at("contents").at(0).as_object();
}

std::string text_of(http_client& by, const std::string& uri) { return content_of(by, uri).at("text").as_string().c_str(); }

/// What a read says, content or error.
std::string said_of(std::uint16_t port, const std::string& uri) {
  http_client by(port);
  try {
    return by.post(read_request(1, uri), "resources/read", uri);
  } catch (const std::exception& refused) {
    return refused.what();
  }
}

/// Waits until a read says this; what it said last.
std::string comes_to_say(std::uint16_t port, const std::string& uri, std::string_view text) {
  std::string said;
  static_cast<void>(hondana_test::eventually([&] {
    said = said_of(port, uri);
    return said.find(text) != std::string::npos;
  }));
  return said;
}

std::string in_order(const boost::json::value& of) { return boost::json::serialize(of); }

TEST(program_metrics, of_this_machine_are_there_with_pictures_under_the_sandbox) {
  const configured what(source("own", "host = true\nprocess = true\nstore = \"kept/own.db\""));
  served server(what.options());
  comes_to_say(server.port(), "metrics://own/targets", up_and_scraped);
  http_client by(server.port());
  for (const std::string name :
       {"node_memory_MemAvailable_bytes", "node_load1", "node_filesystem_avail_bytes", "hondana_build_info", "up"}) {
    const auto answer = boost::json::parse(text_of(by, "metrics://own/" + name + "?start=-10m&step=1s&agg=raw"));
    EXPECT_FALSE(answer.at("series").as_array().empty()) << name << in_order(answer);
  }
  const auto drawn = text_of(by, "metrics://own/node_load1?start=-10m&format=svg");
  EXPECT_TRUE(drawn.find("<svg") != std::string::npos && drawn.ends_with("</svg>\n")) << drawn.substr(0, 200);
  const auto picture = content_of(by, "metrics://own/node_load1?start=-10m&format=png&width=600&height=300");
  EXPECT_TRUE(picture.at("blob").as_string().starts_with("iVBORw0KGgo")) << in_order(picture).substr(0, 300);
  EXPECT_GT(picture.at("blob").as_string().size(), 4'000u);
  EXPECT_TRUE(std::filesystem::exists(what.path("kept/own.db")));
  struct stat facts{};
  ASSERT_EQ(::stat(what.path("kept/own.db").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0077U, 0u) << "others can read it";
  EXPECT_EQ(server.stop(SIGTERM), well) << server.program().errors();
}

TEST(program_metrics, stay_when_the_program_is_killed) {
  std::atomic<int> step{1};
  std::atomic<bool> is_well{true};
  answering_service exporter([&](const asked&) {
    if (!is_well) return page("", "503 Service Unavailable");
    return page("# TYPE steps_total counter\nsteps_total " + std::to_string(step) + "\n");
  });
  const configured what(source("kept", "store = \"kept/kept.db\"") + scrape(exporter.url()));
  std::string before, span;
  {
    served server(what.options());
    comes_to_say(server.port(), "metrics://kept/steps_total?agg=raw&step=1s", ",1]");
    step = 2;
    comes_to_say(server.port(), "metrics://kept/steps_total?agg=raw&step=1s", ",2]");
    http_client by(server.port());
    const auto first = boost::json::parse(text_of(by, "metrics://kept/steps_total?agg=raw&start=-10m&step=1s"));
    span = "&start=" + std::string(first.at("start").as_string().c_str()) + "&end=" + first.at("end").as_string().c_str();
    before = in_order(first.at("series"));
    EXPECT_TRUE(server.stop(SIGKILL));
  }
  is_well = false;
  served server(what.options());
  EXPECT_TRUE(exporter.is_asked_again(1));
  http_client by(server.port());
  const auto again = boost::json::parse(text_of(by, "metrics://kept/steps_total?agg=raw&step=1s" + span));
  EXPECT_EQ(in_order(again.at("series")), before);
  EXPECT_NE(before.find(",2]"), std::string::npos) << before;
  const auto down = comes_to_say(server.port(), "metrics://kept/targets", "503");
  EXPECT_NE(down.find("503"), std::string::npos) << down;
}

TEST(program_metrics, go_on_through_a_reload_with_what_was_kept) {
  std::atomic<int> step{1};
  answering_service exporter([&](const asked&) { return page("# TYPE steps gauge\nsteps " + std::to_string(step) + "\n"); });
  const configured what(source("kept", "store = \"kept/kept.db\"") + scrape(exporter.url()));
  served server(what.options());
  comes_to_say(server.port(), "metrics://kept/steps?step=1s", ",1]");
  // Points stand at whole seconds: one of them lies between two scrapes.
  EXPECT_TRUE(exporter.is_asked_again(2));
  what.put("hondana.toml", source("kept", "store = \"kept/kept.db\"\nretention = \"2d\"") + scrape(exporter.url()) +
                               source("other", "process = true\nstore = \":memory:\""));
  server.program().signal(SIGHUP);
  ASSERT_TRUE(server.program().error_line_with("reloaded the configuration", within(patience))) << server.program().errors();
  step = 2;
  const auto said = comes_to_say(server.port(), "metrics://kept/steps?step=1s", ",2]");
  EXPECT_NE(said.find(",2]"), std::string::npos) << said;
  EXPECT_NE(said.find(",1]"), std::string::npos) << said;
  EXPECT_NE(comes_to_say(server.port(), "metrics://other/hondana_build_info", "contents").find("contents"), std::string::npos);
  EXPECT_EQ(server.program().errors().find("cannot keep"), std::string::npos) << server.program().errors();
  what.put("hondana.toml", source("kept", "store = \"kept/kept.db\"\ninterval = \"0s\"") + scrape(exporter.url()));
  server.program().signal(SIGHUP);
  ASSERT_TRUE(server.program().error_line_with("kept the old configuration", within(patience)));
  EXPECT_TRUE(exporter.is_asked_again(1));
}

TEST(program_metrics, that_others_keep_in_the_same_store_are_left_alone) {
  const configured what(source("kept", "host = true\nstore = \"kept/kept.db\""));
  served first(what.options());
  comes_to_say(first.port(), "metrics://kept/targets", up_and_scraped);
  served second(what.options());
  const auto said = said_of(second.port(), "metrics://kept/node_load1");
  EXPECT_NE(said.find("error"), std::string::npos) << said;
  EXPECT_EQ(said.find(what.path()), std::string::npos) << "tells peers the path: " << said;
  EXPECT_NE(said_of(first.port(), "metrics://kept/node_load1").find("contents"), std::string::npos);
  const auto checked = run({"check", "--config", what.path("hondana.toml")});
  EXPECT_EQ(checked.how, well) << checked.errors;
  EXPECT_NE(checked.output.find("  - metrics kept  (its metrics are not listed: another process, such as a running "
                                "server, has opened the store)\n"),
            std::string::npos)
      << checked.output;
}

TEST(program_metrics, of_a_prometheus_without_its_token_are_said_to_be_missing_by_check) {
  const configured what(
      "[[source]]\ntype = \"metrics\"\nname = \"team\"\nprometheus = \"http://127.0.0.1:9\"\nbearer_file = "
      "\"no-token\"\n");
  const auto checked = run({"check", "--config", what.path("hondana.toml")});
  EXPECT_EQ(checked.how, well) << checked.errors;
  const auto line = checked.output.find("  - metrics team  (its metrics are not listed: ");
  ASSERT_NE(line, std::string::npos) << checked.output;
  EXPECT_NE(checked.output.find("bearer_file", line), std::string::npos) << checked.output;
}

TEST(program_metrics, are_in_what_check_and_schemes_say) {
  const configured what(source("own", "host = true\nstore = \"kept/own.db\"") + scrape("http://127.0.0.1:9/metrics") +
                        "[[source]]\ntype = \"metrics\"\nname = \"team\"\nprometheus = \"http://127.0.0.1:9/base\"\n");
  auto arguments = what.options();
  arguments.insert(arguments.begin(), "check");
  const auto checked = run(arguments);
  EXPECT_EQ(checked.how, well) << checked.errors;
  for (const auto& part : {std::string("metrics own  metrics://own/"), std::string("metrics team  metrics://team/"),
                           "to write " + what.path("kept"), std::string("127.0.0.1:9")})
    EXPECT_NE(checked.output.find(part), std::string::npos) << part << " is not in\n" << checked.output;
  EXPECT_NE(checked.output.find("  - metrics team  (its metrics are not listed: "), std::string::npos) << checked.output;
  const auto schemes = run({"schemes"});
  EXPECT_EQ(schemes.how, well);
  EXPECT_NE(schemes.output.find("metrics://NAME/{name}"), std::string::npos) << schemes.output;
}

struct mistake {
  std::string text;
  std::string_view said;  ///< With the line and the key.
};

TEST(program_metrics, configured_wrongly_are_refused_by_file_line_and_key) {
  const std::string head(host_alone);
  const std::vector<mistake> all{
      {head + "name = \"Own\"\n", ":3: source.name"},
      {head + "interval = \"0s\"\n", ":3: source.interval"},
      {head + "intervall = \"1s\"\n", ":3: source.intervall"},
      {head + "host = false\n", ":3: source.host"},
      {head + "retention = \"5 parsecs\"\n", ":3: source.retention"},
      {head + "max_store_bytes = \"1KiB\"\n", ":3: source.max_store_bytes"},
      {head + "store = \"x/\"\n", ":3: source.store"},
      {head + "store = \"x.db\"\nquery = false\n", ":4: source.query"},
      {head + "prometheus = \"127.0.0.1:9090\"\n", ":3: source.prometheus"},
      {head + "prometheus = \"http://127.0.0.1:9090\"\nstore = \"x.db\"\n", ":4: source.store"},
      {head + "prometheus = \"http://127.0.0.1:9090\"\nuser = \"me\"\n", ":1: source.password_file"},
      {head + "prometheus = \"http://192.0.2.1:9090\"\nbearer_file = \"t\"\n", ":3: source.prometheus"},
      {head + "[[source.scrape]]\nurl = \"http://127.0.0.1:9100\"\n", "job"},
      {head + "[[source.scrape]]\njob = \"a\"\n", "url"},
      {head + scrape("http://127.0.0.1:1/") + scrape("http://127.0.0.1:1/"), ":9: source.scrape.url"},
      {head + scrape("http://127.0.0.1:1/") + scrape("http://127.0.0.1:2/", "timeout = \"1m\"\n"),
       ":10: source.scrape.timeout"},
      {head + scrape("http://127.0.0.1:1/") + scrape("http://127.0.0.1:1/x", "sample_limit = 0\n"),
       ":10: source.scrape.sample_limit"},
      {head + scrape("http://127.0.0.1:1/") + scrape("http://0x7f000001/"), ":9: source.scrape.url"},
      {head + scrape("http://me:drowssap@127.0.0.1:1/"), ":5: source.scrape.url"},
  };
  for (const auto& one : all) {
    const configured what(one.text);
    auto arguments = what.options();
    arguments.insert(arguments.begin(), "check");
    const auto got = run(arguments);
    EXPECT_EQ(got.how, misused) << one.text << got.output << got.errors;
    const auto whole = what.path("hondana.toml") + std::string(one.said.starts_with(':') ? one.said : "");
    EXPECT_NE(got.errors.find(whole), std::string::npos) << one.text << whole << "\nis not in\n" << got.errors;
    EXPECT_NE(got.errors.find(one.said), std::string::npos) << one.text << got.errors;
    EXPECT_EQ(got.errors.find("drowssap"), std::string::npos) << "shows a password: " << got.errors;
  }
}

TEST(program_metrics, are_never_asked_of_where_clouds_keep_secrets_however_that_is_spelled) {
  for (const std::string host : {"169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "0xa9fea9fe", "0251.0376.0251.0376",
                                 "2852039166", "169.254.43518", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]",
                                 "user:pw@169.254.169.254", "[fe80::1]:x", "%31%36%39.254.169.254"}) {
    const auto url = "http://" + host + "/latest/meta-data";
    for (const auto& text : {source("s", "store = \":memory:\"") + scrape(url), source("s", "prometheus = \"" + url + "\"")}) {
      const configured what(text);
      auto arguments = what.options();
      arguments.insert(arguments.begin(), "check");
      const auto got = run(arguments);
      if (got.how == misused) {
        EXPECT_NE(got.errors.find("hondana.toml:"), std::string::npos) << got.errors;
        EXPECT_EQ(got.errors.find("pw@"), std::string::npos) << got.errors;
        continue;
      }
      // Then it must be refused when it is asked.
      served server(what.options());
      const bool is_kept = text.find("scrape") != std::string::npos;
      const auto said =
          is_kept ? comes_to_say(server.port(), "metrics://s/targets", "never call") : said_of(server.port(), "metrics://s/up");
      EXPECT_NE(said.find("never call"), std::string::npos) << url << ": " << said;
    }
  }
}

TEST(program_metrics, are_not_taken_from_where_a_redirect_leads) {
  answering_service elsewhere([](const asked&) { return page("stolen 1\n"); });
  answering_service service(
      [&](const asked& what) { return page("", "302 Found", "Location: " + elsewhere.url(what.target) + "\r\n"); });
  const configured what(source("kept", "store = \":memory:\"") + scrape(service.url()) +
                        source("team", "prometheus = \"" + service.url("") + "\""));
  served server(what.options());
  const auto kept = comes_to_say(server.port(), "metrics://kept/targets", "redirects to another scheme, host or port");
  EXPECT_NE(kept.find("redirects to another scheme, host or port"), std::string::npos) << kept;
  const auto team = said_of(server.port(), "metrics://team/up");
  // A question that is POSTed is not sent on at all.
  EXPECT_TRUE(team.find("redirects") != std::string::npos || team.find("302") != std::string::npos) << team;
  EXPECT_EQ(elsewhere.count(), 0u);
}

std::string drawn_secret(std::string_view front) {
  std::random_device from;
  std::string out(front);
  constexpr std::string_view letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
  for (int i = 0; i < 36; ++i) out += letters[from() % letters.size()];
  return out;
}

TEST(program_metrics, tell_nobody_a_secret_by_label_file_or_url) {
  const auto label = drawn_secret("ghp_"), password = drawn_secret("pw"), bearer = drawn_secret("tok"),
             plain = drawn_secret("s");
  std::atomic<bool> is_well{true};
  const auto exposed = "# HELP leaky_value Told by https://me:" + password + "@db.example/x.\n# TYPE leaky_value gauge\n" +
                       "leaky_value{session=\"" + label + "\",dsn=\"postgres://me:" + password + "@db/x\",api_token=\"" +
                       plain + "\",kind=\"a\"} 1\n";
  answering_service exporter([&](const asked& what) {
    if (what.target.starts_with("/echo")) return page("broken{ " + what.head + what.body, "200 OK");
    return is_well ? page(exposed) : page(what.head + what.body, "500 " + bearer);
  });
  configured what(source("kept", "store = \"kept/kept.db\"") +
                  scrape(exporter.url("/metrics?key=" + plain), "bearer_file = \"bearer\"\n") +
                  "[[source.scrape]]\njob = \"echo\"\nurl = \"" + exporter.url("/echo") + "\"\nbearer_file = \"bearer\"\n" +
                  source("team", "bearer_file = \"bearer\"\nprometheus = \"" + exporter.url("/echo?key=" + plain) + "\""));
  what.put("bearer", bearer + "\n");
  ASSERT_EQ(::chmod(what.path("bearer").c_str(), 0600), 0);
  served server(what.options());
  comes_to_say(server.port(), "metrics://kept/leaky_value", R"(\"points\":[[)");
  http_client by(server.port());
  std::string all;
  const auto ask = [&](std::string_view method, std::string_view params = {}) {
    all += by.post(request(1, method, params), method) + '\n';
  };
  const auto read_all = [&] {
    for (const std::string uri :
         {"kept/", "kept/leaky_value", "kept/leaky_value?format=csv", "kept/leaky_value?format=openmetrics",
          "kept/leaky_value?format=svg", "kept/leaky_value?above=0", "kept/leaky_value?agg=sum%20by%20%28dsn%29",
          "kept/targets", "kept/summary", "kept/summary?format=text", "kept/leaky?format=csv", "team/", "team/up",
          "team/targets", "team/alerts", "team/summary?format=text", "team/query?promql=up"})
      all += said_of(server.port(), "metrics://" + uri) + '\n';
    // Nor may it be found out letter by letter: right or wrong, there is nothing.
    for (const auto& guess : {"dsn=~%22postgres.*" + password.substr(0, 6) + ".*%22", std::string("dsn=~%22mysql.*%22"),
                              std::string("api_token=~%22s.*%22")}) {
      const auto said = said_of(server.port(), "metrics://kept/leaky_value?match=" + guess);
      EXPECT_EQ(said.find("contents"), std::string::npos) << said;
    }
  };
  const auto complete = [&](std::string_view value) {
    ask("completion/complete",
        R"("ref":{"type":"ref/resource","uri":"metrics://kept/{name}{?match,start,end,step,agg,format,above,below,absent,for,width,height}"},)"
        R"("argument":{"name":"match","value":")" +
            std::string(value) + R"("},"context":{"arguments":{"name":"leaky_value"}},)");
  };
  ask("resources/list");
  for (const std::string_view value : {"", "session=\\\"", "dsn=\\\"", "api_token=\\\"", "session=\\\"ghp_"}) complete(value);
  read_all();
  is_well = false;
  comes_to_say(server.port(), "metrics://kept/targets", "500");
  read_all();
  all += by.get("/healthz") + by.get("/metrics");
  EXPECT_EQ(server.stop(SIGTERM), well);
  all += server.program().errors();
  for (const auto& one : {label, password, bearer, plain})
    EXPECT_EQ(all.find(one), std::string::npos) << all.substr(all.find(one) - std::min<std::size_t>(all.find(one), 400), 600);
  EXPECT_NE(all.find("leaky_value"), std::string::npos);
  EXPECT_NE(exporter.requests(1).at(0).head.find("Bearer " + bearer), std::string::npos);
}

TEST(program_metrics, with_a_secret_that_is_exchanged_by_renaming_go_on_under_the_sandbox) {
  std::atomic<bool> wants_second{false};
  answering_service service([&](const asked& what) {
    const bool is_good = what.head.find(wants_second ? "Bearer second\r\n" : "Bearer first\r\n") != std::string::npos;
    if (!is_good) return page("", "401 Unauthorized");
    if (what.target == "/metrics") return page("x 1\n");
    return page(R"({"status":"success","data":{"activeTargets":[],"groups":[]}})", "200 OK",
                "Content-Type: application/json\r\n");
  });
  configured what(source("kept", "store = \":memory:\"") + scrape(service.url(), "bearer_file = \"secrets/token\"\n") +
                  source("team", "bearer_file = \"secrets/token\"\nprometheus = \"" + service.url("") + "\""));
  const auto put = [&](std::string_view token) {
    what.put("secrets/new", token);
    ASSERT_EQ(::chmod(what.path("secrets/new").c_str(), 0600), 0);
    std::filesystem::rename(what.path("secrets/new"), what.path("secrets/token"));
  };
  put("first\n");
  served server(what.options());
  EXPECT_NE(comes_to_say(server.port(), "metrics://kept/targets", "up\\\":true").find("up\\\":true"), std::string::npos);
  EXPECT_NE(said_of(server.port(), "metrics://team/rules").find("contents"), std::string::npos);
  wants_second = true;
  put("second\n");
  EXPECT_TRUE(service.is_asked_again(2));
  const auto kept = comes_to_say(server.port(), "metrics://kept/targets", "up\\\":true");
  EXPECT_NE(kept.find("up\\\":true"), std::string::npos) << kept;
  const auto team = said_of(server.port(), "metrics://team/rules");
  EXPECT_NE(team.find("contents"), std::string::npos) << team << server.program().errors();
}

}  // namespace
