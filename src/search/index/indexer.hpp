/// The indexer, which keeps an index up to date.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "search/embeddings/vector_index.hpp"
#include "search/index/document_reader.hpp"
#include "search/index/shared_index.hpp"
#include "server/catalog/change_feed.hpp"

namespace hondana::search {

/// Updates the index on one thread. It scans everything at the start, when a list changes and at each `scan_interval`, and
/// reads single resources when they change. New and changed resources are read and stored; removed ones are deleted. Then it
/// computes missing vectors. A failure is logged once and retried with the next scan; it does not delay anything else.
class indexer {
 public:
  explicit indexer(std::shared_ptr<shared_index> index);
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  void start(std::shared_ptr<catalog::change_feed> changes);
  /// Stops the thread and waits until it has ended. Waiting callers of `wait_for_scan` get an error.
  void stop();
  /// Requests a scan. Returns the number of the scan that will include everything that exists now.
  std::uint64_t request_scan();
  void note_change(std::string_view uri);
  /// Waits until a scan with this number or a higher one has ended as `end` says. Calls `on_progress` (may be empty) on
  /// progress and every second. Errors: timed_out, cancelled; source_unavailable if there will be no scan.
  [[nodiscard]] result<void> wait_for_scan(std::uint64_t number, scan_end end, std::chrono::steady_clock::time_point deadline,
                                           const std::stop_token& stop, const std::function<void()>& on_progress) const;

 private:
  class change_listener;
  /// What the store has of a resource.
  struct known_entry {
    std::string version{};
    std::uint64_t listed_digest = 0;
    std::uint64_t last_scan = 0;  // the last scan that saw it
    bool is_watched = false;
    std::string processing{};  // how its text was made, see document_reader.hpp
    bool has_text = false;
    bool was_read = false;  // has been read since the start, with or without text
  };
  /// A resource to read, with its entry from the list.
  struct pending_entry {
    resource entry{};
    std::string processing{};  // the result of `processing_id` at the time of listing
  };
  /// A resource that does not fit into the index.
  struct omitted_entry {
    std::string version{};
    std::uint64_t listed_digest = 0;
    std::uint64_t last_scan = 0;
    std::uint64_t passages = 0;
  };
  /// Pause after a failure; later retries follow `scan_interval`.
  static constexpr std::chrono::seconds retry_delay{5};
  /// How often to check whether this process may write.
  static constexpr std::chrono::seconds writer_check_interval{1};
  enum class outcome : std::uint8_t { indexed, unchanged, removed, deferred, omitted };

