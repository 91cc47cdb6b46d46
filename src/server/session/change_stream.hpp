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
enum class stream_party : std::uint8_t { subscriber, reader };

/// The notification that was still pending for a URI.
enum class pending_notification : std::uint8_t { none, change, alias_change };

/// Whether all access rules treat two callers equally: same identity, `auth_info` and own access filter.
[[nodiscard]] bool has_same_access(const caller_info& a, const caller_info& b);

/// Receives changes, and encodes notifications when the transport requests the next one. It stores one note per list and one
/// per watched URI, for any number of changes and any speed of the client.
///
/// An entry is sent after it was looked up, on a thread of its source. For each URI there is one lookup at a time, and another
/// one if a change arrived meanwhile. Threads: any.
class change_stream final : public rpc::message_source,
                            public catalog::listener,
                            public std::enable_shared_from_this<change_stream> {
 public:
  /// Messages are encoded by `codec`, with `tag` if the era requires it. `codec` may be set later (see `start`).
  change_stream(std::shared_ptr<catalog::change_feed> feed, const wire::codec* codec, std::optional<rpc::request_id> tag);
  ~change_stream() override;

  /// Sets the codec. Before that, nothing is sent.
  void start(const wire::codec& codec);
  using party = stream_party;
  /// Sets a caller of the stream. Only changes that it may see are sent, by the rules of `gate`, and later by those of
  /// `on_rules_changed`. `lookups` looks up entries. If access filters examine entries, a change is sent after the entry was
  /// found.
  void set_caller(party as_party, const caller_info& requester, const std::shared_ptr<const gate::gate>& gate,
                  const std::shared_ptr<catalog::entry_lookups>& lookups);
  /// How often the access filter has changed.
  [[nodiscard]] std::uint64_t filter_generation() const;
  /// Sends `message` before anything else.
  void send_first(std::string message);
  /// Sets the lists whose changes are sent. The caller must also join the feed.
  void set_lists(bool resources, bool tools, bool prompts);
  /// Adds a watched URI: canonical, and as the client spelled it. Returns false beyond `limit`.
  [[nodiscard]] bool watch(const std::string& uri, const std::string& requested_uri, std::size_t limit);
  /// Removes a watched URI. Returns the notification that was still pending.
  pending_notification unwatch(const std::string& uri);
  /// The same for changes that are sent with entries. Requires an earlier call of `set_caller`.
  [[nodiscard]] bool watch_entry(const std::string& uri, const std::string& requested_uri, std::size_t limit);
  pending_notification unwatch_entry(const std::string& uri);
  /// Continues a pending notification of a URI that was watched the other way.
  void restore_pending(const std::string& uri, pending_notification notification);
  /// Whether a URI is watched, with or without entries.
  [[nodiscard]] bool is_watching(const std::string& uri);
  /// Whether all of `uris` can be watched in addition to the current ones.
  [[nodiscard]] bool has_capacity_for(const std::vector<std::string>& uris, std::size_t limit);
  /// Discards all notes. Afterwards only messages of `send_first` are sent.
  void close();
  /// Number of watched URIs; those watched both ways count twice.
  [[nodiscard]] std::size_t watched() const;

  /// Sets the event loop that notifies this listener. Call it before joining the feed.
  void set_executor(const std::shared_ptr<executor::step_executor>& executor);
  [[nodiscard]] std::shared_ptr<executor::step_executor> preferred_executor() const override;
  void on_change(const model::change& change) override;
  void prefetch() const noexcept override;
  [[nodiscard]] bool may_receive(std::string_view uri) const override;
  void on_rules_changed(const std::shared_ptr<const gate::gate>& gate) override;
  /// Stored if `set_log_level` includes its level. Beyond a hundred, the oldest is dropped.
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
    bool is_stale = false;       // a change arrived since
    bool is_next_alias = false;  // and all changes since are only for an alias
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
    bool is_stale = false;       // a change arrived since, so the result will be outdated
    bool is_alias = false;       // the lookup is only for changes of an alias
    bool is_next_alias = false;  // and so are all changes since
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
  /// Both require the lock. Whether notifications may name a URI, and whether they may include data from its content.
  [[nodiscard]] bool is_visible(std::string_view uri) const {
    return !access_ || !access_->gate || access_->gate->may_see(access_->filter.get(), uri);
  }
  [[nodiscard]] bool is_readable(std::string_view uri) const {
    return !access_ || !access_->gate || access_->gate->may_read(access_->filter.get(), uri);
  }
  /// Computes the access filter. nullopt if it is the same as before. Otherwise discards notes that the callers may no longer
  /// see, and returns the changes to look up again.
  [[nodiscard]] std::optional<std::vector<model::change>> refresh_filter();
  void discard_hidden(std::vector<model::change>& rechecks);
  void apply_access(std::unique_lock<std::mutex> lock);
  /// Requires the lock. Returns the URIs whose entries must be looked up.
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
  void verify(model::change change, const lookup_context& lookup);
  void on_verified(model::change change, const std::shared_ptr<const access_filter>& filter, const resource* entry);
  [[nodiscard]] bool record_content(const model::change& change, bool is_verified);
  [[nodiscard]] bool record(const model::change& change);
  [[nodiscard]] std::optional<std::string> encode_next();
  [[nodiscard]] std::optional<model::change> pop_change();
  [[nodiscard]] model::change pop_content();
  /// The source listener to notify because there may be a message; notify it without the lock. Null: none.
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
  std::list<std::string> messages_;
  std::list<states_by_resource::value_type*> pending_;  // resources with a pending note, in the order of the changes
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
  /// `end` ends the stream gracefully, by answering the request.
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
