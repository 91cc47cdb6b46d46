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

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/limits.hpp>
#include <hondana/provider.hpp>
#include <hondana/provider_host.hpp>
#include <hondana/webhook.hpp>

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

/// The operations of a source that metrics and traces distinguish. Each is a function of `provider` or of a capability.
enum class operation : std::uint8_t { list, templates, read, describe, children, skills, find_skill, complete };

/// The kind of a request's job, see `executor::cost_history`. `target`: the URI or name that the request concerns. Its query is
/// ignored, so a costly request is still recognized after its parameters change.
[[nodiscard]] inline executor::job_kind make_job_kind(operation operation, std::string_view target) noexcept {
  return executor::make_job_kind(static_cast<std::uint64_t>(operation), target.substr(0, target.find('?')));
}

/// The metrics of one source.
struct source_metrics {
  explicit source_metrics(const std::string& name);
  /// Counts one call by its outcome. `error`: nullopt for success.
  void count(operation operation, std::optional<errc> error) const;

  std::shared_ptr<counters::duration_histogram> times;  ///< Durations by operation.
  std::shared_ptr<counters::counter_family> outcomes;   ///< Counts by operation and outcome.
};

/// Records one call of a source, exactly once: outcome, duration and span. A call that has not ended by destruction counts as
/// cancelled. Threads: one at a time.
class call_record {
 public:
  /// `span`: null if the call is not traced.
  call_record(std::shared_ptr<const source_metrics> metrics, operation operation,
              std::shared_ptr<tracing::active_span> span) noexcept
      : metrics_(std::move(metrics)), operation_(operation), span_(std::move(span)) {}
  ~call_record() {
    if (!is_ended_) end(errc::cancelled);
  }
  call_record(const call_record&) = delete;
  call_record& operator=(const call_record&) = delete;

  /// Starts the measurement of the duration. Without it, no duration is recorded.
  void begin() noexcept { start_ = monotonic_clock::now(); }
  /// Records the outcome and ends the span. nullopt: success. Only the first call has an effect.
  void end(std::optional<errc> error);

 private:
  const std::shared_ptr<const source_metrics> metrics_;
  const operation operation_;
  const std::shared_ptr<tracing::active_span> span_;
  std::optional<std::chrono::steady_clock::time_point> start_;
  bool is_ended_ = false;
};

/// Creates records of the calls of one source. Threads: any.
class call_recorder {
 public:
  /// `name`: of the source. `is_mount`: its calls are requests to another server.
  call_recorder(std::string name, bool is_mount);

  /// Sets the tracer of later calls. Null: no traces.
  void set_tracer(std::shared_ptr<tracer> tracer);
  /// Starts the record of a call; never null. If the call is traced, `context.trace` then refers to its own span.
  [[nodiscard]] std::shared_ptr<call_record> open(operation operation, request_context& context) const;

 private:
  const std::string name_;
  const bool is_mount_;
  const std::shared_ptr<const source_metrics> metrics_;
  mutable std::mutex mutex_;  // guards `tracer_`; locked only for calls that belong to a trace
  std::shared_ptr<tracer> tracer_;
};

/// Limits of a catalog.
struct limits {
  std::size_t page_size = 500;                 ///< Entries per page.
  std::uint64_t max_read_bytes = 64ull << 20;  ///< Bytes of the contents of one read.
};

/// The optional interfaces that a provider implements; null: not implemented. Valid as long as the provider.
struct capabilities {
  explicit capabilities(provider& provider) noexcept;

  entry_source* entries;
  folder_source* folders;
  template_source* templates;  ///< Null for a provider with `dynamic_templates`.
  dynamic_template_source* dynamic_templates;
  completion_source* completion;
  skill_source* skills;
  change_source* changes;
  watch_source* watches;
  bool watches_parts;  ///< `watches` is a `part_watch_source`.
  list_watch_source* list_watches;
  health_source* health;
  webhook_receiver* webhooks;
  provider_extension* extension;
  bool is_mount;  ///< It is a `model::mount`.
};

