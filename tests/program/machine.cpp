/// Configuration, environment and logs of a machine, served by the real program in its sandbox.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::read_request;
using program_test::run;
using program_test::served;
using program_test::well;

bool says(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A server of one secret in a variable, a file, a log and a file of variables.
struct machine {
  explicit machine(std::string secret) : token(std::move(secret)) {
    ::setenv("PROGRAM_TEST_TOKEN", token.c_str(), 1);
    ::setenv("PROGRAM_TEST_PLACE", "Tokyo", 1);
    in.put("shop/defaults.yaml", "server:\n  host: localhost\n  port: 8080\n");
    in.put("shop/site.yaml", "server:\n  port: 9443\nservices:\n  - name: one\n    note: see " + token + " there\n");
    in.put("prod.env", "PROGRAM_TEST_TOKEN=\"" + token + "\"\nREGION=eu\n");
    in.put("log/app.log", "2026-01-02T00:00:01Z INFO started\n2026-01-02T00:00:02Z ERROR refused " + token + "\n");
    in.put("hondana.toml",
           "[[source]]\ntype = \"config\"\nname = \"shop\"\npath = \"shop\"\n"
           "[[source.layer]]\nname = \"defaults\"\nfile = \"shop/defaults.yaml\"\n"
           "[[source.layer]]\nname = \"site\"\nfile = \"shop/site.yaml\"\n"
           "[[source]]\ntype = \"env\"\nallow = [\"PROGRAM_TEST_*\"]\n"
           "[[source]]\ntype = \"env\"\nallow = [\"*\"]\nfile = \"prod.env\"\n"
           "[[source]]\ntype = \"log\"\nname = \"app\"\npath = \"log/app.log\"\n");
  }
  ~machine() {
    ::unsetenv("PROGRAM_TEST_TOKEN");
    ::unsetenv("PROGRAM_TEST_PLACE");
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  /// A program in place of a file writes another and renames it.
  void replace(std::string_view name, std::string_view content) const {
    in.put(std::string(name) + ".new", content);
    std::filesystem::rename(in.path(std::string(name) + ".new"), in.path(name));
  }
  /// Whether eight bytes of the secret that are no mark of its kind stand in what was said.
  [[nodiscard]] bool is_in(std::string_view said) const {
    for (std::size_t at = 4; at + 8 <= token.size(); ++at) {
      if (says(said, std::string_view(token).substr(at, 8))) return true;
    }
    return false;
  }

  folder in;
  std::string token;
};

std::string told_by(http_client& by, const std::string& uri) {
  return boost::json::serialize(message(by.post(read_request(1, uri), "resources/read", uri)));
}

/// Drawn, so that the tree holds none.
std::string drawn_token() {
  hondana::test::lots from(20261124);
  return "xoxb-" + from.digits(12) + '-' + from.digits(12) + '-' + from.alnum(24);
}

TEST(program_machine, serves_configuration_environment_and_logs) {
  const machine made(drawn_token());
  served server({"--config", made.in.path("hondana.toml"), "--sandbox", "auto"});
  http_client peer(server.port());
  const auto merged = told_by(peer, "config://shop/merged?key=server.port");
  EXPECT_TRUE(says(merged, "9443") && says(merged, "site.yaml") && says(merged, "defaults.yaml")) << merged;
  EXPECT_TRUE(says(told_by(peer, "env:///PROGRAM_TEST_PLACE"), R"("text":"Tokyo")"));
  EXPECT_TRUE(says(told_by(peer, "env://prod/REGION"), R"("text":"eu")"));
  const auto errors = told_by(peer, "log://app/?level=error");
  EXPECT_TRUE(says(errors, "ERROR refused") && !says(errors, "INFO started")) << errors;
  EXPECT_TRUE(says(told_by(peer, "log://app/summary"), "2 records"));
}

TEST(program_machine, lets_a_secret_out_by_no_source_command_or_log) {
  const machine made(drawn_token());
  served server({"--config", made.in.path("hondana.toml")});
  std::vector<std::string> said;
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--on", server.url()});
    auto got = run(std::move(words));
    said.push_back(got.output + got.errors);
    return got;
  };
  const auto listed = ask({"ls"});
  EXPECT_EQ(listed.how, well) << listed.errors;
  std::size_t read = 0;
  for (std::size_t at = 0; at < listed.output.size();) {
    const auto end = listed.output.find('\n', at);
    const auto line = listed.output.substr(at, end - at);
    if (ask({"read", line.substr(0, line.find(' '))}).how == well) ++read;
    at = end == std::string::npos ? listed.output.size() : end + 1;
  }
  EXPECT_GE(read, 8u) << listed.output;
  for (const std::string uri :
       {"config://shop/file/site.yaml?format=json", "config://shop/file/site.yaml?key=services.0.note", "config://shop/merged",
        "config://shop/layers/site", "config://shop/diff/defaults..site", "env:///", "env://prod/", "log://app/?format=json",
        "log://app/?level=error", "log://app/summary?format=json", "env:///PROGRAM_TEST_TOKEN",
        "env://prod/PROGRAM_TEST_TOKEN"}) {
    EXPECT_EQ(ask({"read", uri}).how, well) << uri << ' ' << said.back();
    EXPECT_TRUE(says(said.back(), "****")) << uri << ' ' << said.back().size();
  }
  // Nor is it an answer whether it is there.
  const auto hit = ask({"read", "log://app/?grep=" + made.token.substr(20, 12)});
  const auto miss = ask({"read", "log://app/?grep=abcdefghijkl"});
  EXPECT_EQ(hit.output, miss.output);
  said.push_back(run({"check", "--config", made.in.path("hondana.toml")}).output);
  // Half of a file: what stands in its broken line shows nowhere.
  made.replace("shop/site.yaml", "server: {port: 1\nnote: " + made.token + "\n");
  made.replace("prod.env", "PROGRAM_TEST_TOKEN=\"" + made.token + "\nREGION=eu\n");
  for (const std::string uri : {"config://shop/file/site.yaml", "config://shop/merged", "env://prod/", "env://prod/REGION"}) {
    EXPECT_EQ(ask({"read", uri}).how, well) << uri << ' ' << said.back();
  }
  EXPECT_TRUE(server.stop(SIGTERM));
  said.push_back(server.program().errors());
  for (const auto& text : said) EXPECT_FALSE(made.is_in(text)) << text.substr(0, 400);
}

TEST(program_machine, reads_what_takes_the_place_of_files_within_the_sandbox) {
  const machine made(drawn_token());
  served server({"--config", made.in.path("hondana.toml")});
  http_client peer(server.port());
  EXPECT_TRUE(says(told_by(peer, "config://shop/merged?key=server.port"), "9443"));
  made.replace("shop/site.yaml", "server:\n  port: 7\n");
  EXPECT_TRUE(says(told_by(peer, "config://shop/merged?key=server.port"), R"(\"value\":7)"));
  made.replace("prod.env", "REGION=jp\n");
  EXPECT_TRUE(says(told_by(peer, "env://prod/REGION"), R"("text":"jp")"));
  std::filesystem::rename(made.in.path("log/app.log"), made.in.path("log/app.log.1"));
  made.in.put("log/app.log", "2026-01-02T00:00:03Z INFO begun anew\n");
  const auto page = told_by(peer, "log://app/");
  EXPECT_TRUE(says(page, "started") && says(page, "begun anew")) << page;
}

}  // namespace
