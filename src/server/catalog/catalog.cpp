/// Sources with their thread pools and metrics, the validation of a catalog, and its routes.
#include "server/catalog/catalog.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "server/catalog/secret_masking.hpp"
#include "server/catalog/source_call.hpp"

namespace hondana::catalog {
namespace {

constexpr std::array<std::string_view, 8> operation_names{"list",     "templates", "read",       "describe",
                                                          "children", "skills",    "find_skill", "complete"};
// Codes start at 1; 0 stands for success.
constexpr auto last_code = errc::too_many_requests;
constexpr std::size_t outcome_count = static_cast<std::size_t>(last_code) + 1;

std::vector<std::string> outcome_names() {
  std::vector<std::string> out{"ok"};
  for (std::size_t code = 1; code < outcome_count; ++code) out.emplace_back(name_of(static_cast<errc>(code)));
  return out;
}

std::vector<std::string> operation_labels() { return {operation_names.begin(), operation_names.end()}; }

}  // namespace

source_metrics::source_metrics(const std::string& name)
    : times(counters::duration_histogram::make({"hondana_source_call_duration_seconds", counters::kind::histogram, "seconds",
                                                "Duration of calls to a source, without waiting for one of its threads."},
                                               {{"source", {name}}, {"call", operation_labels()}})),
      outcomes(counters::counter_family::make(
          {"hondana_source_calls", counters::kind::counter, "", "Calls to a source, by call and outcome."},
          {{"source", {name}}, {"call", operation_labels()}, {"outcome", outcome_names()}})) {}

void source_metrics::count(operation operation, std::optional<errc> error) const {
  const auto index = error ? static_cast<std::size_t>(*error) : 0;
  outcomes->add(static_cast<std::size_t>(operation) * outcome_count + (index < outcome_count ? index : 0));
}

void call_record::end(std::optional<errc> error) {
  if (is_ended_) return;
  is_ended_ = true;
  metrics_->count(operation_, error);
  if (start_) metrics_->times->observe(static_cast<std::size_t>(operation_), monotonic_clock::now() - *start_);
  if (!span_) return;
  if (error) {
    span_->set_attribute("error.type", std::string(name_of(*error)));
    span_->set_failed();
  }
  span_->end();
}

call_recorder::call_recorder(std::string name, bool is_mount)
    : name_(std::move(name)), is_mount_(is_mount), metrics_(std::make_shared<const source_metrics>(name_)) {}

void call_recorder::set_tracer(std::shared_ptr<tracer> tracer) {
  const std::lock_guard lock(mutex_);
  tracer_ = std::move(tracer);
}

std::shared_ptr<call_record> call_recorder::open(operation operation, request_context& context) const {
  std::shared_ptr<tracing::active_span> span;
  if (!context.trace.traceparent.empty()) {
    std::unique_lock lock(mutex_);
    const auto tracer = tracer_;
    lock.unlock();
    const auto kind = is_mount_ ? tracing::span_kind::client : tracing::span_kind::internal;
    const auto name = operation_names[static_cast<std::size_t>(operation)];
    if (tracer) span = tracer->begin_child(std::string(name) + ' ' + name_, kind, context.trace);
    if (span) {
      span->set_attribute("hondana.source", name_);
      span->set_attribute("hondana.call", std::string(name));
      context.trace = span->child_context(context.trace);
    }
  }
  return std::make_shared<call_record>(metrics_, operation, std::move(span));
}

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

capabilities::capabilities(provider& provider) noexcept
    : entries(dynamic_cast<entry_source*>(&provider)),
      folders(dynamic_cast<folder_source*>(&provider)),
      templates(dynamic_cast<template_source*>(&provider)),
      dynamic_templates(dynamic_cast<dynamic_template_source*>(&provider)),
      completion(dynamic_cast<completion_source*>(&provider)),
      skills(dynamic_cast<skill_source*>(&provider)),
      changes(dynamic_cast<change_source*>(&provider)),
      watches(dynamic_cast<watch_source*>(&provider)),
      watches_parts(dynamic_cast<part_watch_source*>(&provider) != nullptr),
      list_watches(dynamic_cast<list_watch_source*>(&provider)),
      health(dynamic_cast<health_source*>(&provider)),
      webhooks(dynamic_cast<webhook_receiver*>(&provider)),
      extension(dynamic_cast<provider_extension*>(&provider)),
      is_mount(dynamic_cast<const model::mount*>(&provider) != nullptr) {
  if (dynamic_templates != nullptr) templates = nullptr;
}

source::source(std::shared_ptr<provider> provider, std::size_t max_queued_calls, const source_limits& limits)
    : id_(next_id()),
      provider_(std::move(provider)),
      capabilities_(*provider_),
      traits_(provider_->traits()),
      default_max_queued_calls_(max_queued_calls),
      recorder_(provider_->name(), capabilities_.is_mount) {
  if (traits_.never_blocks) {
    executor_ = std::make_shared<executor::inline_executor>();
  } else {
    pool_ = std::make_shared<executor::thread_pool>(provider_->name(), 1);
    executor_ = pool_;
  }
  set_limits(limits);
}

void source::set_limits(const source_limits& limits) {
  call_timeout_ = limits.call_timeout.value_or(std::chrono::milliseconds(0));
  if (!pool_) return;
  executor::pool_limits out;
  out.max_threads = std::max<std::size_t>(limits.max_concurrency.value_or(traits_.max_concurrency), 1);
  out.max_waiting = limits.max_queued_calls.value_or(default_max_queued_calls_);
  out.max_waiting_per_caller = std::max<std::size_t>(out.max_waiting / 4, 1);
  if (limits.max_calls_per_caller) out.max_running_per_caller = *limits.max_calls_per_caller;
  pool_->set_limits(out);
}

request_context source::bounded(request_context context) const {
  const auto max_duration = call_timeout_.load(std::memory_order_relaxed);
  if (max_duration.count() != 0) context.deadline = std::min(context.deadline, executor::clock::now() + max_duration);
  if (context.report_progress && masking() == secret_masking::by_server) {
    context.report_progress = [report = std::move(context.report_progress)](const progress& update) {
      auto masked = update;
      mask_secrets(secret_masking::by_server, masked.message);
      report(masked);
    };
  }
  return context;
}

bool source::close(executor::clock::time_point deadline) { return !pool_ || pool_->close(deadline); }

failure add_source_name(failure error, const std::string& source_name) {
  switch (error.code) {
    case errc::timed_out:
    case errc::overloaded:
    case errc::source_unavailable:
    case errc::unsupported:
    case errc::internal:
    case errc::server_error:
    case errc::unauthorized:
    case errc::protocol_error:
      if (error.public_text.empty()) {
        error.public_text = "The source \"" + source_name + "\" failed on this request.";
      } else if (error.public_text.find('"' + source_name + '"') == std::string::npos) {
        error.public_text = "The source \"" + source_name + "\" failed: " + error.public_text;
      }
      return error;
    default:
      return error;
  }
}

failure deadline_error(const std::string& source_name) {
  return {errc::timed_out, "The source \"" + source_name + "\" did not answer in time. Retry later.", {}};
}

failure not_started_error(const std::string& source_name) {
  return {
      errc::source_unavailable,
      "The source \"" + source_name + "\" did not start this request: it is shutting down, or memory is short. Retry later.",
      {}};
}

failure exception_error(const std::string& source_name, std::string message) {
  return {errc::internal, "The source \"" + source_name + "\" failed on this request; the reason is in the server's log.",
          "exception from the source \"" + source_name + "\": " + std::move(message)};
}

failure cancelled_error() { return {errc::cancelled, "The request was cancelled.", {}}; }

namespace {

std::string quoted_name(const source& source) { return '"' + source.get_provider()->name() + '"'; }

tl::unexpected<failure> reject(std::string text) { return fail(errc::invalid_argument, std::move(text)); }

}  // namespace

std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& sources) {
  std::vector<std::string> out;
  for (const auto& source : sources) {
    if (!source->capabilities().is_mount) continue;
    auto claims = source->get_provider()->claims();
    std::move(claims.begin(), claims.end(), std::back_inserter(out));
  }
  return out;
}

