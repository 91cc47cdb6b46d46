/// Sends requests to the HTTP API of a Prometheus server, and caches its names, metadata, scrape interval and version.
#include "sources/metrics/prometheus_client.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/prometheus_metadata.hpp"

namespace hondana::metrics {
namespace {

/// Trace headers are limited in size by their specifications. Values with control characters, which could end a header line,
/// are never sent.
constexpr std::size_t max_header_bytes = 8192;

void add_header(std::vector<std::pair<std::string, std::string>>& headers, std::string_view name, const std::string& value) {
  const bool is_clean =
      std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!value.empty() && value.size() <= max_header_bytes && is_clean) headers.emplace_back(name, value);
}

/// Whether the error describes the state of the server, not a mistake in the request.
bool is_server_error(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::timed_out || code == errc::protocol_error;
}

}  // namespace

prometheus_api::prometheus_api(std::shared_ptr<endpoint::endpoint> server, std::size_t max_bytes)
    : server_(std::move(server)), max_bytes_(max_bytes), server_name_("Prometheus at " + server_->origin()) {}

result<prometheus_answer> prometheus_api::get(std::string_view path, form query, const request_context& context) const {
  endpoint::request request;
  request.path = "/api/v1" + std::string(path);
  request.query = std::move(query);
  return send(std::move(request), context);
}

result<prometheus_answer> prometheus_api::post(std::string_view path, form query, const request_context& context) const {
  endpoint::request request;
  request.path = "/api/v1" + std::string(path);
  request.query = std::move(query);
  request.posts_query = true;
  return send(std::move(request), context);
}

std::string prometheus_api::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

result<prometheus_answer> prometheus_api::send(endpoint::request request, const request_context& context) const {
  request.headers.emplace_back("Accept", "application/json");
  add_header(request.headers, "traceparent", context.trace.traceparent);
  if (!context.trace.traceparent.empty()) add_header(request.headers, "tracestate", context.trace.tracestate);
  add_header(request.headers, "baggage", context.trace.baggage);
  request.max_bytes = max_bytes_;
  if (context.deadline != std::chrono::steady_clock::time_point::max()) request.deadline = context.deadline;
  auto out = exchange(std::move(request), context);
  const std::lock_guard lock(mutex_);
  if (out) {
    last_error_.clear();
  } else if (is_server_error(out.error().code)) {
    last_error_ = out.error().public_text;
  }
  return out;
}

result<prometheus_answer> prometheus_api::exchange(endpoint::request request, const request_context& context) const {
  auto response = server_->send(request, context.stop);
  if (response) return parse_prometheus_answer(response->status, response->body, server_name_);
  auto error = std::move(response.error());
  // To the client, a redirect to another server is a failure of the source, not a missing permission.
  if (error.code == errc::access_denied || error.code == errc::unauthorized) error.code = errc::source_unavailable;
  if (error.code == errc::response_too_large) {
    error.public_text = server_name_ + " answered with more than " + std::to_string(max_bytes_ >> 20) +
                        " MiB: narrow it down with match, a longer step or a shorter range";
    error.subject = series::selection_advice;
  }
  return tl::unexpected<failure>(std::move(error));
}

namespace {

constexpr series::duration default_interval = 15'000;
constexpr auto server_info_ttl = std::chrono::minutes(5);
constexpr auto failure_backoff = std::chrono::seconds(5);

}  // namespace

tl::unexpected<failure> required_api_error(failure error, std::string_view server_name) {
  if (error.code == errc::unsupported) {
    error.code = errc::source_unavailable;
    error.public_text =
        std::string(server_name) + " has no /api/v1 under the configured URL: configure the URL that /api/v1 is under";
  }
  return tl::unexpected<failure>(std::move(error));
}

prometheus_cache::prometheus_cache(const prometheus_api& api, series::duration interval, std::size_t max_names,
                                   std::size_t max_entries)
    : api_(api),
      has_fixed_interval_(interval > 0),
      max_names_(max_names),
      max_entries_(max_entries),
      interval_(interval > 0 ? interval : default_interval) {}

std::string prometheus_cache::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

result<std::shared_ptr<const prometheus_names>> prometheus_cache::names(const request_context& context) {
  {
    const std::lock_guard lock(mutex_);
    if (names_ && clock::now() < names_expire_at_) return names_;
  }
  return fetch_names(context);
}

result<std::shared_ptr<const prometheus_names>> prometheus_cache::fetch_names(const request_context& context) {
  refresh_server_info(context);
  const auto answer = api_.get("/label/__name__/values", {{"limit", std::to_string(max_names_)}}, context);
  if (!answer) return required_api_error(answer.error(), api_.server_name());
  auto series_names = parse_strings(answer->data, max_names_, api_.server_name());
  if (!series_names) return tl::unexpected<failure>(std::move(series_names.error()));
  families family_metadata;
  if (const auto metadata = api_.get("/metadata", {}, context); metadata) {
    auto parsed = parse_families(metadata->data, max_names_, api_.server_name());
    if (!parsed) return tl::unexpected<failure>(std::move(parsed.error()));
    family_metadata = std::move(*parsed);
  } else if (metadata.error().code != errc::unsupported && metadata.error().code != errc::invalid_argument) {
    return tl::unexpected<failure>(metadata.error());
  }
  auto names = std::make_shared<const prometheus_names>(std::move(*series_names), std::move(family_metadata));
  const std::lock_guard lock(mutex_);
  names_ = names;
  names_expire_at_ = clock::now() + std::chrono::milliseconds(std::max<series::duration>(interval(), 1000));
  return names;
}

void prometheus_cache::refresh_server_info(const request_context& context) {
  std::unique_lock lock(refresh_mutex_, std::defer_lock);
  if (context.deadline == clock::time_point::max()) {
    lock.lock();
  } else if (!monotonic_clock::try_lock_until(lock, context.deadline)) {
    return;
  }
  if (clock::now() < next_refresh_) return;
  next_refresh_ = clock::now() + failure_backoff;
  const auto info = api_.get("/status/buildinfo", {}, context);
  if (info) {
    const std::lock_guard version_lock(mutex_);
    version_ = parse_version(info->data);
  } else if (info.error().code == errc::timed_out || info.error().code == errc::cancelled) {
    return;
  }
  const auto interval = has_fixed_interval_ ? std::nullopt : fetch_interval(context);
  if (interval) interval_ = *interval;
  if (info || interval) next_refresh_ = clock::now() + server_info_ttl;
}

std::optional<series::duration> prometheus_cache::fetch_interval(const request_context& context) const {
  if (const auto config = api_.get("/status/config", {}, context); config) {
    if (const auto interval = parse_scrape_interval(config->data); interval) return interval;
  }
  const auto active = api_.get("/targets", {{"state", "active"}}, context);
  if (!active) return std::nullopt;
  const auto targets = parse_targets(active->data, max_entries_, api_.server_name());
  if (!targets) return std::nullopt;
  std::map<series::duration, std::size_t> votes;
  for (const auto& target : *targets) {
    if (target.interval.count() > 0) ++votes[target.interval.count()];
  }
  const auto most_common =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most_common == votes.end()) return std::nullopt;
  return most_common->first;
}

}  // namespace hondana::metrics
