/// The index in PostgreSQL: tables, opening, transactions, and connections for reading.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "search/index/postgres/postgres_connection.hpp"
#include "search/index/postgres/postgres_store_impl.hpp"

namespace hondana::search {

/// The version of the tables below and of their contents.
inline constexpr std::int64_t postgres_schema_version = 3;

/// Creates missing schema and tables, and checks their version and tokenizer (`tokenizer::tokenizer::id`). Takes over an empty
/// index with another tokenizer. Leaves alone an index of another version, and one that has documents and another tokenizer,
/// because other servers may be using it: these are errors. Errors: source_unavailable, with advice.
[[nodiscard]] result<void> make_tables(postgres_connection& connection, const postgres_location& location,
                                       const std::string& tokenizer_id);
/// Whether pgvector is available. Creates the extension if the user may.
[[nodiscard]] result<bool> has_pgvector(postgres_connection& connection);
/// Tries to make this connection the only one, among all servers, that updates the index until it closes.
[[nodiscard]] result<bool> try_write_lock(postgres_connection& connection, const postgres_location& location);
/// Locks the index against other servers until the end of the transaction.
[[nodiscard]] result<void> lock_index(postgres_connection& connection, const postgres_location& location);

namespace {

// Documents are found by digests of their URIs, because a URI may be longer than an index key can be. `words` is stored in the
// main row if it fits. `terms` has the number of passages with each word, `totals` the number of passages and of their words,
// and `ways` how texts of documents were made. The fact `commits` counts commits.
constexpr const char* table_definitions = R"sql(
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

constexpr const char* facts_query = R"sql(
SELECT coalesce((SELECT value FROM facts WHERE name='version'),''), coalesce((SELECT value FROM facts WHERE name='words'),''),
  (SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1) AS any_of_them)
)sql";

tl::unexpected<failure> foreign_index(const postgres_location& location, const std::string& reason) {
  return fail(errc::source_unavailable,
              "the schema " + location.schema + " in " + location.name + " has a search index " + reason +
                  ", which other servers may be using; set another postgres_schema, or drop this one (DROP SCHEMA " +
                  location.schema + " CASCADE) to create it again");
}

/// Checks without the lock, which a writer may hold for long.
result<bool> are_tables_current(postgres_connection& connection, const postgres_location& location,
                                const std::string& tokenizer_id) {
  HONDANA_TRY(const auto existing,
              connection.query("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename='facts'",
                               arguments().text(location.schema)));
  if (existing.number(0, 0) == 0) return false;
  const auto facts = connection.query(facts_query);
  if (!facts) return tl::unexpected(facts.error());
  return facts->text(0, 0) == std::to_string(postgres_schema_version) && facts->text(0, 1) == tokenizer_id;
}

result<void> create_tables(postgres_connection& connection, const postgres_location& location,
                           const std::string& tokenizer_id) {
  HONDANA_TRY(lock_index(connection, location));
  HONDANA_TRY(const auto schemas,
              connection.query("SELECT count(*) FROM pg_namespace WHERE nspname=$1::text", arguments().text(location.schema)));
  // The name needs no quotes, see `parse_location`.
  const auto schema = "CREATE SCHEMA " + location.schema;
  if (schemas.number(0, 0) == 0) {
    HONDANA_TRY(connection.run(schema.c_str()));
  }
  const auto existing = connection.query("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename='facts'",
                                         arguments().text(location.schema));
  if (!existing) return tl::unexpected(existing.error());
  if (existing->number(0, 0) == 0) {
    HONDANA_TRY(connection.run(table_definitions));
  }
  HONDANA_TRY(const auto facts, connection.query(facts_query));
  const auto version = std::to_string(postgres_schema_version);
  const bool is_empty = facts.number(0, 2) == 0;
  const auto stored_version = facts.text(0, 0);
  const auto stored_tokenizer = facts.text(0, 1);
  if (!stored_version.empty() && stored_version != version)
    return foreign_index(location,
                         "of another version of hondana (format " + stored_version + "; this version uses " + version + ')');
  if (!is_empty && stored_tokenizer != tokenizer_id)
    return foreign_index(location,
                         "that was built with another tokenizer (" + stored_tokenizer + ", here " + tokenizer_id + ')');
  if (stored_version == version && stored_tokenizer == tokenizer_id) return {};
  auto status = connection.query(
      "INSERT INTO facts VALUES('version',$1::text),('words',$2::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
      arguments().text(version).text(tokenizer_id));
  return status ? result<void>() : tl::unexpected(std::move(status.error()));
}

}  // namespace

