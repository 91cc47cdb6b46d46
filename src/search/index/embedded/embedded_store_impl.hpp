/// The class behind the SQLite index, with its tables.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/disk/file_descriptor.hpp"
#include "os/sqlite/database_file.hpp"
#include "os/sqlite/sqlite.hpp"
#include "search/index/embedded/embedded_store.hpp"
#include "search/index/embedded/fts_words.hpp"
#include "search/index/store.hpp"

namespace hondana::search {

/// The columns that make a `document`, for a query in which `documents` has the alias d.
inline constexpr const char* document_columns =
    "d.uri, d.version, d.name, d.title, d.description, d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, "
    "d.modified, d.size, (SELECT way FROM ways WHERE id=d.way), d.owners";

/// "hndS": the application id. Files with another one belong to other programs and are not changed.
inline constexpr std::int64_t application_id = 0x686e6453;
/// The version of the tables below and of their contents. An index of an older version is created again.
inline constexpr std::int64_t schema_version = 3;

// A passage's number consists of the number of its document and its order in it (`passage_id`). The full-text table `words`
// does not store texts; these are in `passages`. To delete a text's words, the text is split again by the same tokenizer, whose
// id is in `facts`. `facts` also counts commits, passages ever added or removed (`changed`), and passages rewritten under the
// same number (`rewritten`). `ways` lists how the texts of documents were made.
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

/// The name of the index in error messages.
inline constexpr std::string_view index_name = "search index";
/// The properties of index files, for the functions of `sqlite`.
extern const sqlite::file_kind index_file_kind;

/// One connection for writing, and one for each concurrent search. In memory, there is only the first, and its user locks
/// `memory_mutex_`; the writer does so from its first change to the commit. If another process writes the file, there are only
/// readers. Each reader belongs to the file that had the path when it was opened. After another file takes the path, these
/// readers are not used any more.
class embedded_store final : public store {
 public:
  explicit embedded_store(embedded_options options);
  ~embedded_store() override;
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<write_access> acquire_write_access() override;
  [[nodiscard]] result<std::vector<passage_id>> put(const document& document,
                                                    std::span<const chunking::passage> passages) override;
  [[nodiscard]] result<void> describe(const document& document) override;
  [[nodiscard]] result<void> put_progress(const progress& value) override;
  [[nodiscard]] result<std::vector<passage_id>> remove(const std::string& uri) override;
  [[nodiscard]] result<void> commit() override;
  void roll_back() noexcept override;
  [[nodiscard]] result<void> use_model(const std::string& id) override;
  [[nodiscard]] result<std::vector<pending_vector>> texts_without_vector(std::size_t count) override;
  [[nodiscard]] result<void> put_vectors(std::span<const text_vector> vectors) override;
  [[nodiscard]] result<void> clean_up() override;

  [[nodiscard]] result<void> for_each_document(const std::function<void(stored_document)>& visit) const override;
  [[nodiscard]] result<std::unique_ptr<index_snapshot>> snapshot() const override;
  [[nodiscard]] result<void> for_each_vector(const vector_visitor& visit) const override;
  [[nodiscard]] result<void> for_each_vector_of(std::span<const std::string> digests,
                                                const vector_visitor& visit) const override;
  [[nodiscard]] result<store_counts> counts() const override;
  [[nodiscard]] result<index_status> status() const override;

 private:
  /// The words in title and name that all passages of a document share, encoded by `encode_words`.
  struct title_words {
    std::string title{};
    std::string name{};
  };
  /// The number of passages with a word. It is cached, because counting is expensive.
  struct frequency {
    std::uint64_t passages = 0;
    std::uint64_t changed = 0;  // the value of `changed` when it was counted
    std::chrono::steady_clock::time_point counted_at{};
  };
  [[nodiscard]] static std::uint64_t next_generation() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  /// What searches cache about one file.
  struct search_cache {
    std::optional<sqlite::file_identity> file{};
    std::uint64_t generation = next_generation();
    text_lengths lengths{};
    std::atomic<std::uint64_t> rewritten = 0;  // the value of the fact `rewritten` for which `lengths` is valid
    std::mutex mutex{};
    std::map<std::pair<std::string, bool>, frequency> frequencies{};  // by word, and whether it is a prefix
  };
  /// The connection and statements of one search at a time.
  struct reader {
    sqlite::connection own_connection{};
    sqlite::connection* connection = nullptr;  // `own_connection`; in memory, that of the writer
    std::unique_lock<std::mutex> lock{};       // in memory only: of `memory_mutex_`
    std::shared_ptr<search_cache> cache{};
    sqlite::statement select_passage{}, count_word{}, count_prefix{}, count_changes{};
  };
  /// Returns the reader on destruction.
  class reader_lease {
   public:
    reader_lease(const embedded_store& owner, std::unique_ptr<reader> leased) : owner_(&owner), reader_(std::move(leased)) {}
    reader_lease(reader_lease&&) noexcept = default;
    reader_lease& operator=(reader_lease&&) = delete;
    ~reader_lease() { owner_->release_reader(std::move(reader_)); }
    reader* operator->() const noexcept { return reader_.get(); }
    reader& operator*() const noexcept { return *reader_; }

   private:
    const embedded_store* owner_;
    std::unique_ptr<reader> reader_;
  };
  friend class embedded_snapshot;
  friend class memory_snapshot;

