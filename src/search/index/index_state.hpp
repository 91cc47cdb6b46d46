/// State shared by the indexer and by searches, and the problems of an index.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/search.hpp>

#include "search/embeddings/embedder.hpp"
#include "search/embeddings/vector_index.hpp"
#include "search/index/store.hpp"
#include "server/tools/tool_context.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

/// A number never means another document in one life of an index (`state_of_index::life`). Threads: any.
class document_uris {
 public:
  [[nodiscard]] std::optional<std::string> of(std::uint64_t life, passage_id one) const {
    const std::lock_guard lock(mutex_);
    if (life != life_) return std::nullopt;
    const auto found = all_.find(one.document());
    return found == all_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::uint64_t life, passage_id one, const std::string& uri) {
    const std::lock_guard lock(mutex_);
    if (life != life_ || all_.size() >= most) all_.clear();
    life_ = life;
    all_.try_emplace(one.document(), uri);
  }

  /// The store has been begun anew.
  void forget() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  static constexpr std::size_t most = 100'000;  // about 20 MB

  mutable std::mutex mutex_;
  std::uint64_t life_ = 0;
  std::unordered_map<std::int64_t, std::string> all_;
};

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

/// After so many failures in a row: 5 s, and twice as long each time, up to a minute.
[[nodiscard]] constexpr std::chrono::seconds pause_after(std::size_t failures) noexcept {
  constexpr std::chrono::seconds first{5};
  constexpr std::chrono::seconds longest{60};
  constexpr std::size_t most_doublings = 4;
  const auto doublings = std::min(failures == 0 ? 0 : failures - 1, most_doublings);
  return std::min(first * (1 << doublings), longest);
}

/// The gravest first.
enum class trouble : std::uint8_t { defect, store, lists, resources, room, vectors };
inline constexpr std::size_t kinds_of_trouble = 6;

/// What anybody may read of it: no URI, host or path.
[[nodiscard]] std::string_view words_for(trouble which) noexcept;

/// Those there are. `search_state::problem` is the gravest of them, as long as it lasts. Threads: one.
class troubles {
 public:
  explicit troubles(std::shared_ptr<ground> on) : on_(std::move(on)) {}
  /// `why` goes to the log, once as long as it is the same.
  void have(trouble which, const std::string& why);
  void have(trouble which, const failure& why);
  void end(trouble which);
  /// Of the gravest; empty: there are none.
  [[nodiscard]] std::string_view words() const noexcept;

 private:
  void tell() const;

  const std::shared_ptr<ground> on_;
  std::array<std::string, kinds_of_trouble> why_{};  // empty: there is none of that kind
};

}  // namespace hondana::search
