/// What the index has to show: a hundred thousand passages, searches among them, and being killed while it indexes.
///
/// Usage: search_bench [PASSAGES [QUERIES [KILLS]]]. Prints a Markdown table. `search_bench --index FILE VERSION` indexes until
/// it is killed or done, for the last line.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>

#include "../process/scratch.hpp"
#include "drawn.hpp"
#include "os/sqlite/sqlite.hpp"
#include "search/index/embedded/fts_words.hpp"
#include "search/index/search_engine.hpp"
#include "search/index/search_query.hpp"
#include "server/core/core.hpp"
#include "server/gate/gate.hpp"
#include "server/session/session.hpp"
#include "server/tools/search_engine.hpp"
#include "server/tools/tool_context.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t passages_each = 10;
constexpr std::size_t killed_documents = 400;

template <class T>
T good(result<T> what) {
  if (!what) throw std::runtime_error(what.error().public_text + " (" + what.error().private_text + ')');
  if constexpr (!std::is_void_v<T>) return std::move(*what);
}

/// A server with an index in a file; nothing is listened on.
struct indexed {
  std::shared_ptr<search_index> index;
  std::unique_ptr<server> of;

  indexed(const std::string& path, std::shared_ptr<provider> source) {
    search_options how;
    how.path = path;
    how.tokenizer = tokenizer_kind::mecab;
    index = good(open_search_index(std::move(how)));
    server_options options;
    options.search = index;
    of = std::make_unique<server>(good(server::create(options)));
    good(of->add(std::move(source)));
  }
  void complete() const { good(wait_until_indexed(*index, clock::now() + 3600s)); }
};

double milliseconds_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// Of this thread, which is what a search costs but for looking up its results.
double processor_milliseconds() {
  timespec used{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) throw std::runtime_error("clock_gettime");
  return static_cast<double>(used.tv_sec) * 1000 + static_cast<double>(used.tv_nsec) / 1e6;
}

/// `of` is sorted.
double part(const std::vector<double>& of, double which) {
  return of[std::min(of.size() - 1, static_cast<std::size_t>(which * static_cast<double>(of.size())))];
}

/// Asks for drawn queries as a caller, and prints what that took.
void ask(const search::engine& engine, const tools::tool_services& in, const caller_info& who, const search_bench::drawn& texts,
         std::size_t queries) {
  std::vector<double> times;
  std::vector<double> costs;
  times.reserve(queries);
  costs.reserve(queries);
  std::size_t found = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    request_context by;
    by.caller = who;
    by.deadline = clock::now() + 60s;
    const auto asked = clock::now();
    const double spent = processor_milliseconds();
    const auto got = engine.find(by, in, {texts.query(i), 10, {}});
    times.push_back(milliseconds_since(asked));
    costs.push_back(processor_milliseconds() - spent);
    found += good(got).hits.size();
  }
  std::sort(times.begin(), times.end());
  std::printf("| %zu searches, %.1f results each: p50, p99, max | %.1f ms, %.1f ms, %.1f ms |\n", queries,
              static_cast<double>(found) / static_cast<double>(queries), part(times, 0.5), part(times, 0.99), times.back());
  std::sort(costs.begin(), costs.end());
  std::printf("| processor time of one: p50, p99, max | %.1f ms, %.1f ms, %.1f ms |\n", part(costs, 0.5), part(costs, 0.99),
              costs.back());
}

/// The peer: the same words asked of the same table by SQLite's own ranking, one connection, rows only.
void ask_sqlite(const std::string& path, const search_bench::drawn& texts, std::size_t queries) {
  const auto by = good(tokenizer::make_mecab_tokenizer());
  auto on = good(sqlite::connection::open(path, "index"));
  auto asked = good(on.prepare("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 10"));
  std::vector<double> times;
  times.reserve(queries);
  for (std::size_t i = 0; i < queries; ++i) {
    const auto words = search::parse_words(*by, texts.query(i));
    const auto expression = search::match_expression(words, std::vector<bool>(words.size(), true));
    const auto begin = clock::now();
    asked.bind_text(1, expression);
    while (good(asked.step())) {
    }
    asked.reset();
    times.push_back(milliseconds_since(begin));
  }
  std::sort(times.begin(), times.end());
  std::printf("| SQLite's own best ten rows by bm25() for the same words: p50, p99, max | %.1f ms, %.1f ms, %.1f ms |\n",
              part(times, 0.5), part(times, 0.99), times.back());
}

