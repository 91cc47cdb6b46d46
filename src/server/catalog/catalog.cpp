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

constexpr std::array<std::string_view, 8> doings{"list",     "templates", "read",       "describe",
                                                 "children", "skills",    "find_skill", "complete"};
// Codes start at 1; 0 stands for success.
constexpr auto last_code = errc::too_many_requests;
constexpr std::size_t outcome_count = static_cast<std::size_t>(last_code) + 1;

std::vector<std::string> outcome_names() {
  std::vector<std::string> out{"ok"};
  for (std::size_t code = 1; code < outcome_count; ++code) out.emplace_back(name_of(static_cast<errc>(code)));
  return out;
}

std::vector<std::string> doing_names() { return {doings.begin(), doings.end()}; }

}  // namespace

source_figures::source_figures(const std::string& name)
    : times(counters::times::make({"hondana_source_call_seconds", counters::kind::histogram, "seconds",
                                   "Duration of calls to a source, without waiting for one of its threads."},
                                  {{"source", {name}}, {"call", doing_names()}})),
      outcomes(
          counters::sums::make({"hondana_source_calls", counters::kind::counter, "", "Calls to a source, by call and outcome."},
                               {{"source", {name}}, {"call", doing_names()}, {"outcome", outcome_names()}})) {}

void source_figures::count(doing what, std::optional<errc> how) const {
  const auto which = how ? static_cast<std::size_t>(*how) : 0;
  outcomes->add(static_cast<std::size_t>(what) * outcome_count + (which < outcome_count ? which : 0));
}

void asked_call::end(std::optional<errc> how) {
  if (is_over_) return;
  is_over_ = true;
  by_->count(what_, how);
  if (since_) by_->times->observe(static_cast<std::size_t>(what_), monotonic_clock::now() - *since_);
  if (!span_) return;
  if (how) {
    span_->set("error.type", std::string(name_of(*how)));
    span_->fail();
  }
  span_->end();
}

accounts::accounts(std::string name, bool is_mount)
    : name_(std::move(name)), is_mount_(is_mount), figures_(std::make_shared<const source_figures>(name_)) {}

void accounts::trace_by(std::shared_ptr<tracer> with) {
  const std::lock_guard lock(mutex_);
  tracer_ = std::move(with);
}

std::shared_ptr<asked_call> accounts::open(doing what, call& by) const {
  std::shared_ptr<tracing::live_span> span;
  if (!by.trace.traceparent.empty()) {
    std::unique_lock lock(mutex_);
    const auto with = tracer_;
    lock.unlock();
    const auto kind = is_mount_ ? tracing::span_kind::client : tracing::span_kind::internal;
    const auto name = doings[static_cast<std::size_t>(what)];
    if (with) span = with->begin_within(std::string(name) + ' ' + name_, kind, by.trace);
    if (span) {
      span->set("hondana.source", name_);
      span->set("hondana.call", std::string(name));
      by.trace = span->inner(by.trace);
    }
  }
  return std::make_shared<asked_call>(figures_, what, std::move(span));
}

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

source::source(std::shared_ptr<provider> what, std::size_t waiting, const source_limits& within)
    : id_(next_id()),
      provider_(std::move(what)),
      waiting_(waiting),
      accounts_(provider_->name(), dynamic_cast<const model::mount*>(provider_.get()) != nullptr) {
  if (provider_->never_blocks()) {
    lane_ = std::make_shared<executor::inline_lane>();
  } else {
    pool_ = std::make_shared<executor::pool>(provider_->name(), 1);
    lane_ = pool_;
  }
  limit_to(within);
}

void source::limit_to(const source_limits& within) {
  deadline_ = within.deadline;
  if (!pool_) return;
  executor::pool_limits out;
  out.threads = std::max<std::size_t>(within.concurrency != 0 ? within.concurrency : provider_->concurrency(), 1);
  out.waiting = within.waiting != 0 ? within.waiting : waiting_;
  out.waiting_each = std::max<std::size_t>(out.waiting / 4, 1);
  if (within.per_caller != 0) out.running_each = within.per_caller;
  pool_->limit_to(out);
}

call source::bounded(call by) const {
  const auto most = deadline_.load(std::memory_order_relaxed);
  if (most.count() != 0) by.deadline = std::min(by.deadline, executor::clock::now() + most);
  if (by.report && provider_->masking() == masking::by_server) {
    by.report = [to = std::move(by.report)](const progress& now) {
      auto said = now;
      mask_secrets(masking::by_server, said.message);
      to(said);
    };
  }
  return by;
}

