/// `hondana watch`.
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

/// Lines of JSON up to the one that tells this; nothing when it does not come.
std::optional<boost::json::object> told(process& watching, std::string_view change) {
  const auto deadline = within(patience);
  while (const auto line = watching.read_line(deadline)) {
    auto news = boost::json::parse(*line).as_object();
    if (news.at("change").as_string() == boost::json::string_view(change.data(), change.size())) return news;
  }
  return {};
}

TEST(program_watch, tells_a_change_of_a_file_as_a_line_of_json) {
  const folder what;
  what.put("a.txt", "one");
  const served server({what.path()});
  process watching({"watch", what.uri("a.txt"), "--json", "--on", server.url()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  what.put("a.txt", "two");
  const auto news = told(watching, "resource");
  ASSERT_TRUE(news) << watching.errors();
  EXPECT_EQ(std::string(news->at("uri").as_string()), what.uri("a.txt"));
  EXPECT_TRUE(news->at("time").as_string().ends_with("Z"));
  watching.signal(SIGINT);
  EXPECT_EQ(watching.leaves(within(patience)), well) << watching.errors();
}

TEST(program_watch, tells_a_change_of_the_list_in_words) {
  const folder what;
  what.put("a.txt", "one");
  process watching({"watch", "--on", what.path()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  what.put("b.txt", "new");
  const auto line = watching.read_line(within(patience));
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->ends_with("  the list of resources has changed")) << *line;
  watching.signal(SIGTERM);
  EXPECT_EQ(watching.leaves(within(patience)), well) << watching.errors();
}

/// A server that can be ended and started again at the same Unix socket.
class restarting_server {
 public:
  explicit restarting_server(std::string shown) : shown_(std::move(shown)) { start(); }
  void start() {
    server_ = std::make_unique<process>(std::vector<std::string>{"serve", "--socket", in_.path("s"), shown_});
    EXPECT_TRUE(server_->error_line_with("Stop with Ctrl-C", within(patience))) << server_->errors();
  }
  void stop() {
    server_->signal(SIGTERM);
    EXPECT_EQ(server_->leaves(within(patience)), well) << server_->errors();
  }
  [[nodiscard]] std::string address() const { return "unix:" + in_.path("s"); }

 private:
  folder in_;
  std::string shown_;
  std::unique_ptr<process> server_;
};

TEST(program_watch, goes_on_when_the_server_has_restarted) {
  const folder what;
  what.put("a.txt", "one");
  restarting_server server(what.path());
  process watching({"watch", what.uri("a.txt"), "--json", "--on", server.address()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  server.stop();
  ASSERT_TRUE(told(watching, "connectionLost")) << watching.errors();
  what.put("a.txt", "while nobody served");
  server.start();
  const auto missed = told(watching, "resource");
  ASSERT_TRUE(missed) << watching.errors();
  EXPECT_EQ(std::string(missed->at("uri").as_string()), what.uri("a.txt"));
  // It is marked as missed, unless the new server tells it first because the file was written just now.
  what.put("a.txt", "after the restart");
  auto later = told(watching, "resource");
  while (later && later->contains("mayHaveBeenMissed")) later = told(watching, "resource");
  EXPECT_TRUE(later) << watching.errors();
  watching.signal(SIGINT);
  EXPECT_EQ(watching.leaves(within(patience)), well);
}

TEST(program_watch, hears_of_the_list_after_a_restart_too) {
  const folder what;
  what.put("a.txt", "one");
  restarting_server server(what.path());
  process watching({"watch", "--json", "--on", server.address()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  server.stop();
  ASSERT_TRUE(told(watching, "connectionLost")) << watching.errors();
  server.start();
  ASSERT_TRUE(told(watching, "connectionRestored")) << watching.errors();
  // Every new file is news once the server has been asked for its list again.
  const auto deadline = within(patience);
  for (int i = 0; !watching.has_output(within(std::chrono::milliseconds(100))); ++i) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << watching.errors();
    what.put("new-" + std::to_string(i), "");
  }
  EXPECT_TRUE(told(watching, "resourceList"));
  watching.signal(SIGINT);
  EXPECT_EQ(watching.leaves(within(patience)), well);
}

TEST(program_watch, ends_after_the_first_change_when_asked_to) {
  const folder what;
  what.put("a.txt", "one");
  process watching({"watch", "a.txt", "--once", "--quiet", "--trace", what.path(".trace"), "--on", what.path()});
  // Quiet as it is, the trace tells when it listens. A file that was written just now may be news already.
  ASSERT_TRUE(hondana_test::eventually([&] {
    if (watching.leaves(within(std::chrono::milliseconds(10)))) return true;
    std::ifstream trace(what.path(".trace"));
    const std::string seen((std::istreambuf_iterator<char>(trace)), std::istreambuf_iterator<char>());
    return seen.find("acknowledged") != std::string::npos;
  }));
  what.put("a.txt", "two");
  EXPECT_EQ(watching.leaves(within(patience)), well);
  const auto output = watching.read_to_end(within(patience));
  ASSERT_TRUE(output);
  EXPECT_NE(output->find("  changed  " + what.uri("a.txt") + '\n'), std::string::npos) << *output;
  EXPECT_EQ(output->find('\n'), output->size() - 1) << *output;
  EXPECT_EQ(watching.errors(), "");
}

TEST(program_watch, ends_after_the_time_given) {
  const folder what;
  const auto got = run({"watch", "--for", "0.05", "--on", what.path()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_EQ(got.output, "");
}

TEST(program_watch, of_what_is_nowhere_says_so) {
  EXPECT_EQ(run({"watch", "--on", "http://127.0.0.1:1/mcp"}).how, (departure{4, 0}));
}

TEST(program_watch, tells_when_what_was_missing_appears) {
  const folder what;
  what.put("a.txt", "one");
  const served server({what.path()});
  for (const auto& where : {server.url(), what.path()}) {
    const auto name = where == server.url() ? std::string("remote.txt") : std::string("local.txt");
    process watching({"watch", what.uri(name), "--once", "--on", where});
    EXPECT_TRUE(watching.error_line_with(what.uri(name) + " does not exist yet; waiting for its creation", within(patience)))
        << watching.errors();
    ASSERT_TRUE(watching.error_line_with("watching " + what.uri(name), within(patience))) << watching.errors();
    what.put(name, "here");
    const auto line = watching.read_line(within(patience));
    ASSERT_TRUE(line) << watching.errors();
    EXPECT_TRUE(line->ends_with("  changed  " + what.uri(name))) << *line;
    EXPECT_EQ(watching.leaves(within(patience)), well) << watching.errors();
  }
}

TEST(program_watch, waits_for_a_missing_section_of_a_document) {
  const folder what;
  what.put("m/a.md", "# A\n\ntext\n");
  what.put("c.toml", "[[source]]\ntype = \"docs\"\nname = \"m\"\npath = \"m\"\n");
  const served server({"--config", what.path("c.toml")});
  const std::string uri = "docs://m/a.md?section=later";
  process watching({"watch", uri, "--once", "--on", server.url()});
  EXPECT_TRUE(watching.error_line_with(uri + " does not exist yet; waiting for its creation", within(patience)))
      << watching.errors();
  ASSERT_TRUE(watching.error_line_with("watching " + uri, within(patience))) << watching.errors();
  what.put("m/a.md", "# A\n\ntext\n\n# Later\n\nmore\n");
  EXPECT_TRUE(watching.read_line(within(patience))) << watching.errors();
  EXPECT_EQ(watching.leaves(within(patience)), well) << watching.errors();
}

TEST(program_watch, refuses_what_is_missing_and_would_not_be_told) {
  const folder what;
  what.put("a.txt", "one");
  const served server({what.path()});
  const auto got = run({"watch", "file:///not/served", "--on", server.url()});
  EXPECT_EQ(got.how, (departure{2, 0}));
  EXPECT_EQ(run({"watch", "file:///not/served", "--on", server.url(), "--revision", "2025-06-18"}).errors, got.errors);
  EXPECT_EQ(got.errors,
            "hondana: file:///not/served does not exist, and the server does not notify when it is created. 'hondana ls --on " +
                server.url() + "' and 'hondana templates --on " + server.url() + "' list all.\n");
  const auto unnamed = run({"watch", "b.txt", "--on", server.url()});
  EXPECT_EQ(unnamed.how, (departure{2, 0}));
  EXPECT_NE(unnamed.errors.find("to wait for a resource that does not exist yet, give its URI"), std::string::npos)
      << unnamed.errors;
}

TEST(program_watch, gives_up_on_a_program_that_ends_again_and_again) {
  const folder what;
  what.put("a.txt", "one");
  // It ends once it has been asked for the list, which is asked for anew after each subscription.
  const std::string dies =
      "while read -r line; do printf '%s\\n' \"$line\"; case \"$line\" in *resources/list*) break;; esac; done "
      "| \"$0\" stdio \"$1\"; exit 7";
  const auto got = run({"watch", "--", "/bin/sh", "-c", dies, HONDANA_PROGRAM, what.path()});
  EXPECT_EQ(got.how, (departure{4, 0})) << got.errors;
  EXPECT_NE(got.errors.find("the server's program ended with code 7 within five seconds of its start (1 of 4 times, then "
                            "hondana gives up); restarting it\n"),
            std::string::npos)
      << got.errors;
  EXPECT_NE(
      got.errors.find("ended with code 7 within five seconds of its start, 4 times in a row. Run it by itself to see why."),
      std::string::npos)
      << got.errors;
}

TEST(program_watch, of_a_uri_in_letters_of_any_language_is_of_what_the_server_spells_with_escapes) {
  const folder what;
  what.put("こころ.md", "one");
  const served server({what.path()});
  const auto there = what.uri("%E3%81%93%E3%81%93%E3%82%8D.md");
  const auto missing = what.uri("%E7%84%A1%E3%81%84.md");
  for (const auto* revision : {"2026-07-28", "2025-06-18"}) {
    process watching({"watch", what.uri("こころ.md"), "--once", "--on", server.url(), "--revision", revision});
    ASSERT_TRUE(watching.error_line_with("watching " + there, within(patience))) << watching.errors();
    what.put("こころ.md", revision);
    const auto line = watching.read_line(within(patience));
    ASSERT_TRUE(line) << watching.errors();
    EXPECT_TRUE(line->ends_with("  changed  " + there)) << *line;
    EXPECT_EQ(watching.leaves(within(patience)), well);
    EXPECT_EQ(watching.errors().find("cannot watch"), std::string::npos) << watching.errors();
    const auto got = run({"watch", what.uri("無い.md"), "--for", "0.01", "--on", server.url(), "--revision", revision});
    EXPECT_EQ(got.how, well) << got.errors;
    EXPECT_NE(got.errors.find(missing + " does not exist yet; waiting for its creation"), std::string::npos) << got.errors;
  }
}

}  // namespace