/// A provider with the executor, limits and metrics of its calls. A configuration change keeps this object if it keeps the
/// provider.
class source {
 public:
  /// `max_queued_calls`: limit of waiting calls, unless `limits` sets one.
  source(std::shared_ptr<provider> provider, std::size_t max_queued_calls, const source_limits& limits = {});

  /// Unique in this process; never used again.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const std::shared_ptr<provider>& get_provider() const noexcept { return provider_; }
  [[nodiscard]] const hondana::catalog::capabilities& capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] secret_masking masking() const noexcept { return traits_.masking; }
  [[nodiscard]] const std::shared_ptr<executor::executor>& executor() const noexcept { return executor_; }
  /// Whether the provider never blocks. Its calls then run on the calling thread, without a deadline timer.
  [[nodiscard]] bool never_blocks() const noexcept { return !pool_; }
  /// Sets the limits of later calls. Threads: any.
  void set_limits(const source_limits& limits);
  /// Whether the source has a timeout of its own for calls.
  [[nodiscard]] bool has_call_timeout() const noexcept { return call_timeout_.load(std::memory_order_relaxed).count() != 0; }
  /// Returns `context` for a call of this source: with the source's own deadline if that is earlier. If the server masks
  /// secrets of this source, it also masks them in progress messages.
  [[nodiscard]] request_context bounded(request_context context) const;
  /// A call that can start: its context and its record.
  struct opened_call {
    request_context context;
    std::shared_ptr<call_record> record;
  };
  /// Starts the record of a call. The context is that of `bounded`; if it is traced, it refers to the call's own span.
  [[nodiscard]] opened_call open(operation operation, const request_context& context) const {
    opened_call out{bounded(context), nullptr};
    out.record = recorder_.open(operation, out.context);
    return out;
  }
  /// Sets the tracer. Null: no traces. Threads: any.
  void set_tracer(std::shared_ptr<tracer> tracer) { recorder_.set_tracer(std::move(tracer)); }
  /// Closes the executor, see `executor::thread_pool::close`. Waits until `deadline`. Returns false if calls were abandoned.
  bool close(executor::clock::time_point deadline);

 private:
  const std::uint64_t id_;
  const std::shared_ptr<provider> provider_;
  const hondana::catalog::capabilities capabilities_;
  const provider_traits traits_;
  std::shared_ptr<executor::executor> executor_;
  std::shared_ptr<executor::thread_pool> pool_;  // the same object as `executor_`, unless the source never blocks
  const std::size_t default_max_queued_calls_;
  std::atomic<std::chrono::milliseconds> call_timeout_{};  // 0: none of its own
  call_recorder recorder_;
};

/// Options of a read.
struct read_options {
  std::optional<std::string> cached_version{};  ///< The client's version. If it is current, the answer has no contents.
  bool with_entry = false;                      ///< Return the entry too.
  bool as_bytes = false;  ///< The caller processes the bytes: no contents of type `bytes::encoded_content`.
  bool is_once = false;   ///< The read is not repeated with this access filter, so the cache is not used.
};

/// The result of a read.
struct read_answer {
  bytes::prepared_read_result reading;
  /// Where the streams of `reading` must be read.
  std::shared_ptr<executor::executor> executor;
  model::cache_hint cache;
  bool is_unmodified = false;       ///< `read_options::cached_version` is current: there are no contents.
  std::optional<resource> entry{};  ///< With `read_options::with_entry`: the entry, with the version of the reading.
};

/// Cached contents that are current.
struct cached_answer {
  std::shared_ptr<const bytes::prepared_read_result> reading;  ///< Never null. Its own `ttl` is outdated; use that of `cache`.
  std::shared_ptr<executor::executor> executor;                ///< As in `read_answer`.
  model::cache_hint cache;
};

/// The URI prefixes of those sources that are mounted servers.
[[nodiscard]] std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& sources);

