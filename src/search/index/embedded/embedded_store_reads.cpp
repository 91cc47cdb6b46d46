/// The index in SQLite: connections for reading, and reads of documents and vectors.

#include <algorithm>
#include <cstring>
#include <utility>

#include "search/index/embedded/embedded_store_impl.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t max_idle = 8;

/// Copies the numbers of a vector; `bytes` may be unaligned.
void copy_numbers(std::string_view bytes, std::vector<float>& numbers) {
  numbers.resize(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
}

/// A transaction, so that all reads during its lifetime see one state.
class read_transaction {
 public:
  explicit read_transaction(sqlite::connection& connection)
      : connection_(connection), has_begun_(!connection.is_in_transaction() && connection.execute("BEGIN")) {}
  read_transaction(const read_transaction&) = delete;
  read_transaction& operator=(const read_transaction&) = delete;
  ~read_transaction() {
    if (!has_begun_) return;
    const auto status = connection_.execute("COMMIT");
    static_cast<void>(status);  // nothing was written
  }

 private:
  sqlite::connection& connection_;
  const bool has_begun_;
};

/// All counts except `bytes`.
result<store_counts> read_counts(sqlite::connection& connection) {
  store_counts out;
  const std::pair<std::uint64_t*, const char*> queries[]{
      {&out.documents, "SELECT count(*) FROM documents"},
      {&out.without_text, "SELECT count(*) FROM documents WHERE problem<>''"},
      {&out.passages, "SELECT count(*) FROM words_docsize"},
      {&out.vectors, "SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)"}};
  for (const auto& [count, sql] : queries) {
    HONDANA_TRY(auto number, connection.number(sql));
    *count = static_cast<std::uint64_t>(number);
  }
  return out;
}

tl::unexpected<failure> not_ready(std::string reason) { return fail(errc::resource_not_found, std::move(reason)); }

}  // namespace

result<std::unique_ptr<embedded_store::reader>> embedded_store::acquire_reader() const {
  if (is_in_memory_) {
    std::unique_lock memory_lock(memory_mutex_);
    std::unique_ptr<reader> acquired;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        acquired = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!acquired) {
      acquired = std::make_unique<reader>();
      acquired->connection = &file_.writer;
      acquired->cache = cache_;
      HONDANA_TRY(prepare_reader(*acquired));
    }
    acquired->lock = std::move(memory_lock);
    return acquired;
  }
  const auto identity = sqlite::identity_of(options_.path);
  {
    const std::lock_guard lock(mutex_);
    if (cache_->file != identity) {
      readers_ -= static_cast<int>(idle_.size());
      idle_.clear();
      cache_ = std::make_shared<search_cache>();
      cache_->file = identity;
    }
    if (!idle_.empty()) {
      auto acquired = std::move(idle_.back());
      idle_.pop_back();
      return acquired;
    }
  }
  return open_reader();
}

