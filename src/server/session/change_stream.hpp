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

/// The callers of a stream: one subscribes, and one reads. Over HTTP they can have different tokens.
enum class stream_party : std::uint8_t { subscriber, reader };

/// The notification that is pending for a URI. `alias_change`: only for an alias, so an entry must be found before it is sent.
enum class pending_notification : std::uint8_t { none, change, alias_change };

/// Whether all rules treat two callers equally: same identity, `auth_info` and access filter of their own.
[[nodiscard]] bool has_same_access(const caller_info& a, const caller_info& b);

/// Receives changes, and encodes notifications when the transport requests the next one. It stores at most one notification per
/// list and per watched URI, for any number of changes and any speed of the client.
///
/// Notifications with entries are sent after a lookup, on a thread of the source. Each URI has one lookup at a time, and
/// another one if a change arrived meanwhile. Threads: any.
class change_stream final : public rpc::message_source,
                            public catalog::listener,
                            public std::enable_shared_from_this<change_stream> {
 public:
  /// `codec`: encodes messages; null: `start` sets it. `tag`: id of the request that opened the stream, which its notifications
  /// repeat; nullopt: none.
  change_stream(std::shared_ptr<catalog::change_feed> feed, const wire::codec* codec, std::optional<rpc::request_id> tag);
  ~change_stream() override;

  /// Sets the codec. Before that, only messages of `send_first` are sent.
  void start(const wire::codec& codec);
  using party = stream_party;
  /// Sets one of the callers. Only changes that all callers may see are sent: by the rules of `gate`, and later by those of
  /// `on_rules_changed`. `lookups`: looks up entries. If access filters examine entries, a change is sent only after its entry
  /// was found.
  void set_caller(party as_party, const caller_info& requester, const std::shared_ptr<const gate::gate>& gate,
                  const std::shared_ptr<catalog::entry_lookups>& lookups);
  /// How often the access filter of the callers has changed.
  [[nodiscard]] std::uint64_t filter_generation() const;
  /// Sends `message` before all notifications.
  void send_first(std::string message);
  /// Selects the lists whose changes are sent. `change_feed::add_listener` must be called too.
  void set_lists(bool resources, bool tools, bool prompts);
  /// Adds a URI whose changes are sent. `uri` is canonical; notifications repeat `requested_uri`. Returns false, without
  /// effect, if that would exceed `limit` URIs. `change_feed::watch` must be called too.
  [[nodiscard]] bool watch(const std::string& uri, const std::string& requested_uri, std::size_t limit);
  /// Removes a URI of `watch`. Returns the notification that was pending, and discards it.
  pending_notification unwatch(const std::string& uri);
  /// As `watch`, for notifications with the entry of the resource. Precondition: `set_caller` was called.
  [[nodiscard]] bool watch_entry(const std::string& uri, const std::string& requested_uri, std::size_t limit);
  /// As `unwatch`, for a URI of `watch_entry`.
  pending_notification unwatch_entry(const std::string& uri);
  /// Processes `notification` again, which `unwatch` or `unwatch_entry` returned: `uri` is now watched the other way, with or
  /// without entries.
  void restore_pending(const std::string& uri, pending_notification notification);
  /// Whether a URI is watched, with or without entries.
  [[nodiscard]] bool is_watching(const std::string& uri);
  /// Whether all of `uris` can be watched in addition to the current ones.
  [[nodiscard]] bool has_capacity_for(const std::vector<std::string>& uris, std::size_t limit);
  /// Ends the stream: discards all notifications, and leaves the feed. Afterwards only messages of `send_first` are sent.
  void close();
  /// Number of watched URIs; those watched both ways count twice.
  [[nodiscard]] std::size_t watched() const;

  /// Sets the event loop that calls `on_change`. Call it before the feed has this listener.
  void set_executor(const std::shared_ptr<executor::step_executor>& executor);
  [[nodiscard]] std::shared_ptr<executor::step_executor> preferred_executor() const override;
  void on_change(const model::change& change) override;
  void prefetch() const noexcept override;
  [[nodiscard]] bool may_receive(std::string_view uri) const override;
  void on_rules_changed(const std::shared_ptr<const gate::gate>& gate) override;
  /// Queues the message if its level is sent (see `set_log_level`). Beyond a hundred, the oldest is dropped.
  void on_log_message(const model::log_message& message) override;
  /// Sends log messages from this level on. Before the first call, none are sent.
  void set_log_level(log_level min_level);
  [[nodiscard]] std::optional<std::string> next() override;
  [[nodiscard]] std::optional<std::string> take_next(bool& has_more) override;
  void set_listener(std::weak_ptr<rpc::source_listener> new_listener) override;
  [[nodiscard]] bool is_finished() const override;

 private:
  // There can be very many streams, most of which watch one URI and wait. So rarely used data is allocated on demand.
  struct watch_state {
    std::string part;                    // of the resource: empty, or a query with its question mark
    std::string requested_uri;           // empty: equal to the canonical URI
    std::unique_ptr<std::string> title;  // null: none
    bool is_pending = false;
    bool is_alias = false;       // the pending change is only for an alias
    bool has_lookup = false;     // a lookup is running
    bool is_stale = false;       // a change arrived since the lookup began
    bool is_next_alias = false;  // all changes since then are only for an alias
  };
  using watch_states = std::vector<watch_state>;  // of one resource: itself and its parts
  using states_by_resource = std::map<std::string, watch_states, std::less<>>;
  struct entry_state {
    std::string uri;
    std::string requested_uri;
    std::string title;
    std::shared_ptr<const resource> entry;
    bool is_pending = false;
    bool has_lookup = false;     // a lookup is running
    bool is_stale = false;       // a change arrived since the lookup began, so the result will be outdated
    bool is_alias = false;       // the lookup is only for changes of an alias
    bool is_next_alias = false;  // all changes since then are only for an alias
  };
  struct entry_watches {
    std::map<std::string, std::vector<entry_state>, std::less<>> by_resource;
    std::size_t count = 0;
    std::list<std::string> ready;  // in the order of the lookups
  };
  /// The callers of the stream, and their combined access filter.
  struct access_state {
    std::array<std::shared_ptr<const caller_info>, 2> callers;  // by `party`
    std::shared_ptr<const gate::gate> gate;
    std::shared_ptr<catalog::entry_lookups> lookups;
    std::shared_ptr<const access_filter> filter;  // null: everything
    std::uint64_t generation = 0;                 // of `filter`
  };
  [[nodiscard]] bool has_messages() const;
  [[nodiscard]] watch_state* find(const std::string& uri);
  [[nodiscard]] entry_watches& entries();
  [[nodiscard]] std::size_t count() const noexcept { return watched_count_ + (entries_ ? entries_->count : 0); }
  [[nodiscard]] entry_state* find_entry(const std::string& uri);
  /// Requires the lock. The access filter; null: everything.
  [[nodiscard]] const access_filter* current_filter() const noexcept { return access_ ? access_->filter.get() : nullptr; }
  /// Requires the lock. Whether notifications may name a URI.
  [[nodiscard]] bool is_visible(std::string_view uri) const {
    return !access_ || !access_->gate || access_->gate->may_see(access_->filter.get(), uri);
  }
  /// Requires the lock. Whether notifications may include data from the content of a URI.
  [[nodiscard]] bool is_readable(std::string_view uri) const {
    return !access_ || !access_->gate || access_->gate->may_read(access_->filter.get(), uri);
  }
  /// Requires the lock. Computes the access filter. nullopt if it is the same as before. Otherwise discards notifications that
  /// the callers may no longer see, and returns the changes to look up again.
  [[nodiscard]] std::optional<std::vector<model::change>> refresh_filter();
  /// Discards hidden notifications. Adds those to `rechecks` that must be looked up again.
  void discard_hidden(std::vector<model::change>& rechecks);
  /// Applies new rules or callers. `lock`: held; released by this function.
  void apply_access(std::unique_lock<std::mutex> lock);
  /// Requires the lock. Records a change for URIs of `watch_entry`. Returns those whose entries must be looked up.
  [[nodiscard]] std::vector<model::change> record_entries(const model::change& change);
  /// A change of exactly the resource that `uri` names.
  [[nodiscard]] static model::change exact_change(std::string uri, bool is_alias);
  /// Requires the lock. Whether the URI alone does not decide if the change may be sent.
  [[nodiscard]] bool needs_lookup(const model::change& change) const;
  /// Requires the lock. Returns the watched URIs that must be looked up before their change may be sent.
  [[nodiscard]] std::vector<model::change> collect_lookups(const model::change& change);
  /// Parameters of a lookup, copied under the lock.
  struct lookup_context {
    std::shared_ptr<catalog::entry_lookups> lookups;
    std::shared_ptr<const access_filter> filter;
  };
  [[nodiscard]] lookup_context current_lookup() const {
    return access_ ? lookup_context{access_->lookups, access_->filter} : lookup_context{};
  }
  void look_up_entry(const model::change& change, const lookup_context& lookup);
  void on_entry(const std::string& uri, const std::shared_ptr<const access_filter>& filter,
                std::shared_ptr<const resource> entry);
  /// Looks up the entry of a changed resource; `on_verified` then sends the change if the entry exists.
  void verify(model::change change, const lookup_context& lookup);
  void on_verified(model::change change, const std::shared_ptr<const access_filter>& filter, const resource* entry);
  [[nodiscard]] bool record_content(const model::change& change, bool is_verified);
  [[nodiscard]] bool record(const model::change& change);
  [[nodiscard]] std::optional<std::string> encode_next();
  [[nodiscard]] std::optional<model::change> pop_change();
  [[nodiscard]] model::change pop_content();
  /// Requires the lock. The source listener to notify, without the lock, because there may be a message. Null: none.
  [[nodiscard]] std::shared_ptr<rpc::source_listener> claim_source_listener();

  const std::shared_ptr<catalog::change_feed> feed_;
  const std::optional<rpc::request_id> tag_;
  mutable std::mutex mutex_;
  const wire::codec* codec_;
  std::weak_ptr<executor::step_executor> executor_;
  std::weak_ptr<rpc::source_listener> source_listener_;
  std::atomic<const rpc::source_listener*> prefetch_target_{nullptr};  // the current or a former one, for prefetching only
  // Empty lists allocate no memory.
  std::list<std::string> first_messages_;
  std::list<std::string> messages_;                     // log messages
  std::list<states_by_resource::value_type*> pending_;  // resources with a pending notification, in the order of the changes
  states_by_resource watched_;
  std::size_t watched_count_ = 0;
  std::unique_ptr<entry_watches> entries_;  // null until one is watched
  std::unique_ptr<access_state> access_;    // null: no caller is set
  std::optional<log_level> min_level_;
  bool wants_resources_ = false, wants_tools_ = false, wants_prompts_ = false;
  bool resources_ = false, tools_ = false, prompts_ = false;  // changed and not sent yet
  bool is_idle_ = true;                                       // the source listener knows that there are no messages
  std::atomic<bool> has_ended_{false};
};

