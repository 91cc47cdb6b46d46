/// The record of requests that the program keeps: who asked for what, what it survives, and how it is checked.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::http_client;
using program_test::patience;
using program_test::process;
using program_test::read_request;
using program_test::request;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

struct recorded : folder {
  explicit recorded(const std::string& more = {}) {
    put("shelf/a.txt", "the content of a\n");
    configure(more);
  }
  void configure(const std::string& more) const {
    put("h.toml", "[audit]\npath = \"record/audit.jsonl\"\nsync_interval_ms = 20\n" + more +
                      "[[source]]\ntype = \"files\"\npath = \"shelf\"\n");
  }
  [[nodiscard]] std::vector<std::string> how() const { return {"--config", path("h.toml")}; }
  [[nodiscard]] std::string log(const std::string& name = "record/audit.jsonl") const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::string line_with(const std::string& text) const {
    const auto all = log();
    const auto at = all.find(text);
    if (at == std::string::npos) return {};
    const auto begin = all.rfind('\n', at) + 1;
    return all.substr(begin, all.find('\n', at) - begin);
  }
  /// Waits until the record has it; false when that does not come.
  [[nodiscard]] bool comes_to_say(const std::string& text) const {
    return hondana_test::eventually([&] { return log().find(text) != std::string::npos; });
  }
};

TEST(program_audit, records_requests_over_http_and_those_refused_before) {
  const recorded here;
  const auto token = run({"token", "new", "laptop", "--file", here.path("tokens")});
  ASSERT_EQ(token.how, well) << token.errors;
  here.configure("[auth]\ntokens = \"tokens\"\n");
  served server(here.how());
  {
    http_client by(server.port());
    EXPECT_THROW(by.post(read_request(1, here.uri("shelf/a.txt")), "resources/read", here.uri("shelf/a.txt")),
                 std::runtime_error);
    const auto secret = token.output.substr(0, 51);
    const auto message = read_request(1, here.uri("shelf/a.txt"));
    http_client known(server.port());
    known.send(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
        "Authorization: Bearer " +
        secret + "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: " + here.uri("shelf/a.txt") +
        "\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message);
    EXPECT_TRUE(here.comes_to_say("\"outcome\":\"answered\""));
    EXPECT_EQ(here.log().find(secret), std::string::npos);
  }
  ASSERT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  EXPECT_NE(here.line_with("\"http_status\":401").find("\"method\":\"POST\",\"allowed\":false"), std::string::npos)
      << here.log();
  const auto decision = here.line_with("\"method\":\"resources/read\"");
  EXPECT_NE(decision.find("\"identity\":\"token:laptop\",\"address\":\"127.0.0.1"), std::string::npos) << decision;
  EXPECT_NE(decision.find(here.uri("shelf/a.txt")), std::string::npos) << decision;
  EXPECT_EQ(here.log().find("the content"), std::string::npos);
  EXPECT_NE(here.line_with("\"type\":\"closed\""), "");
  const auto checked = run({"audit", "verify", here.path("record/audit.jsonl")});
  EXPECT_EQ(checked.how, well) << checked.output << checked.errors;
  EXPECT_NE(checked.output.find("records are valid: 1 to "), std::string::npos) << checked.output;
}

TEST(program_audit, records_sessions_over_stdio) {
  const recorded here;
  {
    process server({"stdio", "--config", here.path("h.toml")});
    ASSERT_TRUE(server.write(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                             R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
                             "\n"
                             R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_resource",)"
                             R"("arguments":{"uri":"a.txt"}}})"
                             "\nno message\n",
                             within(patience)));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(server.read_line(within(patience)));
    server.end_input();
    EXPECT_EQ(server.leaves(within(patience)), well) << server.errors();
  }
  EXPECT_NE(here.line_with("\"method\":\"initialize\"").find("\"identity\":\"local\""), std::string::npos) << here.log();
  EXPECT_NE(here.line_with("\"name\":\"read_resource\"").find("\"method\":\"tools/call\""), std::string::npos) << here.log();
  EXPECT_NE(here.line_with("\"reason\":\"malformed\""), "") << here.log();
  EXPECT_EQ(run({"audit", "verify", here.path("record/audit.jsonl")}).how, well);
}

TEST(program_audit, is_followed_by_a_new_file_after_somebody_renamed_it) {
  const recorded here;
  served server(here.how());
  ASSERT_TRUE(here.comes_to_say("opened"));
  std::filesystem::rename(here.path("record/audit.jsonl"), here.path("record/kept.jsonl"));
  server.program().signal(SIGHUP);
  ASSERT_TRUE(here.comes_to_say("\"reason\":\"reopened\""));
  http_client(server.port()).post(request(1, "resources/list"), "resources/list");
  ASSERT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  EXPECT_EQ(run({"audit", "verify", here.path("record/audit.jsonl"), here.path("record/kept.jsonl")}).how, well);
}

TEST(program_audit, that_streams_still_write_can_be_configured_again_and_follows_its_file) {
  const recorded here;
  const auto configuration = [&](const std::string& audit) {
    here.put("h.toml", audit + "[[source]]\ntype = \"files\"\npath = \"shelf\"\n");
  };
  served server(here.how());
  http_client stream(server.port());
  const auto listen = request(1, "subscriptions/listen", R"("notifications":{"resourcesListChanged":true},)");
  stream.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
      "text/event-stream\r\n"
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: " +
      std::to_string(listen.size()) + "\r\n\r\n" + listen);
  ASSERT_TRUE(here.comes_to_say("\"method\":\"subscriptions/listen\""));
  const auto reload = [&] {
    server.program().signal(SIGHUP);
    const auto line = server.program().error_line_with(" the configuration", within(patience));
    return line && line->find("reloaded") != std::string::npos;
  };
  configuration("");
  ASSERT_TRUE(reload()) << server.program().errors();
  configuration("[audit]\npath = \"record/other.jsonl\"\n");
  ASSERT_TRUE(reload()) << server.program().errors();
  configuration("[audit]\npath = \"record/audit.jsonl\"\nsync_interval_ms = 20\n");
  ASSERT_TRUE(reload()) << server.program().errors();
  http_client(server.port()).post(request(2, "resources/list"), "resources/list");
  EXPECT_TRUE(here.comes_to_say("\"method\":\"resources/list\""));
  ASSERT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  EXPECT_EQ(run({"audit", "verify", here.path("record/audit.jsonl")}).how, well);
  EXPECT_EQ(run({"audit", "verify", here.path("record/other.jsonl")}).how, well);
}

