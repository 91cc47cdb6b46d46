/// What logs have to show: the end and the middle of a very long one, memory, the time from a line to its notification, and
/// rotations under load.
///
/// Usage: logs_bench PROGRAM [GIGABYTES [LINES]]. Needs logrotate. Prints Markdown tables.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
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
#include "log_file.hpp"

namespace {

using bench::clock;

constexpr int reads = 100;
constexpr int rotations = 24;
constexpr int lines_a_piece = 50;

double milliseconds_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// The body of a read, which has contents.
std::string body_of(std::uint16_t port, const std::string& uri) {
  auto got = http_bench::fetch(port, http_bench::post("/mcp", "resources/read", uri)).body;
  if (got.find("\"contents\"") == std::string::npos) throw std::runtime_error(uri + " is not answered: " + got.substr(0, 300));
  return got;
}

/// The numbers of the lines of an answer, the oldest first.
std::vector<std::uint64_t> numbers_in(const std::string& body) {
  std::vector<std::uint64_t> out;
  constexpr std::string_view sign = "seq=";
  for (auto at = body.find(sign); at != std::string::npos; at = body.find(sign, at + 1))
    out.push_back(std::strtoull(body.c_str() + at + sign.size(), nullptr, 10));
  return out;
}

/// Where the page before is; empty at the beginning of the log.
std::string older_of(const std::string& body) {
  constexpr std::string_view name = "\"dev.hondana/next\":\"";
  const auto at = body.find(name);
  if (at == std::string::npos) return {};
  const auto begin = at + name.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

void print_times(const char* what, const std::vector<double>& times, const char* aim) {
  const auto at = [&](double part) { return bench::quantile(times, part); };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.2f | %s |\n", what, times.size(), at(0.5), at(0.9), at(0.99), at(1), aim);
  std::fflush(stdout);
}

/// Each asks for what nothing keeps an answer to.
std::vector<double> time_ends(std::uint16_t port, const std::string& path, const logs_bench::written_log& log, bool is_cold) {
  std::vector<double> times;
  for (int i = 0; i < (is_cold ? reads / 10 : reads); ++i) {
    if (is_cold) logs_bench::forget_pages(path);
    const auto uri =
        "log://big/?lines=100&until=2100-01-01T00:0" + std::to_string(is_cold ? 1 : 0) + ":00." + std::to_string(100 + i) + "Z";
    const auto begin = clock::now();
    const auto got = numbers_in(body_of(port, uri));
    times.push_back(milliseconds_since(begin));
    if (got.size() != 100 || got.back() != log.lines - 1) throw std::runtime_error("these are not the last lines");
  }
  return times;
}

std::vector<double> time_middles(std::uint16_t port, const std::string& path, const logs_bench::written_log& log,
                                 bool is_cold) {
  std::vector<double> times;
  const auto count = is_cold ? reads / 10 : reads;
  for (int i = 0; i < count; ++i) {
    if (is_cold) logs_bench::forget_pages(path);
    const auto number = log.lines / static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(i) + (is_cold ? 17 : 5);
    if (number + 50 >= log.lines) break;
    const auto from = log.first_millisecond + static_cast<std::int64_t>(number);
    const auto uri = "log://big/?lines=100&since=" + logs_bench::time_text(from) + "&until=" + logs_bench::time_text(from + 50);
    const auto begin = clock::now();
    const auto got = numbers_in(body_of(port, uri));
    times.push_back(milliseconds_since(begin));
    if (got.size() != 50 || got.front() != number) throw std::runtime_error("these are not the lines of that time: " + uri);
  }
  return times;
}

std::vector<double> time_told(std::uint16_t port, const std::string& path, int count) {
  // Wider than the window within which changes of one resource become one.
  constexpr std::chrono::milliseconds between{160};
  feed_bench::crowd one(port);
  one.join(1, feed_bench::modern_stream("log://told/"));
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(between);
    const auto begin = clock::now();
    logs_bench::append_to(path, logs_bench::log_line(0, static_cast<std::uint64_t>(i)));
    const auto had = one.await_event(feed_bench::updated).first;
    times.push_back(static_cast<double>(had - begin.time_since_epoch().count()) / 1e6);
  }
  return times;
}

struct sweep {
  std::uint64_t pages = 0, lost = 0, repeated = 0;
};

/// Goes back from the newest line to number `until` or the beginning, and compares.
void sweep_back(std::uint16_t port, std::uint64_t until, sweep& into) {
  std::uint64_t expected = 0;
  bool has_begun = false;
  for (std::string uri = "log://turned/?lines=1000"; !uri.empty(); ++into.pages) {
    const auto body = body_of(port, uri);
    const auto numbers = numbers_in(body);
    for (auto one = numbers.rbegin(); one != numbers.rend(); ++one) {
      if (has_begun && *one > expected) ++into.repeated;
      if (has_begun && *one < expected) into.lost += expected - *one;
      has_begun = true;
      if (*one <= until) return;
      expected = *one - 1;
    }
    uri = older_of(body);
  }
  if (has_begun && until == 0 && expected != 0) into.lost += expected;
}

/// Lines are written while logrotate rotates and a client goes back through them, again and again.
void turn_over(std::uint16_t port, const bench::scratch& at) {
  const auto path = at.path("turned/turned.log");
  at.put("rotate.conf", path + " {\n  rotate 100\n  compress\n  delaycompress\n  nocreate\n  missingok\n}\n");
  std::atomic<bool> is_over{false}, has_failed{false};
  std::atomic<std::uint64_t> written{0};
  std::exception_ptr trouble;
  std::thread writer([&] {
    try {
      std::uint64_t number = 1;
      while (!is_over.load()) {
        std::string piece;
        for (int i = 0; i < lines_a_piece; ++i) piece += logs_bench::log_line(1'769'860'800'000, number++);
        logs_bench::append_to(path, piece);
        written.store(number - 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    } catch (...) {
      trouble = std::current_exception();
      has_failed.store(true);
    }
  });
  sweep during;
  try {
    while (written.load() == 0 && !has_failed.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < rotations; ++i) {
      (void)bench::cost_of({"/usr/sbin/logrotate", "-f", "-s", at.path("rotate.state"), at.path("rotate.conf")});
      const auto seen = written.load();
      sweep_back(port, seen > 20'000 ? seen - 20'000 : 1, during);
    }
  } catch (...) {
    is_over.store(true);
    writer.join();
    throw;
  }
  is_over.store(true);
  writer.join();
  if (trouble) std::rethrow_exception(trouble);
  // All that was written, from the newest to the first.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  sweep whole;
  std::set<std::uint64_t> all;
  std::uint64_t count = 0;
  for (std::string uri = "log://turned/?lines=10000"; !uri.empty(); ++whole.pages) {
    const auto body = body_of(port, uri);
    for (const auto one : numbers_in(body)) {
      all.insert(one);
      ++count;
    }
    uri = older_of(body);
  }
  whole.repeated = count - all.size();
  whole.lost = written.load() - all.size();
  std::printf("\n| %d rotations by logrotate under load | lines | pages | lost | repeated |\n| --- | --- | --- | --- | --- |\n",
              rotations);
  std::printf("| while they happened, back from the newest each time | | %llu | %llu | %llu |\n",
              static_cast<unsigned long long>(during.pages), static_cast<unsigned long long>(during.lost),
              static_cast<unsigned long long>(during.repeated));
  std::printf("| afterwards, all | %llu | %llu | %llu | %llu |\n", static_cast<unsigned long long>(written.load()),
              static_cast<unsigned long long>(whole.pages), static_cast<unsigned long long>(whole.lost),
              static_cast<unsigned long long>(whole.repeated));
}

void run(const std::string& program, double gigabytes, int told_lines) {
  const bench::scratch at;
  const auto big = at.path("big.log");
  at.put("told/told.log", logs_bench::log_line(0, 0));
  at.put("turned/turned.log", "");
  const auto log = logs_bench::write_log(big, static_cast<std::uint64_t>(gigabytes * 1e9));
  const auto port = http_bench::free_port();
  at.put("h.toml", "[http]\nport = " + std::to_string(port) +
                       "\nthreads = 1\n[[source]]\ntype = \"log\"\npath = \"big.log\"\n[[source]]\ntype = \"log\"\npath = "
                       "\"told/told.log\"\n[[source]]\ntype = \"log\"\npath = \"turned/turned.log\"\n");
  const auto on = bench::cores_here();
  bench::stay_on(on.of_peers);
  const http_bench::contestant server({program, "serve", "--config", at.path("h.toml")}, on.of_server, port, at.path("out"));
  const auto at_first = server.process().status_kib("VmRSS");
  std::printf("A log of %.1f GB, %llu lines; server on one core, peers on another.\n\n", gigabytes,
              static_cast<unsigned long long>(log.lines));
  std::printf("| what | times | p50, ms | p90 | p99 | max | aim |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  print_times("the last 100 lines", time_ends(port, big, log, false), "< 50");
  print_times("the same, not in the page cache", time_ends(port, big, log, true), "< 50");
  print_times("50 lines by `since` and `until`, anywhere", time_middles(port, big, log, false), "< 100");
  print_times("the same, not in the page cache", time_middles(port, big, log, true), "< 100");
  const auto peak = server.process().status_kib("VmHWM");
  print_times("line written → `updated`", time_told(port, at.path("told/told.log"), told_lines), "< 20");
  const auto begin = clock::now();
  (void)body_of(port, "log://big/summary?since=1h");
  const auto summed = milliseconds_since(begin);
  std::printf(
      "\n| memory, MiB | |\n| --- | --- |\n| at the start | %.1f |\n| peak of all reads above | %.1f |\n| peak with a summary "
      "of %.0f ms | %.1f |\n",
      static_cast<double>(at_first) / 1024, static_cast<double>(peak) / 1024, summed,
      static_cast<double>(server.process().status_kib("VmHWM")) / 1024);
  turn_over(port, at);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr double usual_gigabytes = 10;
  constexpr int usual_lines = 200;
  const auto gigabytes = count > 2 ? std::strtod(arguments[2], nullptr) : usual_gigabytes;
  const auto told_lines = count > 3 ? std::atoi(arguments[3]) : usual_lines;
  if (count < 2 || count > 4 || gigabytes <= 0 || told_lines <= 0) {
    std::fprintf(stderr, "usage: logs_bench PROGRAM [GIGABYTES [LINES]]\n");
    return 2;
  }
  try {
    run(arguments[1], gigabytes, told_lines);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "logs_bench: %s\n", why.what());
    return 1;
  }
  return 0;
}
