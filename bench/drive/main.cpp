/// What a Drive has to show: a crawl, an edit that becomes visible, and being killed in the midst of both parts of a crawl.
///
/// Usage: drive_bench HONDANA [FILES]. Prints a Markdown table. Google is the stand-in of tests/drive, in this process.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

#include "../process/child.hpp"
#include "../process/scratch.hpp"
#include "drive/stand_in/server.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::value;
using clock = std::chrono::steady_clock;

constexpr auto patience = 1800s;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// hondana over stdio, asked as a client of 2025-06-18 does.
class asked_program {
 public:
  asked_program(const std::string& program, const std::string& config, const std::string& log)
      : log_(log), child_({program, "stdio", "--config", config}, -1, log) {
    ask("initialize", value::object{{"protocolVersion", "2025-06-18"},
                                    {"capabilities", value::object{}},
                                    {"clientInfo", value::object{{"name", "bench"}, {"version", "1"}}}});
    child_.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  }

  value ask(std::string_view method, value::object parameters) {
    const auto id = ++last_;
    child_.send(
        value(value::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", value(std::move(parameters))}})
            .to_text() +
        '\n');
    for (;;) {
      const auto line = next_line();
      const auto message = value::parse(line);
      if (!message) throw std::runtime_error("no JSON: " + line.substr(0, 200));
      const auto* const answers = message->find("id");
      if (answers == nullptr || answers->as_integer() != id || message->find("method") != nullptr) continue;
      if (const auto* const out = message->find("result")) return *out;
      throw std::runtime_error(std::string(method) + ": " + line.substr(0, 500));
    }
  }
  std::string read(const std::string& uri) {
    const auto got = ask("resources/read", value::object{{"uri", uri}});
    const auto text = got.string_at("/contents/0/text");
    if (!text) throw std::runtime_error(uri + ": " + got.to_text().substr(0, 300));
    return *text;
  }
  /// All that is listed of Drive.
  std::size_t listed() {
    std::size_t count = 0;
    for (std::string cursor;;) {
      value::object parameters;
      if (!cursor.empty()) parameters.emplace_back("cursor", cursor);
      const auto page = ask("resources/list", std::move(parameters));
      for (const auto& one : page.array_at("resources").value_or(value::array())) {
        const auto uri = one.string_at("uri").value_or("");
        if (uri.starts_with("gdrive:") && one.string_at("mimeType").value_or("") == "text/markdown") ++count;
      }
      cursor = page.string_at("nextCursor").value_or("");
      if (cursor.empty()) return count;
    }
  }
  void kill() const {
    if (::kill(child_.pid(), SIGKILL) != 0) throw std::runtime_error("it had ended before it was killed");
  }

 private:
  std::string next_line() try {
    return child_.line(std::chrono::duration_cast<std::chrono::seconds>(patience));
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string(e.what()) + "\n" + bench::text_in(log_));
  }

  const std::string log_;
  bench::child child_;
  std::int64_t last_ = 0;
};

/// Requests by what they ask.
struct asked_for {
  std::size_t lists = 0, first_pages = 0, exports = 0, changes = 0, others = 0;
  [[nodiscard]] std::size_t all() const { return lists + exports + changes + others; }
};

asked_for counted(const drive_test::stand_in& google) {
  asked_for out;
  for (const auto& one : google.requests("/drive/")) {
    if (one.path == "/drive/v3/files") {
      ++out.lists;
      if (one.parameter("pageToken").empty()) ++out.first_pages;
    } else if (one.path.ends_with("/export")) {
      ++out.exports;
    } else if (one.path.starts_with("/drive/v3/changes")) {
      ++out.changes;
    } else {
      ++out.others;
    }
  }
  return out;
}

class bench_of_drive {
 public:
  bench_of_drive(std::string program, std::size_t files) : program_(std::move(program)), files_(files) {
    folder_.put("keys/key.json", google_.service_account());
    std::filesystem::permissions(folder_.path("keys/key.json"), std::filesystem::perms::owner_read);
    google_.seed("{\"generate\":{\"files\":" + std::to_string(files_) + ",\"perFolder\":50}}");
    google_.forget();
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("| What | Figure |\n|---|---|\n");
  }

  void crawl() {
    const auto begin = clock::now();
    const auto server = start("one");
    await_listed(*server);
    const auto names = counted(google_);
    std::printf("| names of %zu files, from the start of the program | %.1f s, %zu requests (%zu of lists) |\n", files_,
                seconds_since(begin), names.all(), names.lists);
    await_indexed(*server);
    const auto all = counted(google_);
    std::printf("| their contents in the index | %.1f s, %zu requests (%zu exports) |\n", seconds_since(begin), all.all(),
                all.exports);
    see_change(*server);
  }

