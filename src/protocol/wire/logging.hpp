/// Log messages on the wire: levels and notifications.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/input.hpp>

#include "base/json/reader.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// The spelling of RFC 5424's keywords in the protocol. Never null.
[[nodiscard]] std::string_view name_of(log_level level) noexcept;
/// Nothing when it is not one of the eight.
[[nodiscard]] std::optional<log_level> level_named(std::string_view name) noexcept;

[[nodiscard]] decoded<model::operation> decode_set_level(std::string_view method, const json::object& params);
/// The level a modern request wants messages from, when it wants any. `meta` is its `_meta`.
[[nodiscard]] json::decoded<std::optional<log_level>> wanted_level(const json::object& meta);

/// A `notifications/message`; `logger` may be empty.
[[nodiscard]] std::string log_notification(log_level level, std::string_view logger, const value& data);

}  // namespace hondana::wire