  void run(const std::stop_token& stop);
  /// Whether to index now. If another process writes, copies its progress and waits a while.
  [[nodiscard]] bool acquire_write_access(const std::stop_token& stop);
  void follow_writer();
  void follow_vectors(const index_status& status);
  void wait_for(std::chrono::milliseconds delay, const std::stop_token& stop);
  /// Returns false if there is no work yet, but `acquire_write_access` is due.
  [[nodiscard]] bool wait_for_work(const std::stop_token& stop);
  void wait_after_failure(const std::stop_token& stop);
  [[nodiscard]] bool has_work() const;
  /// Whether a scan is due; if so, it has begun.
  [[nodiscard]] bool begin_scan();
  void run_round(bool needs_scan, const std::stop_token& stop);
  [[nodiscard]] result<void> load();
  /// Takes over the documents that the store has.
  void merge_known(std::unordered_map<std::string, known_entry> known);
  /// Returns false if vectors have different dimensions.
  [[nodiscard]] result<bool> load_vectors();
  /// Scans the lists, and puts resources to read into `pending_`.
  void scan(const std::stop_token& stop);
  [[nodiscard]] result<void> scan_claim(const std::string& claim, const std::stop_token& stop);
  void scan_claims(const std::vector<std::string>& claims, const std::stop_token& stop);
  void remove_unseen(const std::vector<std::string>& claims);
  [[nodiscard]] bool needs_reading(const resource& entry, const std::string& processing);
  /// Whether the store has at least the description that the list gives.
  [[nodiscard]] static bool has_description(const known_entry& known, const resource& entry, std::uint64_t listed_digest);
  [[nodiscard]] bool is_in_memory() const noexcept {
    return index_->options.path.empty() && index_->options.postgres_url.empty();
  }
  [[nodiscard]] bool is_included(std::string_view uri) const;
  [[nodiscard]] std::vector<std::string> claims() const;
  void index_pending(const std::stop_token& stop);
  [[nodiscard]] result<outcome> index_entry(const pending_entry& pending, const std::stop_token& stop);
  [[nodiscard]] result<chunked_document> read_entry(const pending_entry& pending, const std::stop_token& stop);
  [[nodiscard]] result<outcome> handle_read_failure(const resource& entry, const failure& error);
  [[nodiscard]] result<outcome> handle_unchanged(const resource& entry);
  [[nodiscard]] result<outcome> store_document(chunked_document chunked, const resource& entry);
  /// Returns false if there is not enough space; then the document has been removed from the store.
  [[nodiscard]] result<bool> make_space(const std::string& uri, std::uint64_t passages);
  [[nodiscard]] result<void> store_with_fallback(chunked_document& chunked);
  [[nodiscard]] result<void> remove_document(const std::string& uri);
  void record_removed(std::span<const passage_id> ids);
  [[nodiscard]] result<void> commit();
  /// Call if the store may differ from the indexer's state. Rolls back and reloads the store's state before doing anything
  /// else.
  void restart(const failure& error);
  void restart() noexcept;
  /// Stores the progress for other processes, if it has changed.
  [[nodiscard]] result<void> store_progress();
  /// Requests a scan if a resource that was left out fits into the index now.
  void retry_omitted();
  /// Removes documents while there are more passages than allowed.
  void remove_excess();
  void publish_missing();
  /// Logs a problem of one resource, once.
  void log_problem(const std::string& uri, std::string_view problem, const failure& error);
  /// Returns false if there is nothing more to do, or after a failure.
  [[nodiscard]] bool embed_batch(const std::stop_token& stop);
  [[nodiscard]] result<std::vector<pending_vector>> texts_to_embed();
  [[nodiscard]] bool store_vectors(std::vector<pending_vector> pending, std::vector<std::vector<float>> embedded);
  [[nodiscard]] bool delay_vectors(const failure& error);
  void check_dimension(const std::stop_token& stop);
  void load_new_vectors(std::span<const std::string> digests);
  void add_vector(embeddings::vector_index& vectors, passage_id id, std::span<const float> numbers);
  [[nodiscard]] result<void> drop_vectors();
  /// Returns true if there is a resource to read.
  [[nodiscard]] bool process_changes(const std::stop_token& stop);
  void watch(const std::string& uri, known_entry& known);
  void unwatch(const std::string& uri);
  void publish_state(bool is_counted);
  void notify_progress();
  [[nodiscard]] request_context make_context(const std::stop_token& stop) const;

  const std::shared_ptr<shared_index> index_;
  std::shared_ptr<catalog::change_feed> feed_;
  std::shared_ptr<change_listener> listener_;
  std::chrono::steady_clock::time_point started_at_{};

  // Used only by the thread.
  problem_tracker problems_;
  std::unordered_map<std::string, known_entry> known_;
  std::unordered_map<std::string, pending_entry> pending_;
  std::unordered_map<std::string, omitted_entry> omitted_;
  std::unordered_set<std::string> unread_;    // resources that could not be read and are retried
  std::unordered_set<std::string> logged_;    // URIs
  std::unordered_set<std::string> rejected_;  // digests of texts that the embedding service rejects; kept for an hour
  std::vector<std::string> unlisted_;         // claims, by the last scan
  std::vector<passage_id> removed_;           // since the last commit
  std::vector<std::string> new_digests_;      // since the last commit
  std::uint64_t passages_ = 0;                // in the store
  std::uint64_t scan_number_ = 0;
  std::size_t watch_count_ = 0;
  std::size_t store_failures_ = 0;  // since the last completed scan
  std::string stored_progress_;     // stored progress without its time
  std::chrono::steady_clock::time_point next_scan_{};
  std::chrono::steady_clock::time_point earliest_scan_{};  // the earliest time of a requested scan
  std::chrono::steady_clock::time_point next_vectors_{};
  std::chrono::steady_clock::time_point next_check_{};
  std::chrono::steady_clock::time_point next_count_{};
  std::chrono::steady_clock::time_point next_cleanup_{};
  std::chrono::milliseconds vector_delay_{0};
  std::optional<std::uint64_t> generation_{};       // of the loaded index; no value: another process writes it
  std::optional<std::uint64_t> followed_commit_{};  // commit number of the other process's index whose vectors have been read
  std::optional<std::uint64_t>
      counted_commit_{};  // commit number of the other process's index whose documents have been counted
  bool needs_load_ = true;
  bool is_scan_complete_ = false;
  bool has_more_vectors_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t requested_scans_ = 1;
  std::uint64_t started_scans_ = 0;
  std::uint64_t completed_scans_ = 0;
  std::uint64_t finished_scans_ = 0;  // complete or not
  std::uint64_t progress_count_ = 0;  // increases with every change that `wait_for_scan` reports
  bool is_stopped_ = false;
  std::set<std::string> changed_uris_;
  std::jthread thread_;
};

}  // namespace hondana::search