/// Whether answers to `caller` may differ from those to other callers, so that shared caches must not store them.
[[nodiscard]] bool is_caller_specific(const caller_info& caller) noexcept;

/// Receives the answer to an asynchronous call; called exactly once.
template <class T>
using completion = std::function<void(result<T>)>;

/// An immutable set of sources: lists, reads and completes their resources.
///
/// Each asynchronous function calls its completion exactly once. That happens on a thread of a source, on the timer thread if
/// the deadline passes first, or before the function returns. Unless stated otherwise, its errors include those of the sources,
/// timed_out, cancelled and overloaded.
///
/// Precondition: `context.caller` has its access filter by the current rules (`gate::filter_of`).
///
/// Threads: any.
class catalog : public std::enable_shared_from_this<catalog> {
 public:
  /// Creates a catalog. `timers`: enforce deadlines. `cache`: null for none; may be that of an earlier catalog. `gate`: applies
  /// access filters and scopes; null: one without rules. `sealer`: encrypts the cursors of callers with an access filter,
  /// except cursors of templates; null: none.
  ///
  /// Errors: invalid_argument for missing or malformed claims, and for malformed or duplicate templates. Also for a template
  /// outside its provider's claims, and for claims that cover each other; the text names the providers.
  [[nodiscard]] static result<std::shared_ptr<const catalog>> make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                                   std::shared_ptr<executor::timers> timers,
                                                                   std::shared_ptr<read_cache> cache = nullptr,
                                                                   std::shared_ptr<const gate::gate> gate = nullptr,
                                                                   std::shared_ptr<const seal::sealer> sealer = nullptr);

  /// Lists one page of the resources of all sources, in segment order. Entries that the caller may not read lack members that
  /// may come from contents. Errors: invalid_argument for a cursor that was not issued for this list and access filter.
  void list(const request_context& context, const std::optional<std::string>& cursor,
            completion<model::resource_page> callback) const {
    list(context, cursor, std::make_shared<const list_filter>(), std::move(callback));
  }
  /// Lists only entries that pass `filter`, which a cursor also belongs to. A page examines a limited number of entries, so it
  /// may be short or empty and still have a cursor.
  void list(const request_context& context, const std::optional<std::string>& cursor, std::shared_ptr<const list_filter> filter,
            completion<model::resource_page> callback) const {
    list(context, cursor, std::move(filter), limits_.page_size, std::move(callback));
  }
  /// Lists at most `limit` entries, clamped to 1 and the page size. A cursor is valid with any limit.
  void list(const request_context& context, const std::optional<std::string>& cursor, std::shared_ptr<const list_filter> filter,
            std::size_t limit, completion<model::resource_page> callback) const;
  /// Lists one page of the URI templates of all sources, ordered by their text. Errors: invalid_argument as for `list`.
  void templates(const request_context& context, const std::optional<std::string>& cursor,
                 completion<model::template_page> callback) const;
  /// Reads one resource. `uri` is canonical, `requested_uri` as the client spelled it. Leaves out contents that are other
  /// resources and that the caller may not read. Precondition: the caller has the scopes for `uri` (`gate::admit`). Errors:
  /// resource_not_found, also if the resource is hidden; insufficient_scope if no contents remain for lack of scopes.
  void read(const request_context& context, std::string uri, std::string requested_uri,
            completion<read_answer> callback) const {
    read(context, std::move(uri), std::move(requested_uri), {}, std::move(callback));
  }
  /// Reads one resource as `options` say.
  void read(const request_context& context, std::string uri, std::string requested_uri, read_options options,
            completion<read_answer> callback) const;
  /// Answers a read from the cache, without blocking, if the source's validator confirms the contents. nullopt: call `read`,
  /// which also returns the errors. The preconditions of `read` apply to `caller`.
  [[nodiscard]] std::optional<cached_answer> read_cached(const caller_info& caller, std::string_view uri,
                                                         std::string_view requested_uri) const;
  /// Gets the entry of one resource, which need not be listed. `uri` is canonical. Errors: resource_not_found, also if the
  /// resource is hidden.
  void describe(const request_context& context, std::string uri, completion<resource> callback) const;
  /// Lists one page of the direct children of a folder. `uri` is canonical; one trailing slash is ignored. Errors:
  /// resource_not_found, also if the folder is hidden; invalid_argument if it is not a folder, and for a cursor as in `list`;
  /// unsupported.
  void children(const request_context& context, std::string uri, const std::optional<std::string>& cursor,
                completion<model::directory_page> callback) const;
  /// Lists one page of the skills of all sources, in segment order. Leaves out skills that the caller may not read, and such
  /// files of other skills. Errors: invalid_argument as for `list`.
  void skills(const request_context& context, const std::optional<std::string>& cursor,
              completion<model::skill_page> callback) const;
  /// Gets one skill, without files that the caller may not read. `uri` is canonical. Errors: invalid_argument if there is no
  /// such skill or the caller may not read it; insufficient_scope.
  void find_skill(const request_context& context, std::string uri, std::string requested_uri,
                  completion<model::skill_answer> callback) const;
  /// Completes a template variable: at most 100 values. Collects values from listed entries if the source has no completion, or
  /// if the access filter examines entries. Errors: part_not_found for a template that no source offers or that is hidden;
  /// invalid_argument for a variable that it does not have.
  void complete(const request_context& context, model::complete params, completion<complete_result> callback) const;

  [[nodiscard]] const std::vector<std::shared_ptr<source>>& sources() const noexcept { return sources_; }
  /// Whether a source claims `uri` (canonical), so that a resource may exist there now or later.
  [[nodiscard]] bool could_serve(std::string_view uri) const { return route_of(uri) != nullptr; }
  /// The source that claims `uri` (canonical); null if there is none.
  [[nodiscard]] std::shared_ptr<source> source_of(std::string_view uri) const {
    const auto* route = route_of(uri);
    return route == nullptr ? nullptr : route->owner;
  }
  /// Whether a template has a variable, or may have one later, so that completion is useful.
  [[nodiscard]] bool has_variables() const noexcept;
  /// Whether a source has skills, or may have some later.
  [[nodiscard]] bool has_skills() const;
  /// Whether a source lists the children of folders.
  [[nodiscard]] bool has_folders() const;

  ~catalog();

 private:
  /// A claim, and the source that it belongs to.
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
  /// Those of a source's current templates that compile, have a name and lie within its claims.
  [[nodiscard]] std::vector<resource_template> usable_templates(std::vector<resource_template> offered,
                                                                const source& source) const;
  /// Completes a variable of a template. Call it on a thread of the source.
  [[nodiscard]] result<complete_result> complete_with(const std::shared_ptr<source>& source, const uri_template& compiled,
                                                      const complete_request& request) const;
  /// Checks the scopes for reading `uri`. Errors: insufficient_scope.
  [[nodiscard]] result<void> check_scopes(const caller_info& caller, std::string_view uri) const;
  enum class purpose : std::uint8_t { seeing, reading };
  /// Whether the caller's access filter permits seeing or reading `uri`. Calls the source if the filter examines entries, so
  /// call it on a thread of the source. Errors: the source cannot answer now.
  [[nodiscard]] result<bool> grants(const request_context& context, const std::string& uri, purpose intent) const;
  /// Removes contents that are other resources and that the caller may not read. Errors, if no contents remain:
  /// resource_not_found, insufficient_scope.
  [[nodiscard]] result<void> remove_unreadable(const read_request& request, bytes::prepared_read_result& reading) const;
  /// Removes the files of a skill that the caller may not read, because their digests reveal contents. Returns false if the
  /// caller may not read SKILL.md, whose front matter the entry contains. Errors: as `grants`.
  [[nodiscard]] result<bool> filter_files(const request_context& context, skill& skill) const;
  /// If the caller may not read the resource of an entry, removes members that sources derive from contents.
  void redact(const caller_info& caller, resource& entry) const;
  /// Does so for each entry.
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
