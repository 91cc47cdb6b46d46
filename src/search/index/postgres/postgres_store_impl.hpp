/// The class behind the PostgreSQL index.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/index/postgres/postgres_connection.hpp"
#include "search/index/postgres/postgres_store.hpp"
#include "search/index/postgres/tsvector.hpp"
#include "search/index/store.hpp"

namespace hondana::search {

/// One connection for writing, and a few for reading.
class postgres_store final : public store {
 public:
  explicit postgres_store(postgres_options options);
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
  /// The words in title and name that all passages of a document share.
  struct title_words {
    std::vector<tokenizer::token> title{};
    std::vector<tokenizer::token> name{};
  };
  friend class postgres_snapshot;
  struct reader_lease;
  using reader_task = std::function<result<void>(postgres_connection&)>;

  /// Opens a connection. `settings`: SQL statements to run first.
  [[nodiscard]] result<postgres_connection> connect(const char* settings) const;
  /// Runs a writing statement; a failure marks the transaction as failed.
  [[nodiscard]] result<postgres_rows> write(const char* sql, const arguments& parameters = {});
  /// Begins a transaction, unless one is open. Connects again if the connection was lost. Errors: also if a write has failed.
  [[nodiscard]] result<void> begin();
  /// Begins a transaction and locks the index. Errors: also if it now has another tokenizer.
  [[nodiscard]] result<void> begin_transaction();
  /// Returns the number in `ways` of a value of `document::processing`. Adds a new one.
  [[nodiscard]] result<std::int64_t> find_processing(const std::string& processing);
  [[nodiscard]] result<std::vector<passage_id>> put(const storable& item, std::int64_t listed_digest);
  [[nodiscard]] result<std::vector<passage_id>> remove_document(const std::string& uri);
  /// Subtracts the words of a document's passages from the counts in `terms_`.
  [[nodiscard]] result<void> subtract_words(std::int64_t id);
  /// Writes the changes of counts that this transaction has collected.
  [[nodiscard]] result<void> write_term_counts();
  [[nodiscard]] title_words make_title_words(const document& document) const;
  /// Returns the words of a passage. `length`: receives the number of words in its text.
  [[nodiscard]] word_vector make_word_vector(const title_words& titles, const chunking::passage& passage,
                                             std::int64_t& length) const;
  /// Updates the passages of a document after its title, name or description has changed.
  [[nodiscard]] result<void> rewrite(std::int64_t id, const document& document);
  /// Stores vectors in the column of pgvector, too.
  [[nodiscard]] result<void> put_pgvectors(std::span<const text_vector> vectors);
  [[nodiscard]] result<void> change_model(const std::string& id);
  /// As `index_snapshot::nearest`.
  [[nodiscard]] std::optional<result<std::vector<match>>> query_nearest(postgres_connection& connection,
                                                                        std::span<const float> query, std::size_t count) const;

  /// Calls `task` with a reading connection, and once more with a new one if the connection was lost.
  [[nodiscard]] result<void> with_reader(const reader_task& task) const;
  [[nodiscard]] result<postgres_rows> read(const char* sql, const arguments& parameters) const;
  /// Takes an idle reading connection, or opens a new one. If too many are in use, waits up to 30 s. Return it with
  /// `release_reader`.
  [[nodiscard]] result<postgres_connection> acquire_reader() const;
  void release_reader(postgres_connection reader) const;
  /// Closes idle connections, after a connection in use was lost: the server has probably restarted.
  void drop_idle() const;
  [[nodiscard]] result<postgres_connection> connect_reader() const;

  const postgres_options options_;
  const libpq_library* library_ = nullptr;
  postgres_location location_{};
  bool has_pgvector_ = false;

  // Used by the writing thread.
  postgres_connection writer_{};
  bool has_begun_ = false;
  bool has_failed_ = false;
  bool is_writer_ = false;
  bool is_follower_ = false;  // another server writes, which has been logged
  std::uint64_t generation_ = 0;
  std::map<std::string, std::int64_t> processing_ids_{};  // known in this transaction
  std::map<std::string, std::int64_t> terms_{};  // change of the number of passages with a word, since the transaction began
  std::int64_t passage_change_ = 0;              // change of the number of passages
  std::int64_t length_change_ = 0;               // change of the number of words in all passages

  mutable std::mutex mutex_;
  mutable std::condition_variable reader_released_;
  mutable std::vector<postgres_connection> idle_;
  mutable std::size_t used_readers_ = 0;
};

}  // namespace hondana::search