result<std::unique_ptr<embedded_store::reader>> embedded_store::open_reader() const {
  const auto& path = options_.path;
  HONDANA_TRY(const auto names, sqlite::lock_file_names(path, index_file_kind));
  const auto identity = sqlite::identity_of(path);
  if (!identity) return not_ready("the search index is being created");
  auto created = std::make_unique<reader>();
  HONDANA_TRY(auto opened, sqlite::connection::open(path, std::string(index_name)));
  created->own_connection = std::move(opened);
  created->own_connection.disable_checkpoint_on_close();
  created->connection = &created->own_connection;
  HONDANA_TRY(created->own_connection.execute("PRAGMA query_only=1; PRAGMA cache_size=-16384"));
  HONDANA_TRY(const auto application, created->own_connection.number("PRAGMA application_id"));
  const auto version = created->own_connection.number("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (application == 0 && *version == 0) return not_ready("the search index is being created");
  if (application != application_id || *version != schema_version)
    return not_ready("the search index is in use by another version of hondana");
  const auto tokenizer_id = created->own_connection.text("SELECT coalesce((SELECT value FROM facts WHERE name='words'),'')");
  if (!tokenizer_id) return tl::unexpected(tokenizer_id.error());
  if (tokenizer_id->empty()) return not_ready("the search index is being created");
  if (*tokenizer_id != options_.tokenizer->id())
    return not_ready("another process writes the search index with another tokenizer; end it, or set another path");
  {
    const std::lock_guard lock(mutex_);
    if (cache_->file != identity) {
      readers_ -= static_cast<int>(idle_.size());
      idle_.clear();
      cache_ = std::make_shared<search_cache>();
      cache_->file = identity;
    }
    created->cache = cache_;
  }
  HONDANA_TRY(prepare_reader(*created));
  ++readers_;
  return created;
}

result<void> embedded_store::prepare_reader(reader& target) const {
  HONDANA_TRY(row_scorer::register_function(*target.connection));
  const std::string select_passage = "SELECT p.heading, p.text, p.first_line, p.last_line, p.page, " +
                                     std::string(document_columns) +
                                     " FROM passages p JOIN documents d ON d.id=(p.id>>16) WHERE p.id=?1";
  const std::pair<sqlite::statement*, const char*> statements[]{
      {&target.select_passage, select_passage.c_str()},
      {&target.count_word, "SELECT doc FROM word_counts WHERE term=?1"},
      {&target.count_prefix, "SELECT sum(doc) FROM (SELECT doc FROM word_counts WHERE term>=?1 AND term<?2 LIMIT ?3)"},
      {&target.count_changes,
       "SELECT (SELECT value FROM facts WHERE name='changed'), (SELECT value FROM facts WHERE name='rewritten')"}};
  for (const auto& [statement, sql] : statements) {
    HONDANA_TRY(auto prepared, target.connection->prepare(sql));
    *statement = std::move(prepared);
  }
  return {};
}

void embedded_store::release_reader(std::unique_ptr<reader> released) const {
  if (!released) return;
  if (is_in_memory_) {
    const std::lock_guard lock(mutex_);
    auto memory_lock = std::move(released->lock);
    if (idle_.size() < max_idle) idle_.push_back(std::move(released));
    released.reset();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < max_idle && released->cache == cache_) return idle_.push_back(std::move(released));
  }
  released.reset();
  --readers_;
}

result<embedded_store::reader_lease> embedded_store::borrow() const {
  auto acquired = acquire_reader();
  if (acquired) return reader_lease(*this, std::move(*acquired));
  auto error = handle_damage(std::move(acquired.error()));
  error.code = errc::source_unavailable;
  return tl::unexpected(std::move(error));
}

result<void> embedded_store::for_each_document(const std::function<void(stored_document)>& visit) const {
  HONDANA_TRY(auto lease, borrow());
  const auto& reader = lease;
  HONDANA_TRY(auto statement,
              reader->connection->prepare(
                  "SELECT d.uri, d.version, d.described, d.problem, w.way FROM documents d JOIN ways w ON w.id=d.way"));
  for (;;) {
    const auto has_row = statement.step();
    if (!has_row) return tl::unexpected(handle_damage(has_row.error()));
    if (!*has_row) return {};
    visit({std::string(statement.bytes(0)), std::string(statement.bytes(1)), static_cast<std::uint64_t>(statement.number(2)),
           !statement.bytes(3).empty(), std::string(statement.bytes(4))});
  }
}

result<void> embedded_store::for_each_vector(const vector_visitor& visit) const {
  HONDANA_TRY(auto lease, borrow());
  const auto& reader = lease;
  HONDANA_TRY(auto statement,
              reader->connection->prepare("SELECT p.id, v.numbers FROM passages p JOIN vectors v ON v.digest=p.digest"));
  std::vector<float> numbers;
  for (;;) {
    const auto has_row = statement.step();
    if (!has_row) return tl::unexpected(handle_damage(has_row.error()));
    if (!*has_row) return {};
    copy_numbers(statement.bytes(1), numbers);
    visit({statement.number(0)}, numbers);
  }
}

