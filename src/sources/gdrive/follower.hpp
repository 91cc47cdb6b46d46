/// Keeps a local copy of Drive's file list up to date.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/webhook.hpp>

#include "sources/gdrive/drive_api.hpp"
#include "sources/gdrive/notification_channels.hpp"
#include "sources/gdrive/snapshot.hpp"
#include "sources/gdrive/store.hpp"

namespace hondana::gdrive {

// Keys of `follower::problems_` that are not homes. They contain a space, which no id does.
/// The list of shared drives.
inline constexpr std::string_view drive_list_key = "list of drives";
/// New folders whose entries are missing because they cannot be listed yet.
inline constexpr std::string_view new_folders_key = "new folders";

/// Settings and dependencies of a `follower`.
struct follower_options {
  std::string name{};  ///< Of the source, for logs.
  std::string scheme = "gdrive";
  std::shared_ptr<drive_api> api{};
  std::shared_ptr<drive_store> store{};
  std::vector<std::string> drive_slugs{};          ///< Slugs of the drives to serve. Empty: all.
  bool has_shared_drives = true;                   ///< False: serve only the user's own files.
  std::chrono::milliseconds min_interval{10'000};  ///< Time between polls after a change.
  std::chrono::milliseconds max_interval{60'000};  ///< The time doubles after each poll that finds no changes, up to this.
  std::size_t max_files = 100'000;                 ///< Further files are left out.
  /// Returns a text that identifies the account of the current credentials. May be empty: the account never changes. Called on
  /// the follower's thread.
  std::function<std::string()> account_id{};
  std::string notification_url{};               ///< The public address for Drive's notifications. Empty: none are requested.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// Copies the file list of Drive with one thread, which lists each home in full once, and then polls its change log. A home is
/// a list with its own change log: "" means the user's files, and the id of a shared drive means that drive. Results are stored
/// on disk before they are used, so that a new process continues where the last one ended. Threads of public functions: any.
class follower {
 public:
  using clock = monotonic_clock;

  explicit follower(follower_options options);
  ~follower();
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Starts the thread, unless it runs or `stop` was called. After the listener was removed, starts it only with a new
  /// listener.
  void start();
  /// Ends the thread for good, and waits for it. Afterwards, the listener is not notified. Asks Drive to close the notification
  /// channels, for two seconds at most.
  void stop();
  /// The server can receive notifications from now on, so the thread requests them from Drive.
  void on_server_listening();
  /// Sets the receiver of changes. Null: the thread ends, and then closes the store for another source. Does not block.
  void set_listener(std::shared_ptr<change_listener> listener);

  /// The newest snapshot. Null before the first.
  [[nodiscard]] std::shared_ptr<const snapshot> latest() const;
  /// Waits until Drive has been listed in full or has failed, at most for `timeout` and the deadline of `request`. Returns the
  /// newest snapshot, also if Drive has failed. Errors: source_unavailable and those of Drive if no file is known; cancelled.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> wait_until_ready(const request_context& request,
                                                                         std::chrono::milliseconds timeout) const;
  /// Whether the last complete poll began less than `max_age` ago.
  [[nodiscard]] bool is_verified(std::chrono::milliseconds max_age) const;
  /// When the last complete poll began. nullopt: none since the start.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> verified_at() const;
  /// Whether the last poll or read that sent requests got no answer from Drive.
  [[nodiscard]] bool is_offline() const;
  /// A read got no answer from Drive. Sets `is_offline`, and polls at once.
  void record_unreachable();
  /// A read got an answer from Drive. If `is_offline`, resets it, and polls at once.
  void record_reachable();
  /// What is wrong with the settings, such as unknown drives. Empty: nothing.
  [[nodiscard]] std::string settings_error() const;
  /// Whether files are left out because of `max_files`, or may still be until the next full listing.
  [[nodiscard]] bool is_limit_reached() const;
  /// A message for people if `is_limit_reached`. Empty: it is not.
  [[nodiscard]] std::string omission_message() const;

  /// A read found that this is the current state of a file.
  void report_file(const drive::file& file);
  /// A read found that a file no longer exists.
  void report_lost(const std::string& id);
  /// A read found these sheets in a spreadsheet.
  void report_sheets(const std::string& id, std::vector<std::string> names);
  /// Makes the thread poll now, but at most once a second.
  void schedule_poll();
  /// As `webhook_receiver::handle_webhook`.
  [[nodiscard]] bool handle_webhook(const webhook_request& request);

  [[nodiscard]] hondana::provider_health health() const;

 private:
  struct tracked_item {
    shared_item item{};
    std::int64_t generation = 0;  ///< `sync_position::generation` of the last full listing that contained the item.
  };
  /// What a read found out about a file: its state, its sheets or, without both, that it no longer exists.
  struct read_finding {
    std::optional<drive::file> current_file{};
    std::string id{};
    std::optional<std::vector<std::string>> sheets{};
  };
  struct limit_record {
    std::size_t max_files = 0;  ///< As `full_home::max_files`.
    bool is_previous = false;   ///< There is room now. The next full listing will show whether it suffices.
  };

  /// Maximum number of pages of one list, in case it does not end.
  static constexpr std::size_t max_pages = 100'000;
  /// Maximum number of messages in `logged_once_`. Further ones are not logged.
  static constexpr std::size_t max_logged_once = 1'000;
  [[nodiscard]] static drive::drive_error endless_list_error(const std::string& subject);

  /// The thread.
  void run(const std::stop_token& stop);
  /// If the listener was removed, closes the channels and the store, which another source may need. Called when the thread
  /// ends.
  void release();
  /// Opens the store, and reads its content into the members.
  [[nodiscard]] result<void> load(const std::stop_token& stop);
  /// Lists or polls all homes once. Returns whether something changed. Errors: those that may affect more than one home.
  [[nodiscard]] drive::api_result<bool> run_round(const std::stop_token& stop);
  /// Reads the user's root folder, to check whether the credentials still belong to the same account.
  [[nodiscard]] drive::api_result<void> update_root(const std::stop_token& stop);
  /// Removes all files, because the account has changed.
  void clear();
  [[nodiscard]] std::string current_account_id() const;
  /// Lists the shared drives, every ten minutes or if `needs_drive_list_`.
  [[nodiscard]] drive::api_result<void> update_drives(const std::stop_token& stop);
  /// The homes that the settings include.
  [[nodiscard]] std::vector<std::string> served_homes() const;
  /// Lists all files of a home, or continues such a listing.
  [[nodiscard]] drive::api_result<void> crawl(const std::string& home, const std::stop_token& stop);
  /// Reads the change log of a home.
  [[nodiscard]] drive::api_result<void> poll(const std::string& home, const std::stop_token& stop);
  /// Lists the entries of all `folders_to_list_`.
  [[nodiscard]] drive::api_result<void> list_new_folders(const std::stop_token& stop);
  [[nodiscard]] drive::api_result<void> list_folder(const std::string& folder, const std::stop_token& stop);
  /// Whether a folder no longer exists. `error`: why it could not be listed.
  [[nodiscard]] bool is_deleted(const std::string& folder, const drive::drive_error& error, const std::stop_token& stop) const;
  void open_channels(const std::stop_token& stop);
  void close_channels();
  /// Sets `settings_error_` if a configured drive does not exist.
  void check_drive_slugs();
  /// Adds the effect of a change to the batch.
  void apply_change(const std::string& home, const drive::change& change, update_batch& batch);
  /// Adds a listing of a folder that appeared during a full listing, because that may have missed entries of the folder.
  void schedule_folder_listing(const std::string& home, const drive::change& change, update_batch& batch) const;
  /// Whether a change concerns an unknown item that may be a folder that the full listing missed. Files deep inside such a
  /// folder would otherwise be listed at the top of the drive.
  [[nodiscard]] bool is_missed_folder(const std::string& home, const drive::change& change, const update_batch& batch);
  /// Whether a file of the home has an unknown parent.
  [[nodiscard]] bool has_orphans(const std::string& home) const;
  /// Adds the current state of a file to the batch, or its removal.
  void apply_file(const std::string& home, const drive::file& file, update_batch& batch);
  /// Adds a full listing of the home to the batch, and restarts one in progress. Does nothing if the home is unknown.
  void schedule_full_listing(const std::string& home, update_batch& batch) const;
  /// Adds the removal of an item to the batch. For a folder, also removes its contents and adds a full listing.
  void remove_item(const std::string& home, const std::string& id, update_batch& batch);
  /// Whether a known file, or one in the batch, has this parent.
  [[nodiscard]] bool has_known_children(const std::string& id, const update_batch& batch);
  /// Applies all findings of reads. Returns whether there were any.
  [[nodiscard]] bool process_findings(const std::stop_token& stop);
  void process_finding(read_finding finding, const std::stop_token& stop);
  /// Stores the batch on disk, and then applies it in memory. Leaves out new files beyond `max_files`.
  [[nodiscard]] drive::api_result<void> apply(update_batch batch);
  /// Makes a new snapshot, and notifies the listener of the changes.
  void publish();
  [[nodiscard]] sync_position& position_of(const std::string& home);
  /// Whether a home, or the list of drives, has a problem and so may be out of date. Call it with `mutex_` held.
  [[nodiscard]] bool is_any_behind() const;
  /// Whether the settings include a home.
  [[nodiscard]] bool is_served(const std::string& home) const;
  /// Whether a file is in a shared drive while shared drives are disabled.
  [[nodiscard]] bool is_excluded(const drive::file& file) const noexcept;
  /// Records whether Google denies access to the account. `error`: the last error; null: there was none.
  void record_access(const drive::drive_error* error);
  /// The shared drive of a file if that drive is known, else "".
  [[nodiscard]] std::string home_of(const drive::file& file) const;
  /// The name of a home, for messages.
  [[nodiscard]] std::string describe_home(const std::string& home) const;
  [[nodiscard]] static drive::call_options make_call_options(const std::stop_token& stop, drive::request_priority priority);
  /// Like `make_call_options`, with the resource keys of the file and of the folders above it.
  [[nodiscard]] drive::call_options make_file_options(const std::string& id, const std::stop_token& stop,
                                                      drive::request_priority priority) const;
  void log_line(const std::string& line) const;
  /// A file of the home was left out because of `max_files`.
  void record_limit_reached(const std::string& home);
  [[nodiscard]] std::string limit_message() const;
  /// The message if all entries of `full_homes_` are `is_previous`, else empty. Call it with `mutex_` held.
  [[nodiscard]] std::string previous_limit_message() const;
  /// Stores `full_homes_` for the next process.
  void store_full_homes();
  /// Loads the `full_homes_` of the previous process. If there is room for more files, schedules full listings.
  [[nodiscard]] result<void> load_full_homes();
  /// Removes homes that the settings no longer include, since no poll would update them.
  [[nodiscard]] result<void> remove_unserved_homes();
  /// Both texts of an error, for the log.
  [[nodiscard]] static std::string log_text(const failure& error);
  /// Sets the problem of a home, and logs it if it is new. Null: there is none any more.
  void record_problem(const std::string& home, const drive::drive_error* error);
  /// Logs each warning once.
  void log_warnings(const std::string& home, const std::vector<drive::entry_warning>& warnings);

  const follower_options options_;
  channel_registry channels_;

  // Used by the thread only.
  std::unordered_map<std::string, tracked_item> items_;  // by id
  std::map<std::string, sync_position> positions_;       // by home
  std::vector<drive::shared_drive> drives_;
  std::unordered_map<std::string, std::vector<std::string>> sheets_;  // of spreadsheets, by id
  std::vector<std::string> folders_to_list_;                          // ids of new folders
  // By home: consecutive full listings that were scheduled because one had missed a folder.
  std::map<std::string, int> relist_counts_;
  // Parents of `items_`. nullopt: not computed since the last change.
  std::optional<std::unordered_set<std::string>> parents_;
  std::set<std::string> logged_once_;  // messages that were logged once
  std::string root_id_;                // of the user's own root folder
  std::string account_id_;             // the account when the root folder was last read
  bool is_same_account_ = false;       // the known files belong to the current account
  bool is_dirty_ = false;              // something changed since the last snapshot
  bool needs_drive_list_ = true;       // list the shared drives in the next round
  bool is_limit_hit_ = false;          // `max_files` was reached during the current full listing
  clock::time_point drives_listed_at_{};

  mutable std::mutex mutex_;  // protects the members below
  mutable std::condition_variable_any changed_;
  std::shared_ptr<const snapshot> latest_;
  std::shared_ptr<change_listener> listener_;
  std::vector<read_finding> findings_;
  bool is_poll_requested_ = false;
  bool is_ready_ = false;      // Drive was listed in full, or has failed
  bool is_stopped_ = false;    // `stop` was called
  bool is_removed_ = false;    // the server has removed this source; another one may need its store
  bool is_listening_ = false;  // the server listens over HTTP
  bool is_offline_ = false;
  std::map<std::string, limit_record> full_homes_{};  // homes with more files than the limit
  std::string settings_error_{};
  std::optional<clock::time_point> verified_at_{};  // when the last complete poll began
  std::optional<failure> error_{};                  // of the last round
  std::map<std::string, std::string> problems_;     // messages by home, `drive_list_key` or `new_folders_key`
  std::string progress_text_;                       // for display while a full listing runs
  std::jthread thread_;                             // the last member, since it uses the others
};

}  // namespace hondana::gdrive