  /// Once more from nothing, and killed between two pages of the list.
  void be_killed_listing() {
    const auto at = std::min<std::size_t>(4, pages());
    if (at < 2) {
      std::printf("| killed while it asked for a page of the list | not tried: %zu files are one page |\n", files_);
      return;
    }
    google_.forget();
    drive_test::fault slow;
    slow.path = "/drive/v3/files";
    slow.containing = "pageToken";
    slow.skip = at - 2;
    slow.times = SIZE_MAX;
    slow.delay = 3600s;
    google_.fail(slow);
    std::size_t before = 0;
    {
      const auto server = start("two");
      for (auto some = at; counted(google_).lists < at; ++some) {
        if (!google_.wait_for_requests("/drive/v3/files", some)) throw std::runtime_error("it does not list");
      }
      before = counted(google_).lists;
      server->kill();
    }
    google_.heal();
    google_.forget();
    const auto server = start("two");
    await_listed(*server);
    const auto after = counted(google_);
    std::printf(
        "| killed while it asked for page %zu of the list: requests of lists after the restart | %zu, of these %zu for "
        "first pages |\n",
        before, after.lists, after.first_pages);
  }

  /// The same, killed when half of the contents were there.
  void be_killed_reading() {
    google_.forget();
    std::size_t before = 0;
    {
      const auto server = start("three");
      while (before < files_ / 2) {
        // Answers once a part more has been asked for.
        if (!google_.wait_for_requests("/drive/v3/files/", before + std::max<std::size_t>(files_ / 50, 1)))
          throw std::runtime_error("it does not export");
        before = counted(google_).exports;
      }
      server->kill();
    }
    before = counted(google_).exports;
    google_.forget();
    const auto server = start("three");
    await_indexed(*server);
    const auto after = counted(google_);
    std::printf("| killed after %zu exports: exports after the restart | %zu of %zu |\n", before, after.exports, files_);
  }

 private:
  /// Of the list, with the folders that the stand-in makes.
  [[nodiscard]] std::size_t pages() const { return (files_ + files_ / 50 + 1 + 999) / 1'000; }

  std::unique_ptr<asked_program> start(const std::string& name) {
    folder_.put(name + ".toml",
                "[[source]]\ntype = \"gdrive\"\nname = \"team\"\ncredentials_file = \"" + folder_.path("keys/key.json") +
                    "\"\ntoken_url = \"" + google_.url("/token") + "\"\napi_url = \"" + google_.url() +
                    "\"\nrequests_per_minute = 100000\nmin_poll_interval_s = 1\nmax_poll_interval_s = 1\nstore = \"" +
                    folder_.path(name + "/drive.db") + "\"\n\n[search]\npath = \"" + folder_.path(name + "/index/search.db") +
                    "\"\n");
    return std::make_unique<asked_program>(program_, folder_.path(name + ".toml"), folder_.path(name + ".log"));
  }

  void await_listed(asked_program& server) const {
    const auto until = clock::now() + patience;
    std::size_t count = 0;
    while (count < files_) {
      count = server.listed();
      if (clock::now() > until) throw std::runtime_error("only " + std::to_string(count) + " files are listed");
    }
  }

  /// A read that waits for the index ends with an error after a while, and is made again.
  static bool is_complete(asked_program& server) try {
    const auto state = value::parse(server.read("search:///?wait=complete"));
    return state && state->boolean_at("isComplete").value_or(false);
  } catch (const std::runtime_error& e) {
    if (std::string_view(e.what()).find("\"code\":504") == std::string_view::npos) throw;
    return false;
  }

  static void await_indexed(asked_program& server) {
    const auto until = clock::now() + patience;
    while (!is_complete(server)) {
      if (clock::now() > until) throw std::runtime_error("the index is not complete");
    }
  }

  void see_change(asked_program& server) {
    constexpr int times = 10;
    std::vector<double> took;
    std::size_t most_polls = 0;
    for (int i = 0; i < times; ++i) {
      const auto id = "generated-" + std::to_string(static_cast<std::size_t>(i) * files_ / times);
      const auto word = "edited" + std::to_string(i) + "zq";
      google_.forget();
      const auto begin = clock::now();
      google_.edit(id, [&](drive_test::file& one) { one.bytes = "# Edited\n\nThe new word is " + word + ".\n"; });
      while (server.read("search:///?q=" + word).find(word + '.') == std::string::npos) {
        if (clock::now() > begin + 120s) throw std::runtime_error("an edit is never found");
      }
      took.push_back(seconds_since(begin));
      std::size_t polls = 0;
      bool is_exported = false;
      for (const auto& one : google_.requests("/drive/")) {
        is_exported = is_exported || one.path.ends_with("/export");
        if (!is_exported && one.path == "/drive/v3/changes") ++polls;
      }
      most_polls = std::max(most_polls, polls);
    }
    std::sort(took.begin(), took.end());
    std::printf(
        "| an edit, until a search finds it (%d of them; the interval is 1 s) | median %.1f s, at most %.1f s; at most "
        "%zu requests for changes until it was fetched |\n",
        times, took[took.size() / 2], took.back(), most_polls);
  }

  const std::string program_;
  const std::size_t files_;
  bench::scratch folder_;
  drive_test::stand_in google_;
};

}  // namespace

int main(int count, char** words) try {
  if (count < 2) {
    std::fprintf(stderr, "usage: drive_bench HONDANA [FILES]\n");
    return 2;
  }
  bench_of_drive of(words[1], count > 2 ? std::stoul(words[2]) : 5000);
  of.crawl();
  of.be_killed_listing();
  of.be_killed_reading();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "drive_bench: %s\n", e.what());
  return 1;
}
