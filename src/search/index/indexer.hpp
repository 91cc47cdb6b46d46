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

  /// Starts the thread. Call once.
  void start(std::shared_ptr<catalog::change_feed> changes);
  /// Stops the thread and waits until it has ended. Waiting callers of `wait_for_scan` get an error.
  void stop();
  /// Requests a scan. Returns the number of the scan that will include everything that exists now.
  std::uint64_t request_scan();
  /// Requests that the resource of this URI is read again.
  void note_change(std::string_view uri);
  /// Waits until scan `number` or a later one has ended as `end` says. Calls `on_progress` (may be empty) at once, on progress
  /// and every second, on this thread. Errors: timed_out, cancelled; source_unavailable if the indexer is stopped.
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

  /// The function of the thread.
  void run(const std::stop_token& stop);
  /// Whether this process may write now. If another process writes, copies its progress and waits a while.
  [[nodiscard]] bool acquire_write_access(const std::stop_token& stop);
  /// Copies the progress and counts of the process that writes, and its new vectors.
  void follow_writer();
  /// Reads the vectors of the process that writes, if there are new ones.
  void follow_vectors(const index_status& status);
  void wait_for(std::chrono::milliseconds delay, const std::stop_token& stop);
  /// Waits for work. Returns false if stopped, or if there is none yet but `acquire_write_access` is due.
  [[nodiscard]] bool wait_for_work(const std::stop_token& stop);
  void wait_after_failure(const std::stop_token& stop);
  [[nodiscard]] bool has_work() const;
  /// Whether a scan is due; if so, it has begun.
  [[nodiscard]] bool begin_scan();
  /// Does all the work that is due. `needs_scan`: scans everything.
  void run_round(bool needs_scan, const std::stop_token& stop);
  /// Reads what the store has, with its vectors.
  [[nodiscard]] result<void> load();
  /// Takes over the documents that the store has.
  void merge_known(std::unordered_map<std::string, known_entry> known);
  /// Reads all vectors. Returns false, and keeps the current ones, if their dimensions differ.
  [[nodiscard]] result<bool> load_vectors();
  /// Lists all resources, removes those that no list has any more, and reads new and changed ones.
  void scan(const std::stop_token& stop);
  /// Lists the resources below one claim, and puts those to read into `pending_`.
  [[nodiscard]] result<void> scan_claim(const std::string& claim, const std::stop_token& stop);
  /// Calls `scan_claim` for each claim. Keeps all documents below those that cannot be listed.
  void scan_claims(const std::vector<std::string>& claims, const std::stop_token& stop);
  /// Removes the documents that the current scan has not seen.
  void remove_unseen(const std::vector<std::string>& claims);
  /// Whether to read a listed resource. Also marks it as seen by the current scan.
  [[nodiscard]] bool needs_reading(const resource& entry, const std::string& processing);
  /// Whether the store has at least the description that the list gives.
  [[nodiscard]] static bool has_description(const known_entry& known, const resource& entry, std::uint64_t listed_digest);
  [[nodiscard]] bool is_in_memory() const noexcept { return !index_->options.path && !index_->options.postgres_url; }
  /// Whether the URI is to be indexed, by `include` and `exclude`.
  [[nodiscard]] bool is_included(std::string_view uri) const;
  /// Returns the claims to list: URI prefixes of sources.
  [[nodiscard]] std::vector<std::string> claims() const;
  /// Reads and stores all resources in `pending_`.
  void index_pending(const std::stop_token& stop);
  [[nodiscard]] result<outcome> index_entry(const pending_entry& pending, const std::stop_token& stop);
  [[nodiscard]] result<chunked_document> read_entry(const pending_entry& pending, const std::stop_token& stop);
  [[nodiscard]] result<outcome> handle_read_failure(const resource& entry, const failure& error);
  [[nodiscard]] result<outcome> handle_unchanged(const resource& entry);
  /// Stores a document if it fits into the index.
  [[nodiscard]] result<outcome> store_document(chunked_document chunked, const resource& entry);
  /// Whether a document with this number of passages fits into the index. Removes its current passages if there is not enough
  /// space with them.
  [[nodiscard]] result<bool> make_space(const std::string& uri, std::uint64_t passages);
  /// Stores a document. If its text is malformed, stores only its name and description.
  [[nodiscard]] result<void> store_with_fallback(chunked_document& chunked);
  [[nodiscard]] result<void> remove_document(const std::string& uri);
  /// Notes removed passages for the next commit.
  void record_removed(std::span<const passage_id> ids);
  [[nodiscard]] result<void> commit();
  /// Reports a failure of the store, and does what the other `restart` does.
  void restart(const failure& error);
  /// Call if the store may differ from the indexer's state. Rolls back; the thread then loads the store's state before anything
  /// else.
  void restart() noexcept;
  /// Stores the progress for other processes, if it has changed.
  [[nodiscard]] result<void> store_progress();
  /// Requests a scan if a resource that did not fit fits into the index now.
  void retry_omitted();
  /// Removes documents while there are more passages than allowed.
  void remove_excess();
  /// Updates `shared_index::missing`.
  void publish_missing();
  /// Logs a problem of one resource, once.
  void log_problem(const std::string& uri, std::string_view problem, const failure& error);
  /// Computes and stores some missing vectors. Returns false if there is nothing more to do, after a failure, or if stopped.
  [[nodiscard]] bool embed_batch(const std::stop_token& stop);
  /// Returns the next texts without a vector that the embedding service has not rejected.
  [[nodiscard]] result<std::vector<pending_vector>> texts_to_embed();
  /// Stores the vectors of texts; an empty one means a rejected text. Returns false after a failure.
  [[nodiscard]] bool store_vectors(std::vector<pending_vector> pending, std::vector<std::vector<float>> embedded);
  /// Reports a failure and delays further vectors. Always returns false.
  [[nodiscard]] bool delay_vectors(const failure& error);
  /// Drops all vectors if the embedding service now returns vectors of another dimension. Called after a query has seen one.
  void check_dimension(const std::stop_token& stop);
  /// Adds the stored vectors of these texts to the nearest-neighbour index.
  void load_new_vectors(std::span<const std::string> digests);
  void add_vector(embeddings::vector_index& vectors, passage_id id, std::span<const float> numbers);
  /// Deletes all vectors, so that they are computed again.
  [[nodiscard]] result<void> drop_vectors();
  /// Looks up changed resources: removes those that are gone, and puts others that are indexed into `pending_`. Returns false
  /// if there was no change, after a failure, or if stopped.
  [[nodiscard]] bool process_changes(const std::stop_token& stop);
  /// Subscribes to changes of a resource, up to a limit.
  void watch(const std::string& uri, known_entry& known);
  void unwatch(const std::string& uri);
  /// Updates `search_state`. `is_counted`: also its counts, which takes long.
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
  std::unordered_set<std::string> logged_;    // URIs whose problems have been logged
  std::unordered_set<std::string> rejected_;  // digests of texts that the embedding service rejects; kept for an hour
  std::vector<std::string> unlisted_;         // claims that the last scan could not list
  std::vector<passage_id> removed_;           // since the last commit
  std::vector<std::string> new_digests_;      // of texts stored since the last commit
  std::uint64_t passages_ = 0;                // in the store
  std::uint64_t scan_number_ = 0;             // number of scans begun by the thread
  std::size_t watch_count_ = 0;
  std::size_t store_failures_ = 0;  // since the last finished scan
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
  std::optional<std::uint64_t> counted_commit_{};   // the same for the documents that have been counted
  bool needs_load_ = true;
  bool is_scan_complete_ = false;
  bool has_more_vectors_ = false;  // there may be texts without a vector

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t requested_scans_ = 1;  // number of the last requested scan
  std::uint64_t started_scans_ = 0;    // number of the last started scan, and so on
  std::uint64_t completed_scans_ = 0;  // ended, and everything has been indexed
  std::uint64_t finished_scans_ = 0;   // ended, complete or not
  std::uint64_t progress_count_ = 0;   // increases with every change that `wait_for_scan` reports
  bool is_stopped_ = false;
  std::set<std::string> changed_uris_;
  std::jthread thread_;
};

}  // namespace hondana::search