TEST(program_audit, of_a_server_that_was_killed_under_load_is_sound_and_goes_on) {
  const recorded here("max_file_bytes = \"64KiB\"\nkeep = 0\n");
  for (int round = 0; round < 3; ++round) {
    served server(here.how());
    std::atomic<std::uint64_t> answered{0};
    std::vector<std::thread> load;
    for (int i = 0; i < 4; ++i) {
      load.emplace_back([&] {
        try {
          http_client by(server.port());
          for (;;) {
            by.post(read_request(1, here.uri("shelf/a.txt")), "resources/read", here.uri("shelf/a.txt"));
            ++answered;
          }
        } catch (const std::runtime_error&) {
          return;  // it has been killed
        }
      });
    }
    EXPECT_TRUE(hondana_test::eventually([&] { return answered >= 500; }));
    server.program().signal(SIGKILL);
    for (auto& one : load) one.join();
    ASSERT_TRUE(server.program().leaves(within(patience)));
  }
  // The next start mends what was torn.
  ASSERT_EQ(served(here.how()).stop(SIGTERM), well);
  std::vector<std::string> check{"audit", "verify"};
  for (const auto& one : std::filesystem::directory_iterator(here.path("record"))) {
    const auto name = one.path().filename().string();
    if (name.starts_with("audit.jsonl") && name.find("incomplete") == std::string::npos && !name.ends_with(".lock"))
      check.push_back(one.path().string());
  }
  EXPECT_GT(check.size(), 3u) << "it was rotated under load, too";
  const auto checked = run(check);
  EXPECT_EQ(checked.how, well) << checked.output << checked.errors;
  EXPECT_NE(checked.output.find("valid: 1 to "), std::string::npos) << checked.output;
}

