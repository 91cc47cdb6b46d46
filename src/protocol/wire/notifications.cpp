/// Notifications about changes, log messages and log levels, which all revisions share.
#include "protocol/wire/notifications.hpp"

#include <algorithm>
#include <array>

#include "base/json/writer.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {
namespace {

constexpr std::array<std::string_view, 8> names{"debug", "info",     "notice", "warning",
                                                "error", "critical", "alert",  "emergency"};
constexpr std::string_view expected_levels =
    "expected one of debug, info, notice, warning, error, critical, alert and emergency";

}  // namespace

std::string_view name_of(log_level level) noexcept { return names[static_cast<std::size_t>(level)]; }

std::optional<log_level> parse_level(std::string_view name) noexcept {
  const auto position = std::find(names.begin(), names.end(), name);
  if (position == names.end()) return {};
  return static_cast<log_level>(position - names.begin());
}

decoded<model::operation> decode_set_level(std::string_view method, const json::object& params) {
  const auto name = params.get_string("level");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  const auto level = parse_level(*name);
  if (!level) return tl::unexpected(invalid_params(method, {params.path_of("level"), std::string(expected_levels)}));
  return model::operation{model::set_log_level{*level}};
}

json::decoded<std::optional<log_level>> requested_level(const json::object& meta) {
  HONDANA_TRY(const auto name, meta.find_string(level_key));
  if (!name) return std::optional<log_level>{};
  const auto level = parse_level(*name);
  if (!level) return tl::unexpected(json::member_error{meta.path_of(level_key), std::string(expected_levels)});
  return level;
}

std::string log_notification(log_level level, std::string_view logger, const value& data) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", "notifications/message");
  writer.key("params").begin_object().member("level", name_of(level)).member_if("logger", logger);
  writer.key("data").raw(data.to_text()).end_object().end_object();
  return text;
}

}  // namespace hondana::wire
