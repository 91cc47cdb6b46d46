/// Reading and writing `traceparent`, and making ids.
#include "base/tracing/context.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace hondana::tracing {
namespace {

// VERSION-TRACE-SPAN-FLAGS
constexpr std::size_t trace_at = 3;
constexpr std::size_t span_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t length = 55;
constexpr std::string_view digits = "0123456789abcdef";

template <std::size_t Count>
std::optional<std::array<std::uint8_t, Count>> bytes_in(std::string_view text) {
  std::array<std::uint8_t, Count> out{};
  for (std::size_t i = 0; i < Count; ++i) {
    const auto high = digits.find(text[2 * i]);
    const auto low = digits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

template <std::size_t Count>
std::string text_of(const std::array<std::uint8_t, Count>& from) {
  std::string out;
  out.reserve(2 * Count);
  for (const auto byte : from) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

template <std::size_t Count>
bool is_nothing(const std::array<std::uint8_t, Count>& id) {
  return std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
}

template <std::size_t Count>
std::array<std::uint8_t, Count> random_id() {
  thread_local std::mt19937_64 from = [] {
    std::random_device of_system;
    std::seed_seq seed{of_system(), of_system(), of_system(), of_system(), of_system(), of_system(), of_system(), of_system()};
    return std::mt19937_64(seed);
  }();
  std::array<std::uint8_t, Count> out{};
  do {
    for (std::size_t at = 0; at < Count; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = from();
      std::memcpy(out.data() + at, &word, sizeof word);
    }
  } while (is_nothing(out));
  return out;
}

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::optional<context> parse(std::string_view text) {
  if (text.size() < length || (text.size() > length && text[length] != '-')) return std::nullopt;
  if (text[trace_at - 1] != '-' || text[span_at - 1] != '-' || text[flags_at - 1] != '-') return std::nullopt;
  const auto version = bytes_in<1>(text);
  const auto flags = bytes_in<1>(text.substr(flags_at));
  const auto trace = bytes_in<16>(text.substr(trace_at));
  const auto span = bytes_in<8>(text.substr(span_at));
  if (!version || !flags || !trace || !span || is_nothing(*trace) || is_nothing(*span)) return std::nullopt;
  if ((*version)[0] == 0xff || ((*version)[0] == 0 && text.size() != length)) return std::nullopt;
  return context{*trace, *span, ((*flags)[0] & 1) != 0};
}

std::string print(const context& what) {
  return "00-" + text_of(what.trace) + '-' + text_of(what.span) + (what.is_sampled ? "-01" : "-00");
}

std::string hex(const trace_id& what) { return text_of(what); }
std::string hex(const span_id& what) { return text_of(what); }

std::string_view trace_in(std::string_view traceparent) noexcept {
  return traceparent.size() < length ? std::string_view() : traceparent.substr(trace_at, span_at - 1 - trace_at);
}

bool is_state(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_state || !is_visible(text)) return false;
  std::size_t members = 0;
  while (true) {
    const auto comma = text.find(',');
    auto one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto equals = one.find('=');
    if (!one.empty() && (equals == 0 || equals == std::string_view::npos || ++members > most_state_members)) return false;
    if (comma == std::string_view::npos) return members != 0;
    text.remove_prefix(comma + 1);
  }
}

bool is_baggage(std::string_view text) noexcept { return !text.empty() && text.size() <= longest_baggage && is_visible(text); }

trace_id new_trace() { return random_id<16>(); }
span_id new_span() { return random_id<8>(); }

}  // namespace hondana::tracing
