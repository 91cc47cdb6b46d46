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
constexpr std::size_t longest_field = 8192;

void add_field(std::vector<std::pair<std::string, std::string>>& to, std::string_view name, const std::string& value) {
  const bool is_clean =
      std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!value.empty() && value.size() <= longest_field && is_clean) to.emplace_back(name, value);
}

/// Whether the error describes the state of the server, not a mistake in the request.
bool is_about_the_server(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::timed_out || code == errc::broken_protocol;
}

}  // namespace

prometheus_api::prometheus_api(std::shared_ptr<endpoint::endpoint> at, std::size_t most_bytes)
    : at_(std::move(at)), most_bytes_(most_bytes), whose_("Prometheus at " + at_->origin()) {}

result<prometheus_answer> prometheus_api::get(std::string_view path, form query, const call& by) const {
  endpoint::request what;
  what.path = "/api/v1" + std::string(path);
  what.query = std::move(query);
  return ask(std::move(what), by);
}

result<prometheus_answer> prometheus_api::post(std::string_view path, form query, const call& by) const {
  endpoint::request what;
  what.path = "/api/v1" + std::string(path);
  what.query = std::move(query);
  what.posts_query = true;
  return ask(std::move(what), by);
}

std::string prometheus_api::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

result<prometheus_answer> prometheus_api::ask(endpoint::request what, const call& by) const {
  what.headers.emplace_back("Accept", "application/json");
  add_field(what.headers, "traceparent", by.trace.traceparent);
  if (!by.trace.traceparent.empty()) add_field(what.headers, "tracestate", by.trace.tracestate);
  add_field(what.headers, "baggage", by.trace.baggage);
  what.most_bytes = most_bytes_;
  if (by.deadline != std::chrono::steady_clock::time_point::max()) what.until = by.deadline;
  auto out = answered(std::move(what), by);
  const std::lock_guard lock(mutex_);
  if (out) {
    trouble_.clear();
  } else if (is_about_the_server(out.error().code)) {
    trouble_ = out.error().public_text;
  }
  return out;
}

result<prometheus_answer> prometheus_api::answered(endpoint::request what, const call& by) const {
  auto got = at_->ask(what, by.stop);
  if (got) return open_prometheus_answer(got->status, got->bytes, whose_);
  auto why = std::move(got.error());
  // To the client, a redirect to another server is a failure of the source, not a missing permission.
  if (why.code == errc::access_denied || why.code == errc::unauthorized) why.code = errc::source_unavailable;
  if (why.code == errc::response_too_large) {
    why.public_text = whose_ + " answered with more than " + std::to_string(most_bytes_ >> 20) +
                      " MiB: narrow it down with match, a longer step or a shorter range";
    why.about = series::says_how_to_select_less;
  }
  return tl::unexpected<failure>(std::move(why));
}

namespace {

constexpr series::duration usual_interval = 15'000;
constexpr auto interval_kept = std::chrono::minutes(5);
constexpr auto pause_after_failure = std::chrono::seconds(5);

}  // namespace

tl::unexpected<failure> essential(failure why, std::string_view whose) {
  if (why.code == errc::unsupported) {
    why.code = errc::source_unavailable;
    why.public_text = std::string(whose) + " has no /api/v1 under the configured URL: configure the URL that /api/v1 is under";
  }
  return tl::unexpected<failure>(std::move(why));
}

prometheus_known::prometheus_known(const prometheus_api& api, series::duration interval, std::size_t most_names,
                                   std::size_t most_entries)
    : api_(api),
      is_interval_given_(interval > 0),
      most_names_(most_names),
      most_entries_(most_entries),
      interval_(interval > 0 ? interval : usual_interval) {}

std::string prometheus_known::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

result<std::shared_ptr<const prometheus_names>> prometheus_known::names(const call& by) {
  {
    const std::lock_guard lock(mutex_);
    if (names_ && clock::now() < names_until_) return names_;
  }
  return asked_names(by);
}

result<std::shared_ptr<const prometheus_names>> prometheus_known::asked_names(const call& by) {
  learn(by);
  const auto all = api_.get("/label/__name__/values", {{"limit", std::to_string(most_names_)}}, by);
  if (!all) return essential(all.error(), api_.whose());
  auto texts = texts_of(all->data, most_names_, api_.whose());
  if (!texts) return tl::unexpected<failure>(std::move(texts.error()));
  families known;
  if (const auto metadata = api_.get("/metadata", {}, by); metadata) {
    auto read = families_of(metadata->data, most_names_, api_.whose());
    if (!read) return tl::unexpected<failure>(std::move(read.error()));
    known = std::move(*read);
  } else if (metadata.error().code != errc::unsupported && metadata.error().code != errc::invalid_argument) {
    return tl::unexpected<failure>(metadata.error());
  }
  auto made = std::make_shared<const prometheus_names>(std::move(*texts), std::move(known));
  const std::lock_guard lock(mutex_);
  names_ = made;
  names_until_ = clock::now() + std::chrono::milliseconds(std::max<series::duration>(interval(), 1000));
  return made;
}

void prometheus_known::learn(const call& by) {
  std::unique_lock lock(learning_, std::defer_lock);
  if (by.deadline == clock::time_point::max()) {
    lock.lock();
  } else if (!monotonic_clock::try_lock_until(lock, by.deadline)) {
    return;
  }
  if (clock::now() < learned_until_) return;
  learned_until_ = clock::now() + pause_after_failure;
  const auto info = api_.get("/status/buildinfo", {}, by);
  if (info) {
    const std::lock_guard held(mutex_);
    version_ = version_in(info->data);
  } else if (info.error().code == errc::timed_out || info.error().code == errc::cancelled) {
    return;
  }
  const auto told = is_interval_given_ ? std::nullopt : told_interval(by);
  if (told) interval_ = *told;
  if (info || told) learned_until_ = clock::now() + interval_kept;
}

std::optional<series::duration> prometheus_known::told_interval(const call& by) const {
  if (const auto config = api_.get("/status/config", {}, by); config) {
    if (const auto told = interval_in(config->data); told) return told;
  }
  const auto active = api_.get("/targets", {{"state", "active"}}, by);
  if (!active) return std::nullopt;
  const auto all = targets_of(active->data, most_entries_, api_.whose());
  if (!all) return std::nullopt;
  std::map<series::duration, std::size_t> votes;
  for (const auto& one : *all) {
    if (one.every.count() > 0) ++votes[one.every.count()];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end()) return std::nullopt;
  return most->first;
}

}  // namespace hondana::metrics
