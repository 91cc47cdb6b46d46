/// Streams of changes to a peer: what is still to be sent on each, coalesced until there is room.
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

/// A peer asks for what is told, and reads it. Over HTTP both may come with different tokens.
enum class announcements_side : std::uint8_t { asks, reads };

/// What was still to be told of a URI.
enum class owed : std::uint8_t { nothing, change, change_of_alias };

/// Whether two callers see the same by any rules: identity, what was proved, and the view they came with.
[[nodiscard]] bool sees_alike(const caller& one, const caller& other);

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
  using side = announcements_side;
  /// From now on only changes are told that `who` may see as `by` says now or, after `rules_changed`, then. Entries come by
  /// `from`. Where views look at entries, a change is told once the entry has been found.
  void see_as(side playing, const caller& who, const std::shared_ptr<const gate::gate>& by,
              const std::shared_ptr<catalog::lookups>& from);
  /// How often what may be told has changed.
  [[nodiscard]] std::uint64_t sight_changes() const;
  /// Sends `message` before anything else.
  void say_first(std::string message);
  /// Which changed lists are told; the caller joins the feed.
  void want_lists(bool resources, bool tools, bool prompts);
  /// Adds a watched URI: canonical, and as the peer spells it. False when there would be more than `limit`.
  [[nodiscard]] bool watch(const std::string& uri, const std::string& asked, std::size_t limit);
  /// Returns what was still to be told of it.
  owed unwatch(const std::string& uri);
  /// The same with changes told as entries. Somebody asks here already.
  [[nodiscard]] bool watch_entry(const std::string& uri, const std::string& asked, std::size_t limit);
  owed unwatch_entry(const std::string& uri);
  /// A change that was to be told of a URI which was watched in the other way is told in this one.
  void owe(const std::string& uri, owed what);
  /// Whether a URI is watched in either way.
  [[nodiscard]] bool watches(const std::string& uri);
  /// Whether all of `uris` can be watched together with what is.
  [[nodiscard]] bool has_room_for(const std::vector<std::string>& uris, std::size_t limit);
  /// Nothing is told any more but what is to be said first, and what was noted is forgotten.
  void close();
  /// Watched URIs; those watched in both ways twice.
  [[nodiscard]] std::size_t watched() const;

  /// Hears of changes at `where`; to be said before it listens to the feed.
  void stay_at(const std::shared_ptr<executor::turns>& where);
  [[nodiscard]] std::shared_ptr<executor::turns> place() const override;
  void heard(const model::change& what) override;
  void come_near() const noexcept override;
  [[nodiscard]] bool may_hear(std::string_view uri) const override;
  void rules_changed(const std::shared_ptr<const gate::gate>& now) override;
  /// Kept when it is as severe as `want_messages` says; the oldest of more than a hundred is lost.
  void told(const model::log_message& what) override;
  /// Log messages of this level and above are told from now on; before the first call, none are.
  void want_messages(log_level least);
  [[nodiscard]] std::optional<std::string> next() override;
  [[nodiscard]] std::optional<std::string> next_of(bool& has_more) override;
  void follow(std::weak_ptr<rpc::follower> who) override;
  [[nodiscard]] bool has_ended() const override;

 private:
  // There may be very many streams, most of which watch one URI and wait: what is rarely wanted takes no memory until it is.
  struct watch_note {
    std::string part;                    // of the resource: empty, or a query with its mark
    std::string asked;                   // empty: as canonical
    std::unique_ptr<std::string> title;  // null: none
    bool is_pending = false;
    bool is_alias = false;       // what is pending is of another name only
    bool is_asked_for = false;   // a lookup is under way,
    bool is_stale = false;       // there was a change since,
    bool is_next_alias = false;  // of another name only
  };
  using notes = std::vector<watch_note>;  // of one resource: itself and its parts
  using notes_by_resource = std::map<std::string, notes, std::less<>>;
  struct entry_note {
    std::string uri;
    std::string asked;
    std::string title;
    std::shared_ptr<const resource> now;
    bool is_pending = false;
    bool is_asked_for = false;   // a lookup is under way,
    bool is_stale = false;       // and will be too old
    bool is_alias = false;       // all changes that the lookup answers are of another name,
    bool is_next_alias = false;  // and all since
  };
  struct entry_notes {
    std::map<std::string, std::vector<entry_note>, std::less<>> by_resource;
    std::size_t count = 0;
    std::list<std::string> found;  // in the order of the lookups
  };
  /// Who is told, and what that may see.
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
  /// Under the lock: what may be seen; null: everything.
  [[nodiscard]] const view* present_view() const noexcept { return sight_ ? sight_->through.get() : nullptr; }
  /// Under the lock: whether a URI is told of, and what may stand in it.
  [[nodiscard]] bool is_seen(std::string_view uri) const {
    return !sight_ || !sight_->by || sight_->by->may_see(sight_->through.get(), uri);
  }
  [[nodiscard]] bool is_readable(std::string_view uri) const {
    return !sight_ || !sight_->by || sight_->by->may_read(sight_->through.get(), uri);
  }
  /// Sees anew: nothing when that is the same as before. Otherwise what was noted and may be told no more is forgotten, and
  /// what has to be asked about again is returned.
  [[nodiscard]] std::optional<std::vector<model::change>> look_anew();
  void forget_unseen(std::vector<model::change>& asked_again);
  void settle_sight(std::unique_lock<std::mutex> lock);
  /// Under the lock: of which URIs to ask for the entry.
  [[nodiscard]] std::vector<model::change> note_entries(const model::change& what);
  /// A change of what `uri` names and nothing beside it.
  [[nodiscard]] static model::change only_of(std::string uri, bool is_alias);
  /// Under the lock: whether URIs alone do not say that a change may be told.
  [[nodiscard]] bool is_unsure(const model::change& what) const;
  /// Under the lock: which watched URIs are told of only once their entry has been found, and are to be looked up.
  [[nodiscard]] std::vector<model::change> unsure_of(const model::change& what);
  /// What a lookup needs, taken under the lock.
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
  /// Who is to be woken now that there may be something; woken without the lock.
  [[nodiscard]] std::shared_ptr<rpc::follower> due_wake();

  const std::shared_ptr<catalog::feed> feed_;
  const std::optional<rpc::request_id> tag_;
  mutable std::mutex mutex_;
  const wire::codec* manners_;
  std::weak_ptr<executor::turns> place_;
  std::weak_ptr<rpc::follower> follower_;
  std::atomic<const rpc::follower*> near_{nullptr};  // where it is or was, for fetching only
  // Empty lists take no memory of their own.
  std::list<std::string> first_;
  std::list<std::string> messages_;
  std::list<notes_by_resource::value_type*> pending_;  // those with a note to tell, in the order of the changes
  notes_by_resource watched_;
  std::size_t watched_count_ = 0;
  std::unique_ptr<entry_notes> entries_;  // null until there is one
  std::unique_ptr<sight> sight_;          // null: nobody has asked
  std::optional<log_level> least_;
  bool wants_resources_ = false, wants_tools_ = false, wants_prompts_ = false;
  bool resources_ = false, tools_ = false, prompts_ = false;  // changed and not told
  bool is_asleep_ = true;                                     // the follower was told that there is nothing
  std::atomic<bool> has_ended_{false};
};

/// Open streams by the id of the request that opened them. Threads: any.
class streams {
 public:
  /// `end` ends the stream gracefully: it answers the request.
  void open(const rpc::request_id& id, std::shared_ptr<announcements> from, std::function<void()> end) {
    const std::lock_guard lock(mutex_);
    open_.insert_or_assign(id, stream{std::move(from), std::move(end)});
  }

  /// The request has been answered or cancelled: nothing more is told.
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

  /// Ends all.
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
