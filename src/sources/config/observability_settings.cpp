/// The tables [audit] and [tracing]: the audit log and the export of traces.
#include "sources/config/observability_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr std::uint64_t min_file_bytes = 4096;
constexpr std::size_t min_buffer_bytes = 64 * 1024;

}  // namespace

result<audit_file_options> read_audit(section table) {
  audit_file_options options;
  table_reader reader(table);
  reader.string("path", options.path);
  reader.bytes("max_file_bytes", options.max_bytes);
  reader.integer("max_old_files", 0, 100'000, options.max_old_files);
  if (options.max_old_files == 0) options.max_old_files.reset();
  reader.milliseconds("sync_interval_ms", options.sync_interval);
  reader.integer("max_unsynced_records", 1, 1'000'000, options.max_unsynced_records);
  reader.bytes("buffer_bytes", options.buffer_bytes);
  // "refuse" rejects requests that cannot be recorded.
  constexpr std::array<std::pair<std::string_view, bool>, 2> reactions{{{"refuse", false}, {"serve", true}}};
  reader.choice("when_full", reactions, options.serves_when_full);
  if (options.path.empty() || options.path.ends_with('/')) {
    reader.add_error_at("path", "missing; name the file for the record, e.g. path = \"/var/log/hondana/audit.jsonl\"");
  } else {
    options.path = reader.absolute_path("path", options.path);
  }
  if (options.max_bytes < min_file_bytes) reader.add_error_at("max_file_bytes", "expected at least 4KiB");
  if (options.buffer_bytes < min_buffer_bytes) reader.add_error_at("buffer_bytes", "expected at least 64KiB");
  HONDANA_TRY(reader.finish());
  return options;
}

namespace {

constexpr std::string_view traces_path = "/v1/traces";
constexpr std::int64_t max_timeout_ms = 600'000;  // milliseconds

tl::unexpected<failure> variable_error(std::string_view name, std::string_view message) {
  return fail(errc::invalid_argument, "The environment variable " + std::string(name) + ": " + std::string(message));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The fraction of requests that are traced. Spec: OpenTelemetry, general SDK configuration.
result<double> parse_sample_ratio(const std::string& sampler, const std::string& argument) {
  if (sampler.empty() || sampler == "always_on" || sampler == "parentbased_always_on") return 1;
  if (sampler == "always_off" || sampler == "parentbased_always_off") return 0;
  if (sampler != "traceidratio" && sampler != "parentbased_traceidratio")
    return variable_error("OTEL_TRACES_SAMPLER",
                          "expected always_on, always_off or traceidratio, with or without parentbased_");
  if (argument.empty()) return 1;
  const auto ratio = parse_number<double>(argument);
  if (!ratio || !(*ratio >= 0 && *ratio <= 1)) return variable_error("OTEL_TRACES_SAMPLER_ARG", "expected a ratio from 0 to 1");
  return *ratio;
}

}  // namespace

std::string traces_url(std::string base) {
  const auto question = std::min(base.find('?'), base.size());
  const auto query = base.substr(question);
  base.resize(question);
  while (base.ends_with('/')) base.pop_back();
  if (!base.ends_with(traces_path)) base += traces_path;
  return base + query;
}

bool is_equivalent(const std::optional<tracing_options>& left, const std::optional<tracing_options>& right) {
  if (!left || !right) return left.has_value() == right.has_value();
  return left->url == right->url && left->headers == right->headers && left->bearer_file == right->bearer_file &&
         left->sample_ratio == right->sample_ratio && left->timeout == right->timeout &&
         left->service_name == right->service_name;
}

result<tracing_options> read_tracing(section table) {
  tracing_options options;
  table_reader reader(table);
  auto base = reader.string("endpoint").value_or("");
  options.headers = reader.strings_by_name("headers");
  reader.text("bearer_file", options.bearer_file);
  reader.number("sample_ratio", 0, 1, options.sample_ratio);
  reader.milliseconds("timeout_ms", options.timeout);
  reader.string("service_name", options.service_name);
  if (base.empty())
    reader.add_error_at("endpoint", "missing; name the collector's address, e.g. endpoint = \"http://localhost:4318\"");
  if (options.service_name.empty()) reader.add_error_at("service_name", "expected a name");
  if (options.bearer_file) options.bearer_file = reader.absolute_path("bearer_file", *options.bearer_file);
  HONDANA_TRY(reader.finish());
  options.url = traces_url(std::move(base));
  return options;
}

result<std::optional<tracing_options>> read_tracing_environment(
    const std::function<std::string(const char* name)>& get_variable) {
  const auto first_set = [&get_variable](const char* first, const char* second) {
    auto value = get_variable(first);
    return value.empty() ? get_variable(second) : value;
  };
  tracing_options options;
  // This variable is used unchanged. Spec: OTLP exporter, endpoint URLs for OTLP/HTTP.
  options.url = get_variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (auto base = get_variable("OTEL_EXPORTER_OTLP_ENDPOINT"); options.url.empty() && !base.empty())
    options.url = traces_url(std::move(base));
  const auto exporter = get_variable("OTEL_TRACES_EXPORTER");
  const auto is_disabled =
      ascii::equals_ignore_case(get_variable("OTEL_SDK_DISABLED"), "true") || !(exporter.empty() || exporter == "otlp");
  if (options.url.empty() || is_disabled) return std::optional<tracing_options>();
  if (first_set("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc")
    return variable_error("OTEL_EXPORTER_OTLP_PROTOCOL", "traces are sent by HTTP only; give the collector's HTTP address");
  if (auto name = get_variable("OTEL_SERVICE_NAME"); !name.empty()) options.service_name = std::move(name);
  if (const auto text = first_set("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"); !text.empty()) {
    const auto timeout_ms = parse_number<std::int64_t>(text);
    if (!timeout_ms || *timeout_ms < 1 || *timeout_ms > max_timeout_ms)
      return variable_error("OTEL_EXPORTER_OTLP_TIMEOUT", "expected milliseconds");
    options.timeout = std::chrono::milliseconds(*timeout_ms);
  }
  auto ratio = parse_sample_ratio(get_variable("OTEL_TRACES_SAMPLER"), get_variable("OTEL_TRACES_SAMPLER_ARG"));
  if (!ratio) return tl::unexpected(std::move(ratio.error()));
  options.sample_ratio = *ratio;
  return std::optional(std::move(options));
}

}  // namespace hondana::config
