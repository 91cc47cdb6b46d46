/// Reads the [[source]] table of analyses, and opens the cache it describes.
#include "sources/analyses/settings.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "sources/analyses/cache/redis/redis_address.hpp"
#include "sources/config/state_folder.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/metrics/series/aggregation.hpp"

namespace hondana::analyses_source {
namespace {

using analyses::milliseconds;

constexpr milliseconds century = std::chrono::hours(24 * 36'500);
constexpr std::uint64_t min_size_bytes = 1u << 20;
constexpr std::int64_t entries_limit = 1'000'000'000;

/// Reads a duration, and checks its limits.
void read_duration(config::table_reader& reader, std::string_view key, milliseconds& target, milliseconds min,
                   milliseconds max) {
  const auto text = reader.string(key);
  if (!text) return;
  const auto duration = series::parse_duration(*text);
  if (!duration) return reader.add_error_at(key, duration.error().public_text);
  target = milliseconds(*duration);
  if (target < min || target > max)
    reader.add_error_at(key,
                        "expected a duration from " + series::to_text(min.count()) + " to " + series::to_text(max.count()));
}

result<analyses::task_policy> read_task_policy(config::section table, analyses::task_policy policy) {
  config::table_reader reader(table);
  read_duration(reader, "fresh_ttl", policy.fresh_ttl, milliseconds(1'000), century);
  read_duration(reader, "stale_ttl", policy.stale_ttl, milliseconds(0), century);
  reader.number("min_confidence", 0, 1, policy.required.confidence);
  reader.number("min_consensus", 0, 1, policy.required.consensus);
  reader.integer("min_providers", 1, 64, policy.required.providers);
  HONDANA_TRY(reader.finish());
  return policy;
}

redis_settings read_redis(config::table_reader& reader, std::string url) {
  redis_settings out;
  out.options.url = std::move(url);
  const auto read_path = [&](std::string_view key, std::string& target) {
    if (const auto text = reader.string(key)) target = reader.absolute_path(key, *text);
  };
  read_path("redis_password_file", out.password_file);
  reader.string("redis_password_env", out.password_variable);
  read_path("redis_ca_file", out.options.ca_file);
  read_path("redis_certificate_file", out.options.certificate_file);
  read_path("redis_key_file", out.options.key_file);
  reader.string("redis_prefix", out.options.prefix);
  read_duration(reader, "redis_timeout", out.options.timeout, milliseconds(100), std::chrono::minutes(1));
  if (!out.password_file.empty() && !out.password_variable.empty())
    reader.add_error_at("redis_password_env", "redis_password_file is also set; remove one of the two");
  if (const auto validation = analyses::validate(out.options); !validation)
    reader.add_error_at("redis_url", validation.error().public_text);
  return out;
}

/// Rejects Redis keys without `redis_url`, which would have no effect.
void reject_redis_keys(config::table_reader& reader) {
  for (const auto* const key : {"redis_password_file", "redis_password_env", "redis_ca_file", "redis_certificate_file",
                                "redis_key_file", "redis_prefix", "redis_timeout"})
    if (reader.string(key))
      reader.add_error_at(key, "it requires redis_url, which is not set; set redis_url, or remove this key");
}

/// The address of a Redis server: host:port, or the path of a socket.
std::string endpoint_of(const analyses::redis_address& address) {
  if (!address.socket_path.empty()) return address.socket_path;
  return (address.host.find(':') == std::string::npos ? address.host : '[' + address.host + ']') + ':' +
         std::to_string(address.port);
}

}  // namespace

std::optional<std::string> default_store_path() {
  const auto folder = config::state_folder();
  if (folder.empty()) return std::nullopt;
  return (std::filesystem::path(folder) / "analyses.db").string();
}

result<settings> parse_settings(config::section& section) {
  config::table_reader reader(section);
  settings out;
  const auto store = reader.string("store");
  auto url = reader.string("redis_url");
  if (!url) reject_redis_keys(reader);
  if (url && store)
    reader.add_error_at("store", "analyses are stored in a file or in Redis, not in both; remove store or redis_url");
  if (url) {
    out.redis = read_redis(reader, std::move(*url));
  } else if (store && *store != ":memory:") {
    out.path = store->empty() || store->ends_with('/') ? std::string() : reader.absolute_path("store", *store);
    if (out.path.empty()) reader.add_error_at("store", "expected the path of a file, or \":memory:\"");
  } else if (!store) {
    const auto default_path = default_store_path();
    if (!default_path)
      reader.add_error_at("store",
                          "missing, and no home folder was found for the default; give the path of a file or \":memory:\"");
    out.path = default_path.value_or(std::string());
  }
  for (const auto task : {analyses::task_type::basic, analyses::task_type::premium, analyses::task_type::critical}) {
    auto& policy = out.policy.for_task(task);
    reader.subtable(
        analyses::name_of(task), [&policy](config::section table) { return read_task_policy(std::move(table), policy); },
        policy);
  }
  read_duration(reader, "failure_ttl", out.policy.failure_ttl, milliseconds(0), std::chrono::hours(24));
  read_duration(reader, "max_lease_ttl", out.policy.max_lease_ttl, milliseconds(1'000), std::chrono::hours(24));
  read_duration(reader, "lease_ttl", out.policy.lease_ttl, milliseconds(1'000), out.policy.max_lease_ttl);
  read_duration(reader, "max_age", out.policy.limits.max_age, std::chrono::minutes(1), century);
  reader.bytes("max_store_bytes", min_size_bytes, 1ull << 50, out.policy.limits.max_bytes);
  reader.integer("max_entries", 1, entries_limit, out.policy.limits.max_entries);
  read_duration(reader, "check_interval", out.check_interval, milliseconds(1'000), std::chrono::hours(24));
  reader.boolean("redact", out.redact);
  reader.boolean("watch", out.watch);
  HONDANA_TRY(reader.finish());
  if (auto validation = analyses::validate(out.policy); !validation)
    return tl::unexpected(section.error_at("type", validation.error().public_text));
  return out;
}

result<hondana::system_requirements> requirements_of(const settings& settings) {
  hondana::system_requirements out;
  if (!settings.redis) {
    if (!settings.path.empty()) out.folders.push_back({std::filesystem::path(settings.path).parent_path().string(), true});
    return out;
  }
  HONDANA_TRY(const auto address, analyses::parse_redis_url(settings.redis->options.url));
  out.sockets.push_back(endpoint_of(address));
  // A file may be replaced by a new one, so the folder is needed.
  for (const auto& file : {settings.redis->password_file, settings.redis->options.ca_file,
                           settings.redis->options.certificate_file, settings.redis->options.key_file})
    if (!file.empty()) out.folders.push_back({std::filesystem::path(file).parent_path().string(), false});
  return out;
}

result<std::shared_ptr<analyses::cache>> open_cache(const settings& settings, std::function<void(std::string_view)> log) {
  result<std::shared_ptr<analyses::analysis_store>> opened;
  if (settings.redis) {
    auto redis = settings.redis->options;
    auto password = analyses::read_redis_password(settings.redis->password_file, settings.redis->password_variable);
    // No caller named this file: a problem with it is a configuration error.
    if (!password) return fail(errc::invalid_argument, password.error().public_text, password.error().private_text);
    redis.password = std::move(*password);
    redis.log = log;
    opened = analyses::open_redis(std::move(redis));
  } else {
    opened = analyses::open_embedded({.path = settings.path, .log = log, .clock = {}});
  }
  if (!opened) return tl::unexpected(std::move(opened.error()));
  analyses::cache_options options;
  options.policy = settings.policy;
  options.claimant = "hondana";
  options.log = std::move(log);
  return analyses::cache::create(std::move(*opened), std::move(options));
}

}  // namespace hondana::analyses_source
