/// Makes a source of metrics from its `[[source]]` table.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "os/disk/private_file.hpp"
#include "sources/config/section.hpp"
#include "sources/metrics/embedded_backend.hpp"
#include "sources/metrics/host/host.hpp"
#include "sources/metrics/metrics_provider.hpp"
#include "sources/metrics/own_figures.hpp"
#include "sources/metrics/prometheus_backend.hpp"
#include "sources/metrics/settings.hpp"

namespace hondana::metrics {
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

/// `host:port` of a URL, as Prometheus names instances.
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
  // Now, since under the sandbox a folder that is not there at its beginning cannot be written to.
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
    // Each is a request to somebody else.
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
