/// Health and readiness as JSON.
#include "transport/http_server/reports.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/audit.hpp>

#include "base/json/writer.hpp"

namespace hondana::transport::http_server {
namespace {

bool all_well(const std::vector<std::pair<std::string, hondana::health>>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& one) { return one.second.ok; });
}

/// Details may name paths; those are for the log and the terminal.
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

/// Whether the record of requests can be kept; nothing where none is.
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
  // Unlike a source that has failed, this takes everything away from clients.
  if (!records.value_or(true)) return {503, "application/json", describe("degraded", sources, records), {}};
  return {200, "application/json", describe("ready", sources, records), {}};
}

}  // namespace hondana::transport::http_server
