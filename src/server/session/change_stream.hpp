/// Change streams: the notifications that a client has not received yet, coalesced until it can take them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/wire/codec.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/catalog/entry_lookups.hpp"
#include "server/gate/gate.hpp"

namespace hondana::session {

/// The caller that subscribes, and the caller that reads the stream. Over HTTP they can have different tokens.
enum class announcements_side : std::uint8_t { asks, reads };

/// The notification that was still pending for a URI.
enum class owed : std::uint8_t { nothing, change, change_of_alias };

/// Whether all access rules treat two callers equally: same identity, proof and own access filter.
[[nodiscard]] bool sees_alike(const caller& one, const caller& other);

/// Receives changes, and encodes notifications when the transport requests the next one. It stores one note per list and one
/// per watched URI, for any number of changes and any speed of the client.
///
/// An entry is sent after it was looked up, on a thread of its source. For each URI there is one lookup at a time, and another
/// one if a change arrived meanwhile. Threads: any.
class announcements final : public rpc::message_source,
                            public catalog::listener,
                            public std::enable_shared_from_this<announcements> {
 public:
  /// Messages are encoded by `manners`, with `tag` if the era requires it. `manners` may be set later (see `begin`).
  announcements(std::shared_ptr<catalog::feed> from, const wire::codec* manners, std::optional<rpc::request_id> tag);
  ~announcements() override;

  /// Sets the codec. Before that, nothing is sent.
  void begin(const wire::codec& manners);
  using side = announcements_side;
  /// Sets a caller of the stream. Only changes that it may see are sent, by the rules of `by`, and later by those of
  /// `rules_changed`. `from` looks up entries. If access filters examine entries, a change is sent after the entry was found.
  void see_as(side playing, const caller& who, const std::shared_ptr<const gate::gate>& by,
              const std::shared_ptr<catalog::lookups>& from);
  /// How often the access filter has changed.
  [[nodiscard]] std::uint64_t sight_changes() const;
  /// Sends `message` before anything else.
  void say_first(std::string message);
  /// Sets the lists whose changes are sent. The caller must also join the feed.
  void want_lists(bool resources, bool tools, bool prompts);
  /// Adds a watched URI: canonical, and as the client spelled it. Returns false beyond `limit`.
  [[nodiscard]] bool watch(const std::string& uri, const std::string& asked, std::size_t limit);
  /// Removes a watched URI. Returns the notification that was still pending.
  owed unwatch(const std::string& uri);
  /// The same for changes that are sent with entries. Requires an earlier call of `see_as`.
  [[nodiscard]] bool watch_entry(const std::string& uri, const std::string& asked, std::size_t limit);
  owed unwatch_entry(const std::string& uri);
  /// Continues a pending notification of a URI that was watched the other way.
  void owe(const std::string& uri, owed what);
  /// Whether a URI is watched, with or without entries.
  [[nodiscard]] bool watches(const std::string& uri);
  /// Whether all of `uris` can be watched in addition to the current ones.
  [[nodiscard]] bool has_room_for(const std::vector<std::string>& uris, std::size_t limit);
  /// Discards all notes. Afterwards only messages of `say_first` are sent.
  void close();
  /// Number of watched URIs; those watched both ways count twice.
  [[nodiscard]] std::size_t watched() const;

  /// Sets the event loop that notifies this listener. Call it before joining the feed.
  void stay_at(const std::shared_ptr<executor::turns>& where);
  [[nodiscard]] std::shared_ptr<executor::turns> place() const override;
  void heard(const model::change& what) override;
  void come_near() const noexcept override;
  [[nodiscard]] bool may_hear(std::string_view uri) const override;
  void rules_changed(const std::shared_ptr<const gate::gate>& now) override;
  /// Stored if `want_messages` includes its level. Beyond a hundred, the oldest is dropped.
  void told(const model::log_message& what) override;
  /// Sends log messages from this level on. Before the first call, none are sent.
  void want_messages(log_level least);
  [[nodiscard]] std::optional<std::string> next() override;
  [[nodiscard]] std::optional<std::string> next_of(bool& has_more) override;
  void follow(std::weak_ptr<rpc::follower> who) override;
  [[nodiscard]] bool has_ended() const override;

 private:
  // There can be very many streams, most of which watch one URI and wait. So rarely used data is allocated on demand.
  struct watch_note {
    std::string part;                    // of the resource: empty, or a query with its question mark
    std::string asked;                   // empty: equal to the canonical URI
    std::unique_ptr<std::string> title;  // null: none
    bool is_pending = false;
    bool is_alias = false;       // the pending change is only for an alias
    bool is_asked_for = false;   // a lookup is running
    bool is_stale = false;       // a change arrived since
    bool is_next_alias = false;  // and all changes since are only for an alias
  };
  using notes = std::vector<watch_note>;  // of one resource: itself and its parts
  using notes_by_resource = std::map<std::string, notes, std::less<>>;
  struct entry_note {
    std::string uri;
    std::string asked;
    std::string title;
    std::shared_ptr<const resource> now;
    bool is_pending = false;
    bool is_asked_for = false;   // a lookup is running
    bool is_stale = false;       // a change arrived since, so the result will be outdated
    bool is_alias = false;       // the lookup is only for changes of an alias
    bool is_next_alias = false;  // and so are all changes since
  };
  struct entry_notes {
    std::map<std::string, std::vector<entry_note>, std::less<>> by_resource;
    std::size_t count = 0;
    std::list<std::string> found;  // in the order of the lookups
  };
  /// The callers of the stream, and their combined access filter.
  struct sight {
    std::array<std::shared_ptr<const caller>, 2> who;  // by `side`
    std::shared_ptr<const gate::gate> by;
    std::shared_ptr<catalog::lookups> from;
    std::shared_ptr<const view> through;  // null: everything
    std::uint64_t changes = 0;            // of `through`
  };
  [[nodiscard]] bool has_something() const;
  [[nodiscard]] watch_note* find(const std::string& uri);
  [[nodiscard]] entry_notes& entries();
  [[nodiscard]] std::size_t count() const noexcept { return watched_count_ + (entries_ ? entries_->count : 0); }
  [[nodiscard]] entry_note* find_entry(const std::string& uri);
  /// Requires the lock. The access filter; null: everything.
  [[nodiscard]] const view* present_view() const noexcept { return sight_ ? sight_->through.get() : nullptr; }
  /// Both require the lock. Whether notifications may name a URI, and whether they may include data from its content.
  [[nodiscard]] bool is_seen(std::string_view uri) const {
    return !sight_ || !sight_->by || sight_->by->may_see(sight_->through.get(), uri);
  }
  [[nodiscard]] bool is_readable(std::string_view uri) const {
    return !sight_ || !sight_->by || sight_->by->may_read(sight_->through.get(), uri);
  }
  /// Computes the access filter. nullopt if it is the same as before. Otherwise discards notes that the callers may no longer
  /// see, and returns the changes to look up again.
  [[nodiscard]] std::optional<std::vector<model::change>> look_anew();
  void forget_unseen(std::vector<model::change>& asked_again);
  void settle_sight(std::unique_lock<std::mutex> lock);
  /// Requires the lock. Returns the URIs whose entries must be looked up.
  [[nodiscard]] std::vector<model::change> note_entries(const model::change& what);
  /// A change of exactly the resource that `uri` names.
  [[nodiscard]] static model::change only_of(std::string uri, bool is_alias);
  /// Requires the lock. Whether the URI alone does not decide if the change may be sent.
  [[nodiscard]] bool is_unsure(const model::change& what) const;
  /// Requires the lock. Returns the watched URIs that must be looked up before their change may be sent.
  [[nodiscard]] std::vector<model::change> unsure_of(const model::change& what);
  /// Parameters of a lookup, copied under the lock.
  struct way {
    std::shared_ptr<catalog::lookups> from;
    std::shared_ptr<const view> through;
  };
  [[nodiscard]] way way_now() const { return sight_ ? way{sight_->from, sight_->through} : way{}; }
  void look_up(const model::change& what, const way& by);
  void looked_up(const std::string& uri, const std::shared_ptr<const view>& through, std::shared_ptr<const resource> entry);
  void make_sure_of(model::change what, const way& by);
  void made_sure_of(model::change what, const std::shared_ptr<const view>& through, const resource* entry);
  [[nodiscard]] bool note_content(const model::change& what, bool is_sure);
  [[nodiscard]] bool note(const model::change& what);
  [[nodiscard]] std::optional<std::string> make_next();
  [[nodiscard]] std::optional<model::change> take();
  [[nodiscard]] model::change take_content();
  /// The follower to wake because there may be a message; wake it without the lock. Null: none.
  [[nodiscard]] std::shared_ptr<rpc::follower> due_wake();

  const std::shared_ptr<catalog::feed> feed_;
  const std::optional<rpc::request_id> tag_;
  mutable std::mutex mutex_;
  const wire::codec* manners_;
  std::weak_ptr<executor::turns> place_;
  std::weak_ptr<rpc::follower> follower_;
  std::atomic<const rpc::follower*> near_{nullptr};  // the current or a former follower, for prefetching only
  // Empty lists allocate no memory.
  std::list<std::string> first_;
  std::list<std::string> messages_;
  std::list<notes_by_resource::value_type*> pending_;  // resources with a pending note, in the order of the changes
  notes_by_resource watched_;
  std::size_t watched_count_ = 0;
  std::unique_ptr<entry_notes> entries_;  // null until one is watched
  std::unique_ptr<sight> sight_;          // null: no caller is set
  std::optional<log_level> least_;
  bool wants_resources_ = false, wants_tools_ = false, wants_prompts_ = false;
  bool resources_ = false, tools_ = false, prompts_ = false;  // changed and not sent yet
  bool is_asleep_ = true;                                     // the follower knows that there are no messages
  std::atomic<bool> has_ended_{false};
};

/// The open streams of a session, by the id of the request that opened them. Threads: any.
class streams {
 public:
  /// `end` ends the stream gracefully, by answering the request.
  void open(const rpc::request_id& id, std::shared_ptr<announcements> from, std::function<void()> end) {
    const std::lock_guard lock(mutex_);
    open_.insert_or_assign(id, stream{std::move(from), std::move(end)});
  }

  /// Closes a stream whose request was answered or cancelled.
  void close(const rpc::request_id& id) {
    stream closed;
    {
      const std::lock_guard lock(mutex_);
      const auto place = open_.find(id);
      if (place == open_.end()) return;
      closed = std::move(place->second);
      open_.erase(place);
    }
    closed.from->close();
  }

  /// Ends all streams gracefully.
  void finish() {
    std::map<rpc::request_id, stream> ending;
    {
      const std::lock_guard lock(mutex_);
      ending.swap(open_);
    }
    for (auto& [id, one] : ending) {
      one.from->close();
      one.end();
    }
  }

 private:
  struct stream {
    std::shared_ptr<announcements> from;
    std::function<void()> end;
  };
  std::mutex mutex_;
  std::map<rpc::request_id, stream> open_;
};

}  // namespace hondana::session