/// The open streams of a session, by the id of the request that opened them. Threads: any.
class stream_registry {
 public:
  /// Registers the stream of a request. `end`: ends it gracefully, by answering the request.
  void open(const rpc::request_id& id, std::shared_ptr<change_stream> stream, std::function<void()> end) {
    const std::lock_guard lock(mutex_);
    open_.insert_or_assign(id, open_stream{std::move(stream), std::move(end)});
  }

  /// Closes a stream whose request was answered or cancelled.
  void close(const rpc::request_id& id) {
    open_stream closed;
    {
      const std::lock_guard lock(mutex_);
      const auto preferred_executor = open_.find(id);
      if (preferred_executor == open_.end()) return;
      closed = std::move(preferred_executor->second);
      open_.erase(preferred_executor);
    }
    closed.stream->close();
  }

  /// Ends all streams gracefully.
  void finish() {
    std::map<rpc::request_id, open_stream> streams;
    {
      const std::lock_guard lock(mutex_);
      streams.swap(open_);
    }
    for (auto& [id, stream] : streams) {
      stream.stream->close();
      stream.end();
    }
  }

 private:
  struct open_stream {
    std::shared_ptr<change_stream> stream;
    std::function<void()> end;
  };
  std::mutex mutex_;
  std::map<rpc::request_id, open_stream> open_;
};

}  // namespace hondana::session
