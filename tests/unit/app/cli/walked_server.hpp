/// A server with a source of every type. A part of each source is for rules to guard: it has words that stand nowhere else.
#pragma once

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>

#include "app/cli/assembly.hpp"
#include "deadline.hpp"
#include "drive/stand_in/server.hpp"
#include "program/folder.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/transport/http_client/scripted_server.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::cli {

/// What all these words begin with: a search or a completion by it finds them without naming one.
inline constexpr std::string_view word_stem = "zorbla";

/// The part of a source that one rule guards.
struct guarded_part {
  std::string scope;               ///< A name of its own.
  std::vector<std::string> uris;   ///< What the rule names.
  std::string resource;            ///< The URI of a resource among them.
  std::vector<std::string> words;  ///< Of their contents.
};

/// Throws std::runtime_error where it cannot be set up. Threads: one.
class walked_server {
 public:
  walked_server() : config_(at_.path("hondana.toml")), assembly_({.paths = {}, .config_file = config_, .allow = {}}, {}) {
    put_files();
    put_repository();
    put_drive();
    put_mounted_server();
    serve({});
    put_analysis();
    wait_for_sources();
  }

  ~walked_server() {
    ::unsetenv("WALKED_OPEN");
    ::unsetenv("WALKED_HIDDEN");
  }
  walked_server(const walked_server&) = delete;
  walked_server& operator=(const walked_server&) = delete;

  [[nodiscard]] server& here() noexcept { return server_; }
  [[nodiscard]] const std::vector<guarded_part>& parts() const noexcept { return parts_; }

  /// Takes a configuration with these rules, as a reload does.
  void serve(const std::string& rules) {
    at_.put("hondana.toml", rules + sources());
    auto whole = must(assembly_.assemble(), "the configuration");
    if (!index_) index_ = must(open_search_index(*whole.settings.search), "the index");
    whole.options.search = index_;
    must(server_.replace(whole.options, whole.providers), "the sources");
  }

 private:
  /// The answer to a local caller, before there are rules.
  std::string ask(const std::string& method, const std::string& parameters) {
    return transport::asker(server_, {"local", {}, nullptr}).ask(transport::asker::modern(method, parameters));
  }
  template <class T>
  static T must(result<T> made, const std::string& what) {
    if (!made) throw std::runtime_error(what + ": " + made.error().public_text + ' ' + made.error().private_text);
    if constexpr (!std::is_void_v<T>) return std::move(*made);
  }
  static std::string metrics_text() {
    return "# HELP walk_open Open things\n# TYPE walk_open gauge\nwalk_open{place=\"garden\"} 1\n"
           "# HELP walk_hidden zorblametricshelp\n# TYPE walk_hidden gauge\nwalk_hidden{who=\"zorblametricslabel\"} 2\n";
  }

