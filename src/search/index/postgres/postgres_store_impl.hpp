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
  explicit postgres_store(postgres_options from);
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<writing_turn> take_turn() override;
  [[nodiscard]] result<std::vector<passage_id>> put(const document& what, std::span<const chunking::passage> of) override;
  [[nodiscard]] result<void> describe(const document& what) override;
  [[nodiscard]] result<void> note(const progress& how) override;
  [[nodiscard]] result<std::vector<passage_id>> remove(const std::string& uri) override;
  [[nodiscard]] result<void> commit() override;
  void roll_back() noexcept override;
  [[nodiscard]] result<void> use_model(const std::string& id) override;
  [[nodiscard]] result<std::vector<wanted_vector>> without_vector(std::size_t count) override;
  [[nodiscard]] result<void> put_vectors(std::span<const made_vector> what) override;
  [[nodiscard]] result<void> tidy() override;

  [[nodiscard]] result<void> each_document(const std::function<void(known)>& each) const override;
  [[nodiscard]] result<std::unique_ptr<state_of_index>> at_once() const override;
  [[nodiscard]] result<void> each_vector(const vector_hearer& each) const override;
  [[nodiscard]] result<void> vectors_of(std::span<const std::string> digests, const vector_hearer& each) const override;
  [[nodiscard]] result<store_counts> counts() const override;
  [[nodiscard]] result<index_standing> stands() const override;

 private:
  /// Words that all passages of a document share.
  struct title_words {
    std::vector<tokenizer::token> title{};
    std::vector<tokenizer::token> name{};
  };
  friend class postgres_state_of_index;
  struct lent_reader;
  using asking = std::function<result<void>(postgres_connection&)>;

  [[nodiscard]] result<postgres_connection> connect(const char* settings) const;
  /// Runs a writing statement; a failure marks the transaction as failed.
  [[nodiscard]] result<postgres_rows> write(const char* sql, const arguments& with = {});
  [[nodiscard]] result<void> begin();
  [[nodiscard]] result<void> start();
  [[nodiscard]] result<std::int64_t> way_of(const std::string& made);
  [[nodiscard]] result<std::vector<passage_id>> put(const storable& what, std::int64_t described);
  [[nodiscard]] result<std::vector<passage_id>> take_out(const std::string& uri);
  [[nodiscard]] result<void> forget_words(std::int64_t id);
  [[nodiscard]] result<void> count_words();
  [[nodiscard]] title_words words_of(const document& what) const;
  [[nodiscard]] word_vector vector_of(const title_words& of, const chunking::passage& one, std::int64_t& length) const;
  [[nodiscard]] result<void> rewrite(std::int64_t id, const document& what);
  [[nodiscard]] result<void> put_nearby(std::span<const made_vector> what);
  [[nodiscard]] result<void> change_model(const std::string& id);
  /// As `state_of_index::nearest`.
  [[nodiscard]] std::optional<result<std::vector<match>>> nearest_by(postgres_connection& by, std::span<const float> to,
                                                                     std::size_t count) const;

  /// Calls `ask` with a reading connection, and once more with a new one if the connection was lost.
  [[nodiscard]] result<void> reading(const asking& ask) const;
  [[nodiscard]] result<postgres_rows> read(const char* sql, const arguments& with) const;
  /// Takes an idle reading connection, or opens a new one. Waits if too many are in use.
  [[nodiscard]] result<postgres_connection> take_reader() const;
  void give_back(postgres_connection by) const;
  /// Closes idle connections, after a connection in use was lost: the server has probably restarted.
  void drop_idle() const;
  [[nodiscard]] result<postgres_connection> connect_reader() const;

  const postgres_options options_;
  const libpq_library* library_ = nullptr;
  postgres_place place_{};
  bool has_pgvector_ = false;

  // Used by the writing thread.
  postgres_connection writer_{};
  bool has_begun_ = false;
  bool has_failed_ = false;
  bool has_turn_ = false;
  bool has_followed_ = false;
  std::uint64_t life_ = 0;
  std::map<std::string, std::int64_t> ways_{};   // known in this transaction
  std::map<std::string, std::int64_t> terms_{};  // change of the number of passages with a word, since the transaction began
  std::int64_t passages_ = 0;                    // change of the number of passages
  std::int64_t length_ = 0;                      // change of the number of words in all passages

  mutable std::mutex mutex_;
  mutable std::condition_variable given_back_;
  mutable std::vector<postgres_connection> idle_;
  mutable std::size_t used_ = 0;
};

}  // namespace hondana::search
