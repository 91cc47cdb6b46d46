/// What git repositories have to show: pages of a long log, reads of blobs beside reads of files, and the time from `git
/// commit` to the notification.
///
/// Usage: git_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Needs the git program. Prints Markdown tables.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../feed/crowd.hpp"
#include "../feed/openings.hpp"
#include "../figures/figures.hpp"
#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../process/child.hpp"
#include "../process/scratch.hpp"

namespace {

using bench::clock;
using bench::figures;

constexpr int commits = 100'000;
constexpr int pages = 200;
constexpr int told_commits = 100;

/// Runs git by the shell in the repository; throws when it fails.
void git(const std::string& in, const std::string& arguments) {
  (void)bench::cost_of({"/bin/sh", "-c",
                        "cd '" + in +
                            "' && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -c user.name=bench "
                            "-c user.email=bench@example.org -c gc.auto=0 " +
                            arguments});
}

/// A repository of a hundred thousand commits on one branch, each of which changes one of a thousand files.
void make_repository(const bench::scratch& at) {
  at.put("shelf/note.txt", "");
  const auto folder = at.path("shelf");
  git(folder, "init --quiet --initial-branch=main");
  {
    std::ofstream to(at.path("stream"), std::ios::binary);
    const std::string text = "A small text, as most are.\n";
    for (int i = 1; i <= commits; ++i) {
      const auto message = "change number " + std::to_string(i) + "\n\nwith a body of a line, as many have.\n";
      const auto content = "content " + std::to_string(i) + '\n';
      to << "commit refs/heads/main\ncommitter A U Thor <author@example.org> " << 1'600'000'000 + 60 * i << " +0000\ndata "
         << message.size() << '\n'
         << message << '\n';
      if (i == 1) to << "M 644 inline note.txt\ndata " << text.size() << '\n' << text << '\n';
      to << "M 644 inline d" << i % 10 << "/f" << i % 1000 << ".txt\ndata " << content.size() << '\n' << content << '\n';
    }
    if (!to.flush()) throw std::runtime_error("the history cannot be written");
  }
  git(folder, "fast-import --quiet < ../stream && git reset --quiet --hard && git rev-list --first-parent HEAD > ../ids");
}

std::vector<std::string> ids_in(const std::string& path) {
  std::istringstream lines(bench::text_in(path));
  std::vector<std::string> out;
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  if (out.size() != commits) throw std::runtime_error("git made " + std::to_string(out.size()) + " commits");
  return out;
}

std::string read_of(const std::string& uri) { return http_bench::post("/mcp", "resources/read", uri); }

double milliseconds_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

void print_times(const char* what, const std::vector<double>& times) {
  const auto at = [&](double part) { return bench::quantile(times, part); };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.2f |\n", what, times.size(), at(0.5), at(0.9), at(0.99), at(1));
}

/// Pages that begin all over the history, each of which is asked for once.
std::vector<double> time_pages(std::uint16_t port, const std::vector<std::string>& ids, const std::string& rest) {
  std::vector<double> times;
  for (int i = 0; i < pages; ++i) {
    const auto& from = ids[static_cast<std::size_t>(i) * (ids.size() / pages)];
    const auto request = read_of("git://shelf/log?ref=" + from + rest);
    const auto begin = clock::now();
    const auto got = http_bench::fetch(port, request).body;
    times.push_back(milliseconds_since(begin));
    if (got.find("\"contents\"") == std::string::npos) throw std::runtime_error("no page: " + got.substr(0, 300));
  }
  return times;
}

/// From the end of `git commit`, which has moved the branch by then; 0 when it was told before.
void time_commits(std::uint16_t port, const std::string& folder, std::vector<double>& from_end, std::vector<double>& whole) {
  // Wider than the window within which changes of one resource become one.
  constexpr std::chrono::milliseconds between_changes{160};
  feed_bench::crowd one(port);
  one.join(1, feed_bench::modern_stream("git://shelf/log"));
  for (int i = 0; i < told_commits; ++i) {
    std::this_thread::sleep_for(between_changes);
    const auto begin = clock::now();
    git(folder, "commit --quiet --allow-empty -m " + std::to_string(i));
    const auto end = clock::now();
    const auto had = one.await_event(feed_bench::updated).first;
    const auto since = [&](clock::time_point from) { return static_cast<double>(had - from.time_since_epoch().count()) / 1e6; };
    from_end.push_back(std::max(since(end), 0.0));
    whole.push_back(since(begin));
  }
}

struct compared {
  std::string name;
  std::string request;
  std::size_t body = 0;
  std::array<figures, 2> got{};  // by number of connections
};

void compare_reads(const http_bench::contestant& server, std::vector<compared> all, std::chrono::milliseconds time,
                   int repetitions) {
  constexpr std::array crowds{1, 32};
  for (auto& one : all) {
    one.body = http_bench::settled(server.port(), one.request).size();
    if (one.body < 100) throw std::runtime_error(one.name + " is not answered");
  }
  for (int turn = 0; turn < repetitions; ++turn)
    for (auto& one : all)
      for (std::size_t i = 0; i < crowds.size(); ++i)
        http_bench::measure(server, one.request, one.body, crowds[i], time, one.got[i]);
  std::printf(
      "\n| warm read | connections | requests/s | µs CPU a request | of the files source |\n| --- | --- | --- | --- | --- |\n");
  for (std::size_t i = 0; i < crowds.size(); ++i)
    for (const auto& one : all)
      std::printf("| %s | %d | %.0f | %.1f | %.3f |\n", one.name.c_str(), crowds[i], bench::median(one.got[i].rates),
                  bench::median(one.got[i].costs), bench::median_ratio(one.got[i].rates, all.front().got[i].rates));
}

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  const bench::scratch at;
  make_repository(at);
  const auto ids = ids_in(at.path("ids"));
  const auto port = http_bench::free_port();
  at.put("h.toml", "[http]\nport = " + std::to_string(port) +
                       "\nthreads = 1\n[[source]]\ntype = \"files\"\npath = \"shelf\"\n" +
                       "[[source]]\ntype = \"git\"\npath = \"shelf\"\n");
  const auto on = bench::cores_here();
  bench::stay_on(on.of_peers);
  const http_bench::contestant server({program, "serve", "--config", at.path("h.toml")}, on.of_server, port, at.path("out"));
  std::printf("A repository of %d commits; server on one core, peers on another.\n\n", commits);
  std::printf("| what | times | p50, ms | p90 | p99 | max |\n| --- | --- | --- | --- | --- | --- |\n");
  print_times("a page of the log, 50 commits", time_pages(port, ids, "&limit=50"));
  print_times("the same as JSON", time_pages(port, ids, "&limit=50&format=json"));
  std::vector<double> from_end, whole;
  time_commits(port, at.path("shelf"), from_end, whole);
  print_times("from the end of `git commit` to `updated`", from_end);
  print_times("from its start, with all that git does", whole);
  compare_reads(server,
                {{"the file, by the files source", read_of("file://" + at.path("shelf/note.txt"))},
                 {"the blob at a whole id", read_of("git://shelf/blob/" + ids.front() + "/note.txt")},
                 {"the blob at HEAD", read_of("git://shelf/blob/HEAD/note.txt")}},
                time, repetitions);
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "git_bench", run); }
