/// The public class `server`, its metrics, and the validation of its limits.

#include <array>
#include <cmath>
#include <functional>
#include <memory>
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
[[nodiscard]] std::vector<std::shared_ptr<const counters::part>> figures_of(const std::shared_ptr<core::door>& door);

namespace {

using counters::head;
using counters::kind;
using teller = counters::part::teller;

std::string_view suffix_of(kind what) { return what == kind::counter ? "_total" : ""; }

/// A metric with a single value.
std::shared_ptr<const counters::part> number(const std::shared_ptr<core::door>& server, const head& of,
                                             std::function<double(const core&)> now) {
  return counters::asked(of, [server, now = std::move(now), suffix = suffix_of(of.kind)](const teller& to) {
    const std::shared_lock lock(server->mutex);
    if (server->inside != nullptr) to(suffix, {}, now(*server->inside));
  });
}

/// A metric with a value for each of the two caches.
template <class Number>
std::shared_ptr<const counters::part> of_caches(const std::shared_ptr<core::door>& server, const head& of,
                                                Number read_cache_counts::* of_reads, Number page_cache_counts::* of_pages) {
  return counters::asked(of, [=, suffix = suffix_of(of.kind)](const teller& to) {
    const std::shared_lock lock(server->mutex);
    const auto* const there = server->inside;
    if (there == nullptr) return;
    const std::array reads{counters::label{"cache", "reads"}};
    const std::array pages{counters::label{"cache", "pages"}};
    to(suffix, reads, static_cast<double>(there->cached_reads().*of_reads));
    to(suffix, pages, static_cast<double>(there->current()->pages->counts().*of_pages));
  });
}

std::shared_ptr<const counters::part> health_of(const std::shared_ptr<core::door>& server) {
  return counters::asked({"hondana_source_up", kind::gauge, "", "Whether a source is healthy: 1 or 0."},
                         [server](const teller& to) {
                           const std::shared_lock lock(server->mutex);
                           if (server->inside == nullptr) return;
                           for (const auto& [name, how] : server->inside->health()) {
                             const std::array labels{counters::label{"source", name}};
                             to("", labels, how.ok ? 1 : 0);
                           }
                         });
}

}  // namespace

std::vector<std::shared_ptr<const counters::part>> figures_of(const std::shared_ptr<core::door>& of) {
  // Metrics of the process: shared by all servers, never destroyed.
  static const auto& process = *new auto(counters::of_process());
  static const auto& build = *new auto(counters::of_build(HONDANA_VERSION));
  (void)process;
  (void)build;
  return {
      health_of(of),
      number(of, {"hondana_watched_resources", kind::gauge, "", "Resources that clients watch for changes."},
             [](const core& it) { return static_cast<double>(it.current()->feed->watched()); }),
      number(of, {"hondana_listeners", kind::gauge, "", "Client streams that receive change notifications."},
             [](const core& it) { return static_cast<double>(it.current()->feed->listeners()); }),
      of_caches(of, {"hondana_cache_hits", kind::counter, "", "Lookups that a cache answered."}, &read_cache_counts::hits,
                &page_cache_counts::hits),
      of_caches(of, {"hondana_cache_misses", kind::counter, "", "Lookups that a cache could not answer."},
                &read_cache_counts::misses, &page_cache_counts::misses),
      of_caches(of, {"hondana_cache_evictions", kind::counter, "", "Entries that a cache evicted to make room."},
                &read_cache_counts::evictions, &page_cache_counts::evictions),
      of_caches(of, {"hondana_cache_entries", kind::gauge, "", "Entries in a cache."}, &read_cache_counts::entries,
                &page_cache_counts::entries),
      of_caches(of, {"hondana_cache_bytes", kind::gauge, "bytes", "Memory used by a cache."}, &read_cache_counts::bytes,
                &page_cache_counts::bytes),
      number(of, {"hondana_spans_dropped", kind::counter, "", "Spans of traces that could not be sent."},
             [](const core& it) {
               const auto traces = it.current()->traces;
               return traces ? static_cast<double>(traces->dropped()) : 0;
             }),
  };
}

namespace {

constexpr std::chrono::hours longest_time{24};
constexpr std::size_t most_threads = 1024;

tl::unexpected<failure> refuse(const std::string& member, const std::string& why) {
  return fail(errc::invalid_argument, "server_limits::" + member + ": " + why);
}

bool is_amount(double one) { return std::isfinite(one) && one >= 0; }

result<void> check_rates(const rates& all, const std::string& member) {
  for (const auto& [name, one] : {std::pair<const char*, const rate&>{"requests", all.requests},
                                  {"bytes", all.bytes},
                                  {"completions", all.completions}}) {
    if (is_amount(one.per_second) && is_amount(one.burst)) continue;
    return refuse(member + '.' + name, "expected numbers of at least 0; 0 per second means no limit");
  }
  return {};
}

result<void> check_time(std::chrono::milliseconds one, const std::string& member) {
  if (one.count() > 0 && one <= longest_time) return {};
  return refuse(member, "expected a time of up to a day, not " + std::to_string(one.count()) + " ms");
}

}  // namespace

result<void> check(const server_limits& what) {
  HONDANA_TRY(check_rates(what.per_identity, "per_identity"));
  HONDANA_TRY(check_rates(what.per_address, "per_address"));
  if (what.callers == 0) return refuse("callers", "expected 1 or more");
  HONDANA_TRY(check_time(what.longest_call, "longest_call"));
  for (const auto& [method, time] : what.deadlines) {
    if (!gate::is_method(method)) {
      return refuse("deadlines",
                    "\"" + method + "\" is not a method that can have a deadline. Use, for example, resources/read.");
    }
    HONDANA_TRY(check_time(time, "deadlines[\"" + method + "\"]"));
  }
  for (const auto& [of, one] : what.sources) {
    if (one.concurrency > most_threads) {
      return refuse("sources", "a source can have at most " + std::to_string(most_threads) + " calls at once");
    }
    if (one.deadline.count() == 0) continue;
    HONDANA_TRY(check_time(one.deadline, "sources"));
  }
  return {};
}

namespace {

/// The same options with a log that masks secrets.
server_options discreet(server_options options) {
  if (options.log) {
    options.log = [to = std::move(options.log)](std::string_view line) { to(secrets::redact_text(line)); };
  }
  return options;
}

}  // namespace

server::server(server_options options) : core_(std::make_shared<hondana::core>(discreet(std::move(options)))) {
  core_->tell_figures(figures_of(core_->entrance()));
}
server::~server() = default;
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;

result<void> server::add(std::shared_ptr<provider> source) { return core_->add(std::move(source)); }

result<void> server::replace(server_options options, std::vector<std::shared_ptr<provider>> sources) {
  return core_->replace(discreet(std::move(options)), std::move(sources));
}

result<void> server::resource_updated(std::string_view uri, std::string_view title) {
  HONDANA_TRY(auto canonical, canonical_uri(uri));
  core_->announce({model::change::what::content, std::move(canonical), std::string(title)});
  return {};
}

void server::resources_changed() { core_->announce({model::change::what::resources}); }
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

read_cache_counts server::cached_reads() const { return core_->cached_reads(); }

page_cache_counts server::cached_pages() const { return core_->current()->pages->counts(); }

const std::shared_ptr<core>& server::engine() const noexcept { return core_; }

}  // namespace hondana::inline v0