bool source::close(executor::clock::time_point until) { return !pool_ || pool_->close(until); }

failure naming(failure why, const std::string& source_name) {
  switch (why.code) {
    case errc::timed_out:
    case errc::overloaded:
    case errc::source_unavailable:
    case errc::unsupported:
    case errc::internal:
    case errc::refused:
    case errc::unauthorized:
    case errc::broken_protocol:
      if (why.public_text.empty()) {
        why.public_text = "The source \"" + source_name + "\" failed on this request.";
      } else if (why.public_text.find('"' + source_name + '"') == std::string::npos) {
        why.public_text = "The source \"" + source_name + "\" failed: " + why.public_text;
      }
      return why;
    default:
      return why;
  }
}

failure passed_deadline(const std::string& source_name) {
  return {errc::timed_out, "The source \"" + source_name + "\" did not answer in time. Retry later.", {}};
}

failure never_ran(const std::string& source_name) {
  return {
      errc::source_unavailable,
      "The source \"" + source_name + "\" did not start this request: it is shutting down, or memory is short. Retry later.",
      {}};
}

failure threw(const std::string& source_name, std::string what) {
  return {errc::internal, "The source \"" + source_name + "\" failed on this request; the reason is in the server's log.",
          "exception from the source \"" + source_name + "\": " + std::move(what)};
}

failure was_cancelled() { return {errc::cancelled, "The request was cancelled.", {}}; }

namespace {

std::string name_of(const source& one) { return '"' + one.what()->name() + '"'; }

tl::unexpected<failure> refuse(std::string text) { return fail(errc::invalid_argument, std::move(text)); }

}  // namespace

std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& all) {
  std::vector<std::string> out;
  for (const auto& one : all) {
    if (dynamic_cast<const model::mount*>(one->what().get()) == nullptr) continue;
    auto claims = one->what()->claims();
    std::move(claims.begin(), claims.end(), std::back_inserter(out));
  }
  return out;
}

catalog::catalog(std::vector<std::shared_ptr<source>> sources, limits limits, std::shared_ptr<executor::timers> timers,
                 std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> rules,
                 std::shared_ptr<const seal::sealer> sealer)
    : sources_(std::move(sources)),
      limits_(limits),
      timers_(std::move(timers)),
      cache_(std::move(cache)),
      rules_(rules ? std::move(rules) : std::make_shared<const gate::gate>()),
      sealer_(std::move(sealer)) {
  limits_.page_size = std::max<std::size_t>(limits_.page_size, 1);
}

catalog::~catalog() = default;

result<std::shared_ptr<const catalog>> catalog::make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                     std::shared_ptr<executor::timers> timers,
                                                     std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> rules,
                                                     std::shared_ptr<const seal::sealer> sealer) {
  const std::shared_ptr<catalog> made(
      new catalog(std::move(sources), limits, std::move(timers), std::move(cache), std::move(rules), std::move(sealer)));
  for (const auto& one : made->sources_) {
    HONDANA_TRY(made->take_claims(one));
  }
  std::sort(made->routes_.begin(), made->routes_.end(),
            [](const route& a, const route& b) { return std::is_lt(compare_by_segment(a.prefix, b.prefix)); });
  HONDANA_TRY(made->check_overlaps());
  for (const auto& one : made->sources_) {
    HONDANA_TRY(made->take_templates(one));
  }
  auto& all = made->templates_;
  std::sort(all.begin(), all.end(),
            [](const offered_template& a, const offered_template& b) { return a.entry.uriTemplate < b.entry.uriTemplate; });
  made->best_first_.resize(all.size());
  std::iota(made->best_first_.begin(), made->best_first_.end(), std::size_t{0});
  std::sort(made->best_first_.begin(), made->best_first_.end(), [&all](std::size_t a, std::size_t b) {
    const auto longer = all[a].compiled.literal_prefix().size() <=> all[b].compiled.literal_prefix().size();
    return std::is_eq(longer) ? a < b : std::is_gt(longer);
  });
  return std::shared_ptr<const catalog>(made);
}

