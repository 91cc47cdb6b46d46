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
#include <hondana/notice.hpp>
#include <hondana/provider.hpp>

#include "sources/gdrive/drive_api.hpp"
#include "sources/gdrive/notification_channels.hpp"
#include "sources/gdrive/snapshot.hpp"
#include "sources/gdrive/store.hpp"

namespace hondana::gdrive {

/// The key of the list of drives among the problems of homes. It contains a blank, which no id does.
inline constexpr std::string_view list_of_drives = "list of drives";
/// The key of new folders whose entries are missing because they cannot be listed yet.
inline constexpr std::string_view new_folders = "new folders";

/// Settings and dependencies of a `follower`.
struct follower_options {
  std::string name{};
  std::string scheme = "gdrive";
  std::shared_ptr<remote> from{};
  std::shared_ptr<kept> where{};
  std::vector<std::string> wanted{};  ///< Slugs of drives; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds shortest{10'000};  ///< Poll interval after a change.
  std::chrono::milliseconds longest{60'000};   ///< The interval doubles after each poll that finds nothing, up to this.
  std::size_t most_files = 100'000;
  /// Returns a string that identifies the account, and changes with it. Null: the account never changes. Threads: the
  /// follower's.
  std::function<std::string()> who{};
  std::string notices{};                        ///< The public address for Drive's notifications; empty: none are requested.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// Mirrors the file list of Drive with one thread. The thread lists each drive in full once, and then polls its change log.
/// Results are stored on disk before they are used, so that a new process continues where the last one ended. A `home` is a
/// list that is followed by itself: "" is the user's own drive, otherwise the id of a shared drive. Threads: any.
class follower {
 public:
  using clock = monotonic_clock;

  explicit follower(follower_options from);
  ~follower();
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Starts the thread, once.
  void start();
  /// Waits until the thread has ended. No notifications are sent after that. Asks Drive to close the notification channels, for
  /// two seconds at most.
  void end();
  /// Notifications can arrive from now on, so request them from Drive.
  void listens();
  /// Sets the listener for changes. Null stops the thread, and releases the store for another source.
  void tell_to(std::shared_ptr<change_listener> to);

  /// The newest snapshot; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;
  /// Waits until Drive has been listed in full or has failed, or for `most`, and returns the newest snapshot. The stop token
  /// and deadline of `by` end the wait. Errors: source_unavailable and those of Drive if no file is known; cancelled.
  [[nodiscard]] result<std::shared_ptr<const scene>> ready(const call& by, std::chrono::milliseconds most) const;
  /// Whether the last complete poll began less than `within` ago.
  [[nodiscard]] bool is_sure(std::chrono::milliseconds within) const;
  /// When the last complete poll began; empty: none since the start.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> sure_at() const;
  /// Whether the last attempt to reach Drive failed, by a poll or by a read.
  [[nodiscard]] bool is_cut_off() const;
  /// Records that a read could not reach Drive, or could again. Starts a poll, which checks whether everything is affected.
  void heard_nothing();
  void heard_something();
  /// What is wrong with the settings, such as unknown drives; empty: nothing.
  [[nodiscard]] std::string misfit() const;
  /// Whether Drive has more files than the limit.
  [[nodiscard]] bool is_full() const;
  /// Explains that files are left out and how to change it, or that they were until the coming full listing. Empty: neither.
  [[nodiscard]] std::string words_for_left_out() const;

  /// Findings of a read: the current state of a file, a file that no longer exists, the sheets of a workbook.
  void noted(const drive::file& now);
  void lost(const std::string& id);
  void noted_sheets(const std::string& id, std::vector<std::string> names);
  /// Starts the next poll now.
  void stir();
  /// As `takes_notices::take_notice`.
  [[nodiscard]] bool take_notice(const notice& what);

  [[nodiscard]] hondana::health health() const;

 private:
  struct known {
    shared_item what{};
    std::int64_t generation = 0;
  };
  struct news {
    std::optional<drive::file> now{};
    std::string id{};
    std::optional<std::vector<std::string>> sheets{};
  };
  struct fullness {
    std::size_t most_files = 0;  ///< As `full_home`.
    bool is_of_before = false;   ///< There is room now, and the next full listing will show whether it suffices.
  };

  /// Of one list, as a guard against endless pages.
  static constexpr std::size_t most_pages = 100'000;
  /// Limit of messages that are logged once; further ones are dropped.
  static constexpr std::size_t most_told = 1'000;
  [[nodiscard]] static drive::refusal endless(const std::string& what);

  void run(const std::stop_token& stop);
  /// Ends the thread, and releases the store and channels that another source may need.
  void leave();
  [[nodiscard]] result<void> load(const std::stop_token& stop);
  /// Returns whether something changed. Errors: those that concern all drives.
  [[nodiscard]] drive::answer<bool> round(const std::stop_token& stop);
  [[nodiscard]] drive::answer<void> find_root(const std::stop_token& stop);
  void forget_all();
  [[nodiscard]] std::string who_asks() const;
  [[nodiscard]] drive::answer<void> find_drives(const std::stop_token& stop);
  [[nodiscard]] std::vector<std::string> homes() const;
  [[nodiscard]] drive::answer<void> crawl(const std::string& home, const std::stop_token& stop);
  [[nodiscard]] drive::answer<void> poll(const std::string& home, const std::stop_token& stop);
  [[nodiscard]] drive::answer<void> look_into_folders(const std::stop_token& stop);
  [[nodiscard]] drive::answer<void> look_into(const std::string& folder, const std::stop_token& stop);
  /// Whether a folder that could not be listed no longer exists.
  [[nodiscard]] bool has_gone(const std::string& folder, const drive::refusal& why, const std::stop_token& stop) const;
  void open_channels(const std::stop_token& stop);
  void close_channels();
  /// Checks that the configured drives exist.
  void look_for_wanted();
  void take_change(const std::string& home, const drive::change& what, batch& into);
  /// Lists a folder again that the change log reports for the time of a full listing. The listing may have passed its entries
  /// before the folder appeared.
  void look_again(const std::string& home, const drive::change& what, batch& into) const;
  /// Whether a change concerns an unknown item that may be a folder that the full listing missed. Files deep inside such a
  /// folder would otherwise be shown at the top of the drive.
  [[nodiscard]] bool is_lost_folder(const std::string& home, const drive::change& what, const batch& into);
  /// Whether a file of the home has an unknown parent.
  [[nodiscard]] bool has_orphans(const std::string& home) const;
  void take_file(const std::string& home, const drive::file& now, batch& into);
  /// Schedules a full listing of the home, and restarts one in progress. Does nothing if the home is unknown.
  void list_anew(const std::string& home, batch& into) const;
  void lose(const std::string& home, const std::string& id, batch& into);
  /// Whether a known file, or one in the batch, has this parent.
  [[nodiscard]] bool is_folder_of_known(const std::string& id, const batch& into);
  [[nodiscard]] bool take_heard(const std::stop_token& stop);
  void take_word(news one, const std::stop_token& stop);
  /// Stores the batch on disk, and then applies it in memory.
  [[nodiscard]] drive::answer<void> apply(batch what);
  void publish();
  [[nodiscard]] position& position_of(const std::string& home);
  /// Whether some home, or the list of drives, is out of date. Call under the lock.
  [[nodiscard]] bool is_behind_somewhere() const;
  /// Whether a home is configured.
  [[nodiscard]] bool is_served(const std::string& home) const;
  /// Whether a file is in a shared drive while shared drives are disabled.
  [[nodiscard]] bool is_left_out(const drive::file& one) const noexcept;
  /// Records whether Google currently denies access to the account.
  void mind_refusal(const drive::refusal* why);
  [[nodiscard]] std::string home_of(const drive::file& of) const;
  [[nodiscard]] std::string word_for_home(const std::string& home) const;
  [[nodiscard]] static drive::errand errand_of(const std::stop_token& stop, drive::lane of);
  /// With the resource keys of the file and the folders above it.
  [[nodiscard]] drive::errand errand_about(const std::string& id, const std::stop_token& stop, drive::lane of) const;
  void say(const std::string& line) const;
  void tell_full(const std::string& home);
  [[nodiscard]] std::string words_for_full() const;
  /// Call under the lock. Empty if files are left out now, or if none were.
  [[nodiscard]] std::string words_for_last_listing() const;
  /// Stores the full homes for the next process.
  void keep_full();
  /// Loads the full homes that the last process stored.
  [[nodiscard]] result<void> recall_full();
  /// Removes homes that the settings no longer include, since no poll would update them.
  [[nodiscard]] result<void> forget_unfollowed();
  /// The public text, followed by the private one.
  [[nodiscard]] static std::string words_for_log(const failure& why);
  void mind(const std::string& home, const drive::refusal* why);
  /// Logs each oddity once.
  void tell_odd(const std::string& home, const std::vector<drive::oddity>& all);

  const follower_options options_;
  channels channels_;

  // Used by the thread only.
  std::unordered_map<std::string, known> items_;
  std::map<std::string, position> positions_;
  std::vector<drive::shared_drive> drives_;
  std::unordered_map<std::string, std::vector<std::string>> sheets_;
  std::vector<std::string> looks_;
  // Repeated listings per home, since a listing missed a folder too deep to be seen.
  std::map<std::string, int> lists_again_;
  // Parents of `items_`; empty until needed after a change.
  std::optional<std::unordered_set<std::string>> parents_;
  std::set<std::string> told_;  // messages that were logged once
  std::string root_;
  std::string who_;       // the account when the root was last read
  bool is_ours_ = false;  // the known files belong to the current account
  bool is_dirty_ = false;
  bool are_drives_due_ = true;
  bool is_page_full_ = false;  // the file limit was reached during the current listing
  clock::time_point drives_at_{};

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::shared_ptr<const scene> latest_;
  std::shared_ptr<change_listener> to_;
  std::vector<news> heard_;
  bool is_stirred_ = false;
  bool is_ready_ = false;
  bool is_ended_ = false;
  bool has_left_ = false;      ///< The server has removed this source; another one may need its store.
  bool is_listening_ = false;  // over HTTP
  bool is_cut_off_ = false;
  std::map<std::string, fullness> full_{};  // homes with more files than the limit
  std::string misfit_{};
  std::optional<clock::time_point> sure_at_{};
  std::optional<failure> trouble_{};             // concerns everything
  std::map<std::string, std::string> problems_;  // by home
  std::string state_;                            // for display while a listing runs
  std::jthread thread_;                          // the last member, since it uses the others
};

}  // namespace hondana::gdrive
