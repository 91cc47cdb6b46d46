/// Makes the answers about the status of the server: health, readiness and metrics.
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

bool all_healthy(const std::vector<std::pair<std::string, hondana::provider_health>>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& entry) { return entry.second.is_healthy; });
}

/// Leaves out details of failures, which may contain paths; those are for the log and the terminal.
std::string health_json(std::string_view status, const std::vector<std::pair<std::string, hondana::provider_health>>& sources,
                        std::optional<bool> recording) {
  std::string out;
  json::writer writer(out);
  writer.begin_object().member("status", status).key("sources").begin_array();
  for (const auto& [name, health] : sources)
    writer.begin_object().member("name", name).key("ok").boolean(health.is_healthy).end_object();
  writer.end_array();
  if (recording) writer.key("audit").begin_object().key("ok").boolean(*recording).end_object();
  writer.end_object();
  return out;
}

/// Whether audit records can be written; empty if there is no audit log.
std::optional<bool> can_record(const server_core& core) {
  const auto audit = core.current()->audit;
  return audit ? std::optional(audit->can_record()) : std::nullopt;
}

}  // namespace

plain_response status_reports::health() const {
  const auto sources = core_->health();
  const auto recording = can_record(*core_);
  const bool is_healthy = all_healthy(sources) && recording.value_or(true);
  return {200, "application/json", health_json(is_healthy ? "ok" : "degraded", sources, recording), {}};
}

plain_response status_reports::readiness() {
  if (is_stopping_) return {503, "application/json", R"({"status":"stopping"})", {}};
  const auto sources = core_->health();
  const auto recording = can_record(*core_);
  if (all_healthy(sources)) was_ready_ = true;
  if (!was_ready_) return {503, "application/json", health_json("starting", sources, recording), {}};
  // Without audit records no request is served. A failed source, in contrast, leaves the others available.
  if (!recording.value_or(true)) return {503, "application/json", health_json("degraded", sources, recording), {}};
  return {200, "application/json", health_json("ready", sources, recording), {}};
}

namespace {

using counters::text_format;

/// The type's name in the format; the Prometheus format has no type `info`.
std::string_view type_name(text_format format, counters::kind kind) noexcept {
  switch (kind) {
    case counters::kind::counter:
      return "counter";
    case counters::kind::gauge:
      return "gauge";
    case counters::kind::histogram:
      return "histogram";
    case counters::kind::info:
      return format == text_format::open_metrics ? "info" : "gauge";
  }
  return "unknown";
}

/// The suffix that the Prometheus format adds to the name of a family.
std::string_view name_suffix(text_format format, counters::kind kind) noexcept {
  if (format == text_format::open_metrics) return {};
  return kind == counters::kind::counter ? "_total" : kind == counters::kind::info ? "_info" : "";
}

class page_writer final : public counters::sink {
 public:
  explicit page_writer(text_format format) : format_(format), writer_(format) {}

  void family(const counters::metric_family& family_head) override {
    name_ = family_head.name;
    writer_.family(name_ + std::string(name_suffix(format_, family_head.kind)), type_name(format_, family_head.kind),
                   family_head.unit, family_head.help);
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    std::vector<counters::label> sorted(labels.begin(), labels.end());
    // The name of a source may be invalid UTF-8; such a series is left out.
    if (!std::all_of(sorted.begin(), sorted.end(), [](const auto& label) { return json::is_utf8(label.value); })) return;
    std::erase_if(sorted, [](const auto& label) { return label.value.empty(); });
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    auto series = name_ + std::string(suffix);
    char separator = '{';
    for (const auto& label : sorted) counters::append_label(series, std::exchange(separator, ','), label.name, label.value);
    if (!sorted.empty()) series += '}';
    writer_.sample(series, value);
  }
  [[nodiscard]] std::string finish() { return writer_.finish(); }

 private:
  const text_format format_;
  counters::text_writer writer_;
  std::string name_;
};

}  // namespace

plain_response metrics_page(std::string_view accept, const counters::registry& registry) {
  const auto format = prefers_open_metrics(accept) ? text_format::open_metrics : text_format::prometheus;
  page_writer writer(format);
  registry.collect(writer);
  return {200, counters::content_type_of(format), writer.finish(), "Vary: Accept\r\n"};
}

}  // namespace hondana::transport::http_server
