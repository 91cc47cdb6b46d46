/// Which trace something is a part of, as headers and `_meta` write it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::tracing {

using trace_id = std::array<std::uint8_t, 16>;
using span_id = std::array<std::uint8_t, 8>;

/// A span among those of its trace. Neither id is all zeros.
struct context {
  trace_id trace{};
  span_id span{};
  bool is_sampled = false;
  bool operator==(const context&) const = default;
};

/// `traceparent`; nothing for what is malformed. Of versions to come what is known of them is taken. Spec: W3C Trace Context
/// 3.2.
[[nodiscard]] std::optional<context> parse(std::string_view traceparent);
/// As version 00 writes it.
[[nodiscard]] std::string print(const context& what);
[[nodiscard]] std::string hex(const trace_id& what);
[[nodiscard]] std::string hex(const span_id& what);
/// The trace id in a well-formed `traceparent`; empty in an empty one.
[[nodiscard]] std::string_view trace_in(std::string_view traceparent) noexcept;

inline constexpr std::size_t longest_state = 512;
inline constexpr std::size_t most_state_members = 32;
inline constexpr std::size_t longest_baggage = 8192;
/// Whether it may be passed on: visible ASCII, members `key=value`, within these bounds. Spec: W3C Trace Context 3.3.
[[nodiscard]] bool is_state(std::string_view tracestate) noexcept;
/// The same of baggage: visible ASCII within its bound. Spec: W3C Baggage 3.
[[nodiscard]] bool is_baggage(std::string_view text) noexcept;

/// Unlike any other, and never all zeros. Threads: any.
[[nodiscard]] trace_id new_trace();
[[nodiscard]] span_id new_span();

}  // namespace hondana::tracing
