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
constexpr const char* schema_sql = R"sql(
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
constexpr std::array<const char*, 1> upgrade_sql{
    "ALTER TABLE claims ADD COLUMN secret TEXT NOT NULL DEFAULT ''; UPDATE claims SET until=0; "
    "UPDATE entries SET expires=0, gone=0 WHERE how=0"};

constexpr const char* pragma_sql =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; "
    "PRAGMA cache_size=-8192; PRAGMA busy_timeout=5000";

}  // namespace

const sqlite::file_kind& store_file_kind() noexcept {
  static constexpr sqlite::file_kind kind{
      .name = store_name,
      .purpose = "store analyses",
      .in_use_reason = "another process has been opening that file for too long",
      .application_id = 0x686e6441,  // "hndA"
      .schema_version = 2,
      .schema = schema_sql,
      .setup = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
      .settings = pragma_sql,
      .upgrades = upgrade_sql,
      .is_shared = true,
  };
  return kind;
}

namespace {

constexpr std::size_t max_idle_readers = 16;
/// A store clock that is ahead of the system's stands still for one millisecond in 64, until the system clock has caught up.
/// Which milliseconds depends on the system time only, so the result does not depend on how often the time is read or stored.
constexpr std::int64_t slowdown_divisor = 64;
constexpr std::int64_t slow_down(std::int64_t system_time) { return system_time - system_time / slowdown_divisor; }
/// Sweeps store a time that is ahead twice within this span. If the system clock advanced by more than this, and past the
/// stored time, it was corrected.
constexpr std::int64_t max_unstored_milliseconds = 60'000;

}  // namespace

embedded_store::embedded_store(embedded_options options) : options_(std::move(options)), is_in_memory_(options_.path.empty()) {}

result<void> embedded_store::open() {
  if (!is_in_memory_) {
    const auto slash = options_.path.rfind('/');
    if (options_.path.front() == '/' && slash > 0) {
      if (auto folder = disk::make_private_folder(options_.path.substr(0, slash)); !folder)
        return sqlite::file_failure(options_.path, store_file_kind(), folder.error().public_text, folder.error().private_text);
    }
  }
  HONDANA_TRY(auto opened, sqlite::open_owned(options_.path, store_file_kind(), options_.log));
  file_ = std::move(opened);
  writer_.database = std::move(file_.writer);
  if (!is_in_memory_ && !options_.is_synced) {
    HONDANA_TRY(writer_.database.execute("PRAGMA synchronous=NORMAL"));
  }
  if (file_.was_suspect) sqlite::clear_suspect(options_.path);
  return {};
}

std::int64_t embedded_store::read_system_time() const {
  const auto time =
      options_.clock ? options_.clock() : std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  return time.time_since_epoch().count();
}

result<embedded_store::clock_times> embedded_store::read_times(store_connection& connection) const {
  HONDANA_TRY(auto statement, connection.prepare("SELECT shown, system FROM state"));
  HONDANA_TRY(const auto has_row, statement->step());
  const auto system_time = read_system_time();
  if (!has_row) return clock_times{system_time, system_time, false};
  const auto stored_time = statement->number(0), stored_system_time = statement->number(1);
  auto current =
      system_time > stored_system_time ? stored_time + slow_down(system_time) - slow_down(stored_system_time) : stored_time;
  if (system_time > current || (system_time >= stored_time && system_time - stored_system_time > max_unstored_milliseconds))
    current = system_time;
  // Times that readers of this process saw are not stored in the file.
  auto latest = latest_time_.load();
  while (latest < current && !latest_time_.compare_exchange_weak(latest, current)) {
  }
  const auto now = std::max(latest, current);
  return clock_times{now, system_time, now > system_time};
}

result<std::int64_t> embedded_store::read_now(store_connection& connection) const {
  const auto times = read_times(connection);
  if (!times) return tl::unexpected(times.error());
  return times->now;
}

