/// Filling what others keep samples in.
#include "peers.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../http/generator.hpp"

namespace metrics_bench {
namespace {

namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

void need(bool is_so, sqlite3* of) {
  if (!is_so) throw std::runtime_error(sqlite3_errmsg(of));
}

std::string seconds_text(instant at) {
  const auto rest = std::to_string(1000 + at % 1000);
  return std::to_string(at / 1000) + '.' + rest.substr(1);
}

}  // namespace

kept_by_peer keep_in_rows(const corpus& of, const std::string& path) {
  kept_by_peer out;
  sqlite3* db = nullptr;
  need(sqlite3_open(path.c_str(), &db) == SQLITE_OK, db);
  const auto run = [&](const char* sql) { need(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, db); };
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
      "CREATE TABLE samples(series INTEGER, at INTEGER, value REAL, PRIMARY KEY(series, at)) WITHOUT ROWID");
  sqlite3_stmt* put = nullptr;
  need(sqlite3_prepare_v2(db, "INSERT INTO samples VALUES(?,?,?)", -1, &put, nullptr) == SQLITE_OK, db);
  made_values values(of.series);
  for (std::size_t i = 0; i < of.scrapes; ++i) {
    const auto& what = values.next(of.at(i));
    const auto begin = steady::now();
    run("BEGIN");
    for (std::size_t j = 0; j < what.entries.size(); ++j) {
      sqlite3_bind_int64(put, 1, static_cast<sqlite3_int64>(j));
      sqlite3_bind_int64(put, 2, what.entries[j].sample.time);
      sqlite3_bind_double(put, 3, what.entries[j].sample.value);
      need(sqlite3_step(put) == SQLITE_DONE, db);
      sqlite3_reset(put);
    }
    run("COMMIT");
    out.write_seconds += seconds_since(begin);
  }
  sqlite3_finalize(put);
  sqlite3_stmt* get = nullptr;
  need(sqlite3_prepare_v2(db, "SELECT at,value FROM samples WHERE series=? ORDER BY at", -1, &get, nullptr) == SQLITE_OK, db);
  const auto begin = steady::now();
  std::size_t count = 0;
  std::vector<hondana::series::sample> all;
  for (std::size_t j = 0; j < of.series; ++j) {
    sqlite3_bind_int64(get, 1, static_cast<sqlite3_int64>(j));
    all.clear();
    while (sqlite3_step(get) == SQLITE_ROW) all.push_back({sqlite3_column_int64(get, 0), sqlite3_column_double(get, 1)});
    sqlite3_reset(get);
    count += all.size();
  }
  out.read_seconds = seconds_since(begin);
  sqlite3_finalize(get);
  sqlite3_close(db);
  if (count != of.samples()) throw std::runtime_error("the table has lost samples");
  out.bytes = fs::file_size(path);
  return out;
}

std::optional<std::uint64_t> keep_in_blocks(const corpus& of, const std::string& folder) {
  if (!fs::exists("/usr/bin/promtool")) return std::nullopt;
  const auto text = folder + "/all.om";
  {
    std::map<std::string, std::vector<std::string>> lines;
    std::map<std::string, std::string> kinds;
    made_values values(of.series);
    std::vector<std::string> each(of.series);
    std::vector<std::string> names(of.series);
    for (std::size_t i = 0; i < of.scrapes; ++i) {
      const auto at = of.at(i);
      const auto& what = values.next(at);
      for (std::size_t j = 0; j < of.series; ++j) {
        const auto& one = what.entries[j];
        if (i == 0) {
          names[j] = one.identity.name;
          kinds[one.identity.name] = hondana::series::name_of(what.families.at(one.identity.name).kind);
        }
        each[j] +=
            to_text(one.identity) + ' ' + hondana::series::format_number(one.sample.value) + ' ' + seconds_text(at) + '\n';
      }
    }
    std::ofstream out(text, std::ios::binary);
    for (const auto& name : made_names()) {
      const auto family = name.ends_with("_total") ? name.substr(0, name.size() - 6) : name;
      out << "# TYPE " << family << ' ' << kinds.at(name) << '\n';
      for (std::size_t j = 0; j < of.series; ++j)
        if (names[j] == name) out << each[j];
    }
    out << "# EOF\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + text);
  }
  static_cast<void>(
      bench::cost_of({"/usr/bin/promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", text, folder + "/blocks"}));
  fs::remove(text);
  std::uint64_t out = 0;
  for (const auto& one : fs::recursive_directory_iterator(folder + "/blocks"))
    if (one.is_regular_file()) out += one.file_size();
  return out;
}

std::unique_ptr<http_bench::contestant> serve_blocks(const std::string& folder, int core) {
  const auto port = http_bench::free_port();
  std::ofstream(folder + "/none.yml") << "global:\n  scrape_interval: 15s\n";
  auto out = std::make_unique<http_bench::contestant>(
      std::vector<std::string>{"/usr/bin/prometheus", "--config.file=" + folder + "/none.yml",
                               "--storage.tsdb.path=" + folder + "/blocks", "--storage.tsdb.retention.time=10y",
                               "--web.listen-address=127.0.0.1:" + std::to_string(port)},
      core, port, folder + "/prometheus.log");
  // It listens before it has opened its blocks.
  constexpr std::chrono::seconds patience{60};
  for (const auto give_up = steady::now() + patience;;) {
    try {
      static_cast<void>(http_bench::fetch(port, "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      return out;
    } catch (const std::runtime_error&) {
      if (steady::now() > give_up) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

}  // namespace metrics_bench