result<void> lock_index(postgres_connection& connection, const postgres_location& location) {
  auto status = connection.query("SELECT pg_advisory_xact_lock(hashtextextended('hondana search index '||$1::text, 0))",
                                 arguments().text(location.schema));
  return status ? result<void>() : tl::unexpected(std::move(status.error()));
}

result<bool> try_write_lock(postgres_connection& connection, const postgres_location& location) {
  const auto locked =
      connection.query("SELECT pg_try_advisory_lock(hashtextextended('hondana search turn '||$1::text, 0))::int::bigint",
                       arguments().text(location.schema));
  if (!locked) return tl::unexpected(locked.error());
  return locked->number(0, 0) != 0;
}

result<void> make_tables(postgres_connection& connection, const postgres_location& location, const std::string& tokenizer_id) {
  HONDANA_TRY(const auto is_current, are_tables_current(connection, location, tokenizer_id));
  if (is_current) return {};
  HONDANA_TRY(connection.run("BEGIN"));
  if (auto status = create_tables(connection, location, tokenizer_id); !status) {
    const auto rolled_back = connection.run("ROLLBACK");
    static_cast<void>(rolled_back);  // the connection is closed next
    return status;
  }
  return connection.commit();
}

result<bool> has_pgvector(postgres_connection& connection) {
  HONDANA_TRY(const auto extensions, connection.query("SELECT (SELECT count(*) FROM pg_extension WHERE extname='vector'), "
                                                      "(SELECT count(*) FROM pg_available_extensions WHERE name='vector')"));
  if (extensions.number(0, 0) > 0) return true;
  if (extensions.number(0, 1) == 0) return false;
  // Without the permission to create it, the index works without it.
  return connection.run("CREATE EXTENSION IF NOT EXISTS vector").has_value();
}

namespace {

// A server whose machine has failed blocks other writers for a minute; one that hangs, for at most ten minutes.
constexpr const char* writer_settings =
    "SET statement_timeout='120s'; SET lock_timeout='30s'; SET idle_in_transaction_session_timeout='600s'; SET jit=off; "
    "SET client_min_messages=error; SET tcp_keepalives_idle=30; SET tcp_keepalives_interval=10; SET tcp_keepalives_count=3";
/// Limit of collected words; beyond it they are written before the end of the transaction.
constexpr std::size_t max_pending_terms = 200'000;

}  // namespace

postgres_store::postgres_store(postgres_options options) : options_(std::move(options)) {}

result<void> postgres_store::open() {
  HONDANA_TRY(auto library, shared_libpq());
  library_ = library;
  HONDANA_TRY(auto location, parse_location(*library_, options_.url, options_.schema));
  location_ = std::move(location);
  HONDANA_TRY(auto writer, connect(writer_settings));
  HONDANA_TRY(make_tables(writer, location_, options_.tokenizer->id()));
  HONDANA_TRY(auto has_vectors, search::has_pgvector(writer));
  has_pgvector_ = has_vectors;
  // A connection from before the extension was created does not have its schema in the search path. So keep it only without
  // pgvector.
  if (!has_pgvector_) writer_ = std::move(writer);
  if (options_.log)
    options_.log("search: the index is stored in " + location_.name + ", schema " + location_.schema +
                 (has_pgvector_ ? ", with pgvector" : ", without pgvector"));
  return {};
}

result<postgres_connection> postgres_store::connect(const char* settings) const {
  return postgres_connection::open(*library_, location_, settings);
}

result<postgres_rows> postgres_store::write(const char* sql, const arguments& parameters) {
  auto rows = writer_.query(sql, parameters);
  if (!rows) has_failed_ = true;
  return rows;
}

result<void> postgres_store::begin_transaction() {
  HONDANA_TRY(writer_.run("BEGIN"));
  HONDANA_TRY(lock_index(writer_, location_));
  // Another server may have taken over an empty index.
  const auto rows = writer_.query("SELECT value FROM facts WHERE name='words'");
  if (!rows) return tl::unexpected(rows.error());
  if (rows->count() == 0 || rows->bytes(0, 0) != options_.tokenizer->id())
    return fail(errc::source_unavailable,
                "the search index in " + location_.name +
                    " now has another tokenizer; use the same setting, or set another postgres_schema");
  return {};
}

