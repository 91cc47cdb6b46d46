/// Reads the whole configuration file, including the tables [limits] and [sandbox].
#include "sources/config/settings.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/match/suggestion.hpp"
#include "server/gate/operation_names.hpp"
#include "sources/config/auth_settings.hpp"
#include "sources/config/observability_settings.hpp"
#include "sources/config/search_settings.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr double max_per_second = 1e9;
constexpr std::int64_t max_callers = 10'000'000;
constexpr std::int64_t max_calls = 1024;
constexpr std::int64_t max_waiting = 1'000'000;
constexpr std::int64_t max_ms = 86'400'000;
constexpr std::array<std::pair<std::string_view, sandbox_mode>, 3> sandbox_modes{
    {{"auto", sandbox_mode::best_effort}, {"required", sandbox_mode::required}, {"off", sandbox_mode::off}}};

/// Sets a quota as configured. Keys that are 0: no limit, and the burst that fits the rate. A rate without a burst gets the
/// burst that fits it, not that of the default rate.
void set_quota(std::optional<rate_quota>& target, std::optional<double> rate, std::optional<double> burst) {
  if (rate == 0) target.reset();
  if (rate > 0) target = rate_quota{*rate};
  if (!target || !burst) return;
  target->burst = *burst > 0 ? burst : std::nullopt;
}

void read_rate(table_reader& reader, const std::string& name, std::optional<rate_quota>& target) {
  std::optional<double> rate;
  std::optional<double> burst;
  reader.number(name + "_per_second", 0, max_per_second, rate);
  reader.number(name + "_burst", 0, max_per_second, burst);
  set_quota(target, rate, burst);
}

void read_bytes(table_reader& reader, std::optional<rate_quota>& target) {
  std::optional<double> rate;
  std::optional<double> burst;
  reader.bytes("bytes_per_second", rate);
  reader.bytes("bytes_burst", burst);
  set_quota(target, rate, burst);
}

result<rate_quotas> read_rates(section table, rate_quotas quotas) {
  table_reader reader(table);
  read_rate(reader, "requests", quotas.requests);
  read_bytes(reader, quotas.bytes);
  read_rate(reader, "completions", quotas.completions);
  HONDANA_TRY(reader.finish());
  return quotas;
}

result<decltype(server_limits::call_timeouts)> read_call_timeouts(section table) {
  decltype(server_limits::call_timeouts) timeouts;
  HONDANA_TRY(auto entries, table.integers_by_name(1, max_ms));
  for (auto& [method, ms] : entries) {
    if (!gate::is_method(method)) {
      return tl::unexpected(table.error_at(
          method, "is not a method that can have a timeout" + match::suggest_known(method, gate::known_methods())));
    }
    timeouts.insert_or_assign(std::move(method), std::chrono::milliseconds(ms));
  }
  return timeouts;
}

}  // namespace

result<server_limits> read_limits(section table) {
  server_limits limits;
  table_reader reader(table);
  reader.milliseconds("total_timeout_ms", limits.total_timeout, 1, max_ms);
  reader.integer("max_tracked_callers", 1, max_callers, limits.max_tracked_callers);
  reader.boolean("include_loopback", limits.limits_loopback);
  for (const auto& [key, quotas] : {std::pair("identity", &limits.per_identity), std::pair("address", &limits.per_address)})
    reader.subtable(key, [quotas](section rates) { return read_rates(std::move(rates), *quotas); }, *quotas);
  reader.subtable("call_timeouts_ms", read_call_timeouts, limits.call_timeouts);
  HONDANA_TRY(reader.finish());
  return limits;
}

result<source_limits> read_source_limits(section& table) {
  source_limits limits;
  table_reader reader(table);
  reader.integer("max_concurrency", 1, max_calls, limits.max_concurrency);
  reader.integer("max_queued_calls", 1, max_waiting, limits.max_queued_calls);
  reader.integer("max_calls_per_caller", 1, max_calls, limits.max_calls_per_caller);
  reader.milliseconds("call_timeout_ms", limits.call_timeout, 1, max_ms);
  HONDANA_TRY(reader.first_error());
  return limits;
}

std::optional<sandbox_mode> parse_sandbox_mode(std::string_view name) noexcept {
  for (const auto& [text, mode] : sandbox_modes)
    if (text == name) return mode;
  return {};
}

result<sandbox_settings> read_sandbox(section table) {
  sandbox_settings sandbox;
  table_reader reader(table);
  reader.choice("mode", sandbox_modes, sandbox.mode);
  std::vector<std::string> folders;
  reader.strings("folders", folders);
  for (const auto& folder : folders) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(table.resolve_path(folder), error);
    if (folder.empty() || folder.find('\0') != std::string::npos || error)
      reader.add_error_at("folders", "expected paths of folders");
    sandbox.folders.push_back(absolute.lexically_normal().string());
  }
  HONDANA_TRY(reader.finish());
  return sandbox;
}

namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

