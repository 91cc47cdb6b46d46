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

constexpr std::uint64_t least_file = 4096;
constexpr std::size_t least_buffer = 64 * 1024;

}  // namespace

result<audit_file_options> read_audit(section from) {
  audit_file_options out;
  collector errors;
  std::string path;
  std::string when_full = "refuse";
  errors.take(from.string("path"), path);
  errors.take(from.bytes("max_file"), out.max_bytes);
  errors.take(from.integer("keep", 0, 100'000), out.keep);
  errors.take_time(from, "sync_ms", out.sync_every);
  errors.take(from.integer("sync_records", 1, 1'000'000), out.sync_records);
  errors.take(from.bytes("buffer"), out.buffer);
  errors.take(from.string("when_full"), when_full);
  if (path.empty() || path.ends_with('/')) {
    errors.note(from.wrong("path", "missing; name the file for the record, e.g. path = \"/var/log/hondana/audit.jsonl\""));
  }
  if (out.max_bytes < least_file) errors.note(from.wrong("max_file", "expected at least 4KiB"));
  if (out.buffer < least_buffer) errors.note(from.wrong("buffer", "expected at least 64KiB"));
  if (when_full != "refuse" && when_full != "serve") {
    errors.note(from.wrong("when_full", "expected \"refuse\" (reject requests that cannot be recorded) or \"serve\""));
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  std::error_code problem;
  out.path = std::filesystem::absolute(from.path_from(path), problem).lexically_normal().string();
  if (problem) return tl::unexpected(from.wrong("path", "cannot be made absolute: " + problem.message()));
  out.serves_when_full = when_full == "serve";
  return out;
}

namespace {

constexpr std::string_view traces_path = "/v1/traces";
constexpr std::int64_t longest_time = 600'000;  // milliseconds

tl::unexpected<failure> wrong_variable(std::string_view name, std::string_view what) {
  return fail(errc::invalid_argument, "The environment variable " + std::string(name) + ": " + std::string(what));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number out{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// The fraction of requests that are traced. Spec: OpenTelemetry, general SDK configuration.
result<double> sample_by(const std::string& sampler, const std::string& argument) {
  if (sampler.empty() || sampler == "always_on" || sampler == "parentbased_always_on") return 1;
  if (sampler == "always_off" || sampler == "parentbased_always_off") return 0;
  if (sampler != "traceidratio" && sampler != "parentbased_traceidratio")
    return wrong_variable("OTEL_TRACES_SAMPLER",
                          "expected always_on, always_off or traceidratio, with or without parentbased_");
  if (argument.empty()) return 1;
  const auto part = number_in<double>(argument);
  if (!part || !(*part >= 0 && *part <= 1)) return wrong_variable("OTEL_TRACES_SAMPLER_ARG", "expected a ratio from 0 to 1");
  return *part;
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

bool says_the_same(const std::optional<tracing_options>& one, const std::optional<tracing_options>& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  return one->url == other->url && one->headers == other->headers && one->bearer_file == other->bearer_file &&
         one->sample == other->sample && one->timeout == other->timeout && one->service_name == other->service_name;
}

result<tracing_options> read_tracing(section from) {
  tracing_options out;
  collector errors;
  std::string base;
  errors.take(from.string("endpoint"), base);
  if (auto headers = from.strings_by_name("headers")) {
    out.headers = std::move(*headers);
  } else {
    errors.note(std::move(headers.error()));
  }
  errors.take(from.string("bearer_file"), out.bearer_file);
  errors.take(from.number("sample", 0, 1), out.sample);
  errors.take_time(from, "timeout_ms", out.timeout);
  errors.take(from.string("service_name"), out.service_name);
  if (base.empty())
    errors.note(from.wrong("endpoint", "missing; name the collector's address, e.g. endpoint = \"http://localhost:4318\""));
  if (out.service_name.empty()) errors.note(from.wrong("service_name", "expected a name"));
  if (!out.bearer_file.empty()) {
    std::error_code problem;
    out.bearer_file = std::filesystem::absolute(from.path_from(out.bearer_file), problem).lexically_normal().string();
    if (problem) errors.note(from.wrong("bearer_file", "cannot be made absolute: " + problem.message()));
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  out.url = traces_url(std::move(base));
  return out;
}

result<std::optional<tracing_options>> tracing_by(const std::function<std::string(const char* name)>& variable) {
  const auto either = [&variable](const char* first, const char* then) {
    auto out = variable(first);
    return out.empty() ? variable(then) : out;
  };
  tracing_options out;
  // This variable is used unchanged. Spec: OTLP exporter, endpoint URLs for OTLP/HTTP.
  out.url = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (auto base = variable("OTEL_EXPORTER_OTLP_ENDPOINT"); out.url.empty() && !base.empty())
    out.url = traces_url(std::move(base));
  const auto exporter = variable("OTEL_TRACES_EXPORTER");
  const auto is_off = ascii::is_same(variable("OTEL_SDK_DISABLED"), "true") || !(exporter.empty() || exporter == "otlp");
  if (out.url.empty() || is_off) return std::optional<tracing_options>();
  if (either("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc")
    return wrong_variable("OTEL_EXPORTER_OTLP_PROTOCOL", "traces are sent by HTTP only; give the collector's HTTP address");
  if (auto name = variable("OTEL_SERVICE_NAME"); !name.empty()) out.service_name = std::move(name);
  if (const auto text = either("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"); !text.empty()) {
    const auto time = number_in<std::int64_t>(text);
    if (!time || *time < 1 || *time > longest_time)
      return wrong_variable("OTEL_EXPORTER_OTLP_TIMEOUT", "expected milliseconds");
    out.timeout = std::chrono::milliseconds(*time);
  }
  auto sample = sample_by(variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"));
  if (!sample) return tl::unexpected(std::move(sample.error()));
  out.sample = *sample;
  return std::optional(std::move(out));
}

}  // namespace hondana::config
