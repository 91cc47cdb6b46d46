/// All sources as one ordered set of resources: routes, lists, reads, completions, deadlines and metrics.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/limits.hpp>
#include <hondana/provider.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/counters/metrics.hpp"
#include "base/executor/thread_pool.hpp"
#include "base/executor/timers.hpp"
#include "base/seal/seal.hpp"
#include "base/tracing/tracing.hpp"
#include "protocol/model/operations.hpp"
#include "server/catalog/list_filter.hpp"
#include "server/catalog/read_cache.hpp"
#include "server/gate/gate.hpp"

namespace hondana::catalog {

/// What a source is asked for.
enum class doing : std::uint8_t { list, templates, read, describe, children, skills, find_skill, complete };

/// The kind of job that a request to a source is, see `executor::known_costs`. `target`: the URI, or what else is asked for.
/// Its query is ignored: a caller who asks for other words or lines each time is known as costly, too.
[[nodiscard]] inline executor::job_kind kind_of(doing operation, std::string_view target) noexcept {
  return executor::kind_of(static_cast<std::uint64_t>(operation), target.substr(0, target.find('?')));
}

/// The figures of one source.
struct source_figures {
  explicit source_figures(const std::string& name);
  void count(doing what, std::optional<errc> how) const;

  std::shared_ptr<counters::times> times;    ///< By what was asked for.
  std::shared_ptr<counters::sums> outcomes;  ///< By the same and how it ended.
};

/// One call of a source. It is counted once, however it ends. Threads: one at a time.
class asked_call {
 public:
  asked_call(std::shared_ptr<const source_figures> by, doing what, std::shared_ptr<tracing::live_span> span) noexcept
      : by_(std::move(by)), what_(what), span_(std::move(span)) {}
  ~asked_call() {
    if (!is_over_) end(errc::cancelled);
  }
  asked_call(const asked_call&) = delete;
  asked_call& operator=(const asked_call&) = delete;

  /// It runs from now on.
  void begin() noexcept { since_ = monotonic_clock::now(); }
  /// Nothing: it went well.
  void end(std::optional<errc> how);

 private:
  const std::shared_ptr<const source_figures> by_;
  const doing what_;
  const std::shared_ptr<tracing::live_span> span_;
  std::optional<std::chrono::steady_clock::time_point> since_;
  bool is_over_ = false;
};

/// Of one source. Threads: any.
class accounts {
 public:
  /// `is_mount`: its calls are requests to another server.
  accounts(std::string name, bool is_mount);

  /// From now on; null: no traces.
  void trace_by(std::shared_ptr<tracer> with);
  /// A call that `by` is about to be made for; where that is traced, `by` is then a part of the call's own span.
  [[nodiscard]] std::shared_ptr<asked_call> open(doing what, call& by) const;

 private:
  const std::string name_;
  const bool is_mount_;
  const std::shared_ptr<const source_figures> figures_;
  mutable std::mutex mutex_;  // of `tracer_`, which only calls that are a part of a trace look at
  std::shared_ptr<tracer> tracer_;
};

struct limits {
  std::size_t page_size = 500;
  std::uint64_t read_limit = 64ull << 20;
  /// Waiting requests a source; beyond it, overloaded.
  std::size_t queue_limit = 1024;
};

/// A provider with the lane its calls run on. Kept across configuration changes while the provider stays.
class source {
 public:
  /// `waiting` jobs, where `within` does not say how many.
  source(std::shared_ptr<provider> what, std::size_t waiting, const source_limits& within = {});

  /// Unlike that of any other source of this process, now or ever.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const std::shared_ptr<provider>& what() const noexcept { return provider_; }
  [[nodiscard]] const std::shared_ptr<executor::lane>& lane() const noexcept { return lane_; }
  /// Whether calls run before `submit` returns, without a deadline of ours.
  [[nodiscard]] bool never_blocks() const noexcept { return !pool_; }
  /// From now on. Threads: any.
  void limit_to(const source_limits& within);
  [[nodiscard]] bool has_deadline() const noexcept { return deadline_.load(std::memory_order_relaxed).count() != 0; }
  /// The same call, ending no later than calls of this source may, and reporting no secrets where the server masks them.
  [[nodiscard]] call bounded(call by) const;
  /// The same for a call of its own, which is counted and, where `by` is a part of a trace, a span of its own.
  struct opened {
    call by;
    std::shared_ptr<asked_call> account;
  };
  [[nodiscard]] opened open(doing what, const call& by) const {
    opened out{bounded(by), nullptr};
    out.account = accounts_.open(what, out.by);
    return out;
  }
  /// Null: calls are not traced. Threads: any.
  void trace_by(std::shared_ptr<tracer> with) { accounts_.trace_by(std::move(with)); }
  /// See `executor::pool::close`; true for a source that never blocks.
  bool close(executor::clock::time_point until);