  void put_files() {
    at_.put("files/pub/open.md", "# Open\n\nA yak in the open.\n");
    at_.put("files/priv/hidden.md", "# zorblafilestitle\n\nzorblafilesfirst yak\n\n## zorblafilesheading\n\nzorblafilesbody\n");
    at_.put("files/priv/notes.txt", "one\nzorblafilestext\nthree\n");
    at_.put("files/priv/page.html", "<html><title>zorblafilespage</title><body>yak</body></html>");
    std::filesystem::create_symlink("../priv/hidden.md", at_.path("files/pub/link.md"));
    std::filesystem::create_symlink("../priv", at_.path("files/pub/folder"));
    parts_.push_back({"files",
                      {at_.uri("files/priv")},
                      at_.uri("files/priv/hidden.md"),
                      {"zorblafilestitle", "zorblafilesfirst", "zorblafilesheading", "zorblafilesbody", "zorblafilestext",
                       "zorblafilespage"}});

    at_.put("docs/pub/open.md", "# Open\n\nSee [there](../priv/hidden.md) and [that](../priv/page.html).\n");
    at_.put("docs/priv/hidden.md",
            "---\ntitle: zorbladocstitle\ndescription: zorbladocsdescription\nlang: x-zorblalg\n---\n# "
            "zorbladocsfirst\n\nzorbladocsparagraph yak\n\n"
            "## zorbladocsheading\n\nzorbladocsbody [out](../pub/open.md#zorbladocsanchor)\n");
    at_.put(
        "docs/priv/page.html",
        "<html><head><title>zorbladocspage</title></head><body><h1>zorbladocshtml</h1><p>zorbladocsparts</p></body></html>");
    at_.put("docs/priv/plain.txt", "zorbladocsplain\n\nzorbladocsline\n");
    parts_.push_back({"docs",
                      {"docs://d/priv"},
                      "docs://d/priv/hidden.md",
                      {"zorbladocstitle", "zorbladocsdescription", "x-zorblalg", "zorbladocsfirst", "zorbladocsparagraph",
                       "zorbladocsheading", "zorbladocsbody", "zorbladocsanchor", "zorbladocspage", "zorbladocshtml",
                       "zorbladocsparts", "zorbladocsplain", "zorbladocsline"}});

    at_.put("conf/a.toml", "x = 1\n[server]\nport = 80\n");
    at_.put("conf/b.toml",
            "# zorblaconfigcomment\nzorblaconfigname = \"zorblaconfigvalue\"\n[server]\nport = 8080\n"
            "hosts = [\"zorblaconfigitem\"]\n");
    std::filesystem::create_symlink("b.toml", at_.path("conf/link.toml"));
    parts_.push_back({"config",
                      {"config://c/file/b.toml"},
                      "config://c/file/b.toml",
                      {"zorblaconfigcomment", "zorblaconfigname", "zorblaconfigvalue", "zorblaconfigitem"}});

    at_.put("env/prod.env", "WALKED_OPEN=open\nWALKED_HIDDEN=zorblaenvfile\n");
    ::setenv("WALKED_OPEN", "open", 1);
    ::setenv("WALKED_HIDDEN", "zorblaenvprocess", 1);
    parts_.push_back({"env",
                      {"env://prod/WALKED_HIDDEN", "env:///WALKED_HIDDEN"},
                      "env://prod/WALKED_HIDDEN",
                      {"zorblaenvfile", "zorblaenvprocess"}});

    put_logs();

    at_.put("skills/open/SKILL.md", "---\nname: open\ndescription: An open skill.\n---\nyak\n");
    at_.put("skills/hidden/SKILL.md",
            "---\nname: hidden\ndescription: zorblaskillsdescription\nmetadata:\n  by: zorblaskillsmetadata\n---\n"
            "zorblaskillsbody yak\n");
    at_.put("skills/hidden/more/extra.md", "# zorblaskillsextra\n");
    parts_.push_back({"skills",
                      {"skill://hidden"},
                      "skill://hidden/SKILL.md",
                      {"zorblaskillsdescription", "zorblaskillsmetadata", "zorblaskillsbody", "zorblaskillsextra"}});

    parts_.push_back(
        {"metrics", {"metrics://m/walk_hidden"}, "metrics://m/walk_hidden", {"zorblametricshelp", "zorblametricslabel"}});
    parts_.push_back({"links",
                      {"https://example.com/manual"},
                      "https://example.com/manual",
                      {"zorblalinkstitle", "zorblalinksdescription"}});
  }

