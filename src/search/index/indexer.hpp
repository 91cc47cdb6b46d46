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
#include "search/index/index_state.hpp"
#include "server/catalog/change_feed.hpp"

namespace hondana::search {

/// Updates the index on one thread. It scans everything at the start, when a list changes and at each `interval`, and reads
/// single resources when they change. New and changed resources are read and stored; removed ones are deleted. Then it computes
/// missing vectors. A failure is logged once and retried with the next scan; it does not delay anything else.
class indexer {
 public:
  explicit indexer(std::shared_ptr<ground> on);
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  void begin(std::shared_ptr<catalog::feed> changes);
  /// Stops the thread and waits until it has ended. Waiting callers of `wait_for_look` get an error.
  void end();
  /// Requests a scan. Returns the number of the scan that will include everything that exists now.
  std::uint64_t ask_for_look();
  void heard_of(std::string_view uri);
  /// Waits until a scan with this number or a higher one has ended as `which` says. Calls `hears` (may be empty) on progress
  /// and every second. Errors: timed_out, cancelled; source_unavailable if there will be no scan.
  [[nodiscard]] result<void> wait_for_look(std::uint64_t number, look_end which, std::chrono::steady_clock::time_point until,
                                           const std::stop_token& stop, const std::function<void()>& hears) const;

 private:
  class ears;
  /// What the store has of a resource.
  struct entry_known {
    std::string version{};
    std::uint64_t described = 0;
    std::uint64_t seen = 0;  // the last scan that saw it
    bool is_watched = false;
    std::string made{};  // how its text was made, see document_reader.hpp
    bool has_text = false;
    bool is_tried = false;  // has been read since the start, with or without text
  };
  /// A resource to read, with its entry from the list.
  struct listed {
    resource entry{};
    std::string made{};  // the result of `making_of` at the time of listing
  };
  /// A resource that does not fit into the index.
  struct left_out {
    std::string version{};
    std::uint64_t described = 0;
    std::uint64_t seen = 0;
    std::uint64_t passages = 0;
  };
  /// Pause after a failure; later retries follow `interval`.
  static constexpr std::chrono::seconds after_failure{5};
  /// How often to check whether this process may write.
  static constexpr std::chrono::seconds between_turns{1};
  enum class outcome : std::uint8_t { indexed, same, gone, later, left_out };

  void run(const std::stop_token& stop);
  /// Whether to index now. If another process writes, copies its progress and waits a while.
  [[nodiscard]] bool take_turn(const std::stop_token& stop);
  void follow();
  void follow_vectors(const index_standing& now);
  void wait_for(std::chrono::milliseconds time, const std::stop_token& stop);
  /// Returns false if there is no work yet, but `take_turn` is due.
  [[nodiscard]] bool wait_for_work(const std::stop_token& stop);
  void wait_after_failure(const std::stop_token& stop);
  [[nodiscard]] bool has_something_to_look_at() const;
  /// Whether a scan is due; if so, it has begun.
  [[nodiscard]] bool begins_look();
  void work(bool has_to_look, const std::stop_token& stop);
  [[nodiscard]] result<void> load();
  /// Takes over the documents that the store has.
  void take_known(std::unordered_map<std::string, entry_known> known);
  /// Returns false if vectors have different dimensions.
  [[nodiscard]] result<bool> read_vectors();
  /// Scans the lists, and puts resources to read into `pending_`.
  void look(const std::stop_token& stop);
  [[nodiscard]] result<void> look_at(const std::string& claim, const std::stop_token& stop);
  void list_all(const std::vector<std::string>& all, const std::stop_token& stop);
  void forget_unseen(const std::vector<std::string>& all);
  [[nodiscard]] bool is_to_be_read(const resource& entry, const std::string& made);
  /// Whether the store has at least the description that the list gives.
  [[nodiscard]] static bool is_described(const entry_known& known, const resource& entry, std::uint64_t described);
  [[nodiscard]] bool is_in_memory() const noexcept { return on_->options.path.empty() && on_->options.postgres.empty(); }
  [[nodiscard]] bool is_wanted(std::string_view uri) const;
  [[nodiscard]] std::vector<std::string> claims() const;
  void index_pending(const std::stop_token& stop);
  [[nodiscard]] result<outcome> index_one(const listed& one, const std::stop_token& stop);
  [[nodiscard]] result<cut_document> cut_one(const listed& one, const std::stop_token& stop);
  [[nodiscard]] result<outcome> cannot_be_read(const resource& entry, const failure& why);
  [[nodiscard]] result<outcome> has_not_changed(const resource& entry);
  [[nodiscard]] result<outcome> put(cut_document made, const resource& entry);
  /// Returns false if there is not enough space; then the document has been removed from the store.
  [[nodiscard]] result<bool> make_room(const std::string& uri, std::uint64_t passages);
  [[nodiscard]] result<void> put_what_can_be(cut_document& made);
  [[nodiscard]] result<void> forget(const std::string& uri);
  void take_gone(std::span<const passage_id> those);
  [[nodiscard]] result<void> commit();
  /// Call if the store may differ from the indexer's state. Rolls back and reloads the store's state before doing anything
  /// else.
  void begin_anew(const failure& why);
  void begin_anew() noexcept;
  /// Stores the progress for other processes, if it has changed.
  [[nodiscard]] result<void> note_progress();
  /// Requests a scan if a resource that was left out fits into the index now.
  void look_for_what_fits();
  /// Removes documents while there are more passages than allowed.
  void shed();
  void tell_missing();
  /// Logs a problem of one resource, once.
  void say_of(const std::string& uri, std::string_view what, const failure& why);
  /// Returns false if there is nothing more to do, or after a failure.
  [[nodiscard]] bool make_vectors(const std::stop_token& stop);
  [[nodiscard]] result<std::vector<wanted_vector>> texts_to_embed();
  [[nodiscard]] bool keep_vectors(std::vector<wanted_vector> of, std::vector<std::vector<float>> made);
  [[nodiscard]] bool pause_vectors(const failure& why);
  void check_vectors(const std::stop_token& stop);
  void take_vectors(std::span<const std::string> digests);
  void keep_near(embeddings::neighbours& in, passage_id id, std::span<const float> numbers);
  [[nodiscard]] result<void> drop_vectors();
  /// Returns true if there is a resource to read.
  [[nodiscard]] bool take_changed(const std::stop_token& stop);
  void watch(const std::string& uri, entry_known& known);
  void unwatch(const std::string& uri);
  void tell_state(bool is_counted);
  void step();
  [[nodiscard]] call own_call(const std::stop_token& stop) const;

