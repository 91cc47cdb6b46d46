/// Writing traces, and reading what came of them.
#include "app/otlp/encoding.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <variant>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::otlp {
namespace {

constexpr int status_error = 2;  // Status.StatusCode
constexpr std::uint64_t flag_sampled = 1;
constexpr std::uint64_t flag_has_is_remote = 0x100;
constexpr std::uint64_t flag_is_remote = 0x200;
constexpr std::size_t longest_reason = 300;

void write_text(json::writer& to, std::string_view name, std::string_view value) {
  to.begin_object().member("key", name).key("value").begin_object().member("stringValue", value).end_object().end_object();
}

void write(json::writer& to, const tracing::attribute& one) {
  if (const auto* text = std::get_if<std::string>(&one.value)) return write_text(to, one.name, *text);
  to.begin_object().member("key", one.name).key("value").begin_object();
  to.member("intValue", std::to_string(std::get<std::int64_t>(one.value))).end_object().end_object();
}

std::string nanoseconds(std::chrono::system_clock::time_point at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

void write(json::writer& to, const tracing::span& one) {
  to.begin_object().member("traceId", tracing::hex(one.of.trace)).member("spanId", tracing::hex(one.of.span));
  to.member_if("traceState", one.state);
  if (one.parent) to.member("parentSpanId", tracing::hex(*one.parent));
  // Only a request's parent is another program's.
  const bool is_remote = one.parent && one.kind == tracing::span_kind::server;
  to.key("flags").unsigned_integer(flag_sampled | flag_has_is_remote | (is_remote ? flag_is_remote : 0));
  to.member("name", one.name).key("kind").integer(static_cast<int>(one.kind));
  to.member("startTimeUnixNano", nanoseconds(one.begin));
  to.member("endTimeUnixNano",
            nanoseconds(one.begin + std::chrono::duration_cast<std::chrono::system_clock::duration>(one.took)));
  to.key("attributes").begin_array();
  for (const auto& attribute : one.attributes) write(to, attribute);
  to.end_array().key("status").begin_object();
  if (one.has_failed) to.key("code").integer(status_error);
  to.end_object().end_object();
}

/// Of a number that may be written as text, as 64-bit numbers are.
std::uint64_t count_in(const json::object& from, std::string_view name) {
  if (const auto text = from.find_string(name); text && *text) {
    std::uint64_t out = 0;
    const auto digits = **text;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return problem == std::errc() ? out : 0;
  }
  const auto there = from.find(name);
  const auto number = there && *there ? (*there)->as_integer(name) : json::decoded<std::int64_t>(0);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

}  // namespace

std::string encode(const std::vector<tracing::span>& spans, const resource& of) {
  std::string out;
  json::writer to(out);
  to.begin_object().key("resourceSpans").begin_array().begin_object();
  to.key("resource").begin_object().key("attributes").begin_array();
  write_text(to, "service.name", of.service_name);
  if (!of.service_version.empty()) write_text(to, "service.version", of.service_version);
  if (!of.instance.empty()) write_text(to, "service.instance.id", of.instance);
  to.end_array().end_object();
  to.key("scopeSpans").begin_array().begin_object();
  to.key("scope").begin_object().member("name", "hondana").member_if("version", of.service_version).end_object();
  to.key("spans").begin_array();
  for (const auto& one : spans) write(to, one);
  to.end_array().end_object().end_array().end_object().end_array().end_object();
  return out;
}

refused_spans refused_in(std::string_view response) {
  refused_spans out;
  const auto document = json::document::parse(response);
  if (!document) return out;
  const auto whole = document->root().as_object("");
  if (!whole) return out;
  const auto partial = whole->find_object("partialSuccess");
  if (!partial || !*partial) return out;
  out.count = count_in(**partial, "rejectedSpans");
  if (const auto why = (*partial)->find_string("errorMessage"); why && *why) out.why = (*why)->substr(0, longest_reason);
  // It goes into a line of a log.
  for (char& c : out.why)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

}  // namespace hondana::otlp
