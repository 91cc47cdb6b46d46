/// Asking a server's parts for their figures.
#include "server/core/server_figures.hpp"

#include <array>
#include <functional>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "base/counters/process.hpp"
#include "base/tracing/tracer.hpp"

namespace hondana::inline v0 {
namespace {

using counters::head;
using counters::kind;
using teller = counters::part::teller;

std::string_view suffix_of(kind what) { return what == kind::counter ? "_total" : ""; }

/// A family with one number.
std::shared_ptr<const counters::part> number(const std::shared_ptr<core::door>& server, const head& of,
                                             std::function<double(const core&)> now) {
  return counters::asked(of, [server, now = std::move(now), suffix = suffix_of(of.kind)](const teller& to) {
    const std::shared_lock lock(server->mutex);
    if (server->inside != nullptr) to(suffix, {}, now(*server->inside));
  });
}

/// A family with a number for each of the two caches.
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
  // One for all servers of the process, and kept for as long as it runs.
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

}  // namespace hondana::inline v0