  const std::shared_ptr<ground> on_;
  std::shared_ptr<catalog::feed> feed_;
  std::shared_ptr<ears> ears_;
  std::chrono::steady_clock::time_point began_{};

  // Used only by the thread.
  troubles troubles_;
  std::unordered_map<std::string, entry_known> known_;
  std::unordered_map<std::string, listed> pending_;
  std::unordered_map<std::string, left_out> left_out_;
  std::unordered_set<std::string> unread_;   // resources that could not be read and are retried
  std::unordered_set<std::string> said_of_;  // URIs
  std::unordered_set<std::string> refused_;  // digests of texts that the embedding service rejects; kept for an hour
  std::vector<std::string> unlisted_;        // claims, by the last scan
  std::vector<passage_id> gone_;             // since the last commit
  std::vector<std::string> new_digests_;     // since the last commit
  std::uint64_t passages_ = 0;               // in the store
  std::uint64_t look_ = 0;
  std::size_t watched_ = 0;
  std::size_t store_failures_ = 0;  // since the last completed scan
  std::string noted_;               // stored progress without its time
  std::chrono::steady_clock::time_point next_look_{};
  std::chrono::steady_clock::time_point not_before_{};  // the earliest time of a requested scan
  std::chrono::steady_clock::time_point next_vectors_{};
  std::chrono::steady_clock::time_point next_check_{};
  std::chrono::steady_clock::time_point next_count_{};
  std::chrono::steady_clock::time_point next_tidying_{};
  std::chrono::milliseconds vector_pause_{0};
  std::optional<std::uint64_t> life_{};      // of the loaded index; no value: another process writes it
  std::optional<std::uint64_t> followed_{};  // commit number of the other process's index whose vectors have been read
  std::optional<std::uint64_t> counted_{};   // commit number of the other process's index whose documents have been counted
  bool has_to_load_ = true;
  bool is_look_whole_ = false;
  bool has_more_vectors_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t asked_looks_ = 1;
  std::uint64_t begun_looks_ = 0;
  std::uint64_t complete_looks_ = 0;
  std::uint64_t ended_looks_ = 0;  // complete or not
  std::uint64_t steps_ = 0;        // increases with every change that `wait_for_look` reports
  bool has_ended_ = false;
  std::set<std::string> changed_uris_;
  std::jthread thread_;
};

}  // namespace hondana::search