result<void> postgres_store::begin() {
  if (has_failed_)
    return fail(errc::source_unavailable,
                "a write to the search index in " + location_.name + " has failed; it must be rolled back first");
  if (has_begun_) return {};
  for (bool is_retry = false;; is_retry = true) {
    const bool is_new = !writer_.is_alive();
    if (is_new) {
      HONDANA_TRY(auto reopened, connect(writer_settings));
      writer_ = std::move(reopened);
      // Write access was lost together with the connection.
      if (std::exchange(is_writer_, false))
        return fail(errc::source_unavailable,
                    "the connection to " + location_.name +
                        " was lost, and another server may be writing the search index; this server requests the lock again");
    }
    auto started = begin_transaction();
    if (started) break;
    const bool was_lost = !writer_.is_alive();
    roll_back();
    if (is_new || is_retry || !was_lost) return started;
  }
  has_begun_ = true;
  return {};
}

result<write_access> postgres_store::acquire_write_access() {
  if (has_begun_) return write_access{is_writer_, generation_};
  // Run a statement to detect a lost connection.
  if (is_writer_ && (!writer_.is_alive() || !writer_.run("SELECT 1"))) is_writer_ = false;
  if (is_writer_) return write_access{true, generation_};
  if (!writer_.is_alive()) {
    HONDANA_TRY(auto reopened, connect(writer_settings));
    writer_ = std::move(reopened);
  }
  HONDANA_TRY(const auto locked, try_write_lock(writer_, location_));
  is_writer_ = locked;
  if (is_writer_) ++generation_;
  if (options_.log && is_writer_ == is_follower_)
    options_.log(is_writer_ ? "search: this server writes the index in " + location_.name + " from now on"
                            : "search: another server writes the index in " + location_.name +
                                  "; this one only searches it, and takes over when the other ends");
  is_follower_ = !is_writer_;
  return write_access{is_writer_, generation_};
}

result<void> postgres_store::put_progress(const progress& value) {
  HONDANA_TRY(begin());
  auto rows = write("INSERT INTO facts VALUES('progress',$1::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
                    arguments().text(encode(value)));
  return rows ? result<void>() : tl::unexpected(std::move(rows.error()));
}

result<void> postgres_store::write_term_counts() {
  std::vector<std::string> words;
  std::vector<std::int64_t> changes;
  words.reserve(terms_.size());
  changes.reserve(terms_.size());
  bool has_removals = false;
  for (const auto& [word, count] : terms_) {
    if (count == 0) continue;
    has_removals = has_removals || count < 0;
    words.push_back(word);
    changes.push_back(count);
  }
  terms_.clear();
  if (!words.empty()) {
    const auto parameters = arguments().texts(words).numbers(changes);
    HONDANA_TRY(
        write("INSERT INTO terms SELECT * FROM unnest($1::text[], $2::bigint[]) "
              "ON CONFLICT (word) DO UPDATE SET passages=terms.passages+excluded.passages",
              parameters));
  }
  if (has_removals) {
    HONDANA_TRY(write("DELETE FROM terms WHERE word=ANY($1::text[]) AND passages<=0", arguments().texts(words)));
  }
  if (passage_change_ == 0 && length_change_ == 0) return {};
  auto rows = write("UPDATE totals SET passages=passages+$1::bigint, length=length+$2::bigint",
                    arguments().number(passage_change_).number(length_change_));
  passage_change_ = length_change_ = 0;
  return rows ? result<void>() : tl::unexpected(std::move(rows.error()));
}

result<void> postgres_store::commit() {
  if (!has_begun_ && !has_failed_) return {};
  result<void> status{};
  if (has_failed_)
    status = fail(errc::source_unavailable,
                  "a write to the search index in " + location_.name + " failed, so all of it was rolled back");
  if (status) status = write_term_counts();
  if (status) {
    if (auto rows = write("UPDATE facts SET value=(value::bigint+1)::text WHERE name='commits'"); !rows)
      status = tl::unexpected(std::move(rows.error()));
  }
  if (status) status = writer_.commit();
  if (!status) {
    roll_back();
    return status;
  }
  has_begun_ = false;
  processing_ids_.clear();
  return status;
}