result<std::chrono::milliseconds> read_stdio(section table) {
  auto timeout = settings{}.stdio_drain_timeout;
  table_reader reader(table);
  reader.milliseconds("drain_timeout_ms", timeout);
  HONDANA_TRY(reader.finish());
  return timeout;
}

void read_sources(table_reader& reader, std::vector<source>& sources) {
  for (auto& table : reader.subtables("source")) {
    std::string type;
    reader.assign(table.string("type"), type);
    if (type.empty())
      reader.add_error(table.error_at("type", "missing; say which kind of source this is, e.g. type = \"files\""));
    sources.push_back({std::move(type), std::move(table)});
  }
}

/// Why a link cannot be served; empty if it can. Never contains the address, which may include a password.
std::optional<std::string> find_link_error(const std::optional<std::string>& uri) {
  const std::string remedy = " Give the https:// address that clients should fetch, e.g. uri = \"https://example.com/manual\"";
  if (!uri || uri->empty()) return "missing." + remedy;
  const auto scheme = ascii::to_lower(split_uri(*uri).scheme);
  if (scheme == "http") {
    return "begins with http://, which others on the network could read and change. Write https://";
  }
  if (scheme != "https") return "does not begin with https://; other schemes are served by sources." + remedy;
  const auto canonical = canonical_uri(*uri);
  return canonical ? std::nullopt : std::optional(canonical.error().public_text);
}

result<resource> read_link(section table) {
  resource link;
  table_reader reader(table);
  const auto uri = reader.string("uri");
  reader.string("name", link.name);
  reader.string("title", link.title);
  reader.string("description", link.description);
  reader.string("mime_type", link.mime_type);
  reader.number("priority", 0.0, 1.0, link.annotations.priority);
  const auto error = find_link_error(uri);
  if (error) reader.add_error_at("uri", *error);
  HONDANA_TRY(reader.finish());
  link.uri = *canonical_uri(*uri);
  if (link.name.empty()) link.name = link.uri;
  return link;
}

}  // namespace

failure settings::error_at(std::string_view key, std::string_view message) const {
  if (root_table) return root_table->error_at_path(key, message);
  return {errc::invalid_argument, std::string(key) + ": " + std::string(message), {}};
}

result<settings> parse(std::string_view text, const std::string& file) {
  HONDANA_TRY(auto root, parse_toml(text, file));
  settings configuration;
  configuration.root_table = root;
  table_reader reader(root);
  reader.string("name", configuration.name);
  reader.string("title", configuration.title);
  reader.string("instructions", configuration.instructions);
  reader.boolean("tools", configuration.has_resource_tools);
  reader.integer("page_size", 1, 10'000, configuration.page_size);
  reader.bytes("max_read_bytes", configuration.max_read_bytes);
  reader.bytes("read_cache_bytes", configuration.read_cache_bytes);
  reader.bytes("page_cache_bytes", configuration.page_cache_bytes);
  reader.boolean("list_changes", configuration.supports_list_changes);
  reader.boolean("subscriptions", configuration.supports_subscriptions);
  reader.milliseconds("call_timeout_ms", configuration.call_timeout);
  reader.milliseconds("stall_timeout_ms", configuration.stall_timeout);
  reader.subtable("http", read_http, configuration.http);
  reader.subtable("stdio", read_stdio, configuration.stdio_drain_timeout);
  const auto read_callers = [&configuration](section table) {
    return read_auth(std::move(table), configuration.scopes, configuration.scope_tables);
  };
  reader.subtable("auth", read_callers, configuration.auth);
  reader.subtable("sandbox", read_sandbox, configuration.sandbox);
  reader.subtable("audit", read_audit, configuration.audit);
  reader.subtable("tracing", read_tracing, configuration.tracing);
  reader.subtable("search", read_search, configuration.search);
  const auto read_rules = [&configuration](section table) {
    return read_access(std::move(table), configuration.access_tables);
  };
  reader.subtable("access", read_rules, configuration.access);
  reader.subtable("limits", read_limits, configuration.limits);
  read_sources(reader, configuration.sources);
  for (auto& table : reader.subtables("link")) {
    auto link = read_link(std::move(table));
    if (link) {
      configuration.links.push_back(std::move(*link));
    } else {
      reader.add_error(std::move(link.error()));
    }
  }
  HONDANA_TRY(reader.finish());
  return configuration;
}

result<settings> load(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) {
    return fail(errc::invalid_argument, "Cannot open the configuration file " + path + ": " + std::strerror(errno) +
                                            ". Check the path after --config.");
  }
  std::string text(max_file_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return fail(errc::invalid_argument, "Cannot read the configuration file " + path + ": " + std::strerror(errno) +
                                            ". Check the path after --config.");
  }
  if (text.size() > max_file_bytes) {
    return fail(errc::invalid_argument, "The configuration file " + path + " has more than 1 MiB, the limit.");
  }
  return parse(text, path);
}

}  // namespace hondana::config
