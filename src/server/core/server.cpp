/// The public class `server`, its metrics, and the validation of its limits.

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/limits.hpp>
#include <hondana/server.hpp>

#include "base/counters/metrics.hpp"
#include "base/counters/process_metrics.hpp"
#include "base/tracing/tracing.hpp"
#include "server/core/core.hpp"
#include "server/gate/operation_names.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::inline v0 {

/// The metrics of a server: sources and their health, watches, caches, traces. Also registers those of the process, once. They
/// exist while the result does, and keep nothing of the server alive.
[[nodiscard]] std::vector<std::shared_ptr<const counters::collector>> make_metrics(
    const std::shared_ptr<server_core::core_handle>& handle);

namespace {

using counters::kind;
using counters::metric_family;
using sample_callback = counters::collector::sample_callback;

std::string_view suffix_of(kind metric_kind) { return metric_kind == kind::counter ? "_total" : ""; }

/// A metric with a single value.
std::shared_ptr<const counters::collector> make_value_metric(const std::shared_ptr<server_core::core_handle>& handle,
                                                             const metric_family& family,
                                                             std::function<double(const server_core&)> read_value) {
  return counters::register_collector(
      family, [handle, read = std::move(read_value), suffix = suffix_of(family.kind)](const sample_callback& report) {
        const std::shared_lock lock(handle->mutex);
        if (handle->target != nullptr) report(suffix, {}, read(*handle->target));
      });
}

/// A metric with a value for each of the two caches.
template <class Number>
std::shared_ptr<const counters::collector> make_cache_metric(const std::shared_ptr<server_core::core_handle>& handle,
                                                             const metric_family& family,
                                                             Number read_cache_statistics::* read_member,
                                                             Number page_cache_statistics::* page_member) {
  return counters::register_collector(family, [=, suffix = suffix_of(family.kind)](const sample_callback& report) {
    const std::shared_lock lock(handle->mutex);
    const auto* const core = handle->target;
    if (core == nullptr) return;
    const std::array reads{counters::label{"cache", "reads"}};
    const std::array pages{counters::label{"cache", "pages"}};
    report(suffix, reads, static_cast<double>(core->read_statistics().*read_member));
    report(suffix, pages, static_cast<double>(core->current()->pages->statistics().*page_member));
  });
}

std::shared_ptr<const counters::collector> make_health_metric(const std::shared_ptr<server_core::core_handle>& handle) {
  return counters::register_collector({"hondana_source_up", kind::gauge, "", "Whether a source is healthy: 1 or 0."},
                                      [handle](const sample_callback& report) {
                                        const std::shared_lock lock(handle->mutex);
                                        if (handle->target == nullptr) return;
                                        for (const auto& [name, state] : handle->target->health()) {
                                          const std::array labels{counters::label{"source", name}};
                                          report("", labels, state.is_healthy ? 1 : 0);
                                        }
                                      });
}

}  // namespace

std::vector<std::shared_ptr<const counters::collector>> make_metrics(const std::shared_ptr<server_core::core_handle>& handle) {
  // Metrics of the process: shared by all servers, never destroyed.
  static const auto& process = *new auto(counters::register_process_metrics());
  static const auto& build = *new auto(counters::register_build_info(HONDANA_VERSION));
  (void)process;
  (void)build;
  return {
      make_health_metric(handle),
      make_value_metric(handle, {"hondana_watched_resources", kind::gauge, "", "Resources that clients watch for changes."},
                        [](const server_core& core) { return static_cast<double>(core.current()->feed->watched()); }),
      make_value_metric(handle, {"hondana_listeners", kind::gauge, "", "Client streams that receive change notifications."},
                        [](const server_core& core) { return static_cast<double>(core.current()->feed->listeners()); }),
      make_cache_metric(handle, {"hondana_cache_hits", kind::counter, "", "Lookups that a cache answered."},
                        &read_cache_statistics::hits, &page_cache_statistics::hits),
      make_cache_metric(handle, {"hondana_cache_misses", kind::counter, "", "Lookups that a cache could not answer."},
                        &read_cache_statistics::misses, &page_cache_statistics::misses),
      make_cache_metric(handle, {"hondana_cache_evictions", kind::counter, "", "Entries that a cache evicted to make room."},
                        &read_cache_statistics::evictions, &page_cache_statistics::evictions),
      make_cache_metric(handle, {"hondana_cache_entries", kind::gauge, "", "Entries in a cache."},
                        &read_cache_statistics::entries, &page_cache_statistics::entries),
      make_cache_metric(handle, {"hondana_cache_bytes", kind::gauge, "bytes", "Memory used by a cache."},
                        &read_cache_statistics::bytes, &page_cache_statistics::bytes),
      make_value_metric(handle, {"hondana_spans_dropped", kind::counter, "", "Spans of traces that could not be sent."},
                        [](const server_core& core) {
                          const auto traces = core.current()->traces;
                          return traces ? static_cast<double>(traces->dropped()) : 0;
                        }),
  };
}

