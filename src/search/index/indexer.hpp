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

/// Looks at everything when it begins, when a list changes and each `interval`, and at single resources when they change; what
/// has another version is read and put into the store, what has gone is taken out. Then vectors are made for what has none.
/// What fails is tried again with the next look, said once, and keeps nothing else back. One thread.
class indexer {
 public:
  explicit indexer(std::shared_ptr<ground> on);
  ~indexer();
  indexer(const indexer&) = delete;
  indexer& operator=(const indexer&) = delete;

  void begin(std::shared_ptr<catalog::feed> changes);
  /// Waits until the thread has ended. Nobody waits for a look any more.
  void end();
  /// Everything is to be looked at. Returns the number of the look that will have seen all that is there now.
  std::uint64_t ask_for_look();
  void heard_of(std::string_view uri);
  /// Waits until a look of this number, or a later one, has ended so; `hears` (may be empty) is told when there is something to
  /// tell, and each second. Errors: timed_out, cancelled; source_unavailable: there will be no look.
  [[nodiscard]] result<void> wait_for_look(std::uint64_t number, look_end which, std::chrono::steady_clock::time_point until,
                                           const std::stop_token& stop, const std::function<void()>& hears) const;

 private:
  class ears;
  /// What the store has of a resource.
  struct entry_known {
    std::string version{};
    std::uint64_t described = 0;
    std::uint64_t seen = 0;  // the last look that saw it
    bool is_watched = false;
    std::string made{};  // how its text was, see document_reader.hpp
    bool has_text = false;
    bool is_tried = false;  // since the start, whether it gave a text or none
  };
  /// What is to be read, as it was listed.
  struct listed {
    resource entry{};
    std::string made{};  // how it was listed
  };
  /// What there was no room for.
  struct left_out {
    std::string version{};
    std::uint64_t described = 0;
    std::uint64_t seen = 0;
    std::uint64_t passages = 0;
  };
  /// What fails at once is asked again after this, and later as `interval` says.
  static constexpr std::chrono::seconds after_failure{5};
  /// How often it is asked whose turn it is.
  static constexpr std::chrono::seconds between_turns{1};
  enum class outcome : std::uint8_t { indexed, same, gone, later, left_out };

  void run(const std::stop_token& stop);
  /// Whether to index now. Where another does, what that one has is shown, and some time passes.
  [[nodiscard]] bool take_turn(const std::stop_token& stop);
  void follow();
  void follow_vectors(const index_standing& now);
  void wait_for(std::chrono::milliseconds time, const std::stop_token& stop);
  /// False: there is none yet, but it is to be asked whose turn it is.
  [[nodiscard]] bool wait_for_work(const std::stop_token& stop);
  void wait_after_failure(const std::stop_token& stop);
  [[nodiscard]] bool has_something_to_look_at() const;
  /// True: it is time for one, and this is it.
  [[nodiscard]] bool begins_look();
  void work(bool has_to_look, const std::stop_token& stop);
  [[nodiscard]] result<void> load();
  /// What is known of each document, from those that the store has.
  void take_known(std::unordered_map<std::string, entry_known> known);
  /// False: there are such of different lengths.
  [[nodiscard]] result<bool> read_vectors();
  /// Goes through the lists; what is to be read is put into `pending_`.
  void look(const std::stop_token& stop);
  [[nodiscard]] result<void> look_at(const std::string& claim, const std::stop_token& stop);
  void list_all(const std::vector<std::string>& all, const std::stop_token& stop);
  void forget_unseen(const std::vector<std::string>& all);
  [[nodiscard]] bool is_to_be_read(const resource& entry, const std::string& made);
  /// Whether the store says as much of it as a list that says this, or more.
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
  /// False: there is none, and the document is not in the store any more.
  [[nodiscard]] result<bool> make_room(const std::string& uri, std::uint64_t passages);
  [[nodiscard]] result<void> put_what_can_be(cut_document& made);
  [[nodiscard]] result<void> forget(const std::string& uri);
  void take_gone(std::span<const passage_id> those);
  [[nodiscard]] result<void> commit();
  /// The store does not have what we think it has: all is rolled back, and what it has is read again before anything else.
  void begin_anew(const failure& why);
  void begin_anew() noexcept;
  /// For those that look in from outside, where it has changed.
  [[nodiscard]] result<void> note_progress();
  /// Whether something fits into the room that there is now, so that it is looked for.
  void look_for_what_fits();
  /// There is more than there may be now.
  void shed();
  void tell_missing();
  /// Of one resource, once.
  void say_of(const std::string& uri, std::string_view what, const failure& why);
  /// False: there is nothing more to do, or it failed.
  [[nodiscard]] bool make_vectors(const std::stop_token& stop);
  [[nodiscard]] result<std::vector<wanted_vector>> texts_to_embed();
  [[nodiscard]] bool keep_vectors(std::vector<wanted_vector> of, std::vector<std::vector<float>> made);
  [[nodiscard]] bool pause_vectors(const failure& why);
  void check_vectors(const std::stop_token& stop);
  void take_vectors(std::span<const std::string> digests);
  void keep_near(embeddings::neighbours& in, passage_id id, std::span<const float> numbers);
  [[nodiscard]] result<void> drop_vectors();
  /// True: something is to be read.
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

  // Of the thread.
  troubles troubles_;
  std::unordered_map<std::string, entry_known> known_;
  std::unordered_map<std::string, listed> pending_;
  std::unordered_map<std::string, left_out> left_out_;
  std::unordered_set<std::string> unread_;   // what could not be read, and is tried again
  std::unordered_set<std::string> said_of_;  // URIs
  std::unordered_set<std::string> refused_;  // digests of texts that the embedding service refuses, for an hour
  std::vector<std::string> unlisted_;        // claims, by the last look
  std::vector<passage_id> gone_;             // since the last commit
  std::vector<std::string> new_digests_;     // the same
  std::uint64_t passages_ = 0;               // in the store
  std::uint64_t look_ = 0;
  std::size_t watched_ = 0;
  std::size_t store_failures_ = 0;  // since the last look that ended
  std::string noted_;               // progress without its time
  std::chrono::steady_clock::time_point next_look_{};
  std::chrono::steady_clock::time_point not_before_{};  // looks that are asked for
  std::chrono::steady_clock::time_point next_vectors_{};
  std::chrono::steady_clock::time_point next_check_{};
  std::chrono::steady_clock::time_point next_count_{};
  std::chrono::steady_clock::time_point next_tidying_{};
  std::chrono::milliseconds vector_pause_{0};
  std::optional<std::uint64_t> life_{};      // of the index that is loaded; nothing: another keeps it up
  std::optional<std::uint64_t> followed_{};  // commits of another's whose vectors have been read
  std::optional<std::uint64_t> counted_{};   // and whose documents have been counted
  bool has_to_load_ = true;
  bool is_look_whole_ = false;
  bool has_more_vectors_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t asked_looks_ = 1;
  std::uint64_t begun_looks_ = 0;
  std::uint64_t complete_looks_ = 0;
  std::uint64_t ended_looks_ = 0;  // with everything or without
  std::uint64_t steps_ = 0;        // grows with everything that `wait_for_look` tells of
  bool has_ended_ = false;
  std::set<std::string> changed_uris_;
  std::jthread thread_;
};

}  // namespace hondana::search