TEST(program_audit, on_a_full_disk_refuses_with_a_status_and_is_not_ready_until_there_is_room) {
  const recorded here;
  served server(here.how());
  http_client watcher(server.port());
  EXPECT_EQ(watcher.status_of("/readyz"), 200);
  server.program().limit(RLIMIT_FSIZE, 4000);
  const auto read = [&] {
    http_client by(server.port());
    by.post(read_request(1, here.uri("shelf/a.txt")), "resources/read", here.uri("shelf/a.txt"));
  };
  std::string refusal;
  for (const auto deadline = within(patience); refusal.empty() && std::chrono::steady_clock::now() < deadline;) {
    try {
      read();
    } catch (const std::runtime_error& error) {
      refusal = error.what();
    }
  }
  EXPECT_TRUE(refusal.starts_with("HTTP/1.1 503 ")) << refusal;
  EXPECT_NE(refusal.find("\r\nRetry-After: 1\r\n"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("\"code\":503"), std::string::npos) << refusal;
  EXPECT_EQ(watcher.status_of("/readyz"), 503);
  EXPECT_EQ(watcher.status_of("/healthz"), 200) << "it need not be restarted";
  server.program().limit(RLIMIT_FSIZE, RLIM_INFINITY);
  ASSERT_TRUE(server.program().error_line_with("records are written again", within(patience))) << server.program().errors();
  EXPECT_EQ(watcher.status_of("/readyz"), 200);
  EXPECT_NO_THROW(read());
  ASSERT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  const auto checked = run({"audit", "verify", here.path("record/audit.jsonl")});
  EXPECT_EQ(checked.how, well) << checked.output << checked.errors;
}

TEST(program_audit, that_cannot_be_written_keeps_a_server_from_starting_and_a_second_server_out) {
  const recorded here;
  std::filesystem::create_directory(here.path("record"));
  std::filesystem::create_symlink(here.path("elsewhere"), here.path("record/audit.jsonl"));
  const auto refused = run({"stdio", "--config", here.path("h.toml")});
  EXPECT_EQ(refused.how.exit_code, 1);
  EXPECT_NE(refused.errors.find("symbolic link"), std::string::npos) << refused.errors;
  std::filesystem::remove(here.path("record/audit.jsonl"));
  served first(here.how());
  const auto second = run({"stdio", "--config", here.path("h.toml")});
  EXPECT_EQ(second.how.exit_code, 1);
  EXPECT_NE(second.errors.find("another process"), std::string::npos) << second.errors;
  EXPECT_EQ(run({"check", "--config", here.path("h.toml")}).how, well) << "looking needs no record";
}

TEST(program_audit, whose_disk_had_failed_says_so_when_it_is_checked) {
  const recorded here;
  here.put("failed.jsonl", R"({"number":1,"previous":")" + std::string(64, '0') +
                               R"(","type":"opened","reason":"sync_failed","run_id":"a","repeated_records":3})" + '\n');
  const auto told = run({"audit", "verify", here.path("failed.jsonl")});
  EXPECT_EQ(told.how, well) << told.errors;
  EXPECT_TRUE(told.output.starts_with(here.path("failed.jsonl") +
                                      ":1: the disk failed to sync the previous file; records before this "
                                      "one that were written again here: 3\n1 record is valid"))
      << told.output;
  const auto json = run({"audit", "verify", "--json", here.path("failed.jsonl")});
  EXPECT_NE(
      json.output.find(R"("failures":[{"file":")" + here.path("failed.jsonl") + R"(","line":1,"description":"the disk failed)"),
      std::string::npos)
      << json.output;
}

TEST(program_audit, of_which_something_was_changed_is_found_broken) {
  const recorded here;
  ASSERT_EQ(served(here.how()).stop(SIGTERM), well);
  ASSERT_EQ(served(here.how()).stop(SIGTERM), well);
  auto all = here.log();
  all.replace(all.find("started"), 7, "stopped");
  here.put("changed.jsonl", all);
  const auto found = run({"audit", "verify", here.path("changed.jsonl")});
  EXPECT_EQ(found.how.exit_code, 5);
  EXPECT_TRUE(found.output.starts_with(here.path("changed.jsonl") + ":2: its hash of the previous record does not match"))
      << found.output;
  const auto json = run({"audit", "verify", "--json", here.path("changed.jsonl")});
  EXPECT_NE(json.output.find(R"("valid":false,"records":1,"first":1,"last":1,)"), std::string::npos) << json.output;
  EXPECT_EQ(run({"audit", "verify", here.path("none")}).how.exit_code, 1);
}

}  // namespace
