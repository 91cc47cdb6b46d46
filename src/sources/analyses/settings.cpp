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

constexpr milliseconds a_century = std::chrono::hours(24 * 36'500);
constexpr std::uint64_t least_size = 1u << 20;
constexpr std::int64_t most_entries = 1'000'000'000;

/// Reads a duration, and checks its limits.
void take_span(config::section& from, config::table_reader& reader, std::string_view key, milliseconds& into,
               milliseconds least, milliseconds most) {
  const auto text = reader.text(key);
  if (!text) return;
  const auto span = series::parse_duration(*text);
  if (!span) return reader.note(from.wrong(key, span.error().public_text));
  into = milliseconds(*span);
  if (into < least || into > most)
    reader.wrong(key, "expected a duration from " + series::to_text(least.count()) + " to " + series::to_text(most.count()));
}

result<void> read_task(config::section& from, std::string_view name, analyses::task_policy& into) {
  HONDANA_TRY(auto table, from.subsection(name));
  if (!table) return {};
  auto& of = *table;
  config::table_reader reader(of);
  take_span(of, reader, "fresh", into.fresh, milliseconds(1'000), a_century);
  take_span(of, reader, "stale", into.stale, milliseconds(0), a_century);
  into.wanted.confidence = reader.take(of.number("confidence", 0, 1)).value_or(into.wanted.confidence);
  into.wanted.consensus = reader.take(of.number("consensus", 0, 1)).value_or(into.wanted.consensus);
  into.wanted.providers = static_cast<std::uint32_t>(
      reader.take(of.integer("providers", 1, 64)).value_or(static_cast<std::int64_t>(into.wanted.providers)));
  return reader.finish();
}

result<redis_settings> read_redis(config::section& from, config::table_reader& reader, std::string url) {
  redis_settings out;
  out.at.url = std::move(url);
  const auto take_file = [&](std::string_view key, std::string& into) {
    if (const auto written = reader.text(key)) into = reader.path(key, *written);
  };
  take_file("redis_password_file", out.password_file);
  out.password_variable = reader.text("redis_password_env").value_or(std::string());
  take_file("redis_ca", out.at.authorities);
  take_file("redis_cert", out.at.certificate);
  take_file("redis_key", out.at.key);
  if (auto prefix = reader.text("redis_prefix")) out.at.prefix = std::move(*prefix);
  take_span(from, reader, "redis_timeout", out.at.patience, milliseconds(100), std::chrono::minutes(1));
  if (!out.password_file.empty() && !out.password_variable.empty())
    reader.wrong("redis_password_env", "redis_password_file is also set; remove one of the two");
  if (const auto sound = analyses::check(out.at); !sound) return tl::unexpected(from.wrong("redis", sound.error().public_text));
  return out;
}

/// Rejects Redis keys without `redis`, which would have no effect.
void refuse_redis_keys(config::table_reader& reader) {
  for (const auto* const key :
       {"redis_password_file", "redis_password_env", "redis_ca", "redis_cert", "redis_key", "redis_prefix", "redis_timeout"})
    if (reader.text(key)) reader.wrong(key, "it requires redis, which is not set; set redis, or remove this key");
}

/// The address of a Redis server: host:port, or the path of a socket.
std::string place_of(const analyses::redis_address& at) {
  if (!at.socket.empty()) return at.socket;
  return (at.host.find(':') == std::string::npos ? at.host : '[' + at.host + ']') + ':' + std::to_string(at.port);
}

}  // namespace

std::optional<std::string> usual_store() {
  const auto folder = config::state_folder();
  if (folder.empty()) return std::nullopt;
  return (std::filesystem::path(folder) / "analyses.db").string();
}

result<settings> read_settings(config::section& from) {
  config::table_reader reader(from);
  settings out;
  const auto store = reader.text("store");
  auto url = reader.text("redis");
  if (!url) refuse_redis_keys(reader);
  if (url && store) reader.wrong("store", "analyses are stored in a file or in Redis, not in both; remove store or redis");
  if (url) {
    HONDANA_TRY(auto redis, read_redis(from, reader, std::move(*url)));
    out.redis = std::move(redis);
  } else if (store && *store != ":memory:") {
    out.path = store->empty() || store->ends_with('/') ? std::string() : reader.path("store", *store);
    if (out.path.empty()) reader.wrong("store", "expected the path of a file, or \":memory:\"");
  } else if (!store) {
    const auto usual = usual_store();
    if (!usual)
      reader.wrong("store", "missing, and no home folder was found for the default; give the path of a file or \":memory:\"");
    out.path = usual.value_or(std::string());
  }
  for (const auto task : {analyses::task_type::basic, analyses::task_type::premium, analyses::task_type::critical})
    HONDANA_TRY(read_task(from, analyses::name_of(task), out.by.of(task)));
  take_span(from, reader, "failures", out.by.failures, milliseconds(0), std::chrono::hours(24));
  take_span(from, reader, "longest_lease", out.by.longest_lease, milliseconds(1'000), std::chrono::hours(24));
  take_span(from, reader, "lease", out.by.lease, milliseconds(1'000), out.by.longest_lease);
  take_span(from, reader, "max_age", out.by.kept.age, std::chrono::minutes(1), a_century);
  out.by.kept.bytes = reader.bytes("max_size", least_size, 1ull << 50, out.by.kept.bytes);
  out.by.kept.entries = static_cast<std::uint64_t>(
      reader.take(from.integer("max_entries", 1, most_entries)).value_or(static_cast<std::int64_t>(out.by.kept.entries)));
  take_span(from, reader, "check_interval", out.check_every, milliseconds(1'000), std::chrono::hours(24));
  out.redact = reader.truth("redact", out.redact);
  out.watch = reader.truth("watch", out.watch);
  HONDANA_TRY(reader.finish());
  if (auto sound = analyses::check(out.by); !sound) return tl::unexpected(from.wrong("type", sound.error().public_text));
  return out;
}

result<hondana::needs> needs_of(const settings& what) {
  hondana::needs out;
  if (!what.redis) {
    if (!what.path.empty()) out.folders.push_back({std::filesystem::path(what.path).parent_path().string(), true});
    return out;
  }
  HONDANA_TRY(const auto at, analyses::redis_address_of(what.redis->at.url));
  out.sockets.push_back(place_of(at));
  // A file may be replaced by a new one, so the folder is needed.
  for (const auto& one :
       {what.redis->password_file, what.redis->at.authorities, what.redis->at.certificate, what.redis->at.key})
    if (!one.empty()) out.folders.push_back({std::filesystem::path(one).parent_path().string(), false});
  return out;
}

result<std::shared_ptr<analyses::cache>> open_cache(const settings& what, std::function<void(std::string_view)> log) {
  result<std::shared_ptr<analyses::store>> opened;
  if (what.redis) {
    auto at = what.redis->at;
    auto password = analyses::redis_password(what.redis->password_file, what.redis->password_variable);
    // No caller named this file: a problem with it is a configuration error.
    if (!password) return fail(errc::invalid_argument, password.error().public_text, password.error().private_text);
    at.password = std::move(*password);
    at.log = log;
    opened = analyses::open_redis(std::move(at));
  } else {
    opened = analyses::open_embedded({.path = what.path, .log = log, .clock = {}});
  }
  if (!opened) return tl::unexpected(std::move(opened.error()));
  analyses::cache_options how;
  how.by = what.by;
  how.who = "hondana";
  how.log = std::move(log);
  return analyses::cache::make(std::move(*opened), std::move(how));
}

}  // namespace hondana::analyses_source
