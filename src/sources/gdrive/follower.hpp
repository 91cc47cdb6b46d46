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

/// What stands for that list where problems of homes are kept; no id has a blank.
inline constexpr std::string_view list_of_drives = "list of drives";
/// And for what lies in folders that have come, which is missing until they can be listed.
inline constexpr std::string_view new_folders = "new folders";

struct follower_options {
  std::string name{};
  std::string scheme = "gdrive";
  std::shared_ptr<remote> from{};
  std::shared_ptr<kept> where{};
  std::vector<std::string> wanted{};  ///< Slugs of drives; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds shortest{10'000};  ///< Between two polls, after a change;
  std::chrono::milliseconds longest{60'000};   ///< twice as long after each that found nothing, up to this.
  std::size_t most_files = 100'000;
  /// Spells who asks Drive now, and is another when that changes. Null: always the same. Threads: that of the follower.
  std::function<std::string()> who{};
  std::string notices{};                        ///< The public address that notices are to come to; empty: none are asked for.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// One thread from `start` on: it crawls what it has not seen whole, and polls the logs of changes from then on. What it has
/// found is on disk before it counts, so that whatever ends the process, the next one goes on where it was. Threads: any.
class follower {
 public:
  using clock = monotonic_clock;

  explicit follower(follower_options from);
  ~follower();
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Starts the thread, once.
  void start();
  /// Waits until the thread has ended; nothing is told any more, and Drive is asked to send no more notices, for two seconds at
  /// most.
  void end();
  /// Somebody listens for notices: they are asked for from now on.
  void listens();
  void tell_to(std::shared_ptr<change_listener> to);

  /// The newest scene; null before the first.
  [[nodiscard]] std::shared_ptr<const scene> latest() const;
  /// The newest scene once Drive has been seen whole or could not be, or after `most`; the stop and deadline of `by` end the
  /// waiting. Errors: source_unavailable and those of Drive where nothing is known at all; cancelled.
  [[nodiscard]] result<std::shared_ptr<const scene>> ready(const call& by, std::chrono::milliseconds most) const;
  /// Whether everything was as it is known less than so long ago.
  [[nodiscard]] bool is_sure(std::chrono::milliseconds within) const;
  /// When everything was known to be as it is known; nothing: not since the start.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> sure_at() const;
  /// Whether Drive could not be reached the last time, by whoever asked.
  [[nodiscard]] bool is_cut_off() const;
  /// A read could not reach it, or could again: whether that is so of everything the next poll finds out, now.
  void heard_nothing();
  void heard_something();
  /// What is wrong with how it is set up, such as drives that there are not; empty: nothing.
  [[nodiscard]] std::string misfit() const;
  /// Whether there are more files than are kept.
  [[nodiscard]] bool is_full() const;
  /// That there are, and what to do; or that there were, where Drive is about to be listed anew. Empty: neither.
  [[nodiscard]] std::string words_for_left_out() const;

  /// What a read has found out: a file as it is now, one that is not there any more, the sheets of a workbook.
  void noted(const drive::file& now);
  void lost(const std::string& id);
  void noted_sheets(const std::string& id, std::vector<std::string> names);
  /// The next poll is made now.
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
    bool is_of_before = false;   ///< There is room now, and the next crawl will tell.
  };

  /// Of one list; empty pages that go on and on are none.
  static constexpr std::size_t most_pages = 100'000;
  /// Odd things that are said once; what is beyond is more of the same.
  static constexpr std::size_t most_told = 1'000;
  [[nodiscard]] static drive::refusal endless(const std::string& what);

  void run(const std::stop_token& stop);
  /// The end of the thread: gives up what another source could not have beside it.
  void leave();
  [[nodiscard]] result<void> load(const std::stop_token& stop);
  /// Whether something changed. Errors: those that concern everything.
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
  /// Whether a folder that could not be looked into is not there any more.
  [[nodiscard]] bool has_gone(const std::string& folder, const drive::refusal& why, const std::stop_token& stop) const;
  void open_channels(const std::stop_token& stop);
  void close_channels();
  /// Whether the drives that are wanted are there.
  void look_for_wanted();
  void take_change(const std::string& home, const drive::change& what, batch& into);
  /// The log of the time in which everything was listed tells of a folder: what is in it may have been passed before it came.
  void look_again(const std::string& home, const drive::change& what, batch& into) const;
  /// It tells of what may be a folder that the list came too late for, and of which nothing is known that lies in it: what lies
  /// deeper would lie at the top.
  [[nodiscard]] bool is_lost_folder(const std::string& home, const drive::change& what, const batch& into);
  /// Whether something lies in a folder that is not known.
  [[nodiscard]] bool has_orphans(const std::string& home) const;
  void take_file(const std::string& home, const drive::file& now, batch& into);
  /// A crawl that is under way begins anew, too. Does nothing where the home has not been begun.
  void list_anew(const std::string& home, batch& into) const;
  void lose(const std::string& home, const std::string& id, batch& into);
  /// Whether something lies in it that is known, or comes with the batch.
  [[nodiscard]] bool is_folder_of_known(const std::string& id, const batch& into);
  [[nodiscard]] bool take_heard(const std::stop_token& stop);
  void take_word(news one, const std::stop_token& stop);
  /// On disk, and then here.
  [[nodiscard]] drive::answer<void> apply(batch what);
  void publish();
  [[nodiscard]] position& position_of(const std::string& home);
  /// Under the lock: some home, or the list of them, is not as Drive has it.
  [[nodiscard]] bool is_behind_somewhere() const;
  /// Whether a home is asked for.
  [[nodiscard]] bool is_served(const std::string& home) const;
  /// Whether it lies in a shared drive, and these are not wanted.
  [[nodiscard]] bool is_left_out(const drive::file& one) const noexcept;
  /// Google lets us in, or does not any more.
  void mind_refusal(const drive::refusal* why);
  [[nodiscard]] std::string home_of(const drive::file& of) const;
  [[nodiscard]] std::string word_for_home(const std::string& home) const;
  [[nodiscard]] static drive::errand errand_of(const std::stop_token& stop, drive::lane of);
  /// With the keys that are known of a file and the folders above it.
  [[nodiscard]] drive::errand errand_about(const std::string& id, const std::stop_token& stop, drive::lane of) const;
  void say(const std::string& line) const;
  void tell_full(const std::string& home);
  [[nodiscard]] std::string words_for_full() const;
  /// Under the lock: empty where something is left out now, or nothing was.
  [[nodiscard]] std::string words_for_last_listing() const;
  /// So that the next process knows of it.
  void keep_full();
  /// What the one before this has kept of it.
  [[nodiscard]] result<void> recall_full();
  /// What was followed before, and by other settings: nobody would tell of it any more.
  [[nodiscard]] result<void> forget_unfollowed();
  /// What people are told, and behind it what only the log is.
  [[nodiscard]] static std::string words_for_log(const failure& why);
  void mind(const std::string& home, const drive::refusal* why);
  /// Once.
  void tell_odd(const std::string& home, const std::vector<drive::oddity>& all);

  const follower_options options_;
  channels channels_;

  // Of the thread.
  std::unordered_map<std::string, known> items_;
  std::map<std::string, position> positions_;
  std::vector<drive::shared_drive> drives_;
  std::unordered_map<std::string, std::vector<std::string>> sheets_;
  std::vector<std::string> looks_;
  std::map<std::string, int> lists_again_;                  // of homes, since what a list missed lay deeper than could be seen
  std::optional<std::unordered_set<std::string>> parents_;  // of `items_`, where somebody has asked since they changed
  std::set<std::string> told_;                              // of what is odd
  std::string root_;
  std::string who_;       // asked when the root was seen last
  bool is_ours_ = false;  // what is known is of who asks now
  bool is_dirty_ = false;
  bool are_drives_due_ = true;
  bool is_page_full_ = false;  // of the crawl under way: there is no room for more
  clock::time_point drives_at_{};

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::shared_ptr<const scene> latest_;
  std::shared_ptr<change_listener> to_;
  std::vector<news> heard_;
  bool is_stirred_ = false;
  bool is_ready_ = false;
  bool is_ended_ = false;
  bool has_left_ = false;      ///< Its server has let go of it: another source may want its store.
  bool is_listening_ = false;  // over HTTP
  bool is_cut_off_ = false;
  std::map<std::string, fullness> full_{};  // homes with more files than are kept
  std::string misfit_{};
  std::optional<clock::time_point> sure_at_{};
  std::optional<failure> trouble_{};             // of everything
  std::map<std::string, std::string> problems_;  // of homes
  std::string state_;                            // for people, while it crawls
  std::jthread thread_;                          // the last member: it uses the others
};

}  // namespace hondana::gdrive
