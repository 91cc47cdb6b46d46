/// The store in SQLite, as its files see it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "search/embedded/embedded_store.hpp"
#include "search/embedded/text_lengths.hpp"
#include "search/embedded/words_table.hpp"
#include "search/storable.hpp"
#include "sqlite/owned_file.hpp"
#include "sqlite/sqlite.hpp"

namespace hondana::search {

/// In errors.
inline constexpr std::string_view what_an_index_is = "search index";

/// One writer's connection, and one for each search that runs at the same time. In memory there is only the first, and who uses
/// it holds `in_memory_`: from the first change to its commit it is the writer.
class embedded_store final : public store {
 public:
  explicit embedded_store(embedded_options from);
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<std::vector<passage_id>> put(const document& what, std::span<const passages::passage> of) override;
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
  [[nodiscard]] result<matches> find(std::span<const wanted_word> words, const document_filter& which,
                                     std::size_t most) const override;
  [[nodiscard]] result<std::vector<shown_passage>> show(std::span<const passage_id> which) const override;
  [[nodiscard]] result<void> each_vector(const vector_hearer& each) const override;
  [[nodiscard]] result<void> vectors_of(std::span<const std::string> digests, const vector_hearer& each) const override;
  [[nodiscard]] result<store_counts> counts() const override;

 private:
  /// Words that all passages of a document have.
  struct title_words {
    std::string title{};
    std::string name{};
  };
  /// For one search at a time.
  struct reader {
    sqlite::connection own{};
    sqlite::connection* on = nullptr;  // its own, or the writer's
    std::unique_lock<std::mutex> holds{};
    sqlite::statement show{}, count_word{}, count_prefix{};
  };
  /// Gives the reader back when it dies.
  class borrowed;
  /// How many passages have a word, which costs more to find out than to remember.
  struct frequency {
    std::uint64_t having = 0;
    std::uint64_t changed = 0;  // how many passages had been by then
    std::chrono::steady_clock::time_point counted{};
  };

  [[nodiscard]] result<void> prepare();
  [[nodiscard]] result<void> forget_all();
  [[nodiscard]] result<std::string> fact(const char* name);
  [[nodiscard]] result<void> set_fact(const char* name, const std::string& value);
  [[nodiscard]] result<void> begin();
  [[nodiscard]] std::string words_in(std::string_view text) const;
  [[nodiscard]] title_words words_of_document(std::string_view title, std::string_view name, const std::string& uri) const;
  [[nodiscard]] result<void> write_words(sqlite::statement& by, std::int64_t passage, const title_words& of,
                                         std::string_view heading, std::string_view text);
  [[nodiscard]] result<std::vector<passage_id>> take_out(std::int64_t id, const title_words& of);
  [[nodiscard]] result<std::vector<passage_id>> take_out(const std::string& uri);
  [[nodiscard]] result<std::vector<passage_id>> put(const storable& what, std::int64_t described);
  [[nodiscard]] result<void> describe(const document& what, std::int64_t described);
  [[nodiscard]] result<void> rewrite(std::int64_t id, const title_words& before, const document& what);
  [[nodiscard]] result<void> write_vectors(std::span<const made_vector> what);
  void bind_document(sqlite::statement& to, const document& what, std::int64_t described) const;
  /// What has failed half-way is not committed.
  template <class T>
  [[nodiscard]] result<T> noting_failure(result<T> done) {
    if (!done) has_failed_ = true;
    return done;
  }

  [[nodiscard]] result<std::unique_ptr<reader>> take_reader() const;
  void give_back(std::unique_ptr<reader> one) const;
  [[nodiscard]] result<std::uint64_t> having(reader& by, const wanted_word& word) const;

  const embedded_options options_;
  const bool is_in_memory_;
  mutable std::mutex in_memory_;
  mutable sqlite::owned_file file_;
  std::unique_lock<std::mutex> writing_;
  sqlite::statement find_document_{}, insert_document_{}, update_document_{}, delete_document_{}, passages_of_{},
      delete_passages_{}, insert_passage_{}, insert_words_{}, delete_words_{}, without_vector_{}, put_vector_{},
      update_passage_{}, use_vectors_{};
  bool has_failed_ = false;
  std::uint64_t changing_ = 0;         // passages, since the transaction began
  std::vector<passage_id> rewritten_;  // the same; their texts may have another length
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<reader>> idle_;
  mutable std::map<std::pair<std::string, bool>, frequency> frequencies_;
  mutable text_lengths lengths_;
  std::atomic<std::uint64_t> changed_ = 0;  // passages put and taken out, ever
};

}  // namespace hondana::search
