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
/// index with another version or tokenizer. Leaves one with documents alone, because other servers may be using it. Errors:
/// source_unavailable, with advice.
[[nodiscard]] result<void> make_tables(postgres_connection& on, const postgres_place& where, const std::string& words);
/// Whether pgvector is available. Creates the extension if the user may.
[[nodiscard]] result<bool> has_pgvector(postgres_connection& on);
/// Tries to make this connection the only one, among all servers, that updates the index until it closes.
[[nodiscard]] result<bool> take_turn_by(postgres_connection& on, const postgres_place& where);
/// Locks the index against other servers until the end of the transaction.
[[nodiscard]] result<void> lock_index(postgres_connection& on, const postgres_place& where);

namespace {

// Documents are found by digests of their URIs, because a URI may be longer than an index key can be. `words` is stored outside
// the main row. `terms` has the number of passages with each word, `totals` the number of passages and of their words, and
// `ways` how texts of documents were made. The fact `commits` counts commits.
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

/// Checks without the lock, which a writer may hold for long.
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
  // The name needs no quotes, see `place_of`.
  const auto schema = "CREATE SCHEMA " + where.schema;
  if (there.number(0, 0) == 0) {
    HONDANA_TRY(on.run(schema.c_str()));
  }
  const auto made =
      on.ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename='facts'", arguments().text(where.schema));
  if (!made) return tl::unexpected(made.error());
  if (made->number(0, 0) == 0) {
    HONDANA_TRY(on.run(table_definitions));
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
  // Without the permission to create it, the index works without it.
  return on.run("CREATE EXTENSION IF NOT EXISTS vector").has_value();
}

namespace {

// A server whose machine has failed blocks other writers for a minute; one that hangs, for at most ten minutes.
constexpr const char* writer_settings =
    "SET statement_timeout='120s'; SET lock_timeout='30s'; SET idle_in_transaction_session_timeout='600s'; SET jit=off; "
    "SET client_min_messages=error; SET tcp_keepalives_idle=30; SET tcp_keepalives_interval=10; SET tcp_keepalives_count=3";
/// Limit of collected words; beyond it they are written before the end of the transaction.
constexpr std::size_t most_words_at_once = 200'000;

}  // namespace

postgres_store::postgres_store(postgres_options from) : options_(std::move(from)) {}

result<void> postgres_store::open() {
  HONDANA_TRY(auto library, loaded_libpq());
  library_ = library;
  HONDANA_TRY(auto place, place_of(*library_, options_.url, options_.schema));
  place_ = std::move(place);
  HONDANA_TRY(auto writer, connect(writer_settings));
  HONDANA_TRY(make_tables(writer, place_, options_.words->id()));
  HONDANA_TRY(auto vectors, search::has_pgvector(writer));
  has_pgvector_ = vectors;
  // A connection from before the extension was created does not have its schema in the search path. So keep it only without
  // pgvector.
  if (!has_pgvector_) writer_ = std::move(writer);
  if (options_.log)
    options_.log("search: the index is stored in " + place_.name + ", schema " + place_.schema +
                 (has_pgvector_ ? ", with pgvector" : ", without pgvector"));
  return {};
}

result<postgres_connection> postgres_store::connect(const char* settings) const {
  return postgres_connection::open(*library_, place_, settings);
}

result<postgres_rows> postgres_store::write(const char* sql, const arguments& with) {
  auto done = writer_.ask(sql, with);
  if (!done) has_failed_ = true;
  return done;
}

result<void> postgres_store::start() {
  HONDANA_TRY(writer_.run("BEGIN"));
  HONDANA_TRY(lock_index(writer_, place_));
  // Another server may have taken over an empty index.
  const auto words = writer_.ask("SELECT value FROM facts WHERE name='words'");
  if (!words) return tl::unexpected(words.error());
  if (words->count() == 0 || words->bytes(0, 0) != options_.words->id())
    return fail(errc::source_unavailable,
                "the search index in " + place_.name +
                    " now has another setting of words; use the same setting, or set another postgres_schema");
  return {};
}

result<void> postgres_store::begin() {
  if (has_failed_)
    return fail(errc::source_unavailable,
                "a write to the search index in " + place_.name + " has failed; it must be rolled back first");
  if (has_begun_) return {};
  for (bool is_second = false;; is_second = true) {
    const bool is_new = !writer_.is_alive();
    if (is_new) {
      HONDANA_TRY(auto made, connect(writer_settings));
      writer_ = std::move(made);
      // The turn was lost together with the connection.
      if (std::exchange(has_turn_, false))
        return fail(errc::source_unavailable,
                    "the connection to " + place_.name +
                        " was lost, and another server may be writing the search index; this server requests the lock again");
    }
    auto started = start();
    if (started) break;
    const bool had_gone = !writer_.is_alive();
    roll_back();
    if (is_new || is_second || !had_gone) return started;
  }
  has_begun_ = true;
  return {};
}

result<writing_turn> postgres_store::take_turn() {
  if (has_begun_) return writing_turn{has_turn_, life_};
  // Run a statement to detect a lost connection.
  if (has_turn_ && (!writer_.is_alive() || !writer_.run("SELECT 1"))) has_turn_ = false;
  if (has_turn_) return writing_turn{true, life_};
  if (!writer_.is_alive()) {
    HONDANA_TRY(auto made, connect(writer_settings));
    writer_ = std::move(made);
  }
  HONDANA_TRY(const auto taken, take_turn_by(writer_, place_));
  has_turn_ = taken;
  if (has_turn_) ++life_;
  if (options_.log && has_turn_ == has_followed_)
    options_.log(has_turn_ ? "search: this server writes the index in " + place_.name + " from now on"
                           : "search: another server writes the index in " + place_.name +
                                 "; this one only searches it, and takes over when the other ends");
  has_followed_ = !has_turn_;
  return writing_turn{has_turn_, life_};
}

result<void> postgres_store::note(const progress& how) {
  HONDANA_TRY(begin());
  auto set = write("INSERT INTO facts VALUES('progress',$1::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
                   arguments().text(spelled(how)));
  return set ? result<void>() : tl::unexpected(std::move(set.error()));
}

result<void> postgres_store::count_words() {
  std::vector<std::string> words;
  std::vector<std::int64_t> more;
  words.reserve(terms_.size());
  more.reserve(terms_.size());
  bool are_fewer = false;
  for (const auto& [word, count] : terms_) {
    if (count == 0) continue;
    are_fewer = are_fewer || count < 0;
    words.push_back(word);
    more.push_back(count);
  }
  terms_.clear();
  if (!words.empty()) {
    const auto with = arguments().texts(words).numbers(more);
    HONDANA_TRY(
        write("INSERT INTO terms SELECT * FROM unnest($1::text[], $2::bigint[]) "
              "ON CONFLICT (word) DO UPDATE SET passages=terms.passages+excluded.passages",
              with));
  }
  if (are_fewer) {
    HONDANA_TRY(write("DELETE FROM terms WHERE word=ANY($1::text[]) AND passages<=0", arguments().texts(words)));
  }
  if (passages_ == 0 && length_ == 0) return {};
  auto done = write("UPDATE totals SET passages=passages+$1::bigint, length=length+$2::bigint",
                    arguments().number(passages_).number(length_));
  passages_ = length_ = 0;
  return done ? result<void>() : tl::unexpected(std::move(done.error()));
}

result<void> postgres_store::commit() {
  if (!has_begun_ && !has_failed_) return {};
  result<void> done{};
  if (has_failed_)
    done = fail(errc::source_unavailable,
                "a write to the search index in " + place_.name + " failed, so all of it was rolled back");
  if (done) done = count_words();
  if (done) {
    if (auto counted = write("UPDATE facts SET value=(value::bigint+1)::text WHERE name='commits'"); !counted)
      done = tl::unexpected(std::move(counted.error()));
  }
  if (done) done = writer_.commit();
  if (!done) {
    roll_back();
    return done;
  }
  has_begun_ = false;
  ways_.clear();
  return done;
}

void postgres_store::roll_back() noexcept {
  terms_.clear();
  ways_.clear();
  passages_ = length_ = 0;
  has_begun_ = has_failed_ = false;
  if (!writer_.is_alive() || !writer_.is_in_transaction()) return;
  // If it fails, PostgreSQL rolls back when the connection ends.
  if (!writer_.run("ROLLBACK")) writer_ = postgres_connection();
}

postgres_store::title_words postgres_store::words_of(const document& what) const {
  return {options_.words->tokens_of(what.title, tokenizer::purpose::index),
          options_.words->tokens_of(name_and_path(what.name, what.uri), tokenizer::purpose::index)};
}

word_vector postgres_store::vector_of(const title_words& of, const chunking::passage& one, std::int64_t& length) const {
  word_vector out;
  out.add(place::title, of.title);
  out.add(place::heading, options_.words->tokens_of(one.heading, tokenizer::purpose::index));
  out.add(place::name, of.name);
  const auto text = options_.words->tokens_of(one.text, tokenizer::purpose::index);
  out.add(place::text, text);
  length = static_cast<std::int64_t>(text.size());
  return out;
}

result<void> postgres_store::forget_words(std::int64_t id) {
  const auto which = arguments().number(passage_id::of(id, 0).number).number(passage_id::of(id + 1, 0).number);
  HONDANA_TRY(const auto words, write("SELECT w, count(*) FROM passages p, unnest(tsvector_to_array(p.words)) AS w WHERE "
                                      "p.id>=$1::bigint AND p.id<$2::bigint "
                                      "GROUP BY w",
                                      which));
  for (int i = 0; i < words.count(); ++i) terms_[words.text(i, 0)] -= words.number(i, 1);
  HONDANA_TRY(
      const auto lengths,
      write("SELECT coalesce(sum(length),0)::bigint FROM passages p WHERE p.id>=$1::bigint AND p.id<$2::bigint", which));
  length_ -= lengths.number(0, 0);
  if (terms_.size() > most_words_at_once) return count_words();
  return {};
}

result<std::shared_ptr<store>> open_postgres(postgres_options from) {
  auto made = std::make_shared<postgres_store>(std::move(from));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

namespace {

// Without sequential scans: never read a whole table for words, however few rows the planner expects.
constexpr const char* reader_settings =
    "SET default_transaction_read_only=on; SET statement_timeout='30s'; SET lock_timeout='5s'; SET "
    "idle_in_transaction_session_timeout='60s'; SET enable_seqscan=off; "
    "SET jit=off; SET max_parallel_workers_per_gather=0; SET plan_cache_mode=force_custom_plan; SET work_mem='32MB'; SET "
    "client_min_messages=error";
constexpr std::int64_t documents_at_once = 5'000;
constexpr std::size_t most_readers = 8;  // as many as concurrent searches
constexpr std::chrono::seconds patience{30};

result<store_counts> counted(postgres_connection& by, const postgres_place& where) {
  HONDANA_TRY(
      const auto rows,
      by.ask("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM documents WHERE problem<>''), "
             "(SELECT passages FROM totals), "
             "(SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)), "
             "(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace "
             "WHERE n.nspname=$1::text AND c.relkind='r')",
             arguments().text(where.schema)));
  const auto number = [&](int column) { return static_cast<std::uint64_t>(rows.number(0, column)); };
  return store_counts{number(0), number(1), number(2), number(3), number(4)};
}

}  // namespace

result<postgres_connection> postgres_store::connect_reader() const { return connect(reader_settings); }

result<postgres_connection> postgres_store::take_reader() const {
  {
    std::unique_lock lock(mutex_);
    if (!monotonic_clock::wait_for(given_back_, lock, patience, [this] { return used_ < most_readers; }))
      return fail(errc::source_unavailable, "too many searches are running in " + place_.name + "; retry later");
    ++used_;
    if (!idle_.empty()) {
      auto by = std::move(idle_.back());
      idle_.pop_back();
      return by;
    }
  }
  auto made = connect_reader();
  if (!made) give_back({});
  return made;
}

void postgres_store::give_back(postgres_connection by) const {
  {
    const std::lock_guard lock(mutex_);
    --used_;
    if (by.is_alive()) idle_.push_back(std::move(by));
  }
  given_back_.notify_one();
}

void postgres_store::drop_idle() const {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

/// Returns the connection on destruction. A connection that an exception interrupted is closed instead.
struct postgres_store::lent_reader {
  lent_reader(const postgres_store& of, postgres_connection one) : from(of), by(std::move(one)) {}
  lent_reader(const lent_reader&) = delete;
  lent_reader& operator=(const lent_reader&) = delete;
  ~lent_reader() { from.give_back(is_whole ? std::move(by) : postgres_connection()); }

  const postgres_store& from;
  postgres_connection by;
  bool is_whole = false;
};

result<void> postgres_store::reading(const asking& ask) const {
  HONDANA_TRY(auto taken, take_reader());
  lent_reader lent(*this, std::move(taken));
  auto& by = lent.by;
  auto done = ask(by);
  if (!done && !by.is_alive()) {
    drop_idle();
    auto made = connect_reader();
    if (made) {
      by = std::move(*made);
      done = ask(by);
    } else {
      done = tl::unexpected(std::move(made.error()));
    }
  }
  lent.is_whole = true;
  return done;
}

result<postgres_rows> postgres_store::read(const char* sql, const arguments& with) const {
  result<postgres_rows> rows{};
  auto done = reading([&](postgres_connection& by) -> result<void> {
    rows = by.ask(sql, with);
    return rows ? result<void>() : tl::unexpected(rows.error());
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return rows;
}

// Reads in batches, so that a slow callback does not keep a statement open.
result<void> postgres_store::each_document(const std::function<void(known)>& each) const {
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(
        const auto rows,
        read("SELECT d.uri, d.version, d.described, (d.problem<>'')::int::bigint, w.way, d.id FROM documents d JOIN ways w ON "
             "w.id=d.way WHERE d.id>$1::bigint ORDER BY d.id LIMIT $2::bigint",
             arguments().number(last).number(documents_at_once)));
    if (rows.count() == 0) return {};
    for (int row = 0; row < rows.count(); ++row)
      each({rows.text(row, 0), rows.text(row, 1), static_cast<std::uint64_t>(rows.number(row, 2)), rows.number(row, 3) != 0,
            rows.text(row, 4)});
    last = rows.number(rows.count() - 1, 5);
  }
}

result<store_counts> postgres_store::counts() const {
  store_counts out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    HONDANA_TRY(auto now, counted(by, place_));
    out = now;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<index_standing> postgres_store::stands() const {
  index_standing out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    out = {};
    HONDANA_TRY(const auto rows, by.ask("SELECT name, value FROM facts WHERE name IN ('commits','model','progress')"));
    for (int i = 0; i < rows.count(); ++i) {
      const auto name = rows.bytes(i, 0);
      const auto value = rows.text(i, 1);
      if (name == "commits") out.commits = std::strtoull(value.c_str(), nullptr, 10);
      if (name == "model") out.model = value;
      if (name == "progress") out.how = progress_from(value);
    }
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::optional<kept_index>> look_at_postgres(const std::string& url, const std::string& schema) {
  HONDANA_TRY(const auto library, loaded_libpq());
  HONDANA_TRY(const auto place, place_of(*library, url, schema));
  HONDANA_TRY(auto by, postgres_connection::open(*library, place, reader_settings));
  HONDANA_TRY(const auto there,
              by.ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename IN ('facts','totals','passages')",
                     arguments().text(place.schema)));
  if (there.number(0, 0) != 3) return std::nullopt;
  kept_index out;
  HONDANA_TRY(auto counts, counted(by, place));
  out.counts = counts;
  HONDANA_TRY(const auto how, by.ask("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')"));
  out.how = progress_from(how.bytes(0, 0));
  return out;
}

}  // namespace hondana::search
