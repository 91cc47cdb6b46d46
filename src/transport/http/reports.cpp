/// Health and readiness as JSON.
#include "transport/http/reports.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "json/writer.hpp"

namespace hondana::transport::http {
namespace {

bool all_well(const std::vector<std::pair<std::string, hondana::health>>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& one) { return one.second.ok; });
}

/// Details may name paths; those are for the log and the terminal.
std::string describe(std::string_view status, const std::vector<std::pair<std::string, hondana::health>>& sources) {
  std::string out;
  json::writer to(out);
  to.begin_object().member("status", status).key("sources").begin_array();
  for (const auto& [name, how] : sources) to.begin_object().member("name", name).key("ok").boolean(how.ok).end_object();
  to.end_array().end_object();
  return out;
}

}  // namespace

plain_answer reports::health() const {
  const auto sources = engine_->health();
  return {200, "application/json", describe(all_well(sources) ? "ok" : "degraded", sources), {}};
}

plain_answer reports::readiness() {
  if (stopping_) return {503, "application/json", R"({"status":"stopping"})", {}};
  const auto sources = engine_->health();
  if (all_well(sources)) was_ready_ = true;
  if (!was_ready_) return {503, "application/json", describe("starting", sources), {}};
  return {200, "application/json", describe("ready", sources), {}};
}

}  // namespace hondana::transport::http
