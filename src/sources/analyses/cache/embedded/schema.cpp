/// The tables themselves.
#include "sources/analyses/cache/embedded/schema.hpp"

#include <array>

namespace hondana::analyses {
namespace {

// Digests are their 32 bytes, ids their 16; times are milliseconds since 1970. `shown` and `system`: what the store's clock
// said last, and the system's then. Changes are kept for those who listen, the last 10 000 of them.
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

// Tickets had no secret in version 1, and hold no longer: their leases end, so that others may claim at once.
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

}  // namespace hondana::analyses
