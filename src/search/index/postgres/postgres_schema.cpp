/// Making tables, once for all servers that share them.
#include "search/index/postgres/postgres_schema.hpp"

namespace hondana::search {
namespace {

// Documents are found by digests of their URIs, which may be longer than a key of an index can be. `words` stays beside its
// row, where it is read quickly. `terms` has how many passages have a word, `totals` how many there are and of how many words,
// `ways` how documents' texts were made, and the fact `commits` how often was committed.
constexpr const char* tables = R"sql(
CREATE TABLE IF NOT EXISTS facts(name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS ways(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, way text NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS documents(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, uri_digest bytea NOT NULL UNIQUE, uri text NOT NULL,
  version text NOT NULL, name text NOT NULL, title text NOT NULL, description text NOT NULL, mime_type text NOT NULL,
  kind text NOT NULL, language text NOT NULL, problem text NOT NULL, priority float8, audience bigint NOT NULL,
  modified bigint, size bigint, described bigint NOT NULL, way bigint NOT NULL,
  owners text NOT NULL);
CREATE INDEX IF NOT EXISTS documents_by_way ON documents(way);
CREATE TABLE IF NOT EXISTS passages(
  id bigint PRIMARY KEY, heading text NOT NULL, text text NOT NULL, first_line bigint NOT NULL, last_line bigint NOT NULL,
  page bigint NOT NULL, digest bytea NOT NULL, length int NOT NULL, words tsvector NOT NULL);
ALTER TABLE passages ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS passages_by_digest ON passages(digest);
CREATE INDEX IF NOT EXISTS passages_by_words ON passages USING gin(words) WITH (gin_pending_list_limit=1024);
CREATE TABLE IF NOT EXISTS terms(word text COLLATE "C" PRIMARY KEY, passages bigint NOT NULL) WITH (fillfactor=70);
CREATE TABLE IF NOT EXISTS totals(one bool PRIMARY KEY CHECK (one), passages bigint NOT NULL, length bigint NOT NULL)
  WITH (fillfactor=10);
CREATE TABLE IF NOT EXISTS vectors(digest bytea PRIMARY KEY, numbers bytea NOT NULL, used bigint NOT NULL);
INSERT INTO totals VALUES(true, 0, 0) ON CONFLICT DO NOTHING;
INSERT INTO facts VALUES('commits', '0') ON CONFLICT DO NOTHING;
)sql";

constexpr const char* facts = R"sql(
SELECT coalesce((SELECT value FROM facts WHERE name='version'),''), coalesce((SELECT value FROM facts WHERE name='words'),''),
  (SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1) AS any_of_them)
)sql";

tl::unexpected<failure> not_ours(const postgres_place& where, const std::string& why) {
  return fail(errc::source_unavailable,
              "the schema " + where.schema + " in " + where.name + " has a search index " + why +
                  ", which other servers may be using; set another postgres_schema, or drop this one (DROP SCHEMA " +
                  where.schema + " CASCADE) to create it again");
}

/// Asked without the lock, which whoever writes may hold for long.
result<bool> is_made(postgres_connection& on, const postgres_place& where, const std::string& words) {
  HONDANA_TRY(const auto there, on.ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename='facts'",
                                       arguments().text(where.schema)));
  if (there.number(0, 0) == 0) return false;
  const auto known = on.ask(facts);
  if (!known) return tl::unexpected(known.error());
  return known->text(0, 0) == std::to_string(postgres_schema_version) && known->text(0, 1) == words;
}

result<void> make(postgres_connection& on, const postgres_place& where, const std::string& words) {
  HONDANA_TRY(lock_index(on, where));
  HONDANA_TRY(const auto there,
              on.ask("SELECT count(*) FROM pg_namespace WHERE nspname=$1::text", arguments().text(where.schema)));
  // Its name is plain, see `place_of`.
  const auto schema = "CREATE SCHEMA " + where.schema;
  if (there.number(0, 0) == 0) {
    HONDANA_TRY(on.run(schema.c_str()));
  }
  const auto made =
      on.ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename='facts'", arguments().text(where.schema));
  if (!made) return tl::unexpected(made.error());
  if (made->number(0, 0) == 0) {
    HONDANA_TRY(on.run(tables));
  }
  HONDANA_TRY(const auto known, on.ask(facts));
  const auto version = std::to_string(postgres_schema_version);
  const bool is_empty = known.number(0, 2) == 0;
  const auto of_version = known.text(0, 0);
  const auto of_words = known.text(0, 1);
  if (!of_version.empty() && of_version != version)
    return not_ours(where, "of another version of hondana (format " + of_version + "; this version uses " + version + ')');
  if (!is_empty && of_words != words)
    return not_ours(where, "that was built with another setting of words (" + of_words + ", here " + words + ')');
  if (of_version == version && of_words == words) return {};
  auto set = on.ask(
      "INSERT INTO facts VALUES('version',$1::text),('words',$2::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
      arguments().text(version).text(words));
  return set ? result<void>() : tl::unexpected(std::move(set.error()));
}

}  // namespace

result<void> lock_index(postgres_connection& on, const postgres_place& where) {
  auto locked = on.ask("SELECT pg_advisory_xact_lock(hashtextextended('hondana search index '||$1::text, 0))",
                       arguments().text(where.schema));
  return locked ? result<void>() : tl::unexpected(std::move(locked.error()));
}

result<bool> take_turn_by(postgres_connection& on, const postgres_place& where) {
  const auto taken = on.ask("SELECT pg_try_advisory_lock(hashtextextended('hondana search turn '||$1::text, 0))::int::bigint",
                            arguments().text(where.schema));
  if (!taken) return tl::unexpected(taken.error());
  return taken->number(0, 0) != 0;
}

result<void> make_tables(postgres_connection& on, const postgres_place& where, const std::string& words) {
  HONDANA_TRY(const auto is_there, is_made(on, where, words));
  if (is_there) return {};
  HONDANA_TRY(on.run("BEGIN"));
  if (auto made = make(on, where, words); !made) {
    const auto undone = on.run("ROLLBACK");
    static_cast<void>(undone);  // the connection is closed next
    return made;
  }
  return on.commit();
}

result<bool> has_pgvector(postgres_connection& on) {
  HONDANA_TRY(const auto known, on.ask("SELECT (SELECT count(*) FROM pg_extension WHERE extname='vector'), "
                                       "(SELECT count(*) FROM pg_available_extensions WHERE name='vector')"));
  if (known.number(0, 0) > 0) return true;
  if (known.number(0, 1) == 0) return false;
  // Who may not make it has an index without it.
  return on.run("CREATE EXTENSION IF NOT EXISTS vector").has_value();
}

}  // namespace hondana::search