void postgres_store::roll_back() noexcept {
  terms_.clear();
  processing_ids_.clear();
  passage_change_ = length_change_ = 0;
  has_begun_ = has_failed_ = false;
  if (!writer_.is_alive() || !writer_.is_in_transaction()) return;
  // If it fails, PostgreSQL rolls back when the connection ends.
  if (!writer_.run("ROLLBACK")) writer_ = postgres_connection();
}

postgres_store::title_words postgres_store::make_title_words(const document& document) const {
  return {options_.tokenizer->tokenize(document.title, tokenizer::tokenize_mode::index),
          options_.tokenizer->tokenize(name_and_path(document.name, document.uri), tokenizer::tokenize_mode::index)};
}

word_vector postgres_store::make_word_vector(const title_words& titles, const chunking::passage& passage,
                                             std::int64_t& length) const {
  word_vector out;
  out.add(document_field::title, titles.title);
  out.add(document_field::heading, options_.tokenizer->tokenize(passage.heading, tokenizer::tokenize_mode::index));
  out.add(document_field::name, titles.name);
  const auto text = options_.tokenizer->tokenize(passage.text, tokenizer::tokenize_mode::index);
  out.add(document_field::text, text);
  length = static_cast<std::int64_t>(text.size());
  return out;
}

result<void> postgres_store::subtract_words(std::int64_t id) {
  const auto range = arguments().number(passage_id::create(id, 0).number).number(passage_id::create(id + 1, 0).number);
  HONDANA_TRY(const auto words, write("SELECT w, count(*) FROM passages p, unnest(tsvector_to_array(p.words)) AS w WHERE "
                                      "p.id>=$1::bigint AND p.id<$2::bigint "
                                      "GROUP BY w",
                                      range));
  for (int i = 0; i < words.count(); ++i) terms_[words.text(i, 0)] -= words.number(i, 1);
  HONDANA_TRY(
      const auto lengths,
      write("SELECT coalesce(sum(length),0)::bigint FROM passages p WHERE p.id>=$1::bigint AND p.id<$2::bigint", range));
  length_change_ -= lengths.number(0, 0);
  if (terms_.size() > max_pending_terms) return write_term_counts();
  return {};
}

result<std::shared_ptr<store>> open_postgres(postgres_options options) {
  auto created = std::make_shared<postgres_store>(std::move(options));
  HONDANA_TRY(created->open());
  return std::shared_ptr<store>(std::move(created));
}

namespace {

// Without sequential scans: never read a whole table for words, however few rows the planner expects.
constexpr const char* reader_settings =
    "SET default_transaction_read_only=on; SET statement_timeout='30s'; SET lock_timeout='5s'; SET "
    "idle_in_transaction_session_timeout='60s'; SET enable_seqscan=off; "
    "SET jit=off; SET max_parallel_workers_per_gather=0; SET plan_cache_mode=force_custom_plan; SET work_mem='32MB'; SET "
    "client_min_messages=error";
constexpr std::int64_t document_batch = 5'000;
constexpr std::size_t max_readers = 8;  // as many as concurrent searches
constexpr std::chrono::seconds reader_timeout{30};

result<store_counts> read_counts(postgres_connection& connection, const postgres_location& location) {
  HONDANA_TRY(
      const auto rows,
      connection.query(
          "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM documents WHERE problem<>''), "
          "(SELECT passages FROM totals), "
          "(SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)), "
          "(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace "
          "WHERE n.nspname=$1::text AND c.relkind='r')",
          arguments().text(location.schema)));
  const auto number = [&](int column) { return static_cast<std::uint64_t>(rows.number(0, column)); };
  return store_counts{number(0), number(1), number(2), number(3), number(4)};
}

}  // namespace

result<postgres_connection> postgres_store::connect_reader() const { return connect(reader_settings); }

