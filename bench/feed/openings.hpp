/// How peers of two eras open a stream of changes with one subscription.
#pragma once

#include <string>
#include <string_view>

#include "crowd.hpp"

namespace feed_bench {

/// What every notification of a changed resource contains.
inline constexpr std::string_view updated = "notifications/resources/updated";

/// 2026-07-28: one POST of subscriptions/listen.
[[nodiscard]] opening modern_stream(const std::string& uri);
/// 2025-11-25: a handshake, a subscription, and the GET that brings what belongs to no request.
[[nodiscard]] opening legacy_stream(const std::string& uri);
/// The message of `modern_stream`.
[[nodiscard]] std::string listen_message(const std::string& uri);

}  // namespace feed_bench
