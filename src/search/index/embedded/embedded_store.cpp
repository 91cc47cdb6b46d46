/// The index in SQLite: opening, ownership, damage and writes.

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "search/index/embedded/embedded_store_impl.hpp"
#include "search/index/store.hpp"

namespace hondana::search {

const sqlite::file_kind index_file_kind{
    .name = index_name.data(),
    .purpose = "store the search index",
    .in_use_reason = "another process stores its search index there",
    .application_id = application_id,
    .schema_version = schema_version,
    .schema = tables,
    .setup = "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL",
    .settings =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; "
        "PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=2000",
    .check = "INSERT INTO words(words) VALUES('integrity-check')",
    .replaces_older = true,
};

namespace {

/// Merges enough at once to keep searches fast, without long pauses now and then.
constexpr const char* table_settings =
    "INSERT INTO words(words, rank) VALUES('automerge', 4); INSERT INTO words(words, rank) VALUES('crisismerge', 16);";

result<void> prepare_all(sqlite::connection& connection,
                         std::initializer_list<std::pair<sqlite::statement*, const char*>> statements) {
  for (const auto& [target, sql] : statements) {
    HONDANA_TRY(auto prepared, connection.prepare(sql));
    *target = std::move(prepared);
  }
  return {};
}

}  // namespace

embedded_store::embedded_store(embedded_options options)
    : options_(std::move(options)), is_in_memory_(options_.path.empty()), cache_(std::make_shared<search_cache>()) {}

embedded_store::~embedded_store() { close(); }

void embedded_store::log_line(const std::string& line) const {
  if (options_.log) options_.log("search: " + line);
}

result<void> embedded_store::open() {
  if (is_in_memory_) return take_ownership({});
  if (options_.path.front() != '/') return sqlite::file_failure(options_.path, index_file_kind, "the path must be absolute");
  HONDANA_TRY(sqlite::reject_foreign_file(options_.path, index_file_kind));
  HONDANA_TRY(auto lock, sqlite::acquire_file_lock(options_.path, index_file_kind, std::chrono::milliseconds(0)));
  if (lock) return take_ownership(std::move(*lock));
  log_line("another process writes the index " + options_.path +
           "; this one only searches it, and takes over when the other ends");
  return {};
}

result<void> embedded_store::take_ownership(disk::handle lock) {
  if (auto opened = open_owned(std::move(lock)); !opened) {
    close();
    return opened;
  }
  suspicions_ = 0;
  is_damaged_ = false;
  ++generation_;
  is_writer_ = true;
  return {};
}

result<void> embedded_store::open_owned(disk::handle lock) {
  disk::handle names;
  if (!is_in_memory_) {
    HONDANA_TRY(auto acquired, sqlite::lock_file_names(options_.path, index_file_kind));
    names = std::move(acquired);
  }
  const auto& path = options_.path;
  for (bool is_retry = false;; is_retry = true) {
    bool is_open_here = false;
    if (!is_in_memory_) {
      const std::lock_guard guard(mutex_);
      const auto identity = sqlite::identity_of(path);
      is_open_here = identity && readers_ > 0 && cache_->file == identity;
    }
    HONDANA_TRY(auto file, is_in_memory_
                               ? sqlite::open_owned({}, index_file_kind, options_.log)
                               : sqlite::open_locked(path, index_file_kind, std::move(lock), is_open_here, options_.log));
    file_ = std::move(file);
    identity_ = sqlite::identity_of(path);
    was_checked_ = is_in_memory_ || file_.was_suspect || sqlite::bytes_on_disk(path) <= sqlite::max_full_check_bytes;
    const auto tokenizer_id = read_fact("words");
    if (tokenizer_id && *tokenizer_id == options_.tokenizer->id()) break;
    if (tokenizer_id && tokenizer_id->empty()) {
      HONDANA_TRY(file_.writer.execute(table_settings));
      HONDANA_TRY(set_fact("words", options_.tokenizer->id()));
      break;
    }
    if (is_retry || is_in_memory_) return fail(errc::source_unavailable, "the search index cannot be created again");
    if (!tokenizer_id && !sqlite::is_corruption(tokenizer_id.error())) return tl::unexpected(tokenizer_id.error());
    lock = std::move(file_.lock);
    close();
    if (tokenizer_id) {
      log_line("the index was built with another tokenizer (" + *tokenizer_id + ", now " + options_.tokenizer->id() +
               "), so it is built again");
      HONDANA_TRY(sqlite::remove_owned(path, index_file_kind));
    } else if (auto moved = sqlite::quarantine(path, index_file_kind, tokenizer_id.error().private_text, options_.log);
               !moved) {
      return moved;
    }
  }
  if (file_.was_suspect) sqlite::clear_suspect(path);
  return prepare();
}

result<void> embedded_store::prepare() {
  return prepare_all(
      file_.writer,
      {{&find_document_, "SELECT id, title, name, description FROM documents WHERE uri=?1"},
       {&insert_document_,
        "INSERT INTO documents(uri, version, name, title, description, mime_type, kind, language, problem, priority, "
        "audience, modified, size, described, way, owners) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)"},
       {&update_document_,
        "UPDATE documents SET version=?2, name=?3, title=?4, description=?5, mime_type=?6, kind=?7, priority=?10, "
        "audience=?11, modified=?12, size=?13, described=?14, owners=?16 WHERE uri=?1"},
       {&delete_document_, "DELETE FROM documents WHERE id=?1"},
       {&select_passages_, "SELECT id, heading, text, first_line FROM passages WHERE id>=?1 AND id<?2"},
       {&delete_passages_, "DELETE FROM passages WHERE id>=?1 AND id<?2"},
       {&insert_passage_, "INSERT INTO passages VALUES(?1,?2,?3,?4,?5,?6,?7)"},
       {&insert_words_, "INSERT INTO words(rowid, title, heading, name, text) VALUES(?1,?2,?3,?4,?5)"},
       {&delete_words_, "INSERT INTO words(words, rowid, title, heading, name, text) VALUES('delete',?1,?2,?3,?4,?5)"},
       {&select_texts_without_vector_,
        "SELECT p.digest, p.heading, p.text, d.title, d.name, max(coalesce(d.priority,0.5)) AS importance, min(p.id) AS "
        "first FROM passages p JOIN documents d ON d.id=(p.id>>16) "
        "WHERE NOT EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest) GROUP BY p.digest "
        "ORDER BY importance DESC, first LIMIT ?1"},
       {&update_passage_, "UPDATE passages SET text=?2, digest=?3 WHERE id=?1"},
       {&touch_vectors_,
        "UPDATE vectors SET used=?3 WHERE used<?3 AND digest IN (SELECT digest FROM passages WHERE id>=?1 AND id<?2)"},
       {&put_vector_, "INSERT OR REPLACE INTO vectors VALUES(?1,?2,?3)"},
       {&find_processing_, "SELECT id FROM ways WHERE way=?1"},
       {&count_commit_,
        "UPDATE facts SET value=value+CASE name WHEN 'commits' THEN 1 WHEN 'changed' THEN ?1 ELSE ?2 END WHERE name IN "
        "('commits','changed','rewritten')"}});
}

void embedded_store::close() noexcept {
  is_writer_ = false;
  has_failed_ = false;
  changed_passages_ = rewritten_passages_ = 0;
  for (auto* statement : {&find_document_, &insert_document_, &update_document_, &delete_document_, &select_passages_,
                          &delete_passages_, &insert_passage_, &insert_words_, &delete_words_, &select_texts_without_vector_,
                          &put_vector_, &update_passage_, &touch_vectors_, &find_processing_, &count_commit_})
    *statement = sqlite::statement();
  {
    // The writer closes last and checkpoints its write-ahead log into the file.
    const std::lock_guard lock(mutex_);
    if (!is_in_memory_) readers_ -= static_cast<int>(idle_.size());
    idle_.clear();
  }
  file_ = sqlite::owned_file();
}

result<write_access> embedded_store::acquire_write_access() {
  if (is_in_memory_) return write_access{true, generation_};
  if (is_writer_ && !file_.writer.is_in_transaction() && !sqlite::is_lock_of(options_.path, file_.lock)) {
    log_line("the lock file of the index " + options_.path + " was removed, so the lock is requested again");
    close();
  }
  if (!is_writer_) {
    HONDANA_TRY(auto lock, sqlite::acquire_file_lock(options_.path, index_file_kind, std::chrono::milliseconds(0)));
    if (!lock) return write_access{false, generation_};
    HONDANA_TRY(take_ownership(std::move(*lock)));
    log_line("this process writes the index " + options_.path + " from now on");
    return write_access{true, generation_};
  }
  if (const auto reason = find_damage(); !reason.empty()) {
    HONDANA_TRY(recreate(reason));
  }
  return write_access{true, generation_};
}

std::string embedded_store::find_damage() {
  if (sqlite::identity_of(options_.path) != identity_) return "it was moved or removed while it was open";
  if (file_.writer.is_in_transaction()) return {};
  if (sqlite::is_suspect(options_.path)) is_damaged_ = true;
  if (!is_damaged_ && was_checked_) return {};
  if (is_damaged_) ++suspicions_;
  const auto status = check_on_disk();
  was_checked_ = true;
  if (!status) return sqlite::is_corruption(status.error()) ? status.error().private_text : std::string();
  // A page with a valid checksum may still be in the wrong place. A second suspicion counts as damage.
  if (suspicions_ > 1) return "its content was inconsistent again, although each of its pages is intact";
  is_damaged_ = false;
  sqlite::clear_suspect(options_.path);
  return {};
}

result<void> embedded_store::check_on_disk() const {
  // Use a new connection, because the writer has cached pages.
  HONDANA_TRY(auto connection, sqlite::connection::open(options_.path, std::string(index_name)));
  connection.disable_checkpoint_on_close();
  return sqlite::check_integrity(connection, index_file_kind);
}

result<void> embedded_store::recreate(const std::string& reason) {
  const bool is_same_file = sqlite::identity_of(options_.path) == identity_;
  auto lock = std::move(file_.lock);
  close();
  {
    HONDANA_TRY(const auto names, sqlite::lock_file_names(options_.path, index_file_kind));
    if (is_same_file) {
      HONDANA_TRY(sqlite::quarantine(options_.path, index_file_kind, reason, options_.log));
    } else {
      log_line("the index " + options_.path + ": " + reason + ", so a new one is created");
      // If there is no new file at the path, remove leftovers of the old one, so that the new index does not use them.
      if (!sqlite::identity_of(options_.path)) {
        HONDANA_TRY(sqlite::remove_owned(options_.path, index_file_kind));
      }
    }
  }
  return take_ownership(std::move(lock));
}

void embedded_store::record_damage() const noexcept {
  is_damaged_ = true;
  // The process that writes the index checks for this mark.
  if (!is_in_memory_ && !is_writer_) sqlite::mark_suspect(options_.path);
}

failure embedded_store::handle_damage(failure error) const {
  if (!sqlite::is_corruption(error)) return error;
  record_damage();
  return sqlite::corruption_failure("the search index is damaged; it is moved aside and created again",
                                    std::move(error.private_text));
}

result<std::string> embedded_store::read_fact(const char* name) {
  HONDANA_TRY(auto statement, file_.writer.prepare("SELECT value FROM facts WHERE name=?1"));
  statement.bind_text(1, name);
  HONDANA_TRY(const auto has_row, statement.step());
  return has_row ? std::string(statement.bytes(0)) : std::string();
}

result<void> embedded_store::set_fact(const char* name, const std::string& value) {
  auto statement = file_.writer.prepare("INSERT OR REPLACE INTO facts VALUES(?1,?2)");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  statement->bind_text(1, name).bind_text(2, value);
  return statement->execute();
}

result<std::shared_ptr<store>> open_embedded(embedded_options options) {
  auto created = std::make_shared<embedded_store>(std::move(options));
  HONDANA_TRY(created->open());
  return std::shared_ptr<store>(std::move(created));
}

result<void> embedded_store::put_progress(const progress& value) {
  HONDANA_TRY(begin());
  return mark_failure(set_fact("progress", encode(value)));
}

result<void> embedded_store::begin() {
  if (has_failed_)
    return fail(errc::source_unavailable, "a write to the search index has failed; it must be rolled back first");
  if (!is_writer_)
    return fail(errc::source_unavailable,
                "another process writes the search index " + options_.path + "; this one only searches it");
  if (is_damaged_)
    return tl::unexpected(sqlite::corruption_failure("the search index is damaged; it is moved aside and created again", {}));
  if (is_in_memory_ && !write_lock_.owns_lock()) write_lock_ = std::unique_lock(memory_mutex_);
  if (file_.writer.is_in_transaction()) return {};
  auto status = file_.writer.execute("BEGIN IMMEDIATE");
  return status ? status : tl::unexpected(handle_damage(std::move(status.error())));
}

bool embedded_store::is_writing() const noexcept {
  // In memory, the transaction may belong to a search.
  return (!is_in_memory_ || write_lock_.owns_lock()) && file_.writer.is_in_transaction();
}

result<void> embedded_store::commit() {
  result<void> status{};
  if (has_failed_) {
    status = fail(errc::source_unavailable, "a write to the search index failed, so all of it was rolled back");
  } else if (is_writing()) {
    count_commit_.bind(1, changed_passages_).bind(2, rewritten_passages_);
    status = count_commit_.execute();
    if (status) status = file_.writer.execute("COMMIT");
  }
  if (!status) {
    roll_back();
    return tl::unexpected(handle_damage(std::move(status.error())));
  }
  changed_passages_ = rewritten_passages_ = 0;
  if (write_lock_.owns_lock()) write_lock_.unlock();
  return status;
}

void embedded_store::roll_back() noexcept {
  has_failed_ = false;
  changed_passages_ = rewritten_passages_ = 0;
  if (is_writing()) {
    const auto status = file_.writer.execute("ROLLBACK");
    static_cast<void>(status);  // if it fails, SQLite rolls back when the file is opened next
  }
  if (write_lock_.owns_lock()) write_lock_.unlock();
}

std::string embedded_store::tokenize(std::string_view text) const { return encode_words(*options_.tokenizer, text); }

result<void> embedded_store::write_words(sqlite::statement& statement, std::int64_t passage, const title_words& titles,
                                         std::string_view heading, std::string_view text) {
  const auto heading_words = tokenize(heading);
  const auto text_words = tokenize(text);
  statement.bind(1, passage)
      .bind_text(2, titles.title)
      .bind_text(3, heading_words)
      .bind_text(4, titles.name)
      .bind_text(5, text_words);
  return statement.execute();
}

embedded_store::title_words embedded_store::make_title_words(std::string_view title, std::string_view name,
                                                             const std::string& uri) const {
  return {tokenize(title), tokenize(name_and_path(name, uri))};
}

result<std::vector<passage_id>> embedded_store::remove_passages(std::int64_t id, const title_words& titles) {
  const auto first = passage_id::create(id, 0).number;
  const auto end = passage_id::create(id + 1, 0).number;
  std::vector<passage_id> removed;
  select_passages_.bind(1, first).bind(2, end);
  for (;;) {
    HONDANA_TRY(const auto has_row, select_passages_.step());
    if (!has_row) break;
    removed.push_back({select_passages_.number(0)});
    if (auto status =
            write_words(delete_words_, removed.back().number, titles, select_passages_.bytes(1), select_passages_.bytes(2));
        !status) {
      select_passages_.reset();
      return tl::unexpected(std::move(status.error()));
    }
  }
  select_passages_.reset();
  changed_passages_ += static_cast<std::int64_t>(removed.size());
  touch_vectors_.bind(1, first).bind(2, end).bind(3, hours_now());
  HONDANA_TRY(touch_vectors_.execute());
  delete_passages_.bind(1, first).bind(2, end);
  HONDANA_TRY(delete_passages_.execute());
  return removed;
}

result<std::vector<passage_id>> embedded_store::remove(const std::string& uri) {
  HONDANA_TRY(begin());
  return mark_failure(remove_document(uri));
}

result<std::vector<passage_id>> embedded_store::remove_document(const std::string& uri) {
  find_document_.bind_text(1, uri);
  HONDANA_TRY(const auto has_row, find_document_.step());
  if (!has_row) {
    find_document_.reset();
    return std::vector<passage_id>();
  }
  const auto id = find_document_.number(0);
  const auto titles = make_title_words(find_document_.bytes(1), find_document_.bytes(2), uri);
  find_document_.reset();
  auto removed = remove_passages(id, titles);
  if (!removed) return removed;
  delete_document_.bind(1, id);
  HONDANA_TRY(delete_document_.execute());
  return removed;
}

void embedded_store::bind_document(sqlite::statement& statement, const document& document, std::int64_t listed_digest) const {
  statement.bind_text(1, document.uri).bind_text(2, document.version).bind_text(3, document.name).bind_text(4, document.title);
  statement.bind_text(5, document.description).bind_text(6, document.mime_type).bind_text(7, document.kind);
  if (document.priority) statement.bind_real(10, *document.priority);
  std::int64_t audience = 0;
  for (const auto recipient : document.audience) audience |= bit_of(recipient);
  statement.bind(11, audience);
  if (document.modified) statement.bind(12, document.modified->time_since_epoch().count());
  if (document.size) statement.bind(13, static_cast<std::int64_t>(*document.size));
  statement.bind(14, listed_digest).bind_text(16, document.owners);
}

result<std::vector<passage_id>> embedded_store::put(const document& document, std::span<const chunking::passage> passages) {
  HONDANA_TRY(const auto checked, make_storable(document, passages));
  HONDANA_TRY(begin());
  return mark_failure(put(checked, static_cast<std::int64_t>(listed_digest_of(document))));
}

result<std::int64_t> embedded_store::find_processing(const std::string& processing) {
  find_processing_.bind_text(1, processing);
  HONDANA_TRY(const auto has_row, find_processing_.step());
  const auto id = has_row ? std::optional(find_processing_.number(0)) : std::nullopt;
  find_processing_.reset();
  if (id) return *id;
  HONDANA_TRY(auto statement, file_.writer.prepare("INSERT INTO ways(way) VALUES(?1)"));
  statement.bind_text(1, processing);
  HONDANA_TRY(statement.execute());
  return file_.writer.last_insert_rowid();
}

result<std::vector<passage_id>> embedded_store::put(const storable& item, std::int64_t listed_digest) {
  auto removed = remove_document(item.metadata.uri);
  if (!removed) return removed;
  HONDANA_TRY(const auto processing_id, find_processing(item.metadata.processing));
  bind_document(insert_document_, item.metadata, listed_digest);
  insert_document_.bind_text(8, item.metadata.language).bind_text(9, item.metadata.problem).bind(15, processing_id);
  HONDANA_TRY(insert_document_.execute());
  const auto id = file_.writer.last_insert_rowid();
  const auto titles = make_title_words(item.metadata.title, item.metadata.name, item.metadata.uri);
  changed_passages_ += static_cast<std::int64_t>(item.passages.size());
  std::size_t order = 0;
  for (const auto& passage : item.passages) {
    const auto number = passage_id::create(id, order++).number;
    const auto digest = digest_of_text(text_to_embed(item.metadata, passage.heading, passage.text));
    insert_passage_.bind(1, number).bind_text(2, passage.heading).bind_text(3, passage.text);
    insert_passage_.bind(4, static_cast<std::int64_t>(passage.first_line))
        .bind(5, static_cast<std::int64_t>(passage.last_line));
    insert_passage_.bind(6, static_cast<std::int64_t>(passage.page)).bind(7, digest);
    HONDANA_TRY(insert_passage_.execute());
    HONDANA_TRY(write_words(insert_words_, number, titles, passage.heading, passage.text));
  }
  return removed;
}

result<void> embedded_store::describe(const document& document) {
  HONDANA_TRY(const auto checked, make_storable(document));
  HONDANA_TRY(begin());
  return mark_failure(describe(checked, static_cast<std::int64_t>(listed_digest_of(document))));
}

result<void> embedded_store::describe(const document& document, std::int64_t listed_digest) {
  find_document_.bind_text(1, document.uri);
  HONDANA_TRY(const auto has_row, find_document_.step());
  const auto id = has_row ? find_document_.number(0) : 0;
  const bool has_same_names =
      !has_row || (find_document_.bytes(1) == document.title && find_document_.bytes(2) == document.name &&
                   find_document_.bytes(3) == document.description);
  title_words old_titles{};
  if (!has_same_names) old_titles = make_title_words(find_document_.bytes(1), find_document_.bytes(2), document.uri);
  find_document_.reset();
  if (!has_row) return {};
  bind_document(update_document_, document, listed_digest);
  HONDANA_TRY(update_document_.execute());
  return has_same_names ? result<void>() : rewrite(id, old_titles, document);
}

result<void> embedded_store::rewrite(std::int64_t id, const title_words& old_titles, const document& document) {
  const auto new_titles = make_title_words(document.title, document.name, document.uri);
  std::vector<std::pair<std::int64_t, chunking::passage>> passages;
  select_passages_.bind(1, passage_id::create(id, 0).number).bind(2, passage_id::create(id + 1, 0).number);
  for (;;) {
    HONDANA_TRY(const auto has_row, select_passages_.step());
    if (!has_row) break;
    auto& passage = passages.emplace_back(select_passages_.number(0), chunking::passage()).second;
    passage.heading = select_passages_.bytes(1);
    passage.text = select_passages_.bytes(2);
    passage.first_line = static_cast<std::size_t>(select_passages_.number(3));
  }
  select_passages_.reset();
  changed_passages_ += static_cast<std::int64_t>(passages.size());
  for (const auto& [number, passage] : passages) {
    HONDANA_TRY(write_words(delete_words_, number, old_titles, passage.heading, passage.text));
    const auto& text = passage.first_line == 0 ? document.description : passage.text;
    if (passage.first_line == 0) ++rewritten_passages_;
    HONDANA_TRY(write_words(insert_words_, number, new_titles, passage.heading, text));
    const auto digest = digest_of_text(text_to_embed(document, passage.heading, text));
    update_passage_.bind(1, number).bind_text(2, text).bind(3, digest);
    HONDANA_TRY(update_passage_.execute());
  }
  return {};
}

result<void> embedded_store::use_model(const std::string& id) {
  HONDANA_TRY(begin());
  if (auto status = mark_failure(change_model(id)); !status) {
    roll_back();
    return status;
  }
  return commit();
}

result<void> embedded_store::change_model(const std::string& id) {
  HONDANA_TRY(const auto current, read_fact("model"));
  if (current == id) return {};
  HONDANA_TRY(file_.writer.execute("DELETE FROM vectors"));
  return set_fact("model", id);
}

result<std::vector<pending_vector>> embedded_store::texts_without_vector(std::size_t count) {
  if (!is_writer_) return fail(errc::source_unavailable, "another process writes the search index " + options_.path);
  std::unique_lock lock(memory_mutex_, std::defer_lock);
  if (is_in_memory_ && !write_lock_.owns_lock()) lock.lock();
  std::vector<pending_vector> out;
  select_texts_without_vector_.bind(1, static_cast<std::int64_t>(count));
  for (;;) {
    const auto has_row = select_texts_without_vector_.step();
    if (!has_row) return tl::unexpected(handle_damage(has_row.error()));
    if (!*has_row) break;
    document metadata;
    metadata.title = select_texts_without_vector_.bytes(3);
    metadata.name = select_texts_without_vector_.bytes(4);
    out.push_back({std::string(select_texts_without_vector_.bytes(0)),
                   text_to_embed(metadata, select_texts_without_vector_.bytes(1), select_texts_without_vector_.bytes(2))});
  }
  select_texts_without_vector_.reset();
  return out;
}

result<void> embedded_store::put_vectors(std::span<const text_vector> vectors) {
  HONDANA_TRY(begin());
  return mark_failure(write_vectors(vectors));
}

result<void> embedded_store::write_vectors(std::span<const text_vector> vectors) {
  for (const auto& vector : vectors) {
    const std::string_view numbers(reinterpret_cast<const char*>(vector.numbers.data()), vector.numbers.size() * sizeof(float));
    put_vector_.bind(1, vector.digest).bind(2, numbers).bind(3, hours_now());
    HONDANA_TRY(put_vector_.execute());
  }
  return {};
}

result<void> embedded_store::clean_up() {
  HONDANA_TRY(begin());
  if (auto status = mark_failure(remove_unused()); !status) {
    roll_back();
    return status;
  }
  HONDANA_TRY(commit());
  return is_in_memory_ ? result<void>() : file_.writer.execute("PRAGMA incremental_vacuum(2000)");
}

result<void> embedded_store::remove_unused() {
  HONDANA_TRY(auto statement,
              file_.writer.prepare(
                  "DELETE FROM vectors WHERE used<?1 AND NOT EXISTS(SELECT 1 FROM passages p WHERE p.digest=vectors.digest)"));
  statement.bind(1, hours_now() - unused_ttl_hours);
  HONDANA_TRY(statement.execute());
  return file_.writer.execute("DELETE FROM ways WHERE NOT EXISTS(SELECT 1 FROM documents d WHERE d.way=ways.id)");
}

}  // namespace hondana::search
