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

/// Keeps the newest scene. Looking anew costs a look at each file's inode; only texts that changed are read, and nothing is
/// rendered. Threads: any.
class library {
 public:
  /// Errors: as `ground::open`.
  [[nodiscard]] static result<std::shared_ptr<library>> open(options all);

  [[nodiscard]] const options& how() const noexcept { return *how_; }
  [[nodiscard]] const std::string& set() const noexcept { return how_->name; }

  /// The scene as the folder is now; made by one caller for all who wait. What has changed since the last time is told.
  /// Errors: cancelled, timed_out, source_unavailable; the last, too, where the rules file is wrong and no good one was ever
  /// read, since it may say what must not be served.
  [[nodiscard]] result<std::shared_ptr<const scene>> refreshed(const call& by);
  /// The newest that was made; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;
  /// When it was last found to be what the folder holds.
  [[nodiscard]] std::chrono::steady_clock::time_point looked_at_last() const;

  /// The text of a document as it is now. `is_for_later`: what has to be rendered for requests comes first. Errors: as
  /// `ground::open_file`, `read_prose` and `press::print`.
  [[nodiscard]] result<std::shared_ptr<const prose>> text_of(const document& which, const call& by, bool is_for_later = false);
  /// The file of a document. `text`: of it, where that is in hand. Errors: as `ground::open_file` and `read_original`.
  [[nodiscard]] result<original> original_of(const document& which, const call& by, std::shared_ptr<const prose> text = {});
  /// Whether there is something at a path, or that cannot be told; does without a walk.
  [[nodiscard]] bool may_hold(const std::string& path) const { return ground_->has(path); }
  /// Its state on disk. Errors: as `ground::open_file`.
  [[nodiscard]] result<disk::stamp> state_of(const document& which) const;
  /// The first document of the newest scene that would have to be rendered to be known, and was not tried yet.
  [[nodiscard]] std::optional<document> next_unknown() const;
  /// It could not be read, and is not tried again for a list as long as it is as it is.
  void note_problem(const document& which, failure why);

  /// From now on tells of changes; null: nobody.
  void watch(std::shared_ptr<change_listener> to);
  [[nodiscard]] bool is_heard() const;
  /// Changes of the list from now on are told, also those that come before the first look.
  void attach_list();
  /// Call before anything else.
  void cover_with(std::function<void(std::size_t, const std::string&, int)> entering) { entering_ = std::move(entering); }
  /// Called when there is something to be rendered. Call before anything else.
  void wake_with(std::function<void()> wake) { wake_ = std::move(wake); }
  void say(const std::string& line);
  /// The log may be gone from now on: nothing is written to it any more, when this returns.
  void be_silent();
  [[nodiscard]] hondana::health health() const;

 private:
  library(options all, std::unique_ptr<ground> where);
  /// Reads the rules file when it has changed. Errors: source_unavailable.
  [[nodiscard]] result<void> read_rules();
  [[nodiscard]] result<std::shared_ptr<const prose>> rendered(const document& which, opened_file file, const call& by,
                                                              bool is_for_later);
  void mind_rules(const std::string& now);
  /// Reads what is not known of texts. Errors: cancelled, timed_out, and those of `source_unavailable` alone.
  [[nodiscard]] result<void> learn(const walked& found, const call& by);
  void remember(const std::string& path, std::shared_ptr<const facts> what);

  const std::shared_ptr<const options> how_;  // shared with renderings that nobody waits for any more
  const std::unique_ptr<ground> ground_;
  std::function<void(std::size_t, const std::string&, int)> entering_;
  std::function<void()> wake_;
  const std::shared_ptr<kept_texts> texts_;  // likewise
  std::mutex log_mutex_;
  bool is_silent_ = false;

  std::timed_mutex looking_;  // held while the folder is looked at
  std::chrono::steady_clock::time_point begun_;
  walked seen_;
  disk::stamp rules_state_;
  bool are_rules_racy_ = false;
  std::shared_ptr<const rules> rules_;  // null: none good was ever read

  mutable std::mutex mutex_;
  known_facts known_;     // by path on disk; guarded, since readers add to it
  bool is_news_ = false;  // something came to be known since the latest scene
  std::string rules_problem_;
  std::string folder_problem_;
  std::shared_ptr<const scene> latest_;
  std::chrono::steady_clock::time_point looked_at_;
  std::shared_ptr<change_listener> listener_;
  bool tells_list_ = false;

  press press_;  // the first to go
};

/// One thread, which is started when it is first woken, and ends when there has been nothing to do. Threads: any.
class learner {
 public:
  explicit learner(std::shared_ptr<library> of);
  /// Ends the rendering; leaves the thread behind when it is stuck for more than a second.
  ~learner();
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  /// To be called when there is something to do. It may outlive this, and does nothing then.
  [[nodiscard]] std::function<void()> waker() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::docs
