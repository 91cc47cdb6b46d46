/// The catalog: all sources as one ordered set of resources, with routes, lists, reads, completions, deadlines and metrics.
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

/// The operations of a source, as metrics and traces name them.
enum class operation : std::uint8_t { list, templates, read, describe, children, skills, find_skill, complete };

/// The job kind of a request to a source, see `executor::cost_history`. `target`: the URI or name concerned. Its query is
/// ignored, so that a caller who varies words or lines is still recognized as costly.
[[nodiscard]] inline executor::job_kind make_job_kind(operation operation, std::string_view target) noexcept {
  return executor::make_job_kind(static_cast<std::uint64_t>(operation), target.substr(0, target.find('?')));
}

/// The metrics of one source.
struct source_metrics {
  explicit source_metrics(const std::string& name);
  void count(operation operation, std::optional<errc> error) const;

  std::shared_ptr<counters::duration_histogram> times;  ///< Durations by operation.
  std::shared_ptr<counters::counter_family> outcomes;   ///< Counts by operation and outcome.
};

/// One call of a source. It is counted exactly once. Threads: one at a time.
class call_record {
 public:
  call_record(std::shared_ptr<const source_metrics> metrics, operation operation,
              std::shared_ptr<tracing::active_span> span) noexcept
      : metrics_(std::move(metrics)), operation_(operation), span_(std::move(span)) {}
  ~call_record() {
    if (!is_ended_) end(errc::cancelled);
  }
  call_record(const call_record&) = delete;
  call_record& operator=(const call_record&) = delete;

  /// Starts the measurement of its duration.
  void begin() noexcept { start_ = monotonic_clock::now(); }
  /// Records the outcome. nullopt: success.
  void end(std::optional<errc> error);

 private:
  const std::shared_ptr<const source_metrics> metrics_;
  const operation operation_;
  const std::shared_ptr<tracing::active_span> span_;
  std::optional<std::chrono::steady_clock::time_point> start_;
  bool is_ended_ = false;
};

/// Metrics and traces of one source. Threads: any.
class call_recorder {
 public:
  /// `is_mount`: calls are requests to another server.
  call_recorder(std::string name, bool is_mount);

  /// Sets the tracer of later calls. Null: no traces.
  void set_tracer(std::shared_ptr<tracer> tracer);
  /// Starts the record of a call. If it is traced, `context.trace` then refers to the call's own span.
  [[nodiscard]] std::shared_ptr<call_record> open(operation operation, request_context& context) const;

 private:
  const std::string name_;
  const bool is_mount_;
  const std::shared_ptr<const source_metrics> metrics_;
  mutable std::mutex mutex_;  // guards `tracer_`; locked only for calls that belong to a trace
  std::shared_ptr<tracer> tracer_;
};

struct limits {
  std::size_t page_size = 500;
  std::uint64_t max_read_bytes = 64ull << 20;
  /// Waiting requests per source. Further requests fail as overloaded.
  std::size_t max_queued_calls = 1024;
};

/// A provider with the work queue of its calls. Stays the same across configuration changes while the provider stays.
class source {
 public:
  /// `max_queued_calls`: capacity of the queue, if `limits` does not set one.
  source(std::shared_ptr<provider> provider, std::size_t max_queued_calls, const source_limits& limits = {});