catalog::catalog(std::vector<std::shared_ptr<source>> sources, limits limits, std::shared_ptr<executor::timers> timers,
                 std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> gate,
                 std::shared_ptr<const seal::sealer> sealer)
    : sources_(std::move(sources)),
      limits_(limits),
      timers_(std::move(timers)),
      cache_(std::move(cache)),
      gate_(gate ? std::move(gate) : std::make_shared<const gate::gate>()),
      sealer_(std::move(sealer)) {
  limits_.page_size = std::max<std::size_t>(limits_.page_size, 1);
}

catalog::~catalog() = default;

result<std::shared_ptr<const catalog>> catalog::make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                     std::shared_ptr<executor::timers> timers,
                                                     std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> gate,
                                                     std::shared_ptr<const seal::sealer> sealer) {
  const std::shared_ptr<catalog> created(
      new catalog(std::move(sources), limits, std::move(timers), std::move(cache), std::move(gate), std::move(sealer)));
  for (const auto& claimant : created->sources_) {
    HONDANA_TRY(created->add_claims(claimant));
  }
  std::sort(created->routes_.begin(), created->routes_.end(),
            [](const source_route& a, const source_route& b) { return std::is_lt(compare_by_segment(a.prefix, b.prefix)); });
  HONDANA_TRY(created->check_overlaps());
  for (const auto& source : created->sources_) {
    HONDANA_TRY(created->add_templates(source));
  }
  auto& templates = created->templates_;
  std::sort(templates.begin(), templates.end(),
            [](const offered_template& a, const offered_template& b) { return a.entry.uri_template < b.entry.uri_template; });
  created->best_first_.resize(templates.size());
  std::iota(created->best_first_.begin(), created->best_first_.end(), std::size_t{0});
  std::sort(created->best_first_.begin(), created->best_first_.end(), [&templates](std::size_t a, std::size_t b) {
    const auto longer = templates[a].compiled.literal_prefix().size() <=> templates[b].compiled.literal_prefix().size();
    return std::is_eq(longer) ? a < b : std::is_gt(longer);
  });
  return std::shared_ptr<const catalog>(created);
}

