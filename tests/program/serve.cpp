/// `hondana serve`: where it listens, how it is told to reload and to stop, and what it refuses.
#include <signal.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::patience;
using program_test::process;
using program_test::request;
using program_test::well;
using program_test::within;
using std::chrono::seconds;

/// Waits for the greeting; throws when none comes.
std::uint16_t port_of(process& program) {
  constexpr std::string_view before = "http://127.0.0.1:";
  const auto line = program.error_line_with("/mcp:", within(patience));
  const auto at = line ? line->find(before) : std::string::npos;
  if (at == std::string::npos) throw std::runtime_error("no greeting: " + program.errors());
  std::uint16_t port = 0;
  std::from_chars(line->data() + at + before.size(), line->data() + line->size(), port);
  return port;
}

struct running : process {
  explicit running(std::vector<std::string> arguments) : process(with_port(std::move(arguments))), port(port_of(*this)) {}
  std::uint16_t port;

 private:
  static std::vector<std::string> with_port(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"serve", "--port", "0"});
    return arguments;
  }
};

/// The names of all resources.
std::set<std::string> names(http_client& by) {
  std::set<std::string> all;
  const auto answer = message(by.post(request(1, "resources/list"), "resources/list"));
  for (const auto& one : answer.at("result").at("resources").as_array()) all.emplace(one.at("name").as_string());
  return all;
}

/// Two folders and a configuration that serves the first.
struct shelves : folder {
  shelves() {
    put("one/first.txt", "1");
    put("two/second.txt", "2");
    configure({"one"});
  }
  void configure(const std::vector<std::string>& folders, std::string_view more = {}) const {
    std::string text;
    for (const auto& one : folders) text += "[[source]]\ntype = \"files\"\npath = \"" + path(one) + "\"\n";
    // Sources that come later lie beside the first.
    put("hondana.toml", text + std::string(more) + "[sandbox]\nfolders = [\".\"]\n");
  }
};

TEST(program_serve, says_where_it_listens_and_answers_there) {
  const folder what;
  what.put("a.txt", "hello");
  running program({what.path()});
  EXPECT_NE(program.port, 0);
  http_client peer(program.port);
  EXPECT_TRUE(names(peer).contains("a.txt"));
  EXPECT_TRUE(program.error_line_with("Stop with Ctrl-C", within(patience))) << program.errors();
}

TEST(program_serve, leaves_well_when_told_to_stop) {
  const folder what;
  for (const int number : {SIGTERM, SIGINT}) {
    running program({what.path()});
    const http_client idle(program.port);
    program.signal(number);
    EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
    EXPECT_EQ(program.read_to_end(within(patience)), "");
    EXPECT_THROW(http_client(program.port), std::runtime_error);
  }
}

TEST(program_serve, answers_the_request_under_way_before_it_stops) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("h.toml", "[http]\ndrain_timeout_ms = 3600000\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  running program({"--config", what.path("h.toml")});
  http_client peer(program.port);
  EXPECT_TRUE(names(peer).contains("a.txt"));
  const auto uri = what.uri("a.txt");
  const auto asked = program_test::read_request(2, uri);
  peer.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: " +
      uri + "\r\nContent-Length: " + std::to_string(asked.size()) + "\r\n\r\n" + asked.substr(0, 10));
  program.signal(SIGTERM);
  ASSERT_TRUE(program.error_line_with("stopping", within(patience)));
  peer.send(asked.substr(10));
  const auto answer = peer.receive();
  EXPECT_NE(answer.find("\"text\":\"hello\""), std::string::npos) << answer;
  EXPECT_EQ(program.leaves(within(patience)), well) << program.errors();
}

TEST(program_serve, refuses_a_port_in_use) {
  const folder what;
  running first({what.path()});
  process second({"serve", "--port", std::to_string(first.port), what.path()});
  EXPECT_EQ(second.leaves(within(patience)), (departure{5, 0}));
  EXPECT_NE(second.errors().find("Cannot listen on 127.0.0.1:" + std::to_string(first.port) + ": the port is already in use."),
            std::string::npos)
      << second.errors();
  EXPECT_NE(second.errors().find("--port"), std::string::npos);
  http_client peer(first.port);
  EXPECT_NO_THROW(names(peer));
}

TEST(program_serve, refuses_addresses_that_others_can_reach) {
  const folder what;
  for (const std::string address : {"0.0.0.0", "::", "192.0.2.1", "localhost", ""}) {
    process program({"serve", "--port", "0", "--address", address, what.path()});
    EXPECT_EQ(program.leaves(within(patience)), (departure{5, 0})) << address;
    EXPECT_NE(program.errors().find("Cannot listen on "), std::string::npos) << program.errors();
    EXPECT_NE(program.errors().find("127.0.0.1"), std::string::npos) << program.errors();
  }
}

TEST(program_serve, refuses_ports_that_are_none) {
  for (const std::string port : {"65536", "-1", "http"}) {
    process program({"serve", "--port", port});
    EXPECT_EQ(program.leaves(within(patience)), (departure{1, 0})) << port;
    EXPECT_NE(program.errors().find("--port"), std::string::npos) << program.errors();
  }
}

TEST(program_serve, serves_a_new_source_after_a_reload) {
  const shelves what;
  running program({"--config", what.path("hondana.toml")});
  http_client peer(program.port);
  const auto before = names(peer);
  EXPECT_TRUE(before.contains("first.txt"));
  EXPECT_FALSE(before.contains("second.txt"));
  what.configure({"one", "two"});
  program.signal(SIGHUP);
  ASSERT_TRUE(program.error_line_with("reloaded the configuration", within(patience))) << program.errors();
  const auto after = names(peer);
  EXPECT_TRUE(after.contains("first.txt"));
  EXPECT_TRUE(after.contains("second.txt"));
  what.configure({"two"});
  program.signal(SIGHUP);
  ASSERT_TRUE(program.error_line_with("reloaded the configuration", within(patience))) << program.errors();
  EXPECT_FALSE(names(peer).contains("first.txt"));
}

TEST(program_serve, keeps_the_old_configuration_when_the_new_one_is_wrong) {
  const shelves what;
  running program({"--config", what.path("hondana.toml")});
  http_client peer(program.port);
  const auto before = names(peer);
  const auto refused = [&](const std::string& why) {
    program.signal(SIGHUP);
    const auto line = program.error_line_with("kept the old configuration", within(patience));
    ASSERT_TRUE(line) << program.errors();
    EXPECT_NE(line->find(why), std::string::npos) << *line;
    EXPECT_EQ(names(peer), before);
  };
  what.configure({"one", "two"}, "colour = 1\n");
  refused("hondana.toml:7: source.colour");
  what.configure({"one"}, "[[source]\n");
  refused("hondana.toml:4");
  what.configure({"one", "missing"});
  refused(what.path("missing"));
  what.configure({"one", "one"});
  refused("files");
  what.configure({"one", "two"});
  program.signal(SIGHUP);
  ASSERT_TRUE(program.error_line_with("reloaded the configuration", within(patience))) << program.errors();
  EXPECT_TRUE(names(peer).contains("second.txt"));
}

}  // namespace