namespace {

constexpr std::chrono::hours max_time{24};
constexpr std::size_t max_threads = 1024;

tl::unexpected<failure> reject(const std::string& member, const std::string& reason) {
  return fail(errc::invalid_argument, "server_limits::" + member + ": " + reason);
}

bool is_valid_rate(double number) { return std::isfinite(number) && number > 0; }

result<void> check_rates(const rate_quotas& limits, const std::string& member) {
  for (const auto& [name, limit] : {std::pair<const char*, const std::optional<rate_quota>&>{"requests", limits.requests},
                                    {"bytes", limits.bytes},
                                    {"completions", limits.completions}}) {
    if (!limit || (is_valid_rate(limit->per_second) && is_valid_rate(limit->burst.value_or(1)))) continue;
    return reject(member + '.' + name, "expected numbers greater than 0; nullopt means no limit");
  }
  return {};
}

result<void> check_time(std::chrono::milliseconds time, const std::string& member) {
  if (time.count() > 0 && time <= max_time) return {};
  return reject(member, "expected a time of up to a day, not " + std::to_string(time.count()) + " ms");
}

}  // namespace

result<void> validate_server_limits(const server_limits& limits) {
  HONDANA_TRY(check_rates(limits.per_identity, "per_identity"));
  HONDANA_TRY(check_rates(limits.per_address, "per_address"));
  if (limits.max_tracked_callers == 0) return reject("max_tracked_callers", "expected 1 or more");
  HONDANA_TRY(check_time(limits.total_timeout, "total_timeout"));
  for (const auto& [method, time] : limits.call_timeouts) {
    if (!gate::is_method(method)) {
      return reject("call_timeouts",
                    "\"" + method + "\" is not a method that can have a timeout. Use, for example, resources/read.");
    }
    HONDANA_TRY(check_time(time, "call_timeouts[\"" + method + "\"]"));
  }
  for (const auto& [provider, source_limit] : limits.sources) {
    if (source_limit.max_concurrency == 0 || source_limit.max_queued_calls == 0 || source_limit.max_calls_per_caller == 0)
      return reject("sources", "expected numbers greater than 0; nullopt means the default");
    if (source_limit.max_concurrency > max_threads) {
      return reject("sources", "a source can have at most " + std::to_string(max_threads) + " calls at once");
    }
    if (!source_limit.call_timeout) continue;
    HONDANA_TRY(check_time(*source_limit.call_timeout, "sources"));
  }
  return {};
}

namespace {

/// The same options with a log that masks secrets.
server_options with_masked_log(server_options options) {
  if (options.log) {
    options.log = [sink = std::move(options.log)](std::string_view line) { sink(secrets::redact_text(line)); };
  }
  return options;
}

}  // namespace

server::server(std::shared_ptr<hondana::server_core> core) noexcept : core_(std::move(core)) {}

result<server> server::create(server_options options) {
  HONDANA_TRY(auto core, server_core::create(with_masked_log(std::move(options))));
  core->register_metrics(make_metrics(core->handle()));
  return server(std::move(core));
}
server::~server() = default;
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;

result<void> server::add(std::shared_ptr<provider> source) { return core_->add(std::move(source)); }

result<void> server::replace(server_options options, std::vector<std::shared_ptr<provider>> sources) {
  return core_->replace(with_masked_log(std::move(options)), std::move(sources));
}

result<void> server::notify_resource_updated(std::string_view uri, std::string_view title) {
  HONDANA_TRY(auto canonical, canonical_uri(uri));
  core_->announce({model::change::change_kind::content, std::move(canonical), std::string(title)});
  return {};
}

void server::notify_resources_changed() { core_->announce({model::change::change_kind::resources}); }
result<void> server::add_tool(tool entry, tool_handler handler) {
  return core_->add_tool(std::move(entry), std::move(handler));
}
bool server::remove_tool(std::string_view name) { return core_->remove_tool(name); }
result<void> server::add_prompt(prompt entry, prompt_handler handler) {
  return core_->add_prompt(std::move(entry), std::move(handler));
}
bool server::remove_prompt(std::string_view name) { return core_->remove_prompt(name); }

void server::log(log_level level, std::string_view logger, const value& data) {
  core_->announce(model::log_message{level, std::string(logger), data});
}

read_cache_statistics server::read_statistics() const { return core_->read_statistics(); }

page_cache_statistics server::page_statistics() const { return core_->current()->pages->statistics(); }

const std::shared_ptr<server_core>& server::core() const noexcept { return core_; }

}  // namespace hondana::inline v0
