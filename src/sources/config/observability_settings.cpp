/// The tables [audit] and [tracing]: the audit log and the export of traces.
#include "sources/config/observability_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
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
  error_collector errors;
  std::string path;
  std::string when_full = "refuse";
  errors.assign(table.string("path"), path);
  errors.assign(table.bytes("max_file"), options.max_bytes);
  errors.assign(table.integer("keep", 0, 100'000), options.max_old_files);
  errors.assign_time(table, "sync_ms", options.sync_interval);
  errors.assign(table.integer("sync_records", 1, 1'000'000), options.max_unsynced_records);
  errors.assign(table.bytes("buffer"), options.buffer_bytes);
  errors.assign(table.string("when_full"), when_full);
  if (path.empty() || path.ends_with('/')) {
    errors.add(table.error_at("path", "missing; name the file for the record, e.g. path = \"/var/log/hondana/audit.jsonl\""));
  }
  if (options.max_bytes < min_file_bytes) errors.add(table.error_at("max_file", "expected at least 4KiB"));
  if (options.buffer_bytes < min_buffer_bytes) errors.add(table.error_at("buffer", "expected at least 64KiB"));
  if (when_full != "refuse" && when_full != "serve") {
    errors.add(table.error_at("when_full", "expected \"refuse\" (reject requests that cannot be recorded) or \"serve\""));
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  std::error_code error;
  options.path = std::filesystem::absolute(table.resolve_path(path), error).lexically_normal().string();
  if (error) return tl::unexpected(table.error_at("path", "cannot be made absolute: " + error.message()));
  options.serves_when_full = when_full == "serve";
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
  error_collector errors;
  std::string base;
  errors.assign(table.string("endpoint"), base);
  if (auto headers = table.strings_by_name("headers")) {
    options.headers = std::move(*headers);
  } else {
    errors.add(std::move(headers.error()));
  }
  errors.assign(table.string("bearer_file"), options.bearer_file);
  errors.assign(table.number("sample", 0, 1), options.sample_ratio);
  errors.assign_time(table, "timeout_ms", options.timeout);
  errors.assign(table.string("service_name"), options.service_name);
  if (base.empty())
    errors.add(table.error_at("endpoint", "missing; name the collector's address, e.g. endpoint = \"http://localhost:4318\""));
  if (options.service_name.empty()) errors.add(table.error_at("service_name", "expected a name"));
  if (!options.bearer_file.empty()) {
    std::error_code error;
    options.bearer_file = std::filesystem::absolute(table.resolve_path(options.bearer_file), error).lexically_normal().string();
    if (error) errors.add(table.error_at("bearer_file", "cannot be made absolute: " + error.message()));
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
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