void measure(const std::string& path, std::size_t passages, std::size_t queries) {
  const search_bench::drawn texts;
  const auto begin = clock::now();
  const indexed all(path, search_bench::source_of(texts, passages / passages_each, passages_each, 1));
  all.complete();
  const double seconds = milliseconds_since(begin) / 1000;
  const auto state = search_state_of(*all.index);
  const auto count = static_cast<double>(state.passages);
  std::printf("| %llu passages indexed | %.1f s, %.0f a second |\n", static_cast<unsigned long long>(state.passages), seconds,
              count / seconds);
  std::printf("| bytes a passage on disk | %.0f |\n", static_cast<double>(state.bytes) / count);
  const auto context = all.of->core()->current();
  const auto& engine = dynamic_cast<const search::engine&>(*all.index->engine());
  tools::tool_services in{context->catalog, context->gate, context->timers, nullptr};
  ask(engine, in, {}, texts, queries);
  ask_sqlite(path, texts, queries);
  // The same for somebody who sees a tenth of the documents.
  access_rules rules;
  rules.rules = {{.patterns = {"drawn:///*7.md"}, .level = access_level::read}};
  in.gate = good(gate::gate::make({}, rules));
  caller_info guest;
  guest.identity = "guest";
  std::printf("| who sees a tenth of it | |\n");
  ask(engine, in, guest, texts, queries);
}

/// What stands in the file is whole: each document has passages, each passage words, and the words are as SQLite made them.
void check(const std::string& path) {
  auto on = good(sqlite::connection::open(path, "index"));
  const auto number = [&](const char* sql) { return good(on.number(sql)); };
  if (good(on.text("PRAGMA integrity_check")) != "ok") throw std::runtime_error("the file is damaged");
  good(on.execute("INSERT INTO words(words) VALUES('integrity-check')"));
  if (number("SELECT count(*) FROM passages") != number("SELECT count(*) FROM words_docsize"))
    throw std::runtime_error("passages and words differ");
  if (number("SELECT count(*) FROM documents d WHERE NOT EXISTS(SELECT 1 FROM passages p WHERE p.id>>16=d.id)") != 0)
    throw std::runtime_error("a document has no passages");
  if (number("SELECT count(*) FROM passages p WHERE NOT EXISTS(SELECT 1 FROM documents d WHERE d.id=p.id>>16)") != 0)
    throw std::runtime_error("a passage has no document");
  // Each document is of one version: its last passage tells which, and the entry too.
  if (number("SELECT count(*) FROM documents d WHERE NOT EXISTS(SELECT 1 FROM passages p WHERE p.id>>16=d.id AND instr(p.text, "
             "'version'||d.version)>0)") != 0)
    throw std::runtime_error("a document is half of one version and half of another");
}

void kill_at_random(const std::string& program, const std::string& path, std::size_t kills) {
  std::mt19937 by(11);
  std::size_t while_indexing = 0;
  std::uint64_t version = 1;
  for (std::size_t i = 0; i < kills; ++i) {
    const auto number = std::to_string(version);
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) {
      ::execl(program.c_str(), program.c_str(), "--index", path.c_str(), number.c_str(), nullptr);
      ::_exit(127);
    }
    const int ended_by = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (ended_by < 0) throw std::runtime_error("cannot wait for the end of a process");
    const std::chrono::milliseconds wait(20 + by() % 700);
    const auto until = clock::now() + wait;
    int how = 0;
    bool has_ended = false;
    while (clock::now() < until && !has_ended) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
      pollfd end{ended_by, POLLIN, 0};
      if (::poll(&end, 1, static_cast<int>(std::max<long>(left, 0))) == 1) has_ended = ::waitpid(pid, &how, 0) == pid;
    }
    ::close(ended_by);
    if (has_ended) {
      if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) throw std::runtime_error("indexing failed");
      ++version;  // all is indexed: from now on everything has changed
    } else {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &how, 0);
      ++while_indexing;
    }
    if (::access(path.c_str(), F_OK) == 0) check(path);
  }
  const search_bench::drawn texts;
  const indexed all(path, search_bench::source_of(texts, killed_documents, passages_each, version));
  all.complete();
  const auto state = search_state_of(*all.index);
  if (state.resources != killed_documents) throw std::runtime_error("not all is there afterwards");
  check(path);
  std::printf("| kill -9, %zu times (%zu while indexing), then gone on to the end | all whole, %llu of %zu documents there |\n",
              kills, while_indexing, static_cast<unsigned long long>(state.resources), killed_documents);
}

std::size_t number_of(const char* text) { return static_cast<std::size_t>(std::strtoull(text, nullptr, 10)); }

int run(int count, char** arguments) {
  if (count == 4 && std::string(arguments[1]) == "--index") {
    const search_bench::drawn texts;
    const indexed all(arguments[2], search_bench::source_of(texts, killed_documents, passages_each, number_of(arguments[3])));
    all.complete();
    return 0;
  }
  const auto passages = count > 1 ? number_of(arguments[1]) : 100'000;
  const auto queries = count > 2 ? number_of(arguments[2]) : 2'000;
  const auto kills = count > 3 ? number_of(arguments[3]) : 100;
  const bench::scratch folder;
  std::printf("| What | Measured |\n|---|---|\n");
  if (passages > 0) measure(folder.path("index.db"), passages, queries);
  if (kills > 0) kill_at_random(arguments[0], folder.path("killed.db"), kills);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_bench: %s\n", error.what());
    return 1;
  }
}