result<void> embedded_store::begin_write(state_row& state) {
  HONDANA_TRY(writer_.database.execute("BEGIN IMMEDIATE"));
  HONDANA_TRY(const auto times, read_times(writer_));
  state.now = times.now;
  state.system_time = times.system_time;
  state.is_ahead = times.is_ahead;
  HONDANA_TRY(auto statement, writer_.prepare("SELECT token, change, entries, bytes FROM state"));
  HONDANA_TRY(statement->step());
  state.token = statement->number(0);
  state.last_change = statement->number(1);
  state.entries = statement->number(2);
  state.bytes = statement->number(3);
  return {};
}

result<void> embedded_store::commit_write(const state_row& state) {
  {
    HONDANA_TRY(auto statement,
                writer_.prepare("UPDATE state SET shown=?1, system=?2, token=?3, change=?4, entries=?5, bytes=?6"));
    statement->bind(1, state.now).bind(2, state.system_time).bind(3, state.token).bind(4, state.last_change);
    statement->bind(5, state.entries).bind(6, state.bytes);
    HONDANA_TRY(statement->execute());
  }
  auto committed = writer_.database.execute("COMMIT");
  if (!committed) {
    if (writer_.database.is_in_transaction()) {
      const auto rolled_back = writer_.database.execute("ROLLBACK");
      static_cast<void>(rolled_back);  // what cannot be rolled back now is rolled back when the file is opened
    }
    return committed;
  }
  const std::lock_guard lock(changes_mutex_);
  ++write_count_;
  changes_written_.notify_all();
  return {};
}

void embedded_store::check_damage(const failure& error) const {
  if (!is_in_memory_ && sqlite::is_corruption(error)) sqlite::mark_suspect(options_.path);
}

result<embedded_store::reader> embedded_store::reader::acquire(const embedded_store& store) {
  reader out(store);
  if (store.is_in_memory_) {
    out.lock_ = std::unique_lock(store.write_mutex_);
    return out;
  }
  {
    const std::lock_guard lock(store.readers_mutex_);
    if (!store.idle_readers_.empty()) {
      out.own_connection_ = std::move(store.idle_readers_.back());
      store.idle_readers_.pop_back();
    }
  }
  if (!out.own_connection_) {
    auto opened = open_read_connection(store);
    if (!opened) return out.report(std::move(opened.error()));
    out.own_connection_ = std::move(*opened);
  }
  // All queries of a reader see one state: other processes may change rows between two statements.
  if (auto started = out.own_connection_->database.execute("BEGIN"); !started) return out.report(std::move(started.error()));
  return out;
}

result<std::unique_ptr<store_connection>> embedded_store::reader::open_read_connection(const embedded_store& store) {
  auto database = sqlite::connection::open(store.options_.path, store_name);
  if (database) {
    if (auto configured = database->execute("PRAGMA query_only=1; PRAGMA cache_size=-4096; PRAGMA busy_timeout=5000");
        !configured)
      database = tl::unexpected(std::move(configured.error()));
  }
  if (!database) return tl::unexpected(std::move(database.error()));
  auto out = std::make_unique<store_connection>();
  out->database = std::move(*database);
  return out;
}

embedded_store::reader::~reader() {
  if (!own_connection_) return;
  // A connection that cannot end its transaction is not reused.
  if (own_connection_->database.is_in_transaction() && !own_connection_->database.execute("ROLLBACK")) return;
  const std::lock_guard lock(store_->readers_mutex_);
  if (store_->idle_readers_.size() < max_idle_readers) store_->idle_readers_.push_back(std::move(own_connection_));
}

result<instant> embedded_store::now() const {
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  auto current = read_now(reader_lease->connection());
  if (!current) return reader_lease->report(std::move(current.error()));
  return instant(milliseconds(*current));
}

result<std::shared_ptr<analysis_store>> open_embedded(embedded_options options) {
  auto store = std::make_shared<embedded_store>(std::move(options));
  HONDANA_TRY(store->open());
  return std::shared_ptr<analysis_store>(std::move(store));
}

}  // namespace hondana::analyses