  /// Unique in this process, never used again.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const std::shared_ptr<provider>& get_provider() const noexcept { return provider_; }
  [[nodiscard]] const std::shared_ptr<executor::executor>& executor() const noexcept { return executor_; }
  /// Whether calls run before `submit` returns, without a deadline timer.
  [[nodiscard]] bool never_blocks() const noexcept { return !pool_; }
  /// Sets the limits of later calls. Threads: any.
  void set_limits(const source_limits& limits);
  [[nodiscard]] bool has_call_timeout() const noexcept { return call_timeout_.load(std::memory_order_relaxed).count() != 0; }
  /// The same call with the deadline of this source, if that is earlier. If the server masks secrets, they are masked in
  /// progress messages too.
  [[nodiscard]] request_context bounded(request_context context) const;
  /// The same, with metrics, and with a span of its own if `context` belongs to a trace.
  struct opened_call {
    request_context context;
    std::shared_ptr<call_record> record;
  };
  [[nodiscard]] opened_call open(operation operation, const request_context& context) const {
    opened_call out{bounded(context), nullptr};
    out.record = recorder_.open(operation, out.context);
    return out;
  }
  /// Sets the tracer. Null: no traces. Threads: any.
  void set_tracer(std::shared_ptr<tracer> tracer) { recorder_.set_tracer(std::move(tracer)); }
  /// See `executor::thread_pool::close`. Returns true for a source that never blocks.
  bool close(executor::clock::time_point deadline);

 private:
  const std::uint64_t id_;
  std::shared_ptr<provider> provider_;
  std::shared_ptr<executor::executor> executor_;
  std::shared_ptr<executor::thread_pool> pool_;  // the same object as `executor_`, unless the source never blocks
  const std::size_t default_max_queued_calls_;
  std::atomic<std::chrono::milliseconds> call_timeout_{};  // 0: none of its own
  call_recorder recorder_;
};

/// Options of a read.
struct read_options {
  std::optional<std::string> cached_version{};  ///< If this is the current version, the answer has no contents.
  bool with_entry = false;                      ///< Also return the entry.
  bool as_bytes = false;  ///< The caller processes the bytes: no contents of type `bytes::encoded_content`.
  bool is_once = false;   ///< The read is not repeated with this access filter: do not cache it.
};

/// The result of a read.
struct read_answer {
  bytes::prepared_read_result reading;
  /// Where its streams may be pulled.
  std::shared_ptr<executor::executor> executor;
  model::cache_hint cache;
  bool is_unmodified = false;       ///< `read_options::cached_version` is current: there are no contents.
  std::optional<resource> entry{};  ///< If requested, with the version of the reading.
};

/// Cached contents that are current.
struct cached_answer {
  std::shared_ptr<const bytes::prepared_read_result> reading;  ///< Never null. Its own `ttl` is outdated; use that of `cache`.
  std::shared_ptr<executor::executor> executor;                ///< As in `read_answer`.
  model::cache_hint cache;
};

/// The URI prefixes of mounted servers.
[[nodiscard]] std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& sources);

/// Whether other callers may get a different answer, so that shared caches must not store this one.
[[nodiscard]] bool is_caller_specific(const caller_info& caller) noexcept;

/// Receives the answer to an asynchronous call.
template <class T>
using completion = std::function<void(result<T>)>;

