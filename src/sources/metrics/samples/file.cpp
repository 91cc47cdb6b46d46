/// The tables of a store.
#include "sources/metrics/samples/file.hpp"

namespace hondana::samples {
namespace {

// `upto`: the last row of `tail` whose samples of that series are all in its chunks. `turned`: 1 where these may overlap.
constexpr const char* schema = R"(
CREATE TABLE series(id INTEGER PRIMARY KEY, identity BLOB NOT NULL);
CREATE TABLE ends(series INTEGER PRIMARY KEY, upto INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, newest INTEGER NOT NULL, turned INTEGER NOT NULL);
CREATE TABLE families(name TEXT PRIMARY KEY, kind TEXT NOT NULL, unit TEXT NOT NULL, help TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tail(batch INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE chunks(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX chunks_of ON chunks(series, first);
CREATE INDEX chunks_by_last ON chunks(last);
CREATE TABLE coarse(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX coarse_of ON coarse(series, first);
CREATE INDEX coarse_by_last ON coarse(last);
CREATE TABLE totals(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO totals VALUES('samples', 0);
)";

// Syncing is the store's own: at checkpoints by SQLite, and of the log each `sync_every`.
constexpr const char* settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
    "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192";

}  // namespace

const sqlite::file_kind& kind_of_file() noexcept {
  static constexpr sqlite::file_kind kind{
      .what = what_it_is.data(),
      .purpose = "store metrics",
      .user = "another process uses it for its metrics",
      .application = 0x686f6e64,  // "hond"
      .version = 1,
      .schema = schema,
      .before = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
      .settings = settings,
  };
  return kind;
}

}  // namespace hondana::samples
