/// What an index stands on; shared by who writes and who searches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/search.hpp>

#include "search/embeddings/embedder.hpp"
#include "search/embeddings/neighbours.hpp"
#include "search/index/document_uris.hpp"
#include "search/index/store.hpp"
#include "server/tools/place.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::search {

/// How a look has ended that somebody waits for.
enum class look_end : std::uint8_t {
  complete,  ///< With everything indexed that could be.
  any,       ///< Or without some of it, which could not be listed or read.
};

/// Threads: any.
struct ground {
  search_options options{};
  std::shared_ptr<const tokenizer::tokenizer> words{};
  std::shared_ptr<store> kept{};
  std::shared_ptr<const embeddings::embedder> embedder{};  ///< Null: there are no vectors.

  /// What is near to what; null until the first vector is there.
  [[nodiscard]] std::shared_ptr<embeddings::neighbours> neighbours() const {
    const std::lock_guard lock(mutex_);
    return neighbours_;
  }
  void put_neighbours(std::shared_ptr<embeddings::neighbours> those) {
    const std::lock_guard lock(mutex_);
    neighbours_ = std::move(those);
  }
  /// Where the server is; set once, before anything is indexed.
  [[nodiscard]] std::shared_ptr<const tools::place> where() const {
    const std::lock_guard lock(mutex_);
    return where_;
  }
  void put_where(std::shared_ptr<const tools::place> there) {
    const std::lock_guard lock(mutex_);
    where_ = std::move(there);
  }
  [[nodiscard]] search_state state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  void change_state(const std::function<void(search_state&)>& how) {
    const std::lock_guard lock(mutex_);
    how(state_);
  }
  /// Of what is served and not in the index: URIs, and claims of sources that cannot be listed; at most `most_missing`. Never
  /// null. For who may be told of them.
  static constexpr std::size_t most_missing = 1'000;
  [[nodiscard]] std::shared_ptr<const std::vector<std::string>> missing() const {
    const std::lock_guard lock(mutex_);
    return missing_;
  }
  void put_missing(std::vector<std::string> those) {
    auto made = std::make_shared<const std::vector<std::string>>(std::move(those));
    const std::lock_guard lock(mutex_);
    missing_.swap(made);
  }
  /// Everything has been looked at once since the start.
  std::atomic<bool> has_looked = false;
  /// A query's vector had another length than those that are there.
  std::atomic<bool> are_vectors_doubted = false;
  document_uris uris{};

  void say(std::string_view line) const {
    if (options.log) options.log("search: " + std::string(line));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<embeddings::neighbours> neighbours_;
  std::shared_ptr<const tools::place> where_;
  std::shared_ptr<const std::vector<std::string>> missing_ = std::make_shared<const std::vector<std::string>>();
  search_state state_{};
};

}  // namespace hondana::search