/// An immutable set of sources. It uses neither JSON nor connections.
///
/// Every call takes a `request_context` with caller, deadline and stop token, and answers through its completion exactly once.
/// That happens on a thread of the source, on the timer thread if the deadline passes first, or before the call returns.
///
/// Threads: any.
class catalog : public std::enable_shared_from_this<catalog> {
 public:
  /// Validates the sources. `cache` (null: none) may be that of an earlier catalog. `gate` (null: none) decides what callers
  /// may read. Unreadable items are removed from readings with several contents, and lists do not reveal members that may come
  /// from unreadable contents. `sealer` (null: none) encrypts keys in the cursors of callers with an access filter.
  ///
  /// Errors: invalid_argument for malformed claims and templates, for a template outside its provider's claims, and for claims
  /// that cover each other; the text names both providers.
  [[nodiscard]] static result<std::shared_ptr<const catalog>> make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                                   std::shared_ptr<executor::timers> timers,
                                                                   std::shared_ptr<read_cache> cache = nullptr,
                                                                   std::shared_ptr<const gate::gate> gate = nullptr,
                                                                   std::shared_ptr<const seal::sealer> sealer = nullptr);

  /// One page in segment order over all sources. Errors: invalid_argument for a cursor that this server did not issue.
  void list(const request_context& context, const std::optional<std::string>& cursor,
            completion<model::resource_page> callback) const {
    list(context, cursor, std::make_shared<const list_filter>(), std::move(callback));
  }
  /// The same for entries that pass `filter`. Entries outside of its prefix are skipped. A page examines a limited number of
  /// the others, so it may be short or empty and still have a cursor. Errors: also for a cursor of another filter.
  void list(const request_context& context, const std::optional<std::string>& cursor, std::shared_ptr<const list_filter> filter,
            completion<model::resource_page> callback) const {
    list(context, cursor, std::move(filter), limits_.page_size, std::move(callback));
  }
  /// The same with at most `limit` entries, clamped to 1 and the page size. The cursor continues after the last entry, with any
  /// limit.
  void list(const request_context& context, const std::optional<std::string>& cursor, std::shared_ptr<const list_filter> filter,
            std::size_t limit, completion<model::resource_page> callback) const;
  /// One page of the URI templates of all sources, in text order. Errors: invalid_argument for a cursor that this server did
  /// not issue.
  void templates(const request_context& context, const std::optional<std::string>& cursor,
                 completion<model::template_page> callback) const;
  /// Reads one resource. `uri` is canonical, `requested_uri` what the client wrote. Precondition: the gate has admitted the
  /// caller for `uri` itself. Errors: resource_not_found if no provider claims it; insufficient_scope if the caller may read
  /// none of the contents.
  void read(const request_context& context, std::string uri, std::string requested_uri,
            completion<read_answer> callback) const {
    read(context, std::move(uri), std::move(requested_uri), {}, std::move(callback));
  }
  void read(const request_context& context, std::string uri, std::string requested_uri, read_options options,
            completion<read_answer> callback) const;
  /// Answers a read without blocking: with cached contents for a caller with this access filter, which their source declares
  /// current. nullopt: call `read`, which also returns the errors.
  [[nodiscard]] std::optional<cached_answer> read_cached(const caller_info& caller, std::string_view uri,
                                                         std::string_view requested_uri) const;
  /// The entry of one resource, which need not be listed. `uri` is canonical. Errors: as `read`.
  void describe(const request_context& context, std::string uri, completion<resource> callback) const;
  /// One page of the direct children of a folder. `uri` is canonical; one trailing slash is ignored. Errors:
  /// resource_not_found; invalid_argument if the resource is not a folder, and for a cursor that was not issued for this
  /// folder.
  void children(const request_context& context, std::string uri, const std::optional<std::string>& cursor,
                completion<model::directory_page> callback) const;
  /// One page of the skills of all sources, in segment order. The caller's access filter hides skills, and files of the
  /// remaining ones. Errors: invalid_argument for a cursor that this server did not issue.
  void skills(const request_context& context, const std::optional<std::string>& cursor,
              completion<model::skill_page> callback) const;
  /// One skill. `uri` is canonical. Errors: invalid_argument if no source has this skill, or the caller may not see it.
  void find_skill(const request_context& context, std::string uri, std::string requested_uri,
                  completion<model::skill_answer> callback) const;
  /// Calls the source's completion, or `values_of_entries` if the source has none. At most 100 values. Errors: invalid_argument
  /// for a template that no source offers, or a variable that it does not have; those of the source.
  void complete(const request_context& context, model::complete params, completion<complete_result> callback) const;

  [[nodiscard]] const std::vector<std::shared_ptr<source>>& sources() const noexcept { return sources_; }
  /// Whether a source claims `uri` (canonical), so that a resource may exist there now or later.
  [[nodiscard]] bool could_serve(std::string_view uri) const { return route_of(uri) != nullptr; }
  /// The source that claims `uri`; null if there is none.
  [[nodiscard]] std::shared_ptr<source> source_of(std::string_view uri) const {
    const auto* route = route_of(uri);
    return route == nullptr ? nullptr : route->owner;
  }
  /// Whether a template has a variable, or may have one later, so that completion is useful.
  [[nodiscard]] bool has_variables() const noexcept;
  [[nodiscard]] bool has_skills() const;
  [[nodiscard]] bool has_folders() const;

  ~catalog();

 private:
  struct source_route {
    std::string prefix;
    std::shared_ptr<source> owner;
  };
  struct offered_template {
    resource_template entry;
    uri_template compiled;
    std::shared_ptr<source> owner;
  };
  class page_builder;

  catalog(std::vector<std::shared_ptr<source>> sources, limits limits, std::shared_ptr<executor::timers> timers,
          std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> gate,
          std::shared_ptr<const seal::sealer> sealer);
  result<void> add_claims(const std::shared_ptr<source>& source);
  result<void> check_overlaps() const;
  result<void> add_templates(const std::shared_ptr<source>& source);
  /// The templates of a source with changing templates that compile, have a name and lie within its claims.
  [[nodiscard]] std::vector<resource_template> usable_templates(std::vector<resource_template> offered,
                                                                const source& source) const;
  /// Runs on a thread of the source.
  [[nodiscard]] result<complete_result> complete_with(const std::shared_ptr<source>& source, const uri_template& compiled,
                                                      const complete_request& request) const;
  /// Errors: insufficient_scope.
  [[nodiscard]] result<void> check_scopes(const caller_info& caller, std::string_view uri) const;
  enum class purpose : std::uint8_t { seeing, reading };
  /// Whether the caller's access filter permits it. If that depends on entries, calls the source, so it runs on a thread of the
  /// source. Errors: those of a source that cannot answer now.
  [[nodiscard]] result<bool> grants(const request_context& context, const std::string& uri, purpose intent) const;
  /// Removes contents that are resources of their own and that the caller may not read. Errors: as `read`.
  [[nodiscard]] result<void> remove_unreadable(const read_request& request, bytes::prepared_read_result& reading) const;
  /// Removes the files of a skill that the caller may not read, because their digests reveal their content. Returns false if
  /// the caller may not read SKILL.md itself, because the entry contains its front matter. Errors: as `grants`.
  [[nodiscard]] result<bool> filter_files(const request_context& context, skill& skill) const;
  /// Removes members that sources derive from contents, from an entry whose content the caller may not read.
  void redact(const caller_info& caller, resource& entry) const;
  void redact(const caller_info& caller, std::vector<resource>& entries) const {
    if (is_caller_specific(caller))
      std::for_each(entries.begin(), entries.end(), [&](resource& entry) { redact(caller, entry); });
  }
  /// The longest claim that covers `uri` and has at most `max_bytes` bytes; null if there is none.
  [[nodiscard]] const source_route* route_of(std::string_view uri, std::size_t max_bytes = std::string_view::npos) const;
  /// The sealer for this caller's cursors. Null: they are not encrypted.
  [[nodiscard]] const seal::sealer* sealer_for(const caller_info& caller) const noexcept {
    return caller.access_filter ? sealer_.get() : nullptr;
  }
  /// The best match among the source's templates: the longest literal prefix first, then text order.
  [[nodiscard]] std::optional<template_match> match_of(const source& source, std::string_view uri) const;

  std::vector<std::shared_ptr<source>> sources_;
  limits limits_;
  std::shared_ptr<executor::timers> timers_;
  std::shared_ptr<read_cache> cache_;
  std::shared_ptr<const gate::gate> gate_;  // never null
  std::shared_ptr<const seal::sealer> sealer_;
  std::vector<source_route> routes_;  // in segment order of the prefix
  std::size_t max_prefix_bytes_ = 0;
  std::vector<offered_template> templates_;  // in order of the template text
  std::vector<std::size_t> best_first_;      // positions in `templates_`, in the order of `match_of`
};

}  // namespace hondana::catalog
