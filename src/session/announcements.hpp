/// What one stream still has to tell its peer about changes, coalesced until the stream has room.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "catalog/feed.hpp"
#include "catalog/lookups.hpp"
#include "rpc/envelope.hpp"
#include "rpc/outlet.hpp"
#include "wire/codec.hpp"

namespace hondana::session {

/// Hears of changes and makes notifications of them when asked for the next one, so that however many changes there are and
/// however slow the peer is, it holds one note a list and one a watched URI.
///
/// An entry is told once it has been looked up, on a thread of its source; of a URI there is one lookup at a time, and another
/// when there was a change since it was asked for. Threads: any.
class announcements final : public rpc::message_source,
                            public catalog::listener,
                            public std::enable_shared_from_this<announcements> {
 public:
  /// Messages are written by `manners`, tagged with `tag` where the era wants that; `manners` may come later (see `begin`).
  announcements(std::shared_ptr<catalog::feed> from, const wire::codec* manners, std::optional<rpc::request_id> tag);
  ~announcements() override;

  /// From now on messages are written as `manners` wants; before, nothing is sent.
  void begin(const wire::codec& manners);
  /// Sends `message` before anything else.
  void say_first(std::string message);
  /// Which changed lists are told; the caller joins the feed.
  void want_lists(bool resources, bool tools, bool prompts);
  /// Adds a watched URI: canonical, and as the peer spells it. False when there would be more than `limit`.
  [[nodiscard]] bool watch(const std::string& uri, const std::string& asked, std::size_t limit);
  void unwatch(const std::string& uri);
  /// The same with changes told as entries, which come from `by` and are left out where `through` (may be null) hides the URI.
  [[nodiscard]] bool watch_entry(const std::string& uri, const std::string& asked, std::shared_ptr<const view> through,
                                 const std::shared_ptr<catalog::lookups>& by, std::size_t limit);
  void unwatch_entry(const std::string& uri);
  /// Whether a URI is watched in either way.
  [[nodiscard]] bool watches(const std::string& uri);
  /// Whether all of `uris` can be watched together with what is.
  [[nodiscard]] bool has_room_for(const std::vector<std::string>& uris, std::size_t limit);
  /// Nothing is told any more but what is to be said first, and what was noted is forgotten.
  void close();
  /// Watched URIs; those watched in both ways twice.
  [[nodiscard]] std::size_t watched() const;

  void heard(const model::change& what) override;
  /// Kept when it is as severe as `want_messages` says; the oldest of more than a hundred is lost.
  void told(const model::log_message& what) override;
  /// Log messages of this level and above are told from now on; before the first call, none are.
  void want_messages(log_level least);
  [[nodiscard]] std::optional<std::string> next() override;
  void follow(std::function<void()> wake) override;
  [[nodiscard]] bool has_ended() const override;

 private:
  struct watch_note {
    std::string uri;  // canonical
    std::string asked;
    std::string title;
    bool is_pending = false;
  };
  using notes = std::vector<watch_note>;  // of one resource: itself and its parts
  struct entry_note {
    std::string uri;
    std::string asked;
    std::string title;
    std::shared_ptr<const view> through;
    std::shared_ptr<const resource> now;
    bool is_pending = false;
    bool is_asked_for = false;  // a lookup is under way,
    bool is_stale = false;      // and will be too old
  };
  [[nodiscard]] bool has_something() const;
  [[nodiscard]] watch_note* find(const std::string& uri);
  [[nodiscard]] entry_note* find_entry(const std::string& uri);
  /// The URIs to ask a lookup for.
  [[nodiscard]] std::vector<std::string> note_entries(const model::change& what);
  void look_up(const std::string& uri, const std::shared_ptr<catalog::lookups>& by);
  void looked_up(const std::string& uri, std::shared_ptr<const resource> entry);
  [[nodiscard]] bool note(const model::change& what);
  [[nodiscard]] std::optional<model::change> take();
  /// What to call now that there may be something; called without the lock.
  [[nodiscard]] std::function<void()> due_wake();

  const std::shared_ptr<catalog::feed> feed_;
  const std::optional<rpc::request_id> tag_;
  mutable std::mutex mutex_;
  const wire::codec* manners_;
  std::deque<std::string> first_;
  bool wants_resources_ = false, wants_tools_ = false, wants_prompts_ = false;
  bool resources_ = false, tools_ = false, prompts_ = false;  // changed and not told
  std::optional<log_level> least_;
  std::deque<std::string> messages_;
  std::unordered_map<std::string, notes> watched_;  // by resource
  std::size_t watched_count_ = 0;
  std::deque<std::string> pending_;                                   // of `watched_`, in the order of the changes
  std::unordered_map<std::string, std::vector<entry_note>> entries_;  // by resource
  std::size_t entries_count_ = 0;
  std::list<std::string> found_;  // of `entries_`, in the order of the lookups; takes no memory while it is empty
  std::shared_ptr<catalog::lookups> lookups_;
  std::function<void()> wake_;
  bool is_asleep_ = true;  // the follower was told that there is nothing
  bool has_ended_ = false;
};

}  // namespace hondana::session