result<void> catalog::add_claims(const std::shared_ptr<source>& source) {
  auto claims = source->get_provider()->claims();
  if (claims.empty()) {
    return reject("The source " + quoted_name(*source) +
                  " claims no URI prefix, so clients could read none of its resources. Give it one.");
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  for (auto& prefix : claims) {
    const auto canonical = canonical_uri(prefix);
    if (!canonical) {
      return reject("The source " + quoted_name(*source) + " claims the prefix \"" + prefix +
                    "\", which is not a valid URI: " + canonical.error().public_text);
    }
    if (*canonical != prefix) {
      return reject("The source " + quoted_name(*source) + " claims the prefix " + prefix +
                    ", which is not canonical. Write it as " + *canonical + ".");
    }
    max_prefix_bytes_ = std::max(max_prefix_bytes_, prefix.size());
    routes_.push_back({std::move(prefix), source});
  }
  return {};
}

result<void> catalog::check_overlaps() const {
  const auto reject_both = [](const source_route& outer, const source_route& inner) {
    const bool is_whole_scheme = outer.prefix == inner.prefix && inner.prefix.ends_with("://");
    return reject("The sources " + quoted_name(*outer.owner) + " and " + quoted_name(*inner.owner) +
                  " overlap: " + quoted_name(*outer.owner) + " claims " + outer.prefix + " and " + quoted_name(*inner.owner) +
                  " claims " + inner.prefix +
                  (is_whole_scheme
                       ? ". Give one of them another scheme if its type has that key, or remove one of them."
                       : ". Give one of them another name, or a prefix outside the other's, or remove one of them."));
  };
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    const auto& route = routes_[index];
    if (index + 1 < routes_.size() && routes_[index + 1].prefix == route.prefix) return reject_both(route, routes_[index + 1]);
    for (const auto* outer = route_of(route.prefix, route.prefix.size() - 1); outer != nullptr;
         outer = route_of(route.prefix, outer->prefix.size() - 1)) {
      if (outer->owner != route.owner) return reject_both(*outer, route);
    }
  }
  return {};
}

result<void> catalog::add_templates(const std::shared_ptr<source>& source) {
  if (source->capabilities().templates == nullptr) return {};
  for (auto& entry : source->capabilities().templates->templates()) {
    const auto subject = "The source " + quoted_name(*source) + " offers the template " + entry.uri_template;
    auto compiled = uri_template::compile(entry.uri_template);
    if (!compiled) return reject(subject + ", which is not a valid URI template: " + compiled.error().public_text);
    if (entry.name.empty()) return reject(subject + " without a name. Give it one.");
    const auto* route = route_of(compiled->literal_prefix());
    if (route == nullptr || route->owner != source) {
      return reject(subject + ", which does not start with a URI prefix of that source. Start it with one.");
    }
    const auto is_same = [&entry](const offered_template& other) { return other.entry.uri_template == entry.uri_template; };
    if (std::any_of(templates_.begin(), templates_.end(), is_same)) return reject(subject + " twice. Remove one of them.");
    mask_secrets(source->masking(), entry);
    templates_.push_back({std::move(entry), std::move(*compiled), source});
  }
  return {};
}

const catalog::source_route* catalog::route_of(std::string_view uri, std::size_t max_bytes) const {
  const auto find_exact = [this](std::string_view prefix) -> const source_route* {
    const auto position = std::lower_bound(
        routes_.begin(), routes_.end(), prefix,
        [](const source_route& route, std::string_view key) { return std::is_lt(compare_by_segment(route.prefix, key)); });
    return position != routes_.end() && position->prefix == prefix ? &*position : nullptr;
  };
  // A claim that covers a URI is the URI itself, or ends before '/', '?' or '#', or after a slash.
  max_bytes = std::min({max_bytes, max_prefix_bytes_, uri.size()});
  for (std::size_t size = max_bytes; size != 0; --size) {
    const bool may_end_here =
        size == uri.size() || uri[size - 1] == '/' || uri[size] == '/' || uri[size] == '?' || uri[size] == '#';
    if (!may_end_here) continue;
    if (const auto* match = find_exact(uri.substr(0, size))) return match;
  }
  return nullptr;
}

std::optional<template_match> catalog::match_of(const source& source, std::string_view uri) const {
  for (const auto index : best_first_) {
    const auto& candidate = templates_[index];
    if (candidate.owner.get() != &source || !uri.starts_with(candidate.compiled.literal_prefix())) continue;
    if (auto values = candidate.compiled.match(uri)) return template_match{candidate.entry.uri_template, std::move(*values)};
  }
  return {};
}

}  // namespace hondana::catalog
