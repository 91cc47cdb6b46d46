/// What is said to people whom a server does not let in.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/process.hpp"
#include "program/protected_server.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::not_known;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::served;
using program_test::within;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A shelf behind tokens of a file.
class shelf_with_tokens : public folder {
 public:
  shelf_with_tokens() { put("shelf/a.txt", "hello"); }
  /// In a file that nobody else reads.
  [[nodiscard]] std::string token(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line{"token", "new", "laptop", "--file", path("tokens")};
    line.insert(line.end(), more.begin(), more.end());
    put("token", run(line).output);
    std::filesystem::permissions(path("token"), std::filesystem::perms(0600));
    return path("token");
  }
};

TEST(program_refused, nobody_is_sent_to_log_in_where_there_is_nobody_to_log_in_at) {
  const shelf_with_tokens where;
  static_cast<void>(where.token());
  const served shelf({"--tokens", where.path("tokens"), where.path("shelf")});
  const auto listed = run({"ls", "--on", shelf.url()});
  EXPECT_EQ(listed.how, not_known);
  EXPECT_TRUE(has(listed.errors, "names no authorization server to log in at")) << listed.errors;
  EXPECT_TRUE(has(listed.errors, "the server says: ")) << listed.errors;
  EXPECT_TRUE(has(listed.errors, "--token-file FILE")) << listed.errors;
  EXPECT_FALSE(has(listed.errors, "hondana login")) << listed.errors;
  const auto login = run({"login", "--no-browser", "--on", shelf.url()});
  EXPECT_EQ(login.how, not_known);
  EXPECT_TRUE(has(login.errors, "ask its operator for a token")) << login.errors;
}

TEST(program_refused, a_token_that_is_not_taken_is_told_with_the_reason) {
  const shelf_with_tokens where;
  static_cast<void>(where.token());
  const served shelf({"--tokens", where.path("tokens"), where.path("shelf")});
  const auto listed = run({"ls", "--on", shelf.url(), "--header", "Authorization: Bearer hondana_guessed"});
  EXPECT_EQ(listed.how, not_known);
  EXPECT_TRUE(has(listed.errors, "token")) << listed.errors;
  EXPECT_FALSE(has(listed.errors, "If you have a token")) << listed.errors;
  EXPECT_FALSE(has(listed.errors, "hondana_guessed")) << listed.errors;
}

TEST(program_refused, whoever_runs_the_server_reads_who_was_refused_and_why) {
  const shelf_with_tokens where;
  const auto token = where.token();
  where.put("config.toml",
            "[auth]\ntokens = \"tokens\"\n[[auth.rule]]\nmethods = [\"resources/read\"]\nscopes = [\"more\"]\n"
            "[[source]]\ntype = \"files\"\npath = \"shelf\"\n");
  served shelf({"--config", where.path("config.toml")});
  const auto logged = [&shelf](const std::string& words) {
    return shelf.program().error_line_with(words, within(patience)).has_value();
  };
  EXPECT_EQ(run({"ls", "--on", shelf.url(), "--header", "Authorization: Bearer hondana_guessed"}).how, not_known);
  EXPECT_TRUE(logged("refused 127.0.0.1 with 401: ")) << shelf.program().errors();
  const auto too_little = run({"read", where.uri("shelf/a.txt"), "--on", shelf.url(), "--token-file", token});
  EXPECT_EQ(too_little.how, not_known);
  EXPECT_FALSE(has(too_little.errors, "If you have a token")) << too_little.errors;
  EXPECT_TRUE(logged("refused 127.0.0.1 (token:laptop) with 403: the token lacks some of the scopes more"))
      << shelf.program().errors();
  program_test::http_client stranger(shelf.port());
  stranger.send("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_TRUE(logged("with 403: the Host \"evil.example\" is not a name of this server (--host)")) << shelf.program().errors();
  EXPECT_FALSE(has(shelf.program().errors(), "hondana_guessed"));
}

TEST(program_refused, whoever_serves_tokens_by_a_network_in_the_clear_is_warned) {
  const shelf_with_tokens where;
  static_cast<void>(where.token());
  served open({"--address", "0.0.0.0", "--host", "shelf.example", "--tokens", where.path("tokens"), where.path("shelf")});
  EXPECT_TRUE(has(open.program().errors(), "tokens are sent unencrypted")) << open.program().errors();
  const auto tls = run({"serve", "--port", "0", "--address", "0.0.0.0", "--host", "shelf.example", where.path("shelf")});
  EXPECT_TRUE(has(tls.errors, "--tokens FILE")) << tls.errors;
  EXPECT_FALSE(has(tls.errors, "http_options")) << tls.errors;
  served here({"--tokens", where.path("tokens"), where.path("shelf")});
  EXPECT_FALSE(has(here.program().errors(), "tokens are sent unencrypted")) << here.program().errors();
}

TEST(program_refused, a_unix_socket_that_is_not_there_is_told_as_that) {
  const folder where;
  const auto listed = run({"ls", "--on", "unix:" + where.path("none")});
  EXPECT_EQ(listed.how, (departure{4, 0}));
  EXPECT_TRUE(has(listed.errors, "cannot reach the Unix socket " + where.path("none") + ": No such file or directory"))
      << listed.errors;
  EXPECT_FALSE(has(listed.errors, "localhost")) << listed.errors;
}

TEST(program_refused, a_watch_whose_token_has_come_to_its_end_ends_with_the_reason) {
  const shelf_with_tokens where;
  static_cast<void>(where.token());
  const served shelf({"--tokens", where.path("tokens"), where.path("shelf")});
  std::unique_ptr<process> watching;
  // It has to watch before the token expires; on a slow machine that gets more time.
  for (int lifetime = 2; !watching || !watching->error_line_with("watching", within(patience)); lifetime *= 2) {
    ASSERT_LE(lifetime, 128) << watching->errors();
    const auto token = where.token({"--expires", std::to_string(lifetime) + "s"});
    watching =
        std::make_unique<process>(std::vector<std::string>{"watch", "--json", "--token-file", token, "--on", shelf.url()});
  }
  EXPECT_EQ(watching->leaves(within(patience)), not_known) << watching->errors();
  EXPECT_TRUE(has(watching->read_to_end(within(patience)).value_or("none"), R"({"change":"accessDenied")"));
  EXPECT_TRUE(has(watching->errors(), "expired")) << watching->errors();
}

}  // namespace
