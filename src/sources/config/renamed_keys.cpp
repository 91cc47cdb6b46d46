/// The keys and values of the configuration that have new names. Old names are errors.
#include "sources/config/renamed_keys.hpp"

#include <algorithm>

namespace hondana::config {
namespace {

struct renaming {
  std::string_view place;
  std::string_view old_name;
  std::string_view new_name;
};

/// docs/configuration.md lists the same names. An old name that sources of several types share can have several rows.
constexpr renaming renamings[] = {
    {"", "announce_contents", "subscriptions"},
    {"", "announce_lists", "list_changes"},
    {"", "call_deadline_ms", "call_timeout_ms"},
    {"", "page_cache", "page_cache_bytes"},
    {"", "read_cache", "read_cache_bytes"},
    {"", "read_limit", "max_read_bytes"},
    {"", "stall_limit_ms", "stall_timeout_ms"},
    {"http", "body_ms", "body_timeout_ms"},
    {"http", "drain_ms", "drain_timeout_ms"},
    {"http", "header_ms", "header_timeout_ms"},
    {"http", "keep_alive_ms", "keep_alive_timeout_ms"},
    {"http", "max_body", "max_body_bytes"},
    {"http", "max_header", "max_header_bytes"},
    {"http", "session_idle_ms", "session_idle_timeout_ms"},
    {"http.tls", "certificate", "certificate_file"},
    {"http.tls", "client_authorities", "client_ca_file"},
    {"http.tls", "key", "key_file"},
    {"http.tls.client_certificates", "asked", "optional"},
    {"stdio", "drain_ms", "drain_timeout_ms"},
    {"auth", "implies", "implied_scopes"},
    {"auth.certificates", "name", "name_kind"},
    {"auth.oauth", "authorities", "ca_file"},
    {"auth.oauth", "documentation", "documentation_url"},
    {"auth.oauth", "keys", "jwks_uri"},
    {"auth.oauth", "skew_s", "clock_skew_s"},
    {"auth.oauth.introspection", "for_all", "include_jwts"},
    {"limits", "callers", "max_tracked_callers"},
    {"limits", "count_loopback", "include_loopback"},
    {"limits", "deadlines_ms", "call_timeouts_ms"},
    {"limits", "longest_call_ms", "total_timeout_ms"},
    {"limits.address", "bytes", "bytes_per_second"},
    {"limits.address", "completions", "completions_per_second"},
    {"limits.address", "requests", "requests_per_second"},
    {"limits.identity", "bytes", "bytes_per_second"},
    {"limits.identity", "completions", "completions_per_second"},
    {"limits.identity", "requests", "requests_per_second"},
    {"audit", "buffer", "buffer_bytes"},
    {"audit", "keep", "max_old_files"},
    {"audit", "max_file", "max_file_bytes"},
    {"audit", "sync_ms", "sync_interval_ms"},
    {"audit", "sync_records", "max_unsynced_records"},
    {"tracing", "sample", "sample_ratio"},
    {"search", "interval_ms", "scan_interval_ms"},
    {"search", "largest", "max_resource_bytes"},
    {"search", "most_passages", "max_passages"},
    {"search", "postgres", "postgres_url"},
    {"search", "words", "tokenizer"},
    {"search.embeddings", "authorities", "ca_file"},
    {"search.embeddings", "batch", "batch_size"},
    {"search.embeddings", "secrets_in_the_clear", "allow_cleartext_credentials"},
    {"link", "mimeType", "mime_type"},
    {"source", "api", "api_url"},
    {"source", "authorities", "ca_file"},
    {"source", "ca", "ca_file"},
    {"source", "cert", "certificate_file"},
    {"source", "certificate", "certificate_file"},
    {"source", "client", "client_file"},
    {"source", "concurrency", "max_concurrency"},
    {"source", "credentials", "credentials_file"},
    {"source", "deadline_ms", "call_timeout_ms"},
    {"source", "depth", "max_depth"},
    {"source", "failures", "failure_ttl"},
    {"source", "folder", "working_directory"},
    {"source", "folder_budget", "max_folder_bytes"},
    {"source", "interval", "min_poll_interval_s"},
    {"source", "kept_bytes", "max_cached_bytes"},
    {"source", "key", "key_file"},
    {"source", "lease", "lease_ttl"},
    {"source", "list_wait_ms", "list_timeout_ms"},
    {"source", "log_in_file", "login_file"},
    {"source", "longest_lease", "max_lease_ttl"},
    {"source", "look_back", "lookback"},
    {"source", "max_interval", "max_poll_interval_s"},
    {"source", "max_read", "max_read_bytes"},
    {"source", "max_size", "max_store_bytes"},
    {"source", "member_bytes", "max_file_bytes"},
    {"source", "notices", "webhook_url"},
    {"source", "offline_bytes", "max_cached_bytes"},
    {"source", "pattern", "rotated_pattern"},
    {"source", "per_caller", "max_calls_per_caller"},
    {"source", "points", "max_points_per_response"},
    {"source", "priority", "min_level"},
    {"source", "redis", "redis_url"},
    {"source", "redis_ca", "redis_ca_file"},
    {"source", "redis_cert", "redis_certificate_file"},
    {"source", "redis_key", "redis_key_file"},
    {"source", "refresh_ms", "list_ttl_ms"},
    {"source", "render_memory", "max_render_memory_bytes"},
    {"source", "render_seconds", "render_timeout_s"},
    {"source", "renders", "render"},
    {"source", "scan", "max_scanned_bytes"},
    {"source", "secrets_in_the_clear", "allow_cleartext_credentials"},
    {"source", "series", "max_series_per_response"},
    {"source", "time", "query_timeout"},
    {"source", "waiting", "max_queued_calls"},
    {"source", "zone", "time_zone"},
    {"source.basic", "confidence", "min_confidence"},
    {"source.basic", "consensus", "min_consensus"},
    {"source.basic", "fresh", "fresh_ttl"},
    {"source.basic", "providers", "min_providers"},
    {"source.basic", "stale", "stale_ttl"},
    {"source.critical", "confidence", "min_confidence"},
    {"source.critical", "consensus", "min_consensus"},
    {"source.critical", "fresh", "fresh_ttl"},
    {"source.critical", "providers", "min_providers"},
    {"source.critical", "stale", "stale_ttl"},
    {"source.layer", "env", "env_prefix"},
    {"source.premium", "confidence", "min_confidence"},
    {"source.premium", "consensus", "min_consensus"},
    {"source.premium", "fresh", "fresh_ttl"},
    {"source.premium", "providers", "min_providers"},
    {"source.premium", "stale", "stale_ttl"},
    {"source.scrape", "ca", "ca_file"},
    {"source.scrape", "cert", "certificate_file"},
    {"source.scrape", "key", "key_file"},
    {"source.scrape", "secrets_in_the_clear", "allow_cleartext_credentials"},
};

}  // namespace

std::string_view find_new_name(std::string_view place, std::string_view old_name,
                               std::span<const std::string_view> known) noexcept {
  for (const auto& entry : renamings) {
    if (entry.place == place && entry.old_name == old_name &&
        std::find(known.begin(), known.end(), entry.new_name) != known.end())
      return entry.new_name;
  }
  return {};
}

}  // namespace hondana::config
