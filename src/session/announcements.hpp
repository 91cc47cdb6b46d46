/// What one stream still has to tell its peer about changes, coalesced until the stream has room.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hondana/error.hpp>

#include "catalog/feed.hpp"
#include "rpc/envelope.hpp"
#include "rpc/outlet.hpp"
#include "wire/codec.hpp"

namespace hondana::session {

/// Hears of changes and makes notifications of them when asked for the next one, so that however many changes there are and
/// however slow the peer is, it holds one note a list and one a watched URI. Threads: any.
class announcements final : public rpc::message_source, public catalog::listener {
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
  /// Nothing is told any more but what is to be said first, and what was noted is forgotten.
  void close();
  /// Watched URIs.
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
  [[nodiscard]] bool has_something() const;
  [[nodiscard]] watch_note* find(const std::string& uri);
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
  std::deque<std::string> pending_;  // of `watched_`, in the order of the changes
  std::function<void()> wake_;
  bool is_asleep_ = true;  // the follower was told that there is nothing
  bool has_ended_ = false;
};

}  // namespace hondana::session
