/// Reads the `[[source]]` table of a metrics source, and creates the source.
#include "sources/metrics/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/section.hpp"
#include "sources/config/state_folder.hpp"
#include "sources/metrics/address.hpp"
#include "sources/metrics/embedded_backend.hpp"
#include "sources/metrics/host/collector.hpp"
#include "sources/metrics/metrics_provider.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/prometheus_backend.hpp"
#include "sources/metrics/series/aggregation.hpp"

namespace hondana::metrics {
namespace {

constexpr series::duration century = 36'500 * day;
constexpr std::size_t max_scrapes = 1000;
constexpr std::uint64_t min_store_bytes = 8u << 20;

template <class T, class Read>
result<void> set_value(config::section& section, std::string_view key, T& output, Read read) {
  HONDANA_TRY(auto value, (section.*read)(key));
  if (value) output = static_cast<T>(std::move(*value));
  return {};
}

result<void> set_duration(config::section& section, std::string_view key, series::duration& output, series::duration min,
                          series::duration max) {
  HONDANA_TRY(const auto duration, read_duration(section, key, min, max));
  if (duration) output = *duration;
  return {};
}

result<void> set_count(config::section& section, std::string_view key, std::size_t& output, std::int64_t max) {
  HONDANA_TRY(const auto count, section.integer(key, 1, max));
  if (count) output = static_cast<std::size_t>(*count);
  return {};
}

/// Reads a path and makes it absolute.
result<void> set_path(config::section& section, std::string_view key, std::string& output) {
  HONDANA_TRY(const auto path, section.string(key));
  if (!path) return {};
  if (path->empty()) return tl::unexpected(section.error_at(key, "expected the path of a file"));
  std::error_code error;
  output = std::filesystem::absolute(section.resolve_path(*path), error).lexically_normal().string();
  if (error) return tl::unexpected(section.error_at(key, "the path cannot be made absolute: " + error.message()));
  return {};
}

/// Rejects keys that are valid for the other type of metrics source only.
result<void> reject_keys(const config::section& section, std::initializer_list<std::string_view> keys,
                         std::string_view reason) {
  for (const auto key : keys)
    if (section.has(key)) return tl::unexpected(section.error_at(key, reason));
  return {};
}

result<void> set_url(config::section& section, std::string_view key, endpoint::settings& server) {
  HONDANA_TRY(set_value(section, key, server.url, &config::section::string));
  if (!server.url.starts_with("http://") && !server.url.starts_with("https://"))
    return tl::unexpected(section.error_at(key, "expected a URL that begins with http:// or https://"));
  return {};
}

result<void> read_scrape_limits(config::section& section, scrape_settings& output) {
  HONDANA_TRY(set_count(section, "sample_limit", output.limits.max_samples, 10'000'000));
  HONDANA_TRY(set_count(section, "label_limit", output.limits.max_labels, 1000));
  return set_value(section, "body_size_limit", output.limits.max_bytes, &config::section::bytes);
}

result<scrape_settings> read_scrape(config::section& section, series::duration default_interval) {
  scrape_settings out;
  const auto propagate = [](auto& done) { return tl::unexpected(std::move(done.error())); };
  if (auto done = set_url(section, "url", out.server); !done) return propagate(done);
  if (auto done = set_value(section, "job", out.job, &config::section::string); !done) return propagate(done);
  if (out.job.empty())
    return tl::unexpected(section.error_at("job", "missing; it becomes the label job of the target's series"));
  if (auto done = set_value(section, "instance", out.instance, &config::section::string); !done) return propagate(done);
  if (auto done = set_duration(section, "interval", out.interval, second, day); !done) return propagate(done);
  if (auto done = read_endpoint(section, out.server); !done) return propagate(done);
  if (const auto server = endpoint::endpoint::create(out.server); !server)
    return tl::unexpected(section.error_at("url", server.error().public_text));
  if (auto done = set_value(section, "honor_labels", out.honor_labels, &config::section::boolean); !done)
    return propagate(done);
  if (auto done = set_value(section, "honor_timestamps", out.honor_timestamps, &config::section::boolean); !done)
    return propagate(done);
  if (auto done = read_scrape_limits(section, out); !done) return propagate(done);
  const auto interval = out.interval > 0 ? out.interval : default_interval;
  if (section.has("timeout") && out.server.timeout.count() > interval)
    return tl::unexpected(section.error_at("timeout", "it is longer than the interval, " + series::to_text(interval)));
  out.server.timeout = std::min(out.server.timeout, std::chrono::milliseconds(interval));
  if (auto done = section.finish(); !done) return propagate(done);
  return out;
}

result<void> read_scrapes(config::section& section, settings& output) {
  auto tables = section.sections("scrape");
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (tables->size() > max_scrapes)
    return tl::unexpected(section.error_at("scrape", "more than " + std::to_string(max_scrapes) + " targets"));
  std::set<std::pair<std::string, std::string>> seen;
  for (auto& table : *tables) {
    HONDANA_TRY(auto scrape, read_scrape(table, output.interval));
    if (!seen.emplace(scrape.job, scrape.instance.empty() ? scrape.server.url : scrape.instance).second)
      return tl::unexpected(
          table.error_at("url", "two targets have this job and this URL; give one of them another job or an instance"));
    output.scrapes.push_back(std::move(scrape));
  }
  return {};
}

result<void> read_store(config::section& section, settings& output) {
  HONDANA_TRY(const auto path, section.string("store"));
  if (path && (path->empty() || *path == ":memory:")) {
    output.store.path.clear();
  } else if (path) {
    std::error_code error;
    output.store.path = std::filesystem::absolute(section.resolve_path(*path), error).lexically_normal().string();
    if (error || output.store.path.ends_with('/'))
      return tl::unexpected(section.error_at("store", "expected the path of a file, or \":memory:\""));
  } else {
    output.store.path = default_store_path(output.name);
    if (output.store.path.empty())
      return tl::unexpected(
          section.error_at("store", "missing, and no default exists: neither XDG_STATE_HOME nor HOME is set"));
  }
  HONDANA_TRY(set_duration(section, "retention", output.store.retention, minute, century));
  HONDANA_TRY(set_duration(section, "coarse_retention", output.store.coarse_retention, minute, century));
  HONDANA_TRY(set_value(section, "max_store_bytes", output.store.max_bytes, &config::section::bytes));
  if (output.store.max_bytes < min_store_bytes)
    return tl::unexpected(section.error_at("max_store_bytes", "expected 8MiB or more"));
  return set_count(section, "max_series", output.store.max_series, 10'000'000);
}

result<void> read_embedded(config::section& section, settings& output) {
  constexpr std::string_view reason = "allowed only with prometheus = \"http://…\" or in [[source.scrape]]";
  HONDANA_TRY(reject_keys(section,
                          {"bearer_file", "user", "password_file", "ca_file", "certificate_file", "key_file", "headers",
                           "timeout", "allow_cleartext_credentials", "proxy", "query"},
                          reason));
  output.has_host = !section.has("scrape") && !section.has("process");
  HONDANA_TRY(set_value(section, "host", output.has_host, &config::section::boolean));
  HONDANA_TRY(set_value(section, "process", output.has_process, &config::section::boolean));
  HONDANA_TRY(read_scrapes(section, output));
  if (!output.has_host && !output.has_process && output.scrapes.empty())
    return tl::unexpected(
        section.error_at("host", "no metrics are collected; set host or process to true, or add [[source.scrape]]"));
  return read_store(section, output);
}

result<void> read_prometheus(config::section& section, settings& output) {
  constexpr std::string_view reason = "not allowed with prometheus: it configures the embedded store";
  HONDANA_TRY(reject_keys(
      section, {"host", "process", "scrape", "store", "retention", "coarse_retention", "max_store_bytes", "max_series"},
      reason));
  endpoint::settings server;
  HONDANA_TRY(set_url(section, "prometheus", server));
  HONDANA_TRY(read_endpoint(section, server));
  output.prometheus = std::move(server);
  if (!section.has("interval")) output.interval = 0;
  return set_value(section, "query", output.has_query, &config::section::boolean);
}

result<void> read_common(config::section& section, settings& output) {
  HONDANA_TRY(set_value(section, "redact", output.redact, &config::section::boolean));
  HONDANA_TRY(set_value(section, "watch", output.watch, &config::section::boolean));
  HONDANA_TRY(set_value(section, "time_zone", output.zone, &config::section::string));
  HONDANA_TRY(set_count(section, "max_series_per_response", output.limits.max_series, 100'000));
  HONDANA_TRY(set_count(section, "max_points_per_response", output.limits.max_points, 10'000'000));
  series::duration timeout = output.limits.timeout.count();
  HONDANA_TRY(set_duration(section, "query_timeout", timeout, 50, 10 * minute));
  output.limits.timeout = std::chrono::milliseconds(timeout);
  return section.finish();
}

}  // namespace

std::string default_store_path(std::string_view name) {
  auto folder = config::state_folder();
  return folder.empty() ? folder : std::move(folder) + "/metrics/" + std::string(name) + ".db";
}

result<std::optional<series::duration>> read_duration(config::section& section, std::string_view key, series::duration min,
                                                      series::duration max) {
  HONDANA_TRY(const auto text, section.string(key));
  if (!text) return std::optional<series::duration>();
  const auto duration = series::parse_duration(*text);
  if (!duration || *duration < min || *duration > max)
    return tl::unexpected(section.error_at(key, "expected a duration from " + series::to_text(min) + " to " +
                                                    series::to_text(max) + ", such as \"30s\", \"15m\", \"24h\" or \"15d\""));
  return std::optional(*duration);
}

result<void> read_endpoint(config::section& section, endpoint::settings& server) {
  for (const auto& [key, member] :
       {std::pair("bearer_file", &endpoint::settings::bearer_file),
        std::pair("password_file", &endpoint::settings::password_file), std::pair("ca_file", &endpoint::settings::ca_file),
        std::pair("certificate_file", &endpoint::settings::certificate_file),
        std::pair("key_file", &endpoint::settings::key_file)})
    HONDANA_TRY(set_path(section, key, server.*member));
  HONDANA_TRY(set_value(section, "proxy", server.proxy, &config::section::string));
  HONDANA_TRY(set_value(section, "user", server.user, &config::section::string));
  if (server.user.empty() != server.password_file.empty())
    return tl::unexpected(
        section.error_at(server.user.empty() ? "user" : "password_file", "user and password_file go together"));
  if (!server.user.empty() && !server.bearer_file.empty())
    return tl::unexpected(section.error_at("bearer_file", "either bearer_file, or user and password_file"));
  HONDANA_TRY(auto headers, section.strings_by_name("headers"));
  server.headers = std::move(headers);
  HONDANA_TRY(set_value(section, "allow_cleartext_credentials", server.allows_plaintext_secrets, &config::section::boolean));
  series::duration timeout = server.timeout.count();
  HONDANA_TRY(set_duration(section, "timeout", timeout, 100, 10 * minute));
  server.timeout = std::chrono::milliseconds(timeout);
  return {};
}

result<settings> read_settings(config::section& section) {
  settings out;
  const auto propagate = [](auto& done) { return tl::unexpected(std::move(done.error())); };
  if (auto done = set_value(section, "name", out.name, &config::section::string); !done) return propagate(done);
  if (out.name.empty()) out.name = section.has("prometheus") ? "prometheus" : "host";
  if (!ascii::is_slug(out.name))
    return tl::unexpected(section.error_at(
        "name", "expected at most 64 lower-case letters, digits and hyphens: it becomes NAME in metrics://NAME/"));
  if (auto done = set_duration(section, "interval", out.interval, second, day); !done) return propagate(done);
  if (auto done = section.has("prometheus") ? read_prometheus(section, out) : read_embedded(section, out); !done)
    return propagate(done);
  if (auto done = read_common(section, out); !done) return propagate(done);
  return out;
}

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

scraping::target function_target(std::string job, const settings& settings,
                                 std::function<result<void>(series::instant, samples::batch&)> collect) {
  scraping::target out;
  out.job = std::move(job);
  out.instance = host_name();
  out.interval = std::chrono::milliseconds(settings.interval);
  out.timeout = std::min(out.timeout, out.interval);
  out.collect = std::move(collect);
  return out;
}

/// `host:port` of a URL: Prometheus's default for `instance`.
std::string instance_of(const endpoint::endpoint& server) {
  const auto& origin = server.origin();
  const auto begin = origin.find("://");
  auto out = begin == std::string::npos ? origin : origin.substr(begin + 3);
  const bool has_port = out.rfind(':') != std::string::npos && !out.ends_with(']');
  if (!has_port) out += origin.starts_with("https") ? ":443" : ":80";
  return out;
}

result<std::shared_ptr<backend>> make_embedded(const config::section& section, settings& settings,
                                               const std::function<void(std::string_view)>& log) {
  embedded_options options;
  options.store = std::move(settings.store);
  options.store.log = log;
  options.interval = settings.interval;
  options.log = log;
  if (settings.has_host) {
    const auto collector = std::make_shared<host::collector>(host::options{});
    options.targets.push_back(function_target(
        "host", settings, [collector](series::instant now, samples::batch& batch) { return collector->collect(now, batch); }));
    options.host_folders = host::folders({});
  }
  if (settings.has_process) options.targets.push_back(function_target("hondana", settings, &collect_process_metrics));
  for (auto& scrape : settings.scrapes) {
    scraping::target target;
    target.job = scrape.job;
    target.interval = std::chrono::milliseconds(scrape.interval > 0 ? scrape.interval : settings.interval);
    target.timeout = std::min(scrape.server.timeout, target.interval);
    target.limits = scrape.limits;
    target.honor_labels = scrape.honor_labels;
    target.honor_timestamps = scrape.honor_timestamps;
    auto server = endpoint::endpoint::create(scrape.server);
    if (!server) return tl::unexpected(section.error_at("scrape", scrape.job + ": " + server.error().public_text));
    target.instance = scrape.instance.empty() ? instance_of(**server) : scrape.instance;
    target.server = std::move(*server);
    options.targets.push_back(std::move(target));
  }
  // Create the folder now: the sandbox allows writes only to folders that exist when it starts.
  if (!options.store.path.empty()) {
    const auto folder = std::filesystem::path(options.store.path).parent_path().string();
    if (auto created = disk::make_private_folder(folder); !created)
      return tl::unexpected(section.error_at("store", created.error().public_text));
  }
  return std::make_shared<embedded_backend>(std::move(options));
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto settings, read_settings(section));
  provider_options options;
  options.name = settings.name;
  const bool is_prometheus = settings.prometheus.has_value();
  if (is_prometheus) {
    auto backend = make_prometheus_backend(*settings.prometheus, settings.interval, log);
    if (!backend) return tl::unexpected(section.error_at("prometheus", backend.error().public_text));
    options.metrics_backend = std::move(*backend);
    // Each metric costs a request to another server.
    constexpr std::size_t max_scanned = 100;
    options.max_scanned_metrics = max_scanned;
  } else {
    HONDANA_TRY(auto backend, make_embedded(section, settings, log));
    options.metrics_backend = std::move(backend);
  }
  options.has_alerts = is_prometheus;
  options.has_query = is_prometheus && settings.has_query;
  options.redact = settings.redact;
  options.watch = settings.watch;
  options.limits = settings.limits;
  options.zone = settings.zone;
  options.log = log;
  return std::make_shared<metrics_provider>(std::move(options));
}

}  // namespace hondana::metrics