 private:
  const std::uint64_t id_;
  std::shared_ptr<provider> provider_;
  std::shared_ptr<executor::lane> lane_;
  std::shared_ptr<executor::pool> pool_;  // the same object when it is a pool
  const std::size_t waiting_;
  std::atomic<std::chrono::milliseconds> deadline_{};  // 0: none of its own
  accounts accounts_;
};

/// What a read is asked for besides the contents.
struct read_options {
  std::optional<std::string> if_version{};  ///< Contents are wanted only when this is not the version.
  bool with_entry = false;                  ///< The entry is wanted, too.
  bool as_bytes = false;                    ///< Contents are looked at: none may come as `bytes::encoded`.
  bool is_once = false;                     ///< Nobody asks again with this view: they are not kept for that.
};

/// A reading and the lane where its streams may be pulled.
struct read_answer {
  bytes::prepared_reading reading;
  std::shared_ptr<executor::lane> home;
  model::cache_hint cache;
  bool is_unmodified = false;       ///< `read_options::if_version` is the version: there are no contents.
  std::optional<resource> entry{};  ///< When asked for, with the version of the reading.
};

/// Contents that were read before, and hold.
struct held_answer {
  std::shared_ptr<const bytes::prepared_reading> reading;  ///< Never null; its own `ttl` is older than that of `cache`.
  std::shared_ptr<executor::lane> home;                    ///< As in `read_answer`.
  model::cache_hint cache;
};

/// The prefixes behind which sources pass on URIs of other servers.
[[nodiscard]] std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& all);

/// Whether others might be told something else than this caller, so that nobody may keep an answer for them.
[[nodiscard]] bool is_told_apart(const caller& who) noexcept;

template <class T>
using completion = std::function<void(result<T>)>;

