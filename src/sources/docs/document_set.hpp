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

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_reader.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/render_queue.hpp"
#include "sources/docs/snapshot.hpp"

namespace hondana::docs {

/// Holds the newest snapshot of a set. A refresh reads the stamp of each file, and the text of changed files only; it renders
/// nothing. Threads: any.
class document_set {
 public:
  /// Errors: as `document_folder::open`.
  [[nodiscard]] static result<std::shared_ptr<document_set>> open(set_options options);

  [[nodiscard]] const set_options& options() const noexcept { return *options_; }
  [[nodiscard]] const std::string& set_name() const noexcept { return options_->name; }

  /// Makes a snapshot of the current state of the folder, and notifies the listener of changes since the last one. Callers that
  /// wait for the same scan share its result. Errors: cancelled, timed_out, source_unavailable. The last also if the rules
  /// file, which may exclude documents, is invalid and no valid one was read before.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> refresh(const request_context& request);
  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const snapshot> latest() const;
  /// When the newest snapshot was last found to match the folder.
  [[nodiscard]] std::chrono::steady_clock::time_point last_checked_at() const;

  /// The current text of a document. `is_background`: if it must be rendered, renderings for other callers have priority.
  /// Errors: those of `document_folder::open_file`, `read_text` and `render_queue::render`.
  [[nodiscard]] result<std::shared_ptr<const document_text>> text_of(const document& document, const request_context& request,
                                                                     bool is_background = false);
  /// The original file of a document. `text`: its text; null: unknown, so it is read if secrets are masked. Errors: those of
  /// `document_folder::open_file` and `read_original`; `withheld_error` also if the text cannot be read.
  [[nodiscard]] result<original_file> original_of(const document& document, const request_context& request,
                                                  std::shared_ptr<const document_text> text = {});
  /// Whether something may exist at a path. Does not scan the folder.
  [[nodiscard]] bool may_contain(const std::string& path) const { return folder_->exists(path); }
  /// The current stamp of a document. Errors: as `document_folder::open_file`.
  [[nodiscard]] result<disk::stamp> current_stamp(const document& document) const;
  /// The first document of the newest snapshot that can be rendered, and whose rendering was not tried in its current state.
  /// Nothing if there is none.
  [[nodiscard]] std::optional<document> next_unrendered() const;
  /// Records that a document could not be read. It is not rendered again for lists until it changes.
  void record_problem(const document& document, failure error);

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  [[nodiscard]] bool has_listener() const;
  /// Has the first refresh notify the listener that the list has changed, because changes before it cannot be found. Later
  /// changes are notified in any case.
  void watch_list();
  /// Sets a function that walks call with 0, the path (empty: the folder itself) and the descriptor of each folder before it is
  /// read. Must be called before any other method.
  void set_folder_listener(std::function<void(std::size_t, const std::string&, int)> on_enter_folder) {
    on_enter_folder_ = std::move(on_enter_folder);
  }
  /// Sets a function that `refresh` calls when documents need rendering. Must be called before any other method.
  void set_render_trigger(std::function<void()> trigger) { render_trigger_ = std::move(trigger); }
  void log_line(const std::string& line);
  /// Stops logging: when this returns, the log is no longer used.
  void disable_log();
  [[nodiscard]] hondana::provider_health health() const;

 private:
  document_set(set_options options, std::unique_ptr<document_folder> folder);
  /// Reads the rules file if it has changed. Errors: source_unavailable, also if no valid rules are known.
  [[nodiscard]] result<void> read_rules();
  [[nodiscard]] result<std::shared_ptr<const document_text>> render(const document& document, opened_file file,
                                                                    const request_context& request, bool is_background);
  /// Logs a new problem of the rules file, or that it is valid again. Empty: no problem.
  void record_rules_problem(const std::string& problem);
  /// Reads the properties of documents that are new or have changed, except those that must be rendered. Errors: cancelled,
  /// timed_out.
  [[nodiscard]] result<void> update_properties(const walk_result& walked, const request_context& request);
  void store_properties(const std::string& path, std::shared_ptr<const document_properties> properties);

  const std::shared_ptr<const set_options> options_;  // shared with renderings that outlive their callers
  const std::unique_ptr<document_folder> folder_;
  std::function<void(std::size_t, const std::string&, int)> on_enter_folder_;
  std::function<void()> render_trigger_;
  const std::shared_ptr<text_cache> text_cache_;  // also shared with renderings
  std::mutex log_mutex_;
  bool is_log_disabled_ = false;

  std::timed_mutex scan_mutex_;  // held during a refresh
  std::chrono::steady_clock::time_point last_scan_start_;
  walk_result last_walk_;
  disk::stamp rules_stamp_;
  bool are_rules_racy_ = false;         // the file may have changed without a new stamp
  std::shared_ptr<const rules> rules_;  // null: no valid file was read yet

  mutable std::mutex mutex_;
  properties_by_path properties_;    // by path on disk; guarded, since readers add to it
  bool has_new_properties_ = false;  // properties were added since the newest snapshot
  std::string rules_problem_;        // empty: none
  std::string folder_problem_;       // empty: none
  std::shared_ptr<const snapshot> latest_;
  std::chrono::steady_clock::time_point checked_at_;
  std::shared_ptr<change_listener> listener_;
  bool is_list_watched_ = false;

  render_queue render_queue_;  // the last member, so that it is destroyed first
};

/// Renders the documents of `document_set::next_unrendered` with one thread. The thread starts on demand, and ends when there
/// is nothing to do. Threads: any.
class background_renderer {
 public:
  explicit background_renderer(std::shared_ptr<document_set> set);
  /// Stops the rendering. Detaches the thread if it does not end within a second.
  ~background_renderer();
  background_renderer(const background_renderer&) = delete;
  background_renderer& operator=(const background_renderer&) = delete;

  /// A function that starts the rendering. It may outlive this object, and then does nothing.
  [[nodiscard]] std::function<void()> trigger() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::docs
