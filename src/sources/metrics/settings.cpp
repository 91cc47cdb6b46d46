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
constexpr std::size_t most_scrapes = 1000;
constexpr std::uint64_t least_store = 8u << 20;

template <class T, class Read>
result<void> take(config::section& from, std::string_view key, T& into, Read read) {
  HONDANA_TRY(auto value, (from.*read)(key));
  if (value) into = static_cast<T>(std::move(*value));
  return {};
}

result<void> take_span(config::section& from, std::string_view key, series::duration& into, series::duration least,
                       series::duration most) {
  HONDANA_TRY(const auto span, read_span(from, key, least, most));
  if (span) into = *span;
  return {};
}

result<void> take_count(config::section& from, std::string_view key, std::size_t& into, std::int64_t most) {
  HONDANA_TRY(const auto count, from.integer(key, 1, most));
  if (count) into = static_cast<std::size_t>(*count);
  return {};
}

/// Reads a path and makes it absolute.
result<void> take_path(config::section& from, std::string_view key, std::string& into) {
  HONDANA_TRY(const auto written, from.string(key));
  if (!written) return {};
  if (written->empty()) return tl::unexpected(from.wrong(key, "expected the path of a file"));
  std::error_code problem;
  into = std::filesystem::absolute(from.path_from(*written), problem).lexically_normal().string();
  if (problem) return tl::unexpected(from.wrong(key, "the path cannot be made absolute: " + problem.message()));
  return {};
}

/// Rejects keys that are valid for the other type of metrics source only.
result<void> refuse_keys(const config::section& from, std::initializer_list<std::string_view> keys, std::string_view why) {
  for (const auto key : keys)
    if (from.has(key)) return tl::unexpected(from.wrong(key, why));
  return {};
}

result<void> take_url(config::section& from, std::string_view key, endpoint::settings& into) {
  HONDANA_TRY(take(from, key, into.url, &config::section::string));
  if (!into.url.starts_with("http://") && !into.url.starts_with("https://"))
    return tl::unexpected(from.wrong(key, "expected a URL that begins with http:// or https://"));
  return {};
}

result<void> read_limits_of_scrape(config::section& from, scrape_settings& into) {
  HONDANA_TRY(take_count(from, "sample_limit", into.most.samples, 10'000'000));
  HONDANA_TRY(take_count(from, "label_limit", into.most.labels, 1000));
  return take(from, "body_size_limit", into.most.bytes, &config::section::bytes);
}

result<scrape_settings> read_scrape(config::section& from, series::duration of_source) {
  scrape_settings out;
  const auto wrong = [](auto& done) { return tl::unexpected(std::move(done.error())); };
  if (auto done = take_url(from, "url", out.at); !done) return wrong(done);
  if (auto done = take(from, "job", out.job, &config::section::string); !done) return wrong(done);
  if (out.job.empty()) return tl::unexpected(from.wrong("job", "missing; it becomes the label job of the target's series"));
  if (auto done = take(from, "instance", out.instance, &config::section::string); !done) return wrong(done);
  if (auto done = take_span(from, "interval", out.interval, second, day); !done) return wrong(done);
  if (auto done = read_endpoint(from, out.at); !done) return wrong(done);
  if (const auto fine = endpoint::endpoint::of(out.at); !fine)
    return tl::unexpected(from.wrong("url", fine.error().public_text));
  if (auto done = take(from, "honor_labels", out.honours_labels, &config::section::boolean); !done) return wrong(done);
  if (auto done = take(from, "honor_timestamps", out.honours_timestamps, &config::section::boolean); !done) return wrong(done);
  if (auto done = read_limits_of_scrape(from, out); !done) return wrong(done);
  const auto interval = out.interval > 0 ? out.interval : of_source;
  if (from.has("timeout") && out.at.time.count() > interval)
    return tl::unexpected(from.wrong("timeout", "it is longer than the interval, " + series::to_text(interval)));
  out.at.time = std::min(out.at.time, std::chrono::milliseconds(interval));
  if (auto done = from.finish(); !done) return wrong(done);
  return out;
}

result<void> read_scrapes(config::section& from, settings& into) {
  auto all = from.sections("scrape");
  if (!all) return tl::unexpected(std::move(all.error()));
  if (all->size() > most_scrapes)
    return tl::unexpected(from.wrong("scrape", "more than " + std::to_string(most_scrapes) + " targets"));
  std::set<std::pair<std::string, std::string>> seen;
  for (auto& one : *all) {
    HONDANA_TRY(auto scrape, read_scrape(one, into.interval));
    if (!seen.emplace(scrape.job, scrape.instance.empty() ? scrape.at.url : scrape.instance).second)
      return tl::unexpected(
          one.wrong("url", "two targets have this job and this URL; give one of them another job or an instance"));
    into.scrapes.push_back(std::move(scrape));
  }
  return {};
}