  /// Records of the last minutes, which a summary has. One log is guarded as a whole.
  void put_logs() {
    std::string hidden;
    for (int i = 0; i < 12; ++i) {
      const auto then = std::time(nullptr) - 60 * (12 - i);
      std::tm in_utc{};
      ::gmtime_r(&then, &in_utc);
      char text[32];
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &in_utc);
      hidden += "{\"time\":\"" + std::string(text) +
                "\",\"level\":\"error\",\"msg\":\"zorblalogmessage yak\",\"user\":\"zorblaloguser\",\"zorblalogfield\":1}\n";
    }
    at_.put("log/hidden.log", hidden);
    at_.put("log/open.log", "2026-01-02T00:00:01Z INFO started\n");
    parts_.push_back({"log", {"log://hidden"}, "log://hidden/", {"zorblalogmessage", "zorblaloguser", "zorblalogfield"}});
  }

  void put_repository() {
    repository_.write("pub/open.txt", "open\n");
    repository_.write("priv/hidden.txt", "zorblagitfirst\n");
    std::string long_text = "zorblagitmoved\n";
    for (int i = 0; i < 30; ++i) long_text += "line " + std::to_string(i) + "\n";
    repository_.write("priv/moved.txt", long_text);
    repository_.commit("one");
    repository_.git({"tag", "v1"});
    repository_.write("priv/hidden.txt", "zorblagitsecond yak\n");
    // A file leaves the guarded folder without one of its lines, which the patch of the renaming has.
    repository_.git({"mv", "priv/moved.txt", "pub/moved.txt"});
    repository_.write("pub/moved.txt", long_text.substr(long_text.find('\n') + 1));
    repository_.commit("two");
    repository_.write("priv/hidden.txt", "zorblagitstashed\n");
    repository_.git({"stash"});
    repository_.write("priv/hidden.txt", "zorblagitstaged\n");
    repository_.git({"add", "-A"});
    repository_.write("priv/hidden.txt", "zorblagitchanged\n");
    repository_.write("priv/untracked.txt", "new\n");
    parts_.push_back(
        {"git",
         {"git://shelf/blob/{rev}/priv/{+rest}"},
         "git://shelf/blob/HEAD/priv/hidden.txt",
         {"zorblagitfirst", "zorblagitmoved", "zorblagitsecond", "zorblagitstashed", "zorblagitstaged", "zorblagitchanged"}});
  }

  void put_drive() {
    at_.put("key/key.txt", google_.service_account());
    std::filesystem::permissions(at_.path("key/key.txt"),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto folder = google_.folder("Priv");
    google_.add({.name = "Plan",
                 .type = drive_test::mime::document,
                 .parent = folder,
                 .bytes = "# zorbladrivetitle\n\nzorbladrivebody yak\n",
                 .starred_by = {"reader@stand-in.iam.gserviceaccount.com"}});
    google_.add({.name = "Notes.txt", .parent = folder, .bytes = "zorbladrivetext\n"});
    google_.add({.name = "Open.txt", .bytes = "open\n"});
    parts_.push_back({"drive",
                      {"gdrive://shared-with-me/Priv"},
                      "gdrive://shared-with-me/Priv/Plan",
                      {"zorbladrivetitle", "zorbladrivebody", "zorbladrivetext"}});
  }

  void put_mounted_server() {
    const auto memos = std::make_shared<memory_provider>("memos", "memo:///");
    const auto add = [&](const std::string& uri, const std::string& title, const std::string& text) {
      resource entry;
      entry.uri = uri;
      entry.name = uri.substr(uri.rfind('/') + 1);
      entry.title = title;
      entry.kind = "memo";
      entry.description = title.empty() ? "" : title + "too";
      must(memos->add(entry, text), uri);
    };
    add("memo:///pub/a", "Open", "open");
    add("memo:///priv/a", "zorblamounttitle", "zorblamountbody yak");
    must(memos->add_template({.uri_template = "memo:///{box}/{name}", .name = "memos"},
                             [](const read_request&) { return text_read_result("made"); }),
         "a template");
    must(other_.add(memos), "memos");
    http_options how;
    how.port = 0;
    mounted_ = std::make_unique<http_service>(must(http_service::start(other_, how), "the mounted server"));
    parts_.push_back(
        {"mount", {"mcp://team/memo:///priv"}, "mcp://team/memo:///priv/a", {"zorblamounttitle", "zorblamountbody"}});
  }

  /// The URI has an id that the store makes.
  void put_analysis() {
    std::string votes;
    for (const std::string name : {"zorblaanalysesprovider", "b", "c", "d"})
      votes += (votes.empty() ? "" : ",") + std::string(R"({"provider":")") + name +
               R"(","model":"zorblaanalysesmodel","content":"zorblaanalysesvote","confidence":0.9,"agreement":0.95})";
    const auto answer =
        ask("tools/call", R"("name":"analysis_put","arguments":{"analysis":{"prompt":"zorblaanalysesprompt yak","votes":[)" +
                              votes +
                              R"(],"consensus":{"content":"zorblaanalysesconsensus","confidence":0.95},)"
                              R"("flow":[{"round":1,"provider":"b","action":"asked","note":"zorblaanalysesnote"}],)"
                              R"("session":"zorblaanalysessession","tags":["zorblaanalysestag"]}})");
    constexpr std::string_view prefix = "wallbounce://analyses/";
    const auto begin = answer.find(prefix);
    if (begin == std::string::npos) throw std::runtime_error("an analysis was not put: " + answer);
    const auto uri = answer.substr(begin, answer.find_first_of("\"\\?/", begin + prefix.size()) - begin);
    parts_.push_back({"analyses",
                      {uri},
                      uri,
                      {"zorblaanalysesprompt", "zorblaanalysesconsensus", "zorblaanalysesvote", "zorblaanalysesmodel",
                       "zorblaanalysesprovider", "zorblaanalysesnote", "zorblaanalysessession", "zorblaanalysestag"}});
  }

  void wait_for_sources() {
    const auto comes = [&](const std::string& method, const std::string& parameters, std::string_view what) {
      std::string last;
      const bool came = hondana_test::eventually([&] {
        last = ask(method, parameters);
        return last.find(what) != std::string::npos;
      });
      if (!came) throw std::runtime_error(std::string(what) + " did not come: " + last);
    };
    comes("resources/read", R"("uri":"metrics://m/walk_hidden?agg=raw")", "zorblametricslabel");
    comes("resources/read", R"("uri":"mcp://team/memo:///priv/a")", "zorblamountbody");
    comes("resources/list", {}, "gdrive://shared-with-me/Priv/Plan");
    const auto until = monotonic_clock::now() + hondana_test::event_deadline;
    refresh_search_index(*index_);
    must(wait_until_indexed(*index_, until), "the index");
    comes("resources/read", R"("uri":"search:///?q=zorblamountbody")", "mcp://team/memo:///priv/a");
  }

  [[nodiscard]] std::string sources() const {
    return R"(
[search]
tokenizer = "trigrams"
include = ["file:", "git:", "docs:", "config:", "env:", "log:", "metrics:", "wallbounce:", "skill:", "mcp:", "gdrive:"]
[[link]]
uri = "https://example.com/manual"
title = "zorblalinkstitle"
description = "zorblalinksdescription"
[[source]]
type = "files"
path = "files"
[[source]]
type = "git"
path = ")" +
           repository_.path() +
           R"("
[[source]]
type = "docs"
name = "d"
path = "docs"
[[source]]
type = "config"
name = "c"
path = "conf"
[[source.layer]]
name = "a"
file = "conf/a.toml"
[[source.layer]]
name = "b"
file = "conf/b.toml"
[[source]]
type = "env"
allow = ["WALKED_*"]
[[source]]
type = "env"
file = "env/prod.env"
name = "prod"
allow = ["WALKED_*"]
[[source]]
type = "log"
name = "hidden"
path = "log/hidden.log"
[[source]]
type = "log"
name = "open"
path = "log/open.log"
[[source]]
type = "skills"
path = "skills"
[[source]]
type = "analyses"
store = ":memory:"
[[source]]
type = "metrics"
name = "m"
store = ":memory:"
interval = "1h"
[[source.scrape]]
url = ")" + exporter_.url("/metrics") +
           R"("
job = "walked"
[[source]]
type = "gdrive"
name = "team"
credentials_file = "key/key.txt"
store = ":memory:"
render = false
requests_per_minute = 100000
api_url = ")" +
           google_.url() +
           R"("
token_url = ")" +
           google_.url("/token") + R"("
[[source]]
type = "mcp"
name = "team"
url = "http://127.0.0.1:)" +
           std::to_string(mounted_->port()) + "/mcp\"\n";
  }

  program_test::folder at_;
  git::made_repository repository_;
  drive_test::stand_in google_;
  hondana_test::scripted_server exporter_{[](const hondana_test::heard_request&, hondana_test::scripted_connection& to) {
    return to.answer(200, "text/plain; version=0.0.4", metrics_text());
  }};
  server other_ = must(server::create(), "the other server");
  std::unique_ptr<http_service> mounted_;
  std::string config_;
  std::vector<guarded_part> parts_;
  assembly assembly_;
  std::shared_ptr<search_index> index_;
  server server_ = must(server::create(), "the server");
};

}  // namespace hondana::cli
