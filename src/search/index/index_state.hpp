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

/// Caches the URIs of documents by number. Numbers are unique during one life of an index (`state_of_index::life`). Threads:
/// any.
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

  /// Call when the store has been created again.
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

/// Which end of a scan a caller waits for. The indexer scans all lists and reads what has changed.
enum class look_end : std::uint8_t {
  complete,  ///< All resources have been indexed.
  any,       ///< Some resources may be missing, because they could not be listed or read.
};

/// What the indexer and searches share. Threads: any.
struct ground {
  search_options options{};
  std::shared_ptr<const tokenizer::tokenizer> words{};
  std::shared_ptr<store> kept{};
  std::shared_ptr<const embeddings::embedder> embedder{};  ///< Null: no vectors.

  /// The nearest-neighbour index; null until there is a vector.
  [[nodiscard]] std::shared_ptr<embeddings::neighbours> neighbours() const {
    const std::lock_guard lock(mutex_);
    return neighbours_;
  }
  void put_neighbours(std::shared_ptr<embeddings::neighbours> those) {
    const std::lock_guard lock(mutex_);
    neighbours_ = std::move(those);
  }
  /// The server that the index belongs to; set once, before indexing begins.
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
  /// Served resources that are not in the index: URIs, and claims of sources that cannot be listed; at most `most_missing`.
  /// Never null. Check a caller's access before showing one.
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
  /// Everything has been scanned once since the start.
  std::atomic<bool> has_looked = false;
  /// The vector of a query had another dimension than the stored vectors.
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

/// The pause after a number of failures in a row: 5 s, doubled with each failure, up to one minute.
[[nodiscard]] constexpr std::chrono::seconds pause_after(std::size_t failures) noexcept {
  constexpr std::chrono::seconds first{5};
  constexpr std::chrono::seconds longest{60};
  constexpr std::size_t most_doublings = 4;
  const auto doublings = std::min(failures == 0 ? 0 : failures - 1, most_doublings);
  return std::min(first * (1 << doublings), longest);
}

/// Problems, the most severe first.
enum class trouble : std::uint8_t { defect, store, lists, resources, room, vectors };
inline constexpr std::size_t kinds_of_trouble = 6;

/// A text that is safe for any caller: no URI, host or path.
[[nodiscard]] std::string_view words_for(trouble which) noexcept;

/// The current problems. `search_state::problem` is the most severe one. Threads: one.
class troubles {
 public:
  explicit troubles(std::shared_ptr<ground> on) : on_(std::move(on)) {}
  /// Adds a problem. Logs `why`, but only if it has changed.
  void have(trouble which, const std::string& why);
  void have(trouble which, const failure& why);
  void end(trouble which);
  /// The text of the most severe problem; empty: none.
  [[nodiscard]] std::string_view words() const noexcept;

 private:
  void tell() const;

  const std::shared_ptr<ground> on_;
  std::array<std::string, kinds_of_trouble> why_{};  // empty: no problem of this kind
};

}  // namespace hondana::search