result<void> read_store(config::section& from, settings& into) {
  HONDANA_TRY(const auto written, from.string("store"));
  if (written && (written->empty() || *written == ":memory:")) {
    into.store.path.clear();
  } else if (written) {
    std::error_code problem;
    into.store.path = std::filesystem::absolute(from.path_from(*written), problem).lexically_normal().string();
    if (problem || into.store.path.ends_with('/'))
      return tl::unexpected(from.wrong("store", "expected the path of a file, or \":memory:\""));
  } else {
    into.store.path = usual_store(into.name);
    if (into.store.path.empty())
      return tl::unexpected(from.wrong("store", "missing, and no default exists: neither XDG_STATE_HOME nor HOME is set"));
  }
  HONDANA_TRY(take_span(from, "retention", into.store.retention, minute, century));
  HONDANA_TRY(take_span(from, "coarse_retention", into.store.coarse_retention, minute, century));
  HONDANA_TRY(take(from, "max_size", into.store.most_bytes, &config::section::bytes));
  if (into.store.most_bytes < least_store) return tl::unexpected(from.wrong("max_size", "expected 8MiB or more"));
  return take_count(from, "max_series", into.store.most_series, 10'000'000);
}

result<void> read_embedded(config::section& from, settings& into) {
  constexpr std::string_view why = "allowed only with prometheus = \"http://…\" or in [[source.scrape]]";
  HONDANA_TRY(refuse_keys(from,
                          {"bearer_file", "user", "password_file", "ca", "cert", "key", "headers", "timeout",
                           "secrets_in_the_clear", "proxy", "query"},
                          why));
  into.has_host = !from.has("scrape") && !from.has("process");
  HONDANA_TRY(take(from, "host", into.has_host, &config::section::boolean));
  HONDANA_TRY(take(from, "process", into.has_process, &config::section::boolean));
  HONDANA_TRY(read_scrapes(from, into));
  if (!into.has_host && !into.has_process && into.scrapes.empty())
    return tl::unexpected(
        from.wrong("host", "no metrics are collected; set host or process to true, or add [[source.scrape]]"));
  return read_store(from, into);
}

result<void> read_prometheus(config::section& from, settings& into) {
  constexpr std::string_view why = "not allowed with prometheus: it configures the embedded store";
  HONDANA_TRY(refuse_keys(
      from, {"host", "process", "scrape", "store", "retention", "coarse_retention", "max_size", "max_series"}, why));
  endpoint::settings at;
  HONDANA_TRY(take_url(from, "prometheus", at));
  HONDANA_TRY(read_endpoint(from, at));
  into.prometheus = std::move(at);
  if (!from.has("interval")) into.interval = 0;
  return take(from, "query", into.has_query, &config::section::boolean);
}