result<postgres_connection> postgres_store::acquire_reader() const {
  {
    std::unique_lock lock(mutex_);
    if (!monotonic_clock::wait_for(reader_released_, lock, reader_timeout, [this] { return used_readers_ < max_readers; }))
      return fail(errc::source_unavailable, "too many searches are running in " + location_.name + "; retry later");
    ++used_readers_;
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  auto opened = connect_reader();
  if (!opened) release_reader({});
  return opened;
}

void postgres_store::release_reader(postgres_connection reader) const {
  {
    const std::lock_guard lock(mutex_);
    --used_readers_;
    if (reader.is_alive()) idle_.push_back(std::move(reader));
  }
  reader_released_.notify_one();
}

void postgres_store::drop_idle() const {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

/// Returns the connection on destruction. A connection that an exception interrupted is closed instead.
struct postgres_store::reader_lease {
  reader_lease(const postgres_store& owner, postgres_connection acquired) : store(owner), connection(std::move(acquired)) {}
  reader_lease(const reader_lease&) = delete;
  reader_lease& operator=(const reader_lease&) = delete;
  ~reader_lease() { store.release_reader(is_intact ? std::move(connection) : postgres_connection()); }

  const postgres_store& store;
  postgres_connection connection;
  bool is_intact = false;
};

result<void> postgres_store::with_reader(const reader_task& task) const {
  HONDANA_TRY(auto acquired, acquire_reader());
  reader_lease lease(*this, std::move(acquired));
  auto& connection = lease.connection;
  auto status = task(connection);
  if (!status && !connection.is_alive()) {
    drop_idle();
    auto reopened = connect_reader();
    if (reopened) {
      connection = std::move(*reopened);
      status = task(connection);
    } else {
      status = tl::unexpected(std::move(reopened.error()));
    }
  }
  lease.is_intact = true;
  return status;
}

result<postgres_rows> postgres_store::read(const char* sql, const arguments& parameters) const {
  result<postgres_rows> rows{};
  auto status = with_reader([&](postgres_connection& connection) -> result<void> {
    rows = connection.query(sql, parameters);
    return rows ? result<void>() : tl::unexpected(rows.error());
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return rows;
}

// Reads in batches, so that a slow callback does not keep a statement open.
result<void> postgres_store::for_each_document(const std::function<void(stored_document)>& visit) const {
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(
        const auto rows,
        read("SELECT d.uri, d.version, d.described, (d.problem<>'')::int::bigint, w.way, d.id FROM documents d JOIN ways w ON "
             "w.id=d.way WHERE d.id>$1::bigint ORDER BY d.id LIMIT $2::bigint",
             arguments().number(last).number(document_batch)));
    if (rows.count() == 0) return {};
    for (int row = 0; row < rows.count(); ++row)
      visit({rows.text(row, 0), rows.text(row, 1), static_cast<std::uint64_t>(rows.number(row, 2)), rows.number(row, 3) != 0,
             rows.text(row, 4)});
    last = rows.number(rows.count() - 1, 5);
  }
}

result<store_counts> postgres_store::counts() const {
  store_counts out;
  auto status = with_reader([&](postgres_connection& connection) -> result<void> {
    HONDANA_TRY(auto current, read_counts(connection, location_));
    out = current;
    return {};
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<index_status> postgres_store::status() const {
  index_status out;
  auto status = with_reader([&](postgres_connection& connection) -> result<void> {
    out = {};
    HONDANA_TRY(const auto rows,
                connection.query("SELECT name, value FROM facts WHERE name IN ('commits','model','progress')"));
    for (int i = 0; i < rows.count(); ++i) {
      const auto name = rows.bytes(i, 0);
      const auto value = rows.text(i, 1);
      if (name == "commits") out.commits = std::strtoull(value.c_str(), nullptr, 10);
      if (name == "model") out.model = value;
      if (name == "progress") out.last_progress = decode_progress(value);
    }
    return {};
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<std::optional<stored_index>> inspect_postgres(const std::string& url, const std::string& schema) {
  HONDANA_TRY(const auto library, shared_libpq());
  HONDANA_TRY(const auto location, parse_location(*library, url, schema));
  HONDANA_TRY(auto connection, postgres_connection::open(*library, location, reader_settings));
  HONDANA_TRY(const auto existing,
              connection.query(
                  "SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename IN ('facts','totals','passages')",
                  arguments().text(location.schema)));
  if (existing.number(0, 0) != 3) return std::nullopt;
  stored_index out;
  HONDANA_TRY(auto counts, read_counts(connection, location));
  out.counts = counts;
  HONDANA_TRY(const auto progress_rows,
              connection.query("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')"));
  out.last_progress = decode_progress(progress_rows.bytes(0, 0));
  return out;
}

}  // namespace hondana::search