result<void> embedded_store::for_each_vector_of(std::span<const std::string> digests, const vector_visitor& visit) const {
  HONDANA_TRY(auto lease, borrow());
  const auto& reader = lease;
  HONDANA_TRY(auto statement,
              reader->connection->prepare(
                  "SELECT p.id, v.numbers FROM vectors v JOIN passages p ON p.digest=v.digest WHERE v.digest=?1"));
  std::vector<float> numbers;
  for (const auto& digest : digests) {
    statement.bind(1, digest);
    for (;;) {
      const auto has_row = statement.step();
      if (!has_row) return tl::unexpected(handle_damage(has_row.error()));
      if (!*has_row) break;
      copy_numbers(statement.bytes(1), numbers);
      visit({statement.number(0)}, numbers);
    }
    statement.reset();
  }
  return {};
}

result<store_counts> embedded_store::counts() const {
  HONDANA_TRY(auto lease, borrow());
  const auto& reader = lease;
  const read_transaction transaction(*reader->connection);
  auto out = read_counts(*reader->connection);
  if (!out) return tl::unexpected(handle_damage(std::move(out.error())));
  if (is_in_memory_) {
    HONDANA_TRY(auto pages,
                reader->connection->number("SELECT page_count*page_size FROM pragma_page_count(), pragma_page_size()"));
    out->bytes = static_cast<std::uint64_t>(pages);
  } else {
    out->bytes = sqlite::bytes_on_disk(options_.path);
  }
  return out;
}

result<index_status> embedded_store::status() const {
  HONDANA_TRY(auto lease, borrow());
  const auto& reader = lease;
  auto statement = reader->connection->prepare("SELECT name, value FROM facts");
  if (!statement) return tl::unexpected(handle_damage(std::move(statement.error())));
  index_status out;
  for (;;) {
    const auto has_row = statement->step();
    if (!has_row) return tl::unexpected(handle_damage(has_row.error()));
    if (!*has_row) return out;
    const auto name = statement->bytes(0);
    if (name == "commits") out.commits = static_cast<std::uint64_t>(statement->number(1));
    if (name == "model") out.model = statement->bytes(1);
    if (name == "progress") out.last_progress = decode_progress(statement->bytes(1));
  }
}

result<std::optional<stored_index>> inspect_embedded(const std::string& path) {
  // Errors read as if the writer had opened the file.
  HONDANA_TRY(const auto file_version, sqlite::read_schema_version(path, index_file_kind));
  if (!file_version) return std::nullopt;
  // Without write permission, read without the lock.
  const auto names = sqlite::lock_file_names(path, index_file_kind);
  HONDANA_TRY(auto connection, sqlite::connection::open(path, std::string(index_name)));
  // Disable the checkpoint on close. Otherwise the last connection that closes would write to the file and delete its log.
  connection.disable_checkpoint_on_close();
  HONDANA_TRY(const auto application, connection.number("PRAGMA application_id"));
  HONDANA_TRY(const auto version, connection.number("PRAGMA user_version"));
  // An unfinished or older index is created again when a server opens it.
  if (application == 0 && version == 0) return std::nullopt;
  if (application == application_id && version < schema_version) return std::nullopt;
  if (application != application_id || version != schema_version)
    return fail(errc::source_unavailable, path + " is not a search index of this version of hondana");
  HONDANA_TRY(connection.execute("PRAGMA query_only=1"));
  // All counts are of one state, even during writes.
  const read_transaction transaction(connection);
  stored_index out;
  HONDANA_TRY(auto counts, read_counts(connection));
  out.counts = counts;
  out.counts.bytes = sqlite::bytes_on_disk(path);
  HONDANA_TRY(const auto progress_text, connection.text("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')"));
  out.last_progress = decode_progress(progress_text);
  return out;
}

}  // namespace hondana::search