result<void> read_rest(config::section& from, settings& into) {
  HONDANA_TRY(take(from, "redact", into.redact, &config::section::boolean));
  HONDANA_TRY(take(from, "watch", into.watch, &config::section::boolean));
  HONDANA_TRY(take(from, "zone", into.zone, &config::section::string));
  HONDANA_TRY(take_count(from, "series", into.most.series, 100'000));
  HONDANA_TRY(take_count(from, "points", into.most.points, 10'000'000));
  series::duration time = into.most.time.count();
  HONDANA_TRY(take_span(from, "time", time, 50, 10 * minute));
  into.most.time = std::chrono::milliseconds(time);
  return from.finish();
}

}  // namespace

std::string usual_store(std::string_view name) {
  auto folder = config::state_folder();
  return folder.empty() ? folder : std::move(folder) + "/metrics/" + std::string(name) + ".db";
}

result<std::optional<series::duration>> read_span(config::section& from, std::string_view key, series::duration least,
                                                  series::duration most) {
  HONDANA_TRY(const auto text, from.string(key));
  if (!text) return std::optional<series::duration>();
  const auto span = series::parse_duration(*text);
  if (!span || *span < least || *span > most)
    return tl::unexpected(from.wrong(key, "expected a duration from " + series::to_text(least) + " to " +
                                              series::to_text(most) + ", such as \"30s\", \"15m\", \"24h\" or \"15d\""));
  return std::optional(*span);
}

result<void> read_endpoint(config::section& from, endpoint::settings& into) {
  for (const auto& [key, member] :
       {std::pair("bearer_file", &endpoint::settings::bearer_file),
        std::pair("password_file", &endpoint::settings::password_file), std::pair("ca", &endpoint::settings::authorities),
        std::pair("cert", &endpoint::settings::certificate), std::pair("key", &endpoint::settings::key)})
    HONDANA_TRY(take_path(from, key, into.*member));
  HONDANA_TRY(take(from, "proxy", into.proxy, &config::section::string));
  HONDANA_TRY(take(from, "user", into.user, &config::section::string));
  if (into.user.empty() != into.password_file.empty())
    return tl::unexpected(from.wrong(into.user.empty() ? "user" : "password_file", "user and password_file go together"));
  if (!into.user.empty() && !into.bearer_file.empty())
    return tl::unexpected(from.wrong("bearer_file", "either bearer_file, or user and password_file"));
  HONDANA_TRY(auto headers, from.strings_by_name("headers"));
  into.headers = std::move(headers);
  HONDANA_TRY(take(from, "secrets_in_the_clear", into.sends_secrets_in_the_clear, &config::section::boolean));
  series::duration time = into.time.count();
  HONDANA_TRY(take_span(from, "timeout", time, 100, 10 * minute));
  into.time = std::chrono::milliseconds(time);
  return {};
}

result<settings> read_settings(config::section& from) {
  settings out;
  const auto wrong = [](auto& done) { return tl::unexpected(std::move(done.error())); };
  if (auto done = take(from, "name", out.name, &config::section::string); !done) return wrong(done);
  if (out.name.empty()) out.name = from.has("prometheus") ? "prometheus" : "host";
  if (!ascii::is_slug(out.name))
    return tl::unexpected(
        from.wrong("name", "expected at most 64 lower-case letters, digits and hyphens: it becomes NAME in metrics://NAME/"));
  if (auto done = take_span(from, "interval", out.interval, second, day); !done) return wrong(done);
  if (auto done = from.has("prometheus") ? read_prometheus(from, out) : read_embedded(from, out); !done) return wrong(done);
  if (auto done = read_rest(from, out); !done) return wrong(done);
  return out;
}

namespace {

std::string name_of_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

scraping::target function_target(std::string job, const settings& how,
                                 std::function<result<void>(series::instant, samples::batch&)> collects) {
  scraping::target out;
  out.job = std::move(job);
  out.instance = name_of_host();
  out.every = std::chrono::milliseconds(how.interval);
  out.time = std::min(out.time, out.every);
  out.collects = std::move(collects);
  return out;
}

/// `host:port` of a URL: Prometheus's default for `instance`.
std::string instance_of(const endpoint::endpoint& at) {
  const auto& origin = at.origin();
  const auto begin = origin.find("://");
  auto out = begin == std::string::npos ? origin : origin.substr(begin + 3);
  const bool has_port = out.rfind(':') != std::string::npos && !out.ends_with(']');
  if (!has_port) out += origin.starts_with("https") ? ":443" : ":80";
  return out;
}

result<std::shared_ptr<backend>> make_embedded(const config::section& from, settings& how,
                                               const std::function<void(std::string_view)>& log) {
  embedded_options options;
  options.store = std::move(how.store);
  options.store.log = log;
  options.interval = how.interval;
  options.log = log;
  if (how.has_host) {
    const auto machine = std::make_shared<host::collector>(host::options{});
    options.targets.push_back(function_target(
        "host", how, [machine](series::instant now, samples::batch& into) { return machine->collect(now, into); }));
    options.host_folders = host::folders({});
  }
  if (how.has_process) options.targets.push_back(function_target("hondana", how, &collect_own_figures));
  for (auto& one : how.scrapes) {
    scraping::target target;
    target.job = one.job;
    target.every = std::chrono::milliseconds(one.interval > 0 ? one.interval : how.interval);
    target.time = std::min(one.at.time, target.every);
    target.most = one.most;
    target.honours_labels = one.honours_labels;
    target.honours_timestamps = one.honours_timestamps;
    auto at = endpoint::endpoint::of(one.at);
    if (!at) return tl::unexpected(from.wrong("scrape", one.job + ": " + at.error().public_text));
    target.instance = one.instance.empty() ? instance_of(**at) : one.instance;
    target.at = std::move(*at);
    options.targets.push_back(std::move(target));
  }
  // Create the folder now: the sandbox allows writes only to folders that exist when it starts.
  if (!options.store.path.empty()) {
    const auto folder = std::filesystem::path(options.store.path).parent_path().string();
    if (auto made = disk::make_private_folder(folder); !made)
      return tl::unexpected(from.wrong("store", made.error().public_text));
  }
  return std::make_shared<embedded_backend>(std::move(options));
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto how, read_settings(from));
  provider_options options;
  options.name = how.name;
  const bool is_prometheus = how.prometheus.has_value();
  if (is_prometheus) {
    auto made = make_prometheus_backend(*how.prometheus, how.interval, log);
    if (!made) return tl::unexpected(from.wrong("prometheus", made.error().public_text));
    options.from = std::move(*made);
    // Each metric costs a request to another server.
    constexpr std::size_t surveyed = 100;
    options.surveyed_metrics = surveyed;
  } else {
    HONDANA_TRY(auto made, make_embedded(from, how, log));
    options.from = std::move(made);
  }
  options.has_alerts = is_prometheus;
  options.has_query = is_prometheus && how.has_query;
  options.redact = how.redact;
  options.watch = how.watch;
  options.most = how.most;
  options.zone = how.zone;
  options.log = log;
  return std::make_shared<metrics_provider>(std::move(options));
}

}  // namespace hondana::metrics
