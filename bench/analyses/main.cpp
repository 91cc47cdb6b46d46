/// What the cache of analyses has to show: a million entries, lookups among them, claimants of several processes, and kills.
///
/// Usage: analyses_bench [ENTRIES [KILLS]]. Prints a Markdown table.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../process/scratch.hpp"
#include "killed.hpp"
#include "redis_here.hpp"
#include "rows.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"

namespace {

using namespace hondana;
using namespace hondana::analyses;
using namespace analyses_bench;
using steady = std::chrono::steady_clock;

constexpr std::size_t lookups = 100'000;
/// Each by a claim and a put of its own; what comes after stands in the tables as these would leave it.
constexpr std::size_t put_in_file = 20'000;

template <class T>
T good(result<T> what) {
  if (!what) throw std::runtime_error(what.error().public_text + " (" + what.error().private_text + ')');
  return std::move(*what);
}

put_parameters whole_of(const analysis& what) {
  auto out = good(prepare_put(what, analysis_status::complete));
  out.fresh_ttl = std::chrono::hours(24 * 30);
  return out;
}

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

/// `of` is sorted.
double part(const std::vector<double>& of, double which) {
  return of.empty() ? 0 : of[std::min(of.size() - 1, static_cast<std::size_t>(which * static_cast<double>(of.size())))];
}

/// Claims and puts numbers `from` to `to`, by so many threads at the same time.
void fill(const std::string& name, analysis_store& in, std::size_t from, std::size_t to, std::size_t threads) {
  const auto begin = steady::now();
  std::vector<std::string> wrong(threads);
  {
    std::vector<std::jthread> all;
    for (std::size_t which = 0; which < threads; ++which)
      all.emplace_back([&, which] {
        try {
          for (auto i = from + which; i < to; i += threads) {
            const auto what = numbered(i);
            claim_parameters wanted;
            wanted.question = what.question;
            wanted.key = make_key(what.question);
            wanted.session = what.session;
            wanted.lease_ttl = std::chrono::minutes(1);
            const auto got = good(in.claim(wanted));
            if (!got.ticket) throw std::runtime_error("a claim was not given");
            static_cast<void>(good(in.put(*got.ticket, whole_of(what))));
          }
        } catch (const std::runtime_error& why) {
          wrong[which] = why.what();
        }
      });
  }
  for (const auto& one : wrong)
    if (!one.empty()) throw std::runtime_error(one);
  const auto count = static_cast<double>(to - from);
  std::printf("| %s: claimed and put, %zu by %zu at a time | %.0f /s |\n", name.c_str(), to - from, threads,
              count / seconds_since(begin));
}

void look(const std::string& name, analysis_store& in, std::size_t entries, double bytes) {
  std::mt19937_64 draw(3);
  double bodies = 0;
  for (std::size_t i = 0; i < 1000; ++i) bodies += static_cast<double>(encode_body(numbered(draw() % entries)).size()) / 1000;
  std::printf("| %s: bytes an entry, of which its contents | %.0f, %.0f |\n", name.c_str(),
              bytes / static_cast<double>(entries), bodies);
  for (const bool is_there : {true, false}) {
    std::vector<double> times;
    times.reserve(lookups);
    for (std::size_t i = 0; i < lookups; ++i) {
      const auto key = make_key(numbered(is_there ? draw() % entries : entries + draw() % entries).question);
      const auto asked = steady::now();
      const auto found = good(in.look_up(key));
      times.push_back(seconds_since(asked) * 1000);
      if ((found.status == cached_answer::cache_status::fresh) != is_there)
        throw std::runtime_error("a lookup has found the wrong thing");
    }
    std::sort(times.begin(), times.end());
    std::printf("| %s: lookup among %zu, %s: p50, p99, max | %.3f ms, %.3f ms, %.2f ms |\n", name.c_str(), entries,
                is_there ? "a hit" : "a miss", part(times, 0.5), part(times, 0.99), times.back());
  }
  std::fflush(stdout);
}

void show(const std::string& name, const kills& what) {
  std::printf(
      "| %s: kill -9, %zu times: acknowledged, lost, half | %llu, %llu, %llu (%llu kept that nobody was told of; readable "
      "again "
      "within %.0f ms) |\n",
      name.c_str(), what.times, static_cast<unsigned long long>(what.acknowledged), static_cast<unsigned long long>(what.lost),
      static_cast<unsigned long long>(what.partial), static_cast<unsigned long long>(what.more), what.slowest);
  std::fflush(stdout);
}

void show(const std::string& name, const crowd& what) {
  std::printf("| %s: 100 claimants in 4 processes: computed, served | %llu, %llu (%.0f ms) |\n", name.c_str(),
              static_cast<unsigned long long>(what.computed), static_cast<unsigned long long>(what.served), what.milliseconds);
  std::fflush(stdout);
}

std::shared_ptr<analysis_store> in_file(const std::string& path, bool is_synced) {
  embedded_options how;
  how.path = path;
  how.is_synced = is_synced;
  return good(open_embedded(how));
}

double size_of_file(const std::string& path) {
  double out = 0;
  for (const auto* ending : {"", "-wal"}) {
    struct stat facts{};
    if (::stat((path + ending).c_str(), &facts) == 0) out += static_cast<double>(facts.st_size);
  }
  return out;
}

void measure_sqlite(const bench::scratch& folder, std::size_t entries, std::size_t times) {
  if (entries > 0) {
    const auto path = folder.path("many.db");
    const auto in = in_file(path, false);
    const auto put = std::min(entries, put_in_file);
    fill("SQLite", *in, 0, put, 1);
    write_rows(path, put, entries);
    look("SQLite", *in, entries, size_of_file(path));
  }
  const auto open = [&] { return in_file(folder.path("killed.db"), true); };
  show("SQLite", claim_at_once(open, 4, 25));
  if (times > 0) show("SQLite", kill_again_and_again(open, times, [](int pid) { ::kill(pid, SIGKILL); }, [] {}));
}

void measure_redis(const bench::scratch& folder, std::size_t entries, std::size_t times) {
  if (entries > 0) {
    folder.put("many/here", "");
    const redis_here server(folder.path("many"), false);
    const auto in = good(open_redis(server.options()));
    const double before = server.used_memory();
    fill("Redis", *in, 0, entries, 8);
    look("Redis", *in, entries, server.used_memory() - before);
  }
  folder.put("killed/here", "");
  redis_here server(folder.path("killed"), true);
  const auto open = [&] { return good(open_redis(server.options())); };
  show("Redis", claim_at_once(open, 4, 25));
  // Otherwise reading the file again would take longer from kill to kill.
  constexpr std::size_t between_rewrites = 50;
  std::size_t starts = 0;
  const auto again = [&] {
    server.start();
    if (++starts % between_rewrites == 0) server.rewrite();
  };
  if (times > 0) show("Redis", kill_again_and_again(open, times, [&](int) { server.kill(); }, again));
}

int run(int count, char** arguments) {
  const auto entries = count > 1 ? static_cast<std::size_t>(std::strtoull(arguments[1], nullptr, 10)) : 1'000'000;
  const auto times = count > 2 ? static_cast<std::size_t>(std::strtoull(arguments[2], nullptr, 10)) : 1'000;
  const bench::scratch folder;
  std::printf("| What | Measured |\n|---|---|\n");
  measure_sqlite(folder, entries, times);
  measure_redis(folder, entries, times);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "analyses_bench: %s\n", error.what());
    return 1;
  }
}