  /// Opens the file for writing. `lock`: the lock of the file; it is released after an error.
  [[nodiscard]] result<void> take_ownership(disk::handle lock);
  [[nodiscard]] result<void> open_owned(disk::handle lock);
  /// Prepares the statements of the writer.
  [[nodiscard]] result<void> prepare();
  /// Closes the writer and all idle readers, and releases the lock.
  void close() noexcept;
  /// Moves the file aside, unless it is gone already, and creates a new index.
  [[nodiscard]] result<void> recreate(const std::string& reason);
  /// Returns why the index must be created again; empty: it need not be, as far as known. Checks a suspect file.
  [[nodiscard]] std::string find_damage();
  /// Checks the whole file with a new connection.
  [[nodiscard]] result<void> check_on_disk() const;
  /// Records that damage was found, for the process that may write.
  void record_damage() const noexcept;
  void log_line(const std::string& line) const;

  /// Returns the value of a fact; empty if there is none.
  [[nodiscard]] result<std::string> read_fact(const char* name);
  [[nodiscard]] result<void> set_fact(const char* name, const std::string& value);
  /// Begins a transaction, unless one is open. Errors: also if a write has failed or this process may not write.
  [[nodiscard]] result<void> begin();
  [[nodiscard]] std::string tokenize(std::string_view text) const;
  [[nodiscard]] title_words make_title_words(std::string_view title, std::string_view name, const std::string& uri) const;
  /// Adds or deletes the words of a passage, depending on `statement`.
  [[nodiscard]] result<void> write_words(sqlite::statement& statement, std::int64_t passage, const title_words& titles,
                                         std::string_view heading, std::string_view text);
  [[nodiscard]] result<std::vector<passage_id>> remove_passages(std::int64_t id, const title_words& titles);
  [[nodiscard]] result<std::vector<passage_id>> remove_document(const std::string& uri);
  /// Returns the number in `ways` of a value of `document::processing`. Adds a new one.
  [[nodiscard]] result<std::int64_t> find_processing(const std::string& processing);
  [[nodiscard]] result<std::vector<passage_id>> put(const storable& item, std::int64_t listed_digest);
  [[nodiscard]] result<void> describe(const document& document, std::int64_t listed_digest);
  /// Updates the passages of a document after its title, name or description has changed.
  [[nodiscard]] result<void> rewrite(std::int64_t id, const title_words& old_titles, const document& document);
  [[nodiscard]] result<void> write_vectors(std::span<const text_vector> vectors);
  [[nodiscard]] result<void> change_model(const std::string& id);
  [[nodiscard]] result<void> remove_unused();
  /// Binds everything except language, problem and `processing`.
  void bind_document(sqlite::statement& statement, const document& document, std::int64_t listed_digest) const;
  /// Marks the transaction as failed, so that it is not committed.
  template <class T>
  [[nodiscard]] result<T> mark_failure(result<T> outcome) {
    if (outcome) return outcome;
    has_failed_ = true;
    return tl::unexpected(handle_damage(std::move(outcome.error())));
  }
  /// Records damage, and adds its consequences to the message.
  [[nodiscard]] failure handle_damage(failure error) const;

  /// Takes an idle reader or opens one. Errors: also resource_not_found if there is nothing to search yet.
  [[nodiscard]] result<std::unique_ptr<reader>> acquire_reader() const;
  /// As `acquire_reader`, but for everything except searches. Errors: source_unavailable.
  [[nodiscard]] result<reader_lease> borrow() const;
  /// Returns a snapshot, in memory with the lock. Without an index, returns an empty one that says why.
  [[nodiscard]] result<std::unique_ptr<index_snapshot>> current_snapshot() const;
  [[nodiscard]] result<std::unique_ptr<reader>> open_reader() const;
  [[nodiscard]] result<void> prepare_reader(reader& target) const;
  void release_reader(std::unique_ptr<reader> released) const;
  /// Whether the writer has begun a transaction.
  [[nodiscard]] bool is_writing() const noexcept;

  const embedded_options options_;
  const bool is_in_memory_;
  mutable std::mutex memory_mutex_;
  std::atomic<bool> is_writer_ = false;
  mutable std::atomic<bool> is_damaged_ = false;
  // Used by the writing thread.
  mutable sqlite::owned_file file_;
  std::optional<sqlite::file_identity> identity_{};  // of the file that is open for writing
  std::uint64_t generation_ = 0;                     // as `write_access::generation`
  int suspicions_ = 0;                               // how often damage was suspected since the file was opened
  bool was_checked_ = false;                         // the whole content has been checked since the file was opened
  std::unique_lock<std::mutex> write_lock_;
  sqlite::statement find_document_{}, insert_document_{}, update_document_{}, delete_document_{}, select_passages_{},
      delete_passages_{}, insert_passage_{}, insert_words_{}, delete_words_{}, select_texts_without_vector_{}, put_vector_{},
      update_passage_{}, touch_vectors_{}, find_processing_{}, count_commit_{};
  bool has_failed_ = false;
  std::int64_t changed_passages_ = 0;    // passages added or removed since the transaction began
  std::int64_t rewritten_passages_ = 0;  // passages rewritten under the same number
  // Used by readers.
  mutable std::atomic<int> readers_ = 0;  // number of open readers
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<reader>> idle_;
  mutable std::shared_ptr<search_cache> cache_;  // of the file that has the path now
};

}  // namespace hondana::search
