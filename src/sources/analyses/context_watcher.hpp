/// Watches the resources that analyses are based on, and expires analyses when these resources change.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Holds while nothing in the store has changed, nor anything that is watched for its sake, and for a second at most: what
/// another process writes is noticed a little later where it shares a file, and not at all while a server that keeps it is not
/// to be reached.
class vouching final : public validity {
 public:
  using counter = std::atomic<std::uint64_t>;
  /// What it was before it was read.
  struct moment {
    std::uint64_t generation = 0;
    std::uint64_t news = 0;
  };
  /// `news`: goes up with whatever is heard of what analyses are based on. `until`: from when on it says something else.
  vouching(std::weak_ptr<const analyses::cache> of, std::shared_ptr<const counter> news, moment then,
           std::chrono::steady_clock::time_point until)
      : of_(std::move(of)), news_(std::move(news)), then_(then), until_(until) {}

  [[nodiscard]] bool holds() const noexcept override {
    if (monotonic_clock::now() >= until_ || news_->load() != then_.news) return false;
    const auto there = of_.lock();
    return there && there->generation() == then_.generation;
  }

 private:
  const std::weak_ptr<const analyses::cache> of_;
  const std::shared_ptr<const counter> news_;
  const moment then_;
  const std::chrono::steady_clock::time_point until_;
};

/// One thread: what has happened in the store, by whichever process, is told to the server; of a resource that has changed the
/// version is asked for, and what was based on another is forgotten; and every while all versions are asked for. Threads: any.
class follower {
 public:
  explicit follower(std::shared_ptr<ground> on) : on_(std::move(on)) {}
  ~follower() { end(); }
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Null: nobody is told any more. Does not block.
  void tell_to(std::shared_ptr<change_listener> to);
  /// The server's other sources can be asked from now on; null: no more, and the thread has ended then.
  void settle(std::shared_ptr<neighbourhood> in);
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  /// A resource has changed; its version is asked for, and what has no other one is left alone.
  void heard_of(std::string_view uri);
  /// Whether what is based on an unknown version of a resource may be based on this one: none was found before, or this.
  [[nodiscard]] bool may_rest_on(std::string_view uri, std::string_view version) const;
  /// From now on changes of a resource are heard of, where there is room for that.
  void watch(const std::string& uri);
  /// Whether changes of all of them are heard of.
  [[nodiscard]] bool watches(const std::vector<analyses::basis>& all) const;
  /// Goes up with everything that is heard.
  [[nodiscard]] const std::shared_ptr<const vouching::counter>& news() const noexcept { return told_news_; }
  void end();

 private:
  struct watched {
    std::uint64_t look = 0;  ///< The last one that saw it, or that began after it came.
    bool is_heard = false;   ///< From now on.
  };
  /// Of a resource that something is based on an unknown version of: the version that was there when that was first seen.
  struct first_found {
    std::string version{};
    std::uint64_t look = 0;  ///< The last one that saw it.
  };
  enum class by : std::uint8_t { news, look };

  void begin();
  void run(const std::stop_token& stop);
  void hear(const analyses::change* what);
  /// What is to be done now.
  struct work;
  [[nodiscard]] work wait(const std::stop_token& stop, bool is_opened);
  void tell(const std::vector<analyses::change>& all, bool are_some_missing, analyses::cache& in);
  /// Has what new ones are based on watched, and that asked for of which they give no version.
  void take_bases(const std::vector<analyses::change>& all, analyses::cache& in);
  /// Asks for a version; what is based on another goes. Of what is not there only news says that it has gone: a source may
  /// be yet to come.
  void check(const std::string& uri, const std::string* known, by why, analyses::cache& in, const std::stop_token& stop);
  /// `may_rest_on`, which remembers the first.
  [[nodiscard]] bool takes(const std::string& uri, const std::string& version);
  /// The versions of a resource that hold with this one: those that were made of it for callers, too, and the unknown one.
  [[nodiscard]] result<std::vector<std::string>> versions_still(const analyses::cache& in, const std::string& uri,
                                                                const std::string& present);
  /// Whether something has happened that is to be told or asked about.
  [[nodiscard]] bool has_news() const;
  /// A part of a look at everything, which ends where something has happened meanwhile.
  void look(analyses::cache& in, const std::stop_token& stop);
  void stop_watching(const std::vector<std::string>& all);

  const std::shared_ptr<ground> on_;
  const std::shared_ptr<vouching::counter> news_count_ = std::make_shared<vouching::counter>(0);
  const std::shared_ptr<const vouching::counter> told_news_ = news_count_;
  std::mutex starting_;
  std::jthread thread_;

  // Of the thread.
  std::string look_at_;  // behind which URI a look goes on
  std::vector<analyses::basis> page_;
  std::size_t page_at_ = 0;  // what is next of it
  std::size_t looked_ = 0;
  bool is_looking_ = false;
  bool is_look_whole_ = false;  // it began at the beginning
  std::chrono::steady_clock::time_point next_look_{};
  std::set<std::string, std::less<>> unknown_;  // whose first version is to be found
  std::string news_at_;                         // behind which URI the next of the news is taken
  std::set<std::string, std::less<>> again_;    // of the news, what could not be asked for
  std::chrono::steady_clock::time_point again_at_{};
  std::chrono::milliseconds pause_{0};

  // Held while one is asked for or given up, so that neither overtakes the other; taken before `mutex_`.
  std::mutex watching_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<change_listener> to_;
  std::set<std::string, std::less<>> attached_;
  std::vector<analyses::change> events_;
  bool are_events_missing_ = false;
  std::set<std::string, std::less<>> news_;
  std::map<std::string, watched, std::less<>> watched_;
  std::map<std::string, first_found, std::less<>> found_;
  std::uint64_t look_ = 1;
  bool is_look_wanted_ = false;
};

/// Gives the context of a question the versions that its resources have now, as the caller may read them, and has them watched
/// from before that. In a source that never was in a server they stay as they are. Of what is made for each caller anew it is
/// a version of what this caller is given and of the whole.
///
/// `path`: what errors call the context. Errors: resource_not_found for what is not served to this caller; content_changed
/// where a version is given that is not the present one; invalid_argument for what is no URI or stands there twice;
/// scope_missing; those of the sources, and of `ground::neighbours`.
[[nodiscard]] result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked,
                                   std::string_view path);

/// Whether all of them still have those versions; of an unknown one, whether the follower has found no other one before.
/// `changed`: those that have another one. What no source serves does not hold, and a source may be yet to come. Errors: why
/// one could not be asked for, so that nothing is known of it.
[[nodiscard]] result<bool> hold(const ground& on, const follower& with, const call& by, const std::vector<analyses::basis>& all,
                                std::vector<std::string>& changed);

/// Whether a version that `resolve` gave still holds where `present` is what `neighbourhood::version_for_itself` says.
[[nodiscard]] bool is_still(std::string_view known, std::string_view present);

}  // namespace hondana::analyses_source
