/// A load generator: keep-alive connections that each ask the same again as soon as they are answered.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../figures/figures.hpp"

namespace http_bench {

/// Asks 127.0.0.1:`port` over `connections` connections for `time`. Throws when an answer is not 200 or its body has not
/// `body_size` bytes, so that errors are never counted as speed. `request` holds `same_width_id` where connections put ids of
/// their own, for servers that tell requests of a session apart by them.
[[nodiscard]] bench::outcome generate(std::uint16_t port, const std::string& request, std::size_t body_size, int connections,
                                      std::chrono::milliseconds time);
inline constexpr std::string_view same_width_id = "1000001";

/// One answer: its body, and the session its head names.
struct answer {
  std::string body;
  std::string session;
};
[[nodiscard]] answer fetch(std::uint16_t port, const std::string& request);

}  // namespace http_bench
