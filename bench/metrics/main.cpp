/// What the store of metrics has to show: a million samples in it, a day of a metric out of it, scrapes, and being killed.
///
/// Usage: metrics_bench PROGRAM [KILLS [READS]]. With promtool and prometheus their figures stand beside. Prints Markdown
/// tables.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../figures/figures.hpp"
#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/workload.hpp"
#include "../process/child.hpp"
#include "../process/scratch.hpp"
#include "exporter.hpp"
#include "killed.hpp"
#include "made_values.hpp"
#include "os/sqlite/sqlite.hpp"
#include "peers.hpp"
#include "sources/metrics/scraping/scraper.hpp"

namespace {

using namespace metrics_bench;
using namespace hondana;
using bench::clock;

constexpr std::size_t scraped_series = 10'000;
constexpr int scrapes_timed = 20, fresh_stores = 5;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// Of this process, all of its threads.
double processor_seconds() {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) bench::fail("clock_gettime");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

instant present() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class T>
T good(result<T> what) {
  if (!what) throw std::runtime_error(what.error().public_text + " (" + what.error().private_text + ')');
  if constexpr (!std::is_void_v<T>) return std::move(*what);
}

std::unique_ptr<samples::store> open_store(const std::string& path) {
  samples::store_options how;
  how.path = path;
  how.log = [](std::string_view line) {
    std::fprintf(stderr, "metrics_bench: %.*s\n", static_cast<int>(line.size()), line.data());
  };
  return good(samples::store::open(how));
}

std::size_t read_all(const samples::store& from) {
  samples::query_limits all;
  all.max_series = 1'000'000;
  all.max_samples = 100'000'000;
  std::size_t count = 0;
  for (const auto& name : made_names())
    for (const auto& one : good(from.read({name, {}}, 0, present(), all))) count += one.samples.size();
  return count;
}

struct stored {
  double append = 0, slowest_append = 0, settle = 0, read_memory = 0, read_disk = 0, open = 0;
  std::uint64_t bytes = 0, free_bytes = 0, memory = 0;
};

stored keep(const corpus& of, const std::string& path) {
  stored out;
  {
    auto into = open_store(path);
    made_values values(of.series);
    for (std::size_t i = 0; i < of.scrapes; ++i) {
      const auto& what = values.next(of.at(i));
      const auto begin = clock::now();
      if (good(into->append(what)).stored != of.series) throw std::runtime_error("not all of a scrape was kept");
      const auto took = seconds_since(begin);
      out.append += took;
      out.slowest_append = std::max(out.slowest_append, took);
    }
    out.memory = into->statistics().memory_bytes;
    auto begin = clock::now();
    if (read_all(*into) != of.samples()) throw std::runtime_error("samples are missing");
    out.read_memory = seconds_since(begin);
    begin = clock::now();
    good(into->compact(present()));
    out.settle = seconds_since(begin);
  }
  {
    auto by = good(sqlite::connection::open(path, "store of metrics"));
    out.free_bytes = static_cast<std::uint64_t>(good(by.number("PRAGMA freelist_count")) * good(by.number("PRAGMA page_size")));
  }
  auto begin = clock::now();
  const auto again = open_store(path);
  out.open = seconds_since(begin);
  out.bytes = std::filesystem::file_size(path);
  begin = clock::now();
  if (read_all(*again) != of.samples()) throw std::runtime_error("samples are missing after the store was opened again");
  out.read_disk = seconds_since(begin);
  return out;
}

void print_kept(const corpus& of, const bench::scratch& at, const std::string& path) {
  const auto count = static_cast<double>(of.samples());
  const auto ours = keep(of, path);
  const auto a_second = [&](double seconds) { return count / seconds / 1e6; };
  const auto name = std::to_string(of.series) + " × " + std::to_string(of.scrapes);
  const auto each = static_cast<double>(ours.bytes) / count;
  std::printf("| %s, ours | %.2f | %.2f | %.1f | %.1f | %.2f, of which %.2f is free |\n", name.c_str(), a_second(ours.append),
              a_second(ours.append + ours.settle), ours.slowest_append * 1e3, a_second(ours.read_disk), each,
              static_cast<double>(ours.free_bytes) / count);
  // That takes minutes with all.
  auto some = of;
  some.scrapes /= 10;
  const auto rows = keep_in_rows(some, at.path("rows-" + std::to_string(of.series) + ".db"));
  const auto fewer = static_cast<double>(some.samples());
  std::printf("| a tenth of it, in rows of SQLite | %.2f | %.2f | | %.1f | %.2f (%.1f times ours) |\n",
              fewer / rows.write_seconds / 1e6, fewer / rows.write_seconds / 1e6, fewer / rows.read_seconds / 1e6,
              static_cast<double>(rows.bytes) / fewer, static_cast<double>(rows.bytes) / fewer / each);
  const auto folder = at.path("prometheus-" + std::to_string(of.series));
  std::filesystem::create_directories(folder);
  if (const auto blocks = keep_in_blocks(of, folder))
    std::printf("| the same in blocks of Prometheus, made by promtool | | | | | %.2f (%.2f times ours) |\n",
                static_cast<double>(*blocks) / count, static_cast<double>(*blocks) / static_cast<double>(ours.bytes));
  std::fprintf(
      stderr,
      "%s: %.1f MiB not in their final form at the end of writing; read from memory %.1f millions/s; opened again in %.1f ms\n",
      name.c_str(), static_cast<double>(ours.memory) / 1048576, a_second(ours.read_memory), ours.open * 1e3);
  std::fflush(stdout);
}

void print_times(const std::string& what, const std::vector<double>& times, std::size_t bytes, const char* aim) {
  const auto at = [&](double part) { return bench::quantile(times, part); };
  std::printf("| %s | %zu | %zu | %.2f | %.2f | %.2f | %.2f | %s |\n", what.c_str(), times.size(), bytes / 1024, at(0.5),
              at(0.9), at(0.99), at(1), aim);
  std::fflush(stdout);
}

/// A question for each time, none asked twice.
using asking = std::function<std::string(int)>;

void time_reads(const std::string& what, std::uint16_t port, int reads, const asking& question, std::string_view sign,
                const char* aim) {
  std::vector<double> times;
  std::size_t bytes = 0;
  for (int i = 0; i < reads; ++i) {
    const auto request = question(i);
    const auto begin = clock::now();
    const auto got = http_bench::fetch(port, request).body;
    times.push_back(seconds_since(begin) * 1e3);
    if (got.find(sign) == std::string::npos) throw std::runtime_error(what + ": " + got.substr(0, 400));
    bytes = got.size();
  }
  print_times(what, times, bytes, aim);
}

/// A day of metrics out of the store at `path`, by the real program, and by Prometheus where `blocks` are.
void time_days(const std::string& program, const corpus& of, const bench::scratch& at, const std::string& path,
               const std::string& blocks, int reads) {
  const auto port = http_bench::free_port();
  at.put("settings/h.toml", "[http]\nport = " + std::to_string(port) +
                                "\nthreads = 1\n[[source]]\ntype = \"metrics\"\nname = \"made\"\nprocess = "
                                "true\nmax_points_per_response = 60000\nstore = \"" +
                                path + "\"\n");
  const auto on = bench::cores_here();
  bench::stay_on(on.of_peers);
  const http_bench::contestant server({program, "serve", "--config", at.path("settings/h.toml")}, on.of_server, port,
                                      at.path("out"));
  const auto day = [&](int i) {
    const auto begin = of.first / 1000 + 60 + i * 15;
    return std::pair(std::to_string(begin), std::to_string(begin + 86'400 - 15 * 100 - 60));
  };
  const auto ours = [&](const std::string& metric, const std::string& rest) {
    return asking([=](int i) {
      const auto [begin, end] = day(i);
      return http_bench::post("/mcp", "resources/read",
                              "metrics://made/" + metric + "?start=" + begin + "&end=" + end + "&step=15s" + rest);
    });
  };
  std::printf(
      "\n| a day at 15 s, over HTTP | times | KiB | p50, ms | p90 | p99 | max | aim |\n| --- | --- | --- | --- | --- | --- | "
      "--- | --- |\n");
  const std::string one = "&match=set%3D%221%22", eight = "&match=set%3D~%22%5B1-8%5D%22";
  const std::string_view sign = "\"contents\"";
  time_reads("the first question after the start, JSON", port, 1, ours("made_load", "&match=set%3D%222%22"), sign, "");
  time_reads("a gauge of one series, JSON", port, reads, ours("made_load", one), sign, "< 50");
  time_reads("the same, CSV", port, reads, ours("made_load", one + "&format=csv"), sign, "< 50");
  time_reads("the same, a chart as SVG", port, reads, ours("made_load", one + "&format=svg"), sign, "");
  time_reads("the same, a chart as PNG", port, reads, ours("made_load", one + "&format=png"), sign, "");
  time_reads("a counter's rate, one series", port, reads,
             ours("made_sent_bytes_total", "&match=set%3D%221%22%2Cdevice%3D%22d6%22&agg=rate%5B5m%5D"), sign, "< 50");
  time_reads("the sum of the rates of 36 series", port, reads,
             ours("made_sent_bytes_total", "&agg=sum%20by%20()%20(rate%5B5m%5D)"), sign, "");
  time_reads("a gauge of 8 series, JSON", port, reads, ours("made_load", eight), sign, "");
  if (!std::filesystem::exists(blocks + "/blocks") || !std::filesystem::exists("/usr/bin/prometheus")) return;
  const auto peer = serve_blocks(blocks, on.of_server);
  const auto theirs = [&](const std::string& promql) {
    return asking([=](int i) {
      const auto [begin, end] = day(i);
      return "GET /api/v1/query_range?query=" + promql + "&start=" + begin + "&end=" + end +
             "&step=15 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    });
  };
  const std::string_view success = "\"values\"";
  time_reads("Prometheus: a gauge of one series, JSON", peer->port(), reads, theirs("made_load%7Bset%3D%221%22%7D"), success,
             "");
  time_reads("Prometheus: a counter's rate, one series", peer->port(), reads,
             theirs("rate(made_sent_bytes_total%7Bset%3D%221%22%2Cdevice%3D%22d6%22%7D%5B5m%5D)"), success, "");
  time_reads("Prometheus: the sum of the rates of 36 series", peer->port(), reads,
             theirs("sum(rate(made_sent_bytes_total%5B5m%5D))"), success, "");
  time_reads("Prometheus: a gauge of 8 series, JSON", peer->port(), reads, theirs("made_load%7Bset%3D~%22%5B1-8%5D%22%7D"),
             success, "");
}

struct scrape_times {
  std::vector<double> whole{}, asked{}, processor{};
  void add(double took, double of_it_asked, double used) {
    whole.push_back(took);
    asked.push_back(of_it_asked);
    processor.push_back(used);
  }
  void print(const std::string& what, std::size_t bytes, const char* aim) const {
    print_times(what, whole, bytes, aim);
    print_times("of it asked and parsed", asked, bytes, "");
    print_times("processor time of all of it", processor, bytes, "");
  }
};

void time_scrapes(const bench::scratch& at) {
  const auto from = start_exporter(scraped_series, bench::cores_here().of_peers);
  scrape_times firsts, others;
  for (int round = 0; round < fresh_stores; ++round) {
    const std::shared_ptr<samples::store> into = open_store(at.path("scraped-" + std::to_string(round) + ".db"));
    scraping::target target;
    target.job = "made";
    target.instance = "127.0.0.1:9100";
    target.server = good(
        endpoint::endpoint::create({.url = "http://127.0.0.1:" + std::to_string(from.port) + "/metrics", .proxy = "none"}));
    scraping::scraper by(into, {target}, {}, {});
    for (int i = 0; i <= scrapes_timed; ++i) {
      const auto begin = clock::now();
      const auto before = processor_seconds();
      by.scrape_once();
      const auto used = (processor_seconds() - before) * 1e3;
      const auto took = seconds_since(begin) * 1e3;
      const auto how = by.targets().at(0);
      if (!how.is_up || how.samples != scraped_series) throw std::runtime_error("a scrape failed: " + how.last_error);
      (i == 0 ? firsts : others).add(took, static_cast<double>(how.duration.count()) / 1e3, used);
    }
  }
  std::printf(
      "\n| a scrape of %zu series | times | KiB | p50, ms | p90 | p99 | max | aim |\n| --- | --- | --- | --- | --- | --- | --- "
      "| --- |\n",
      scraped_series);
  others.print("asked, parsed and kept", from.bytes, "< 100");
  firsts.print("the first of a store, when all series are new", from.bytes, "< 100");
}

/// In a process of its own, whose memory nothing else has used.
void time_scrapes_apart(const bench::scratch& at) {
  bench::child apart(
      [&](int, int out) {
        time_scrapes(at);
        if (::write(out, "x", 1) != 1) bench::fail("write");
      },
      bench::cores_here().of_server);
  char done = 0;
  static_cast<void>(apart.receive(&done, 1));
}

void print_kills(const bench::scratch& at, int times) {
  const auto got = kill_again_and_again(at.path("killed.db"), times);
  std::printf("\n| kill -9, %d times | |\n| --- | --- |\n", got.times);
  std::printf("| batches that were acknowledged | %llu |\n| of these lost | %llu |\n| kept before anybody was told | %llu |\n",
              static_cast<unsigned long long>(got.acknowledged), static_cast<unsigned long long>(got.lost),
              static_cast<unsigned long long>(got.more));
  std::printf(
      "| samples of batches that are not whole | %llu |\n| files found damaged | %d |\n| samples at the end | %llu |\n| "
      "slowest opening, ms | %.1f |\n",
      static_cast<unsigned long long>(got.partial), got.set_aside, static_cast<unsigned long long>(got.samples),
      got.slowest_open);
  std::fflush(stdout);
}

void run(const std::string& program, int kills, int reads) {
  const bench::scratch at;
  // Before there is any thread.
  if (kills > 0) print_kills(at, kills);
  time_scrapes_apart(at);
  const corpus wide{1000, 1000, present() / step * step - 1001 * step};
  const corpus day{180, 5760, present() / step * step - 5761 * step};
  std::printf(
      "\n| a million samples, series × scrapes | written, millions/s | in their final form | slowest scrape, ms | read, "
      "millions/s | "
      "bytes a sample on disk |\n| --- | --- | --- | --- | --- | --- |\n");
  print_kept(wide, at, at.path("wide.db"));
  // A server takes no store beside its own configuration.
  std::filesystem::create_directories(at.path("kept"));
  print_kept(day, at, at.path("kept/day.db"));
  if (reads > 0) time_days(program, day, at, at.path("kept/day.db"), at.path("prometheus-180"), reads);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int usual_kills = 100, usual_reads = 60;
  const auto kills = count > 2 ? std::atoi(arguments[2]) : usual_kills;
  const auto reads = count > 3 ? std::atoi(arguments[3]) : usual_reads;
  if (count < 2 || count > 4 || kills < 0 || reads < 0 || reads > 100) {
    std::fprintf(stderr, "usage: metrics_bench PROGRAM [KILLS [READS]]\n");
    return 2;
  }
  try {
    run(arguments[1], kills, reads);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "metrics_bench: %s\n", why.what());
    return 1;
  }
  return 0;
}
