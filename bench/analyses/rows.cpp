/// Rows as a put leaves them.
#include "rows.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string_view>

#include "base/bytes/random_token.hpp"
#include "killed.hpp"
#include "os/sqlite/sqlite.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/store.hpp"

namespace analyses_bench {

using namespace hondana;
using namespace hondana::analyses;

namespace {

void need(const result<void>& done) {
  if (!done) throw std::runtime_error(done.error().public_text + " (" + done.error().private_text + ')');
}

template <class T>
T need(result<T> what) {
  if (!what) throw std::runtime_error(what.error().public_text + " (" + what.error().private_text + ')');
  return std::move(*what);
}

}  // namespace

void write_rows(const std::string& path, std::size_t from, std::size_t to) {
  if (from >= to) return;
  auto on = need(sqlite::connection::open(path, "store"));
  need(on.execute("PRAGMA cache_size=-1000000; PRAGMA synchronous=NORMAL"));
  auto entry = need(on.prepare(
      "INSERT INTO entries(id, key, prompt, how, task, title, session, created, changed, expires, gone, confidence, agreement, "
      "cost, took, rounds, providers, bytes, version) VALUES(?1,?2,?3,1,0,?4,?5,?6,?6,?7,?7,?8,?9,?10,?11,?12,?13,?14,?15)"));
  auto body = need(on.prepare("INSERT INTO bodies VALUES(?1,?2)"));
  std::mt19937_64 draw(5);
  const auto now = std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto gone = now + milliseconds(std::chrono::hours(24 * 30)).count();
  std::int64_t bytes = 0;
  auto writing = need(sqlite::transaction::begin(on));
  for (auto i = from; i < to; ++i) {
    const auto what = need(prepare_put(numbered(i), analysis_status::complete));
    std::string random;
    for (int part = 0; part < 10; ++part) random += static_cast<char>(static_cast<unsigned char>(draw()));
    const auto id = id_to_bytes(encode_time(now) + bytes::to_hex(random));
    const auto& about = what.summary;
    entry.bind(1, std::string_view(id))
        .bind(2, std::string_view(about.key.digest))
        .bind(3, std::string_view(about.key.prompt_digest));
    entry.bind_text(4, about.title).bind_text(5, about.session).bind(6, now).bind(7, gone);
    entry.bind_real(8, about.confidence).bind_real(9, about.agreement).bind_real(10, about.cost);
    entry.bind(11, static_cast<std::int64_t>(about.duration.count())).bind(12, std::int64_t{0});
    entry.bind(13, static_cast<std::int64_t>(about.providers)).bind(14, static_cast<std::int64_t>(about.bytes));
    entry.bind(15, static_cast<std::int64_t>(i));
    need(entry.execute());
    body.bind(1, on.last_insert_rowid()).bind(2, std::string_view(what.body));
    need(body.execute());
    bytes += static_cast<std::int64_t>(what.body.size());
  }
  auto state = need(on.prepare("UPDATE state SET entries=entries+?1, bytes=bytes+?2"));
  state.bind(1, static_cast<std::int64_t>(to - from)).bind(2, bytes);
  need(state.execute());
  need(writing.commit());
  need(on.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
}

}  // namespace analyses_bench
