/// Counting, timing and tracing calls of sources.
#include "server/catalog/accounts.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>

namespace hondana::catalog {
namespace {

constexpr std::array<std::string_view, 8> doings{"list",     "templates", "read",       "describe",
                                                 "children", "skills",    "find_skill", "complete"};
// Codes count from 1, which leaves 0 for what went well.
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

}  // namespace hondana::catalog
