/// What every store of an index must do: its tests run on each of them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

/// Cuts at white space and slashes, with ASCII in small letters; characters from U+3000 on are a word each. Words may be long,
/// and have any marks.
[[nodiscard]] std::shared_ptr<const tokenizer::tokenizer> plain_words(const std::string& id = "plain-1");

/// One store of a kind, empty at first, whose data lives as long as this.
class tried_store {
 public:
  tried_store() = default;
  tried_store(const tried_store&) = delete;
  tried_store& operator=(const tried_store&) = delete;
  virtual ~tried_store() = default;
  /// Opens it, or lets go of it and opens it again.
  [[nodiscard]] virtual std::shared_ptr<store> open() = 0;
  /// As if the vectors had been used last so many hours earlier than they were.
  virtual void age_vectors(int hours) = 0;
  /// From outside; nothing: it cannot be.
  virtual std::optional<stored_index> look() const { return std::nullopt; }
  /// Reads wait for what is being written.
  [[nodiscard]] virtual bool is_in_memory() const { return false; }
};

struct kind_of_store {
  std::string name{};
  std::function<std::unique_ptr<tried_store>()> make{};
};
inline void PrintTo(const kind_of_store& what, std::ostream* to) { *to << what.name; }

/// Test suites that run on every kind.
class store_contract : public testing::TestWithParam<kind_of_store> {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// In a transaction of its own.
  std::vector<passage_id> put(const document& what, const std::vector<chunking::passage>& of);
  [[nodiscard]] word_matches find(const std::string& query, const document_filter& which = {},
                                  std::size_t most = 100'000) const;
  [[nodiscard]] std::vector<passage_id> found(const std::string& query) const;

  std::unique_ptr<tried_store> data_{};
  std::shared_ptr<store> store_{};
};

/// Short words for what is put.
[[nodiscard]] document named_document(const std::string& name, const std::string& title = {});
[[nodiscard]] chunking::passage said(const std::string& text, const std::string& heading = {});
/// The words of a query; one that ends in `*` is a prefix, one that begins with `+` follows the one before it.
[[nodiscard]] std::vector<query_word> words_of(const std::string& query);

}  // namespace hondana::search