/// An immutable arrangement of sources. It runs without JSON and without a peer.
///
/// Every call takes a `call` with caller, deadline and stop token, and answers through its completion exactly once: on a
/// thread of the source, on the timer thread when the deadline passes first, or before the call returns.
/// Threads: any.
class catalog : public std::enable_shared_from_this<catalog> {
 public:
  /// Checks the whole arrangement. Errors: invalid_argument for malformed claims and templates, for a template outside its
  /// provider's claims, and for claims that cover each other (naming both providers).
  /// `cache` (null: none) may be that of an earlier arrangement. `rules` (null: none) say what the caller may read: the rest is
  /// left out of readings that have several contents, and lists say nothing of it that may stand in it. `sealer` (null: none)
  /// hides keys in the cursors of callers with a view.
  [[nodiscard]] static result<std::shared_ptr<const catalog>> make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                                   std::shared_ptr<executor::timers> timers,
                                                                   std::shared_ptr<read_cache> cache = nullptr,
                                                                   std::shared_ptr<const gate::gate> rules = nullptr,
                                                                   std::shared_ptr<const seal::sealer> sealer = nullptr);

  /// One page in segment order over all providers. Errors: invalid_argument for a cursor that is not ours.
  void list(const call& by, const std::optional<std::string>& cursor, completion<model::resource_page> done) const {
    list(by, cursor, std::make_shared<const filter>(), std::move(done));
  }
  /// The same of what passes `which`. Entries outside of its prefix are not looked at; among the others a page looks at a
  /// bounded number, so that it may be short or empty and have a cursor. Errors: also for a cursor of another filter.
  void list(const call& by, const std::optional<std::string>& cursor, std::shared_ptr<const filter> which,
            completion<model::resource_page> done) const {
    list(by, cursor, std::move(which), limits_.page_size, std::move(done));
  }
  /// The same of at most `limit` entries, from 1 to those of a page; what is beyond counts as the nearer of the two. The cursor
  /// goes on after the last entry, with whatever limit.
  void list(const call& by, const std::optional<std::string>& cursor, std::shared_ptr<const filter> which, std::size_t limit,
            completion<model::resource_page> done) const;
  void templates(const call& by, const std::optional<std::string>& cursor, completion<model::template_page> done) const;
  /// `uri` is canonical, `asked_uri` what the client wrote. Whether the caller may read `uri` itself has been asked before.
  /// Errors: resource_not_found when no provider claims it, scope_missing when the caller may read none of the contents.
  void read(const call& by, std::string uri, std::string asked_uri, completion<read_answer> done) const {
    read(by, std::move(uri), std::move(asked_uri), {}, std::move(done));
  }
  void read(const call& by, std::string uri, std::string asked_uri, read_options how, completion<read_answer> done) const;
  /// What `read` would give when nothing has to be asked for it that may block: contents that were read before, for a caller
  /// with this view, and that their source vouches for. Nothing: ask `read`, which says why where it refuses.
  [[nodiscard]] std::optional<held_answer> read_at_hand(const caller& who, std::string_view uri,
                                                        std::string_view asked_uri) const;
  /// The entry of one resource, listed or not. `uri` is canonical. Errors: as `read`.
  void describe(const call& by, std::string uri, completion<resource> done) const;
  /// One page of a folder's direct children; `uri` is canonical, one trailing slash does not matter.
  /// Errors: resource_not_found, invalid_argument for what is no folder and for a cursor that is not ours or of another folder.
  void children(const call& by, std::string uri, const std::optional<std::string>& cursor,
                completion<model::directory_page> done) const;
  /// One page of all sources' skills in segment order. A caller's view hides skills, and files of the others.
  /// Errors: invalid_argument for a cursor that is not ours.
  void skills(const call& by, const std::optional<std::string>& cursor, completion<model::skill_page> done) const;
  /// Errors: invalid_argument when no source has a skill there that the caller may see.
  void find_skill(const call& by, std::string uri, std::string asked_uri, completion<model::skill_answer> done) const;
  /// What the source says, or `values_of_entries` where it leaves that to us. At most 100 values.
  /// Errors: invalid_argument for a template nobody offers or a variable it does not have; the source's.
  void complete(const call& by, model::complete what, completion<complete_result> done) const;

  [[nodiscard]] const std::vector<std::shared_ptr<source>>& sources() const noexcept { return sources_; }
  /// Whether a source claims `uri` (canonical), so that it could have something there one day.
  [[nodiscard]] bool could_serve(std::string_view uri) const { return route_of(uri) != nullptr; }
  /// That source; null when there is none.
  [[nodiscard]] std::shared_ptr<source> source_of(std::string_view uri) const {
    const auto* way = route_of(uri);
    return way == nullptr ? nullptr : way->to;
  }
  /// Whether some template has a variable, or may have one some day, so that there is something to complete.
  [[nodiscard]] bool has_variables() const noexcept;
  [[nodiscard]] bool has_skills() const;
  [[nodiscard]] bool lists_folders() const;

  ~catalog();

 private:
  struct route {
    std::string prefix;
    std::shared_ptr<source> to;
  };
  struct offered_template {
    resource_template entry;
    uri_template compiled;
    std::shared_ptr<source> to;
  };
  class page_in_making;

  catalog(std::vector<std::shared_ptr<source>> sources, limits limits, std::shared_ptr<executor::timers> timers,
          std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> rules,
          std::shared_ptr<const seal::sealer> sealer);
  result<void> take_claims(const std::shared_ptr<source>& from);
  result<void> check_overlaps() const;
  result<void> take_templates(const std::shared_ptr<source>& from);
  /// Those of a source's changing templates that compile, have a name and lie within its claims.
  [[nodiscard]] std::vector<resource_template> usable(std::vector<resource_template> offered, const source& from) const;
  /// On a thread of the source.
  [[nodiscard]] result<complete_result> complete_at(const std::shared_ptr<source>& to, const uri_template& compiled,
                                                    const complete_request& request) const;
  /// Errors: scope_missing.
  [[nodiscard]] result<void> has_scopes_for(const caller& who, std::string_view uri) const;
  enum class purpose : std::uint8_t { seeing, reading };
  /// Whether the caller's view grants it. Only where it depends on entries is a source asked. On its thread.
  /// Errors: those of a source that cannot say now.
  [[nodiscard]] result<bool> grants(const call& by, const std::string& uri, purpose what_for) const;
  /// Leaves out the contents that are resources of their own and that the caller may not read. Errors: as `read`.
  [[nodiscard]] result<void> keep_readable(const read_request& request, bytes::prepared_reading& found) const;
  /// Leaves out the files of a skill that the caller may not read, since their digests tell of them; false when that is true of
  /// the skill itself, of whose file the entry tells everything. Errors: as `grants`.
  [[nodiscard]] result<bool> show(const call& by, skill& one) const;
  /// Takes from an entry that the caller may not read what sources make from contents.
  void veil(const caller& who, resource& entry) const;
  void veil(const caller& who, std::vector<resource>& entries) const {
    if (is_told_apart(who)) std::for_each(entries.begin(), entries.end(), [&](resource& one) { veil(who, one); });
  }
  /// The longest claim that covers `uri` and has at most `longest` bytes; null when there is none.
  [[nodiscard]] const route* route_of(std::string_view uri, std::size_t longest = std::string_view::npos) const;
  /// Who hides keys from this caller; null: nothing is hidden from it.
  [[nodiscard]] const seal::sealer* sealer_for(const caller& who) const noexcept { return who.view ? sealer_.get() : nullptr; }
  /// The best of a source's templates that match: the longest literal prefix first, then text order.
  [[nodiscard]] std::optional<template_match> match_of(const source& from, std::string_view uri) const;

  std::vector<std::shared_ptr<source>> sources_;
  limits limits_;
  std::shared_ptr<executor::timers> timers_;
  std::shared_ptr<read_cache> cache_;
  std::shared_ptr<const gate::gate> rules_;  // never null
  std::shared_ptr<const seal::sealer> sealer_;
  std::vector<route> routes_;  // by segment order of the prefix
  std::size_t longest_prefix_ = 0;
  std::vector<offered_template> templates_;  // by template text
  std::vector<std::size_t> best_first_;      // positions in `templates_` in the order of `match_of`
};

}  // namespace hondana::catalog
