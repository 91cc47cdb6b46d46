/// The tables of an index in SQLite.
#pragma once

#include <cstdint>

namespace hondana::search {

/// "hndS": files of other programs are not touched.
inline constexpr std::int64_t our_application = 0x686e6453;
/// Of the tables below and of what stands in them; an index of an older version is made anew.
inline constexpr std::int64_t schema_version = 3;

// Passages are numbered by their document and their order in it (`passage_id`). Words are kept without the texts they come
// from, which stand in `passages`: what is taken out is cut into words again, by the same tokenizer, whose name stands in
// `facts`. There, too, is how often was committed, how many passages were ever put and taken out, and how many put in the
// place of others of the same number. `ways` has how documents' texts were made.
inline constexpr const char* tables = R"sql(
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES('commits', '0'), ('changed', '0'), ('rewritten', '0');
CREATE TABLE ways(id INTEGER PRIMARY KEY, way TEXT NOT NULL UNIQUE);
CREATE TABLE documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT, uri TEXT NOT NULL UNIQUE, version TEXT NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,
  description TEXT NOT NULL, mime_type TEXT NOT NULL, kind TEXT NOT NULL, language TEXT NOT NULL, problem TEXT NOT NULL,
  priority REAL, audience INTEGER NOT NULL, modified INTEGER, size INTEGER, described INTEGER NOT NULL, way INTEGER NOT NULL,
  owners TEXT NOT NULL);
CREATE INDEX documents_by_way ON documents(way);
CREATE TABLE passages(
  id INTEGER PRIMARY KEY, heading TEXT NOT NULL, text TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
  page INTEGER NOT NULL, digest BLOB NOT NULL);
CREATE INDEX passages_by_digest ON passages(digest);
CREATE TABLE vectors(digest BLOB PRIMARY KEY, numbers BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(title, heading, name, text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE word_counts USING fts5vocab('words', 'row');
)sql";

}  // namespace hondana::search
