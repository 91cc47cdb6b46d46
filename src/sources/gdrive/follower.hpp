/// Keeps the local copy of Drive's file list up to date.
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

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/webhook.hpp>

#include "sources/gdrive/drive_api.hpp"
#include "sources/gdrive/notification_channels.hpp"
#include "sources/gdrive/snapshot.hpp"
#include "sources/gdrive/store.hpp"

namespace hondana::gdrive {

/// The key of the list of drives among the problems of homes. It contains a blank, which no id does.
inline constexpr std::string_view drive_list_key = "list of drives";
/// The key of new folders whose entries are missing because they cannot be listed yet.
inline constexpr std::string_view new_folders_key = "new folders";

/// Settings and dependencies of a `follower`.
struct follower_options {
  std::string name{};
  std::string scheme = "gdrive";
  std::shared_ptr<drive_api> api{};
  std::shared_ptr<drive_store> store{};
  std::vector<std::string> drive_slugs{};  ///< Slugs of drives; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds min_interval{10'000};  ///< Poll interval after a change.
  std::chrono::milliseconds max_interval{60'000};  ///< The interval doubles after each poll that finds nothing, up to this.
  std::size_t max_files = 100'000;
  /// Returns a string that identifies the account, and changes with it. Null: the account never changes. Threads: the
  /// follower's.
  std::function<std::string()> account_id{};
  std::string notification_url{};               ///< The public address for Drive's notifications; empty: none are requested.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// Mirrors the file list of Drive with one thread. The thread lists each drive in full once, and then polls its change log.
/// Results are stored on disk before they are used, so that a new process continues where the last one ended. A `home` is a
/// list that is followed by itself: "" is the user's own drive, otherwise the id of a shared drive. Threads: any.
class follower {
 public:
  using clock = monotonic_clock;

  explicit follower(follower_options options);
  ~follower();
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Starts the thread, once.
  void start();
  /// Waits until the thread has ended. No notifications are sent after that. Asks Drive to close the notification channels, for
  /// two seconds at most.
  void stop();
  /// Notifications can arrive from now on, so request them from Drive.
  void on_server_listening();
  /// Sets the listener for changes. Null stops the thread, and releases the store for another source.
  void set_listener(std::shared_ptr<change_listener> listener);

  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const snapshot> latest() const;
  /// Waits until Drive has been listed in full or has failed, or for `timeout`, and returns the newest snapshot. The stop token
  /// and deadline of `request` end the wait. Errors: source_unavailable and those of Drive if no file is known; cancelled.
  [[nodiscard]] result<std::shared_ptr<const snapshot>> wait_until_ready(const request_context& request,
                                                                         std::chrono::milliseconds timeout) const;
  /// Whether the last complete poll began less than `max_age` ago.
  [[nodiscard]] bool is_verified(std::chrono::milliseconds max_age) const;
  /// When the last complete poll began; empty: none since the start.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> verified_at() const;
  /// Whether the last attempt to reach Drive failed, by a poll or by a read.
  [[nodiscard]] bool is_offline() const;
  /// Records that a read could not reach Drive, or could again. Starts a poll, which checks whether everything is affected.
  void record_unreachable();
  void record_reachable();
  /// What is wrong with the settings, such as unknown drives; empty: nothing.
  [[nodiscard]] std::string settings_error() const;
  /// Whether Drive has more files than the limit.
  [[nodiscard]] bool is_limit_reached() const;
  /// Explains that files are left out and how to change it, or that they were until the coming full listing. Empty: neither.
  [[nodiscard]] std::string omission_message() const;

  /// Findings of a read: the current state of a file, a file that no longer exists, the sheets of a workbook.
  void report_file(const drive::file& file);
  void report_lost(const std::string& id);
  void report_sheets(const std::string& id, std::vector<std::string> names);
  /// Starts the next poll now.
  void schedule_poll();
  /// As `webhook_receiver::handle_webhook`.
  [[nodiscard]] bool handle_webhook(const webhook_request& request);

  [[nodiscard]] hondana::provider_health health() const;

 private:
  struct tracked_item {
    shared_item item{};
    std::int64_t generation = 0;
  };
  struct read_finding {
    std::optional<drive::file> current_file{};
    std::string id{};
    std::optional<std::vector<std::string>> sheets{};
  };
  struct limit_record {
    std::size_t max_files = 0;  ///< As `full_home`.
    bool is_previous = false;   ///< There is room now, and the next full listing will show whether it suffices.
  };

  /// Of one list, as a guard against endless pages.
  static constexpr std::size_t max_pages = 100'000;
  /// Limit of messages that are logged once; further ones are dropped.
  static constexpr std::size_t max_logged_once = 1'000;
  [[nodiscard]] static drive::drive_error endless_list_error(const std::string& subject);

  void run(const std::stop_token& stop);
  /// Ends the thread, and releases the store and channels that another source may need.
  void release();
  [[nodiscard]] result<void> load(const std::stop_token& stop);
  /// Returns whether something changed. Errors: those that concern all drives.
  [[nodiscard]] drive::api_result<bool> run_round(const std::stop_token& stop);
  [[nodiscard]] drive::api_result<void> update_root(const std::stop_token& stop);
  void clear();
  [[nodiscard]] std::string current_account_id() const;
  [[nodiscard]] drive::api_result<void> update_drives(const std::stop_token& stop);
  [[nodiscard]] std::vector<std::string> served_homes() const;
  [[nodiscard]] drive::api_result<void> crawl(const std::string& home, const std::stop_token& stop);
  [[nodiscard]] drive::api_result<void> poll(const std::string& home, const std::stop_token& stop);
  [[nodiscard]] drive::api_result<void> list_new_folders(const std::stop_token& stop);
  [[nodiscard]] drive::api_result<void> list_folder(const std::string& folder, const std::stop_token& stop);
  /// Whether a folder that could not be listed no longer exists.
  [[nodiscard]] bool is_deleted(const std::string& folder, const drive::drive_error& error, const std::stop_token& stop) const;
  void open_channels(const std::stop_token& stop);
  void close_channels();
  /// Checks that the configured drives exist.
  void check_drive_slugs();
  void apply_change(const std::string& home, const drive::change& change, update_batch& batch);
  /// Lists a folder again that the change log reports for the time of a full listing. The listing may have passed its entries
  /// before the folder appeared.
  void schedule_folder_listing(const std::string& home, const drive::change& change, update_batch& batch) const;
  /// Whether a change concerns an unknown item that may be a folder that the full listing missed. Files deep inside such a
  /// folder would otherwise be shown at the top of the drive.
  [[nodiscard]] bool is_missed_folder(const std::string& home, const drive::change& change, const update_batch& batch);
  /// Whether a file of the home has an unknown parent.
  [[nodiscard]] bool has_orphans(const std::string& home) const;
  void apply_file(const std::string& home, const drive::file& file, update_batch& batch);
  /// Schedules a full listing of the home, and restarts one in progress. Does nothing if the home is unknown.
  void schedule_full_listing(const std::string& home, update_batch& batch) const;
  void remove_item(const std::string& home, const std::string& id, update_batch& batch);
  /// Whether a known file, or one in the batch, has this parent.
  [[nodiscard]] bool has_known_children(const std::string& id, const update_batch& batch);
  [[nodiscard]] bool process_findings(const std::stop_token& stop);
  void process_finding(read_finding finding, const std::stop_token& stop);
  /// Stores the batch on disk, and then applies it in memory.
  [[nodiscard]] drive::api_result<void> apply(update_batch batch);
  void publish();
  [[nodiscard]] sync_position& position_of(const std::string& home);
  /// Whether some home, or the list of drives, is out of date. Call under the lock.
  [[nodiscard]] bool is_any_behind() const;
  /// Whether a home is configured.
  [[nodiscard]] bool is_served(const std::string& home) const;
  /// Whether a file is in a shared drive while shared drives are disabled.
  [[nodiscard]] bool is_excluded(const drive::file& file) const noexcept;
  /// Records whether Google currently denies access to the account.
  void record_access(const drive::drive_error* error);
  [[nodiscard]] std::string home_of(const drive::file& file) const;
  [[nodiscard]] std::string describe_home(const std::string& home) const;
  [[nodiscard]] static drive::call_options make_call_options(const std::stop_token& stop, drive::request_priority priority);
  /// With the resource keys of the file and the folders above it.
  [[nodiscard]] drive::call_options make_file_options(const std::string& id, const std::stop_token& stop,
                                                      drive::request_priority priority) const;
  void log_line(const std::string& line) const;
  void record_limit_reached(const std::string& home);
  [[nodiscard]] std::string limit_message() const;
  /// Call under the lock. Empty if files are left out now, or if none were.
  [[nodiscard]] std::string previous_limit_message() const;
  /// Stores the full homes for the next process.
  void store_full_homes();
  /// Loads the full homes that the last process stored.
  [[nodiscard]] result<void> load_full_homes();
  /// Removes homes that the settings no longer include, since no poll would update them.
  [[nodiscard]] result<void> remove_unserved_homes();
  /// The public text, followed by the private one.
  [[nodiscard]] static std::string log_text(const failure& error);
  void record_problem(const std::string& home, const drive::drive_error* error);
  /// Logs each warning once.
  void log_warnings(const std::string& home, const std::vector<drive::entry_warning>& warnings);

  const follower_options options_;
  channel_registry channels_;

  // Used by the thread only.
  std::unordered_map<std::string, tracked_item> items_;
  std::map<std::string, sync_position> positions_;
  std::vector<drive::shared_drive> drives_;
  std::unordered_map<std::string, std::vector<std::string>> sheets_;
  std::vector<std::string> folders_to_list_;
  // Repeated listings per home, since a listing missed a folder too deep to be seen.
  std::map<std::string, int> relist_counts_;
  // Parents of `items_`; empty until needed after a change.
  std::optional<std::unordered_set<std::string>> parents_;
  std::set<std::string> logged_once_;  // messages that were logged once
  std::string root_id_;
  std::string account_id_;        // the account when the root was last read
  bool is_same_account_ = false;  // the known files belong to the current account
  bool is_dirty_ = false;
  bool needs_drive_list_ = true;
  bool is_limit_hit_ = false;  // the file limit was reached during the current listing
  clock::time_point drives_listed_at_{};

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::shared_ptr<const snapshot> latest_;
  std::shared_ptr<change_listener> listener_;
  std::vector<read_finding> findings_;
  bool is_poll_requested_ = false;
  bool is_ready_ = false;
  bool is_stopped_ = false;
  bool is_removed_ = false;    ///< The server has removed this source; another one may need its store.
  bool is_listening_ = false;  // over HTTP
  bool is_offline_ = false;
  std::map<std::string, limit_record> full_homes_{};  // homes with more files than the limit
  std::string settings_error_{};
  std::optional<clock::time_point> verified_at_{};
  std::optional<failure> error_{};               // concerns everything
  std::map<std::string, std::string> problems_;  // by home
  std::string progress_text_;                    // for display while a listing runs
  std::jthread thread_;                          // the last member, since it uses the others
};

}  // namespace hondana::gdrive