result<void> catalog::take_claims(const std::shared_ptr<source>& from) {
  auto claims = from->what()->claims();
  if (claims.empty()) {
    return refuse("The source " + name_of(*from) +
                  " claims no URI prefix, so clients could read none of its resources. Give it one.");
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  for (auto& prefix : claims) {
    const auto canonical = canonical_uri(prefix);
    if (!canonical) {
      return refuse("The source " + name_of(*from) + " claims the prefix \"" + prefix +
                    "\", which is not a valid URI: " + canonical.error().public_text);
    }
    if (*canonical != prefix) {
      return refuse("The source " + name_of(*from) + " claims the prefix " + prefix + ", which is not canonical. Write it as " +
                    *canonical + ".");
    }
    longest_prefix_ = std::max(longest_prefix_, prefix.size());
    routes_.push_back({std::move(prefix), from});
  }
  return {};
}

result<void> catalog::check_overlaps() const {
  const auto refuse_both = [](const route& outer, const route& inner) {
    const bool is_of_scheme = outer.prefix == inner.prefix && inner.prefix.ends_with("://");
    return refuse("The sources " + name_of(*outer.to) + " and " + name_of(*inner.to) + " overlap: " + name_of(*outer.to) +
                  " claims " + outer.prefix + " and " + name_of(*inner.to) + " claims " + inner.prefix +
                  (is_of_scheme ? ". Give one of them another scheme if its type has that key, or remove one of them."
                                : ". Give one of them another name, or a prefix outside the other's, or remove one of them."));
  };
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    const auto& one = routes_[index];
    if (index + 1 < routes_.size() && routes_[index + 1].prefix == one.prefix) return refuse_both(one, routes_[index + 1]);
    for (const auto* outer = route_of(one.prefix, one.prefix.size() - 1); outer != nullptr;
         outer = route_of(one.prefix, outer->prefix.size() - 1)) {
      if (outer->to != one.to) return refuse_both(*outer, one);
    }
  }
  return {};
}

result<void> catalog::take_templates(const std::shared_ptr<source>& from) {
  if (from->what()->templates_change()) return {};  // requested with each list instead
  for (auto& entry : from->what()->templates()) {
    const auto place = "The source " + name_of(*from) + " offers the template " + entry.uriTemplate;
    auto compiled = uri_template::compile(entry.uriTemplate);
    if (!compiled) return refuse(place + ", which is not a valid URI template: " + compiled.error().public_text);
    if (entry.name.empty()) return refuse(place + " without a name. Give it one.");
    const auto* way = route_of(compiled->literal_prefix());
    if (way == nullptr || way->to != from) {
      return refuse(place + ", which does not start with a URI prefix of that source. Start it with one.");
    }
    const auto is_same = [&entry](const offered_template& other) { return other.entry.uriTemplate == entry.uriTemplate; };
    if (std::any_of(templates_.begin(), templates_.end(), is_same)) return refuse(place + " twice. Remove one of them.");
    mask_secrets(*from->what(), entry);
    templates_.push_back({std::move(entry), std::move(*compiled), from});
  }
  return {};
}

const catalog::route* catalog::route_of(std::string_view uri, std::size_t longest) const {
  const auto exactly = [this](std::string_view prefix) -> const route* {
    const auto place = std::lower_bound(routes_.begin(), routes_.end(), prefix, [](const route& one, std::string_view key) {
      return std::is_lt(compare_by_segment(one.prefix, key));
    });
    return place != routes_.end() && place->prefix == prefix ? &*place : nullptr;
  };
  // A claim that covers a URI is the URI itself, or ends before '/', '?' or '#', or after a slash.
  longest = std::min({longest, longest_prefix_, uri.size()});
  for (std::size_t size = longest; size != 0; --size) {
    const bool may_end_here =
        size == uri.size() || uri[size - 1] == '/' || uri[size] == '/' || uri[size] == '?' || uri[size] == '#';
    if (!may_end_here) continue;
    if (const auto* found = exactly(uri.substr(0, size))) return found;
  }
  return nullptr;
}

std::optional<template_match> catalog::match_of(const source& from, std::string_view uri) const {
  for (const auto index : best_first_) {
    const auto& one = templates_[index];
    if (one.to.get() != &from || !uri.starts_with(one.compiled.literal_prefix())) continue;
    if (auto values = one.compiled.match(uri)) return template_match{one.entry.uriTemplate, std::move(*values)};
  }
  return {};
}

}  // namespace hondana::catalog
