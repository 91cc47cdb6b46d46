/// A set of documents: its newest snapshot, and the thread that renders documents in the background.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_reader.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/render_queue.hpp"
#include "sources/docs/snapshot.hpp"

namespace hondana::docs {

/// Holds the newest snapshot of a set. A refresh reads each file's inode, and the text of changed files only; it renders
/// nothing. Threads: any.
class library {
 public:
  /// Errors: as `ground::open`.
  [[nodiscard]] static result<std::shared_ptr<library>> open(options all);

  [[nodiscard]] const options& how() const noexcept { return *how_; }
  [[nodiscard]] const std::string& set() const noexcept { return how_->name; }

  /// Returns a snapshot of the folder's current state, and notifies changes since the last one. Concurrent callers share one
  /// refresh. Errors: cancelled, timed_out; source_unavailable, also if the rules file is invalid and no valid one was read
  /// before, since it may exclude documents.
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;
  /// When the snapshot was last known to match the folder.
  [[nodiscard]] std::chrono::steady_clock::time_point looked_at_last() const;

  /// The current text of a document. `is_for_later`: renderings for requests have priority over this one. Errors: as
  /// `ground::open_file`, `read_prose` and `press::print`.
  [[nodiscard]] result<std::shared_ptr<const prose>> text_of(const document& which, const call& by, bool is_for_later = false);
  /// The original file of a document. `text`: its text, if known. Errors: as `ground::open_file` and `read_original`.
  [[nodiscard]] result<original> original_of(const document& which, const call& by, std::shared_ptr<const prose> text = {});
  /// Whether an entry may exist at a path. Does not scan the folder.
  [[nodiscard]] bool may_hold(const std::string& path) const { return ground_->has(path); }
  /// The file's state on disk. Errors: as `ground::open_file`.
  [[nodiscard]] result<disk::stamp> state_of(const document& which) const;
  /// The first document of the newest snapshot whose rendering is needed and was not tried yet.
  [[nodiscard]] std::optional<document> next_unknown() const;
  /// Records that a document could not be read. It is not tried again for lists until it changes.
  void note_problem(const document& which, failure why);

  /// Sets the listener for changes; null: none.
  void watch(std::shared_ptr<change_listener> to);
  [[nodiscard]] bool is_heard() const;
  /// From now on, notifies changes of the list, including changes before the first snapshot.
  void attach_list();
  /// Call before anything else.
  void cover_with(std::function<void(std::size_t, const std::string&, int)> entering) { entering_ = std::move(entering); }
  /// Sets a function that is called when documents need rendering. Call before anything else.
  void wake_with(std::function<void()> wake) { wake_ = std::move(wake); }
  void say(const std::string& line);
  /// Stops logging: when this returns, the log is no longer used.
  void be_silent();
  [[nodiscard]] hondana::health health() const;

 private:
  library(options all, std::unique_ptr<ground> where);
  /// Reads the rules file if it has changed. Errors: source_unavailable.
  [[nodiscard]] result<void> read_rules();
  [[nodiscard]] result<std::shared_ptr<const prose>> rendered(const document& which, opened_file file, const call& by,
                                                              bool is_for_later);
  void mind_rules(const std::string& now);
  /// Reads the metadata of texts that are new or have changed. Errors: cancelled, timed_out.
  [[nodiscard]] result<void> learn(const walked& found, const call& by);
  void remember(const std::string& path, std::shared_ptr<const facts> what);

  const std::shared_ptr<const options> how_;  // shared with renderings that outlive their callers
  const std::unique_ptr<ground> ground_;
  std::function<void(std::size_t, const std::string&, int)> entering_;
  std::function<void()> wake_;
  const std::shared_ptr<kept_texts> texts_;  // likewise
  std::mutex log_mutex_;
  bool is_silent_ = false;

  std::timed_mutex looking_;  // held during a refresh
  std::chrono::steady_clock::time_point begun_;
  walked seen_;
  disk::stamp rules_state_;
  bool are_rules_racy_ = false;
  std::shared_ptr<const rules> rules_;  // null: no valid file was read yet

  mutable std::mutex mutex_;
  known_facts known_;     // by path on disk; guarded, since readers add to it
  bool is_news_ = false;  // facts were added since the newest snapshot
  std::string rules_problem_;
  std::string folder_problem_;
  std::shared_ptr<const scene> latest_;
  std::chrono::steady_clock::time_point looked_at_;
  std::shared_ptr<change_listener> listener_;
  bool tells_list_ = false;

  press press_;  // the last member, so that it is destroyed first
};

/// Renders documents in the background with one thread. The thread starts on demand, and ends when there is nothing to do.
/// Threads: any.
class learner {
 public:
  explicit learner(std::shared_ptr<library> of);
  /// Stops the rendering. Leaves the thread behind if it does not end within a second.
  ~learner();
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  /// A function to call when documents need rendering. It may outlive this object, and then does nothing.
  [[nodiscard]] std::function<void()> waker() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::docs
