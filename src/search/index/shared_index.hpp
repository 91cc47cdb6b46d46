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

/// Caches the URIs of documents by number. Numbers are unique during one generation of an index (`index_snapshot::generation`).
/// Threads: any.
class document_uris {
 public:
  /// Returns the URI of the passage's document; no value if it is not cached.
  [[nodiscard]] std::optional<std::string> find(std::uint64_t generation, passage_id id) const {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return std::nullopt;
    const auto position = uris_.find(id.document());
    return position == uris_.end() ? std::nullopt : std::optional(position->second);
  }
  /// Adds a URI. A new `generation` clears the cache first.
  void insert(std::uint64_t generation, passage_id id, const std::string& uri) {
    const std::lock_guard lock(mutex_);
    if (generation != generation_ || uris_.size() >= max_entries) uris_.clear();
    generation_ = generation;
    uris_.try_emplace(id.document(), uri);
  }

  /// Call when the store has been created again.
  void clear() {
    const std::lock_guard lock(mutex_);
    uris_.clear();
  }

 private:
  static constexpr std::size_t max_entries = 100'000;  // about 20 MB

  mutable std::mutex mutex_;
  std::uint64_t generation_ = 0;
  std::unordered_map<std::int64_t, std::string> uris_;
};

/// Which end of a scan a caller waits for. A scan lists all resources and reads those that have changed.
enum class scan_end : std::uint8_t {
  complete,  ///< All resources have been indexed.
  any,       ///< Some resources may be missing, because they could not be listed or read.
};

/// What the indexer and searches share. Threads: any.
struct shared_index {
  search_options options{};
  std::shared_ptr<const tokenizer::tokenizer> tokenizer{};
  std::shared_ptr<store> storage{};
  std::shared_ptr<const embeddings::embedder> embedder{};  ///< Null: no vectors.

  /// The nearest-neighbour index. Null: there is no vector yet.
  [[nodiscard]] std::shared_ptr<embeddings::vector_index> vectors() const {
    const std::lock_guard lock(mutex_);
    return vectors_;
  }
  void set_vectors(std::shared_ptr<embeddings::vector_index> updated) {
    const std::lock_guard lock(mutex_);
    vectors_ = std::move(updated);
  }
  /// The services of the server that the index belongs to. Null: not part of a server yet, or the server is stopping.
  [[nodiscard]] std::shared_ptr<const tools::services_holder> services() const {
    const std::lock_guard lock(mutex_);
    return services_;
  }
  void set_services(std::shared_ptr<const tools::services_holder> holder) {
    const std::lock_guard lock(mutex_);
    services_ = std::move(holder);
  }
  [[nodiscard]] search_state state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  /// Calls `change` under the lock; it must not call this object.
  void change_state(const std::function<void(search_state&)>& change) {
    const std::lock_guard lock(mutex_);
    change(state_);
  }
  /// Limit of `missing`.
  static constexpr std::size_t max_missing = 1'000;
  /// Served resources that are not in the index: URIs, and claims (URI prefixes) of sources that cannot be listed. Never null.
  /// Check a caller's access before showing one.
  [[nodiscard]] std::shared_ptr<const std::vector<std::string>> missing() const {
    const std::lock_guard lock(mutex_);
    return missing_;
  }
  void set_missing(std::vector<std::string> missing_uris) {
    auto updated = std::make_shared<const std::vector<std::string>>(std::move(missing_uris));
    const std::lock_guard lock(mutex_);
    missing_.swap(updated);
  }
  /// Whether everything has been scanned once since the start, or since the last failure of the store.
  std::atomic<bool> has_scanned = false;
  /// Whether a query vector had another dimension than the stored vectors. The indexer then checks the service and resets it.
  std::atomic<bool> has_dimension_mismatch = false;
  document_uris uris{};

  /// Logs one line; does nothing without a log.
  void log_line(std::string_view line) const {
    if (options.log) options.log("search: " + std::string(line));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<embeddings::vector_index> vectors_;
  std::shared_ptr<const tools::services_holder> services_;
  std::shared_ptr<const std::vector<std::string>> missing_ = std::make_shared<const std::vector<std::string>>();
  search_state state_{};
};

/// Problems, the most severe first.
enum class problem_kind : std::uint8_t {
  defect,     ///< Indexing threw an exception.
  store,      ///< The index cannot be written or read.
  lists,      ///< A source cannot be listed.
  resources,  ///< Some resources cannot be read now.
  capacity,   ///< Some resources do not fit into the index.
  vectors     ///< The embedding service returns no vectors.
};
inline constexpr std::size_t problem_kind_count = 6;

/// Returns a text that is safe for any caller: no URI, host or path.
[[nodiscard]] std::string_view problem_text(problem_kind kind) noexcept;

/// The current problems, at most one of each kind. Publishes the text of the most severe one in `search_state::problem`.
/// Threads: one.
class problem_tracker {
 public:
  explicit problem_tracker(std::shared_ptr<shared_index> index) : index_(std::move(index)) {}
  /// Sets the problem of this kind. Logs `reason`, but only if it has changed.
  void report(problem_kind kind, const std::string& reason);
  void report(problem_kind kind, const failure& error);
  /// Removes the problem of this kind.
  void resolve(problem_kind kind);
  /// Returns the text of the most severe problem; empty: none.
  [[nodiscard]] std::string_view text() const noexcept;

 private:
  void publish() const;

  const std::shared_ptr<shared_index> index_;
  std::array<std::string, problem_kind_count> reasons_{};  // empty: no problem of this kind
};

}  // namespace hondana::search
