/// Watches the resources that analyses are based on, and deletes analyses when these resources change.
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

/// The validity of a cached reading. It holds for one second at most, until the store or a watched resource changes. Changes by
/// another process are noticed slightly later with a shared file, and not at all while a Redis server is unreachable.
class vouching final : public validity {
 public:
  using counter = std::atomic<std::uint64_t>;
  /// The state before the reading.
  struct moment {
    std::uint64_t generation = 0;
    std::uint64_t news = 0;
  };
  /// `news`: increases with each notified change of a context. `until`: when the content changes without an event.
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

/// Keeps analyses consistent with the resources they are based on, with one thread.
/// It notifies the server of changes in the store, by all processes. When a resource changes, it reads the version and deletes
/// analyses based on another one. At intervals it checks all versions. Threads: any.
class follower {
 public:
  explicit follower(std::shared_ptr<ground> on) : on_(std::move(on)) {}
  ~follower() { end(); }
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  /// Sets the listener for changes. Null: none is notified any more. Does not block.
  void tell_to(std::shared_ptr<change_listener> to);
  /// Gives access to the server's other sources. Null: no access; the thread has ended when the call returns.
  void settle(std::shared_ptr<neighbourhood> in);
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  /// Reports a change of a resource. Its version is read, and analyses based on the same version stay.
  void heard_of(std::string_view uri);
  /// Whether analyses based on an unknown version of a resource may be based on this one. True if it is the first version
  /// found, or if none was found yet.
  [[nodiscard]] bool may_rest_on(std::string_view uri, std::string_view version) const;
  /// Subscribes to changes of a resource, unless the limit is reached.
  void watch(const std::string& uri);
  /// Whether changes of all these resources are notified.
  [[nodiscard]] bool watches(const std::vector<analyses::basis>& all) const;
  /// Increases with every notified change.
  [[nodiscard]] const std::shared_ptr<const vouching::counter>& news() const noexcept { return told_news_; }
  void end();

 private:
  struct watched {
    std::uint64_t look = 0;  ///< The last check that saw it, or the first check after it was added.
    bool is_heard = false;   ///< The subscription is active.
  };
  /// The version of a resource when an analysis based on an unknown version was first seen.
  struct first_found {
    std::string version{};
    std::uint64_t look = 0;  ///< The last check that saw it.
  };
  enum class by : std::uint8_t { news, look };

  void begin();
  void run(const std::stop_token& stop);
  void hear(const analyses::change* what);
  /// The work that is due.
  struct work;
  [[nodiscard]] work wait(const std::stop_token& stop, bool is_opened);
  void tell(const std::vector<analyses::change>& all, bool are_some_missing, analyses::cache& in);
  /// Watches the context of new analyses, and schedules resources without a version to be read.
  void take_bases(const std::vector<analyses::change>& all, analyses::cache& in);
  /// Reads a version, and deletes analyses based on another one. Only a change notification can report that a resource is gone:
  /// at a periodic check its source may not be ready yet.
  void check(const std::string& uri, const std::string* known, by why, analyses::cache& in, const std::stop_token& stop);
  /// Like `may_rest_on`, and stores the first version.
  [[nodiscard]] bool takes(const std::string& uri, const std::string& version);
  /// The stored versions that are current if `present` is: also versions for single callers, and the unknown one.
  [[nodiscard]] result<std::vector<std::string>> versions_still(const analyses::cache& in, const std::string& uri,
                                                                const std::string& present);
  /// Whether there are events to notify or versions to read.
  [[nodiscard]] bool has_news() const;
  /// A part of a periodic check; returns early if events arrive.
  void look(analyses::cache& in, const std::stop_token& stop);
  void stop_watching(const std::vector<std::string>& all);

  const std::shared_ptr<ground> on_;
  const std::shared_ptr<vouching::counter> news_count_ = std::make_shared<vouching::counter>(0);
  const std::shared_ptr<const vouching::counter> told_news_ = news_count_;
  std::mutex starting_;
  std::jthread thread_;

  // Used by the thread only.
  std::string look_at_;  // the URI after which a check continues
  std::vector<analyses::basis> page_;
  std::size_t page_at_ = 0;  // the next element
  std::size_t looked_ = 0;
  bool is_looking_ = false;
  bool is_look_whole_ = false;  // it began at the first URI
  std::chrono::steady_clock::time_point next_look_{};
  std::set<std::string, std::less<>> unknown_;  // resources whose first version is to be read
  std::string news_at_;                         // the URI after which the next change is taken
  std::set<std::string, std::less<>> again_;    // changed resources whose version could not be read
  std::chrono::steady_clock::time_point again_at_{};
  std::chrono::milliseconds pause_{0};

  // Held during a subscribe or unsubscribe call, so that these stay in order. Lock before `mutex_`.
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

/// Fills in the current versions of a question's context, as the caller may read them. Starts to watch each resource before
/// reading its version. Without a server, the versions stay unchanged. If a resource differs by caller, its version covers both
/// the caller's content and the whole.
///
/// `path`: the name of the context in errors. Errors: resource_not_found: not served to this caller; content_changed: a given
/// version is not the current one; invalid_argument: an invalid or repeated URI. Also scope_missing, and those of the sources
/// and of `ground::neighbours`.
[[nodiscard]] result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked,
                                   std::string_view path);

/// Whether all resources still have the given versions. An unknown version counts as current unless the follower found another
/// one before. A resource that no source serves is not current, but its source may be added later. `changed`: receives the
/// resources with another version. Errors: why a version could not be read.
[[nodiscard]] result<bool> hold(const ground& on, const follower& with, const call& by, const std::vector<analyses::basis>& all,
                                std::vector<std::string>& changed);

/// Whether a version from `resolve` is current. `present`: as returned by `neighbourhood::version_for_itself`.
[[nodiscard]] bool is_still(std::string_view known, std::string_view present);

}  // namespace hondana::analyses_source
