/// The SQLite store of analyses: tables, opening the file, connections and the clock.
#include "sources/analyses/cache/embedded/embedded_store.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "os/disk/private_file.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"

namespace hondana::analyses {
namespace {

// Digests are stored as 32 bytes, ids as 16 bytes, times in milliseconds since the Unix epoch. The column `shown` is the last
// time of the store's clock, `system` the system time at that moment. The last 10 000 changes are stored for listeners.
constexpr const char* tables = R"sql(
CREATE TABLE state(one INTEGER PRIMARY KEY, shown INTEGER NOT NULL, system INTEGER NOT NULL, token INTEGER NOT NULL,
  change INTEGER NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO state VALUES(1, 0, 0, 0, 1, 0, 0);
CREATE TABLE entries(seq INTEGER PRIMARY KEY, id BLOB NOT NULL, key BLOB NOT NULL, prompt BLOB NOT NULL, how INTEGER NOT NULL,
  task INTEGER NOT NULL, title TEXT NOT NULL, session TEXT NOT NULL, created INTEGER NOT NULL, changed INTEGER NOT NULL,
  expires INTEGER NOT NULL, gone INTEGER NOT NULL, confidence REAL NOT NULL, agreement REAL NOT NULL, cost REAL NOT NULL,
  took INTEGER NOT NULL, rounds INTEGER NOT NULL, providers INTEGER NOT NULL, bytes INTEGER NOT NULL, version INTEGER NOT NULL);
CREATE UNIQUE INDEX entries_by_id ON entries(id);
CREATE INDEX entries_by_key ON entries(key);
CREATE INDEX entries_by_prompt ON entries(prompt, id);
CREATE INDEX entries_by_session ON entries(session, id) WHERE session<>'';
CREATE INDEX entries_by_gone ON entries(gone);
CREATE TABLE bodies(seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE tags(tag TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY(tag, id)) WITHOUT ROWID;
CREATE INDEX tags_of ON tags(id);
CREATE TABLE bases(uri TEXT NOT NULL, version TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY(uri, version, id)) WITHOUT ROWID;
CREATE INDEX bases_of ON bases(id);
CREATE TABLE providers(name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE claims(key BLOB PRIMARY KEY, id BLOB NOT NULL, token INTEGER NOT NULL, who TEXT NOT NULL, until INTEGER NOT NULL,
  secret TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE failures(key BLOB PRIMARY KEY, until INTEGER NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE changes(number INTEGER PRIMARY KEY, what INTEGER NOT NULL, id BLOB NOT NULL, key BLOB NOT NULL);
CREATE TABLE counts(task INTEGER PRIMARY KEY, hits INTEGER NOT NULL, stale_hits INTEGER NOT NULL, misses INTEGER NOT NULL,
  failures INTEGER NOT NULL, computed INTEGER NOT NULL, below INTEGER NOT NULL, cost_saved REAL NOT NULL,
  cost_spent REAL NOT NULL, milliseconds_saved INTEGER NOT NULL, milliseconds_spent INTEGER NOT NULL);
)sql";

// In version 1, tickets had no secret, so they are no longer valid. Their leases end, so that other callers can claim at once.
constexpr std::array<const char*, 1> upgrades{
    "ALTER TABLE claims ADD COLUMN secret TEXT NOT NULL DEFAULT ''; UPDATE claims SET until=0; "
    "UPDATE entries SET expires=0, gone=0 WHERE how=0"};

constexpr const char* settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; "
    "PRAGMA cache_size=-8192; PRAGMA busy_timeout=5000";

}  // namespace

const sqlite::file_kind& kind_of_file() noexcept {
  static constexpr sqlite::file_kind kind{
      .what = what_a_store_is,
      .purpose = "store analyses",
      .user = "another process has been opening that file for too long",
      .application = 0x686e6441,  // "hndA"
      .version = 2,
      .schema = tables,
      .before = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
      .settings = settings,
      .upgrades = upgrades,
      .is_shared = true,
  };
  return kind;
}

namespace {

constexpr std::size_t most_idle = 16;
/// A store clock that is ahead of the system's stands still for one millisecond in 64, until the system clock has caught up.
/// Which milliseconds depends on the system time only, so the result does not depend on how often the time is read or stored.
constexpr std::int64_t every = 64;
constexpr std::int64_t slowed(std::int64_t system) { return system - system / every; }
/// Sweeps store a time that is ahead twice within this span. If the system clock advanced by more than this, and past the
/// stored time, it was corrected.
constexpr std::int64_t longest_unnoted = 60'000;

}  // namespace

embedded_store::embedded_store(embedded_options from) : options_(std::move(from)), is_in_memory_(options_.path.empty()) {}

result<void> embedded_store::open() {
  if (!is_in_memory_) {
    const auto slash = options_.path.rfind('/');
    if (options_.path.front() == '/' && slash > 0) {
      if (auto made = disk::make_private_folder(options_.path.substr(0, slash)); !made)
        return sqlite::cannot_have(options_.path, kind_of_file(), made.error().public_text, made.error().private_text);
    }
  }
  HONDANA_TRY(auto opened, sqlite::open_owned(options_.path, kind_of_file(), options_.log));
  file_ = std::move(opened);
  writer_.on = std::move(file_.writer);
  if (!is_in_memory_ && !options_.is_synced) {
    HONDANA_TRY(writer_.on.run("PRAGMA synchronous=NORMAL"));
  }
  if (file_.was_suspect) sqlite::trust(options_.path);
  return {};
}

std::int64_t embedded_store::system_now() const {
  const auto when =
      options_.clock ? options_.clock() : std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  return when.time_since_epoch().count();
}

result<embedded_store::times> embedded_store::times_in(opened_file& by) const {
  HONDANA_TRY(auto asking, by.ask("SELECT shown, system FROM state"));
  HONDANA_TRY(const auto more, asking->step());
  const auto system = system_now();
  if (!more) return times{system, system, false};
  const auto shown = asking->number(0), before = asking->number(1);
  auto here = system > before ? shown + slowed(system) - slowed(before) : shown;
  if (system > here || (system >= shown && system - before > longest_unnoted)) here = system;
  // Times that readers of this process saw are not stored in the file.
  auto seen = seen_.load();
  while (seen < here && !seen_.compare_exchange_weak(seen, here)) {
  }
  const auto now = std::max(seen, here);
  return times{now, system, now > system};
}

result<std::int64_t> embedded_store::now_in(opened_file& by) const {
  const auto got = times_in(by);
  if (!got) return tl::unexpected(got.error());
  return got->now;
}

result<void> embedded_store::begin(ledger& into) {
  HONDANA_TRY(writer_.on.run("BEGIN IMMEDIATE"));
  HONDANA_TRY(const auto got, times_in(writer_));
  into.now = got.now;
  into.system = got.system;
  into.is_ahead = got.is_ahead;
  HONDANA_TRY(auto asking, writer_.ask("SELECT token, change, entries, bytes FROM state"));
  HONDANA_TRY(asking->step());
  into.token = asking->number(0);
  into.change = asking->number(1);
  into.entries = asking->number(2);
  into.bytes = asking->number(3);
  return {};
}

result<void> embedded_store::end(const ledger& from) {
  {
    HONDANA_TRY(auto asking, writer_.ask("UPDATE state SET shown=?1, system=?2, token=?3, change=?4, entries=?5, bytes=?6"));
    asking->bind(1, from.now).bind(2, from.system).bind(3, from.token).bind(4, from.change);
    asking->bind(5, from.entries).bind(6, from.bytes);
    HONDANA_TRY(asking->run());
  }
  auto done = writer_.on.run("COMMIT");
  if (!done) {
    if (writer_.on.is_in_transaction()) {
      const auto undone = writer_.on.run("ROLLBACK");
      static_cast<void>(undone);  // what cannot be rolled back now is rolled back when the file is opened
    }
    return done;
  }
  const std::lock_guard held(hearing_);
  ++written_;
  heard_.notify_all();
  return {};
}

void embedded_store::noticed(const failure& what) const {
  if (!is_in_memory_ && sqlite::says_damaged(what)) sqlite::suspect(options_.path);
}

result<embedded_store::reader> embedded_store::reader::take(const embedded_store& from) {
  reader out(from);
  if (from.is_in_memory_) {
    out.holds_ = std::unique_lock(from.writing_);
    return out;
  }
  {
    const std::lock_guard held(from.reading_);
    if (!from.idle_.empty()) {
      out.own_ = std::move(from.idle_.back());
      from.idle_.pop_back();
    }
  }
  if (!out.own_) {
    auto opened = opened_to_read(from);
    if (!opened) return out.passed(std::move(opened.error()));
    out.own_ = std::move(*opened);
  }
  // All queries of a reader see one state: other processes may change rows between two statements.
  if (auto begun = out.own_->on.run("BEGIN"); !begun) return out.passed(std::move(begun.error()));
  return out;
}

result<std::unique_ptr<opened_file>> embedded_store::reader::opened_to_read(const embedded_store& from) {
  auto made = sqlite::connection::open(from.options_.path, what_a_store_is);
  if (made) {
    if (auto set = made->run("PRAGMA query_only=1; PRAGMA cache_size=-4096; PRAGMA busy_timeout=5000"); !set)
      made = tl::unexpected(std::move(set.error()));
  }
  if (!made) return tl::unexpected(std::move(made.error()));
  auto out = std::make_unique<opened_file>();
  out->on = std::move(*made);
  return out;
}

embedded_store::reader::~reader() {
  if (!own_) return;
  // A connection that cannot end its transaction is not reused.
  if (own_->on.is_in_transaction() && !own_->on.run("ROLLBACK")) return;
  const std::lock_guard held(from_->reading_);
  if (from_->idle_.size() < most_idle) from_->idle_.push_back(std::move(own_));
}

result<instant> embedded_store::now() const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  auto got = now_in(by->file());
  if (!got) return by->passed(std::move(got.error()));
  return instant(milliseconds(*got));
}

result<std::shared_ptr<store>> open_embedded(embedded_options from) {
  auto made = std::make_shared<embedded_store>(std::move(from));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

}  // namespace hondana::analyses
