/// Status of the server over HTTP: health, readiness and metrics.
#include "transport/http_server/status_pages.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/audit.hpp>

#include "base/counters/prometheus_text.hpp"
#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {
namespace {

bool all_well(const std::vector<std::pair<std::string, hondana::health>>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& one) { return one.second.ok; });
}

/// Leaves out details of failures, which may contain paths; those are for the log and the terminal.
std::string describe(std::string_view status, const std::vector<std::pair<std::string, hondana::health>>& sources,
                     std::optional<bool> records) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("status", status).key("sources").begin_array();
  for (const auto& [name, how] : sources) to.begin_object().member("name", name).key("ok").boolean(how.ok).end_object();
  to.end_array();
  if (records) to.key("audit").begin_object().key("ok").boolean(*records).end_object();
  to.end_object();
  return out;
}

/// Whether audit records can be written; empty if there is no audit log.
std::optional<bool> takes_records(const core& engine) {
  const auto record = engine.current()->audit;
  return record ? std::optional(record->takes_records()) : std::nullopt;
}

}  // namespace

plain_answer reports::health() const {
  const auto sources = engine_->health();
  const auto records = takes_records(*engine_);
  const bool is_well = all_well(sources) && records.value_or(true);
  return {200, "application/json", describe(is_well ? "ok" : "degraded", sources, records), {}};
}

plain_answer reports::readiness() {
  if (stopping_) return {503, "application/json", R"({"status":"stopping"})", {}};
  const auto sources = engine_->health();
  const auto records = takes_records(*engine_);
  if (all_well(sources)) was_ready_ = true;
  if (!was_ready_) return {503, "application/json", describe("starting", sources, records), {}};
  // Without audit records no request is served. A failed source, in contrast, leaves the others available.
  if (!records.value_or(true)) return {503, "application/json", describe("degraded", sources, records), {}};
  return {200, "application/json", describe("ready", sources, records), {}};
}

namespace {

using counters::text_format;

/// The type's name in the format; the Prometheus format has no type `info`.
std::string_view type_in(text_format which, counters::kind what) noexcept {
  switch (what) {
    case counters::kind::counter:
      return "counter";
    case counters::kind::gauge:
      return "gauge";
    case counters::kind::histogram:
      return "histogram";
    case counters::kind::info:
      return which == text_format::open_metrics ? "info" : "gauge";
  }
  return "unknown";
}

/// The suffix that the Prometheus format adds to the name of a family.
std::string_view ending_in(text_format which, counters::kind what) noexcept {
  if (which == text_format::open_metrics) return {};
  return what == counters::kind::counter ? "_total" : what == counters::kind::info ? "_info" : "";
}

class page final : public counters::sink {
 public:
  explicit page(text_format which) : which_(which), to_(which) {}

  void family(const counters::head& of) override {
    name_ = of.name;
    to_.family(name_ + std::string(ending_in(which_, of.kind)), type_in(which_, of.kind), of.unit, of.help);
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    std::vector<counters::label> sorted(labels.begin(), labels.end());
    // The name of a source may be invalid UTF-8; such a series is left out.
    if (!std::all_of(sorted.begin(), sorted.end(), [](const auto& one) { return json::is_utf8(one.value); })) return;
    std::erase_if(sorted, [](const auto& one) { return one.value.empty(); });
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    auto series = name_ + std::string(suffix);
    char before = '{';
    for (const auto& one : sorted) counters::append_label(series, std::exchange(before, ','), one.name, one.value);
    if (!sorted.empty()) series += '}';
    to_.sample(series, value);
  }
  [[nodiscard]] std::string finish() { return to_.finish(); }

 private:
  const text_format which_;
  counters::text_writer to_;
  std::string name_;
};

}  // namespace

plain_answer metrics_page(std::string_view accept, const counters::registry& of) {
  const auto which = prefers_open_metrics(accept) ? text_format::open_metrics : text_format::prometheus;
  page to(which);
  of.collect(to);
  return {200, counters::content_type_of(which), to.finish(), "Vary: Accept\r\n"};
}

}  // namespace hondana::transport::http_server
