/// Reads the whole configuration file, including the tables [limits] and [sandbox].
#include "sources/config/settings.hpp"

#include <algorithm>
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

/// A rate without a burst gets the burst that fits it, not that of the default rate.
void read_rate(section& table, const std::string& name, rate_quota& target, error_collector& errors) {
  std::optional<double> value;
  errors.assign(table.number(name, 0, max_per_second), value);
  if (value) target = {*value, 0};
  errors.assign(table.number(name + "_burst", 0, max_per_second), target.burst);
}

void read_bytes(section& table, rate_quota& target, error_collector& errors) {
  std::optional<std::uint64_t> value;
  errors.assign(table.bytes("bytes"), value);
  if (value) target = {static_cast<double>(*value), 0};
  errors.assign(table.bytes("bytes_burst"), target.burst);
}

void read_rates(section table, rate_quotas& target, error_collector& errors) {
  read_rate(table, "requests", target.requests, errors);
  read_bytes(table, target.bytes, errors);
  read_rate(table, "completions", target.completions, errors);
  errors.check(table.finish());
}

}  // namespace

result<server_limits> read_limits(section table) {
  server_limits limits;
  error_collector errors;
  auto total_ms = limits.total_timeout.count();
  errors.assign(table.integer("longest_call_ms", 1, max_ms), total_ms);
  limits.total_timeout = std::chrono::milliseconds(total_ms);
  errors.assign(table.integer("callers", 1, max_callers), limits.max_tracked_callers);
  errors.assign(table.boolean("count_loopback"), limits.limits_loopback);
  std::optional<section> subtable;
  errors.assign(table.subsection("identity"), subtable);
  if (subtable) read_rates(std::move(*subtable), limits.per_identity, errors);
  subtable.reset();
  errors.assign(table.subsection("address"), subtable);
  if (subtable) read_rates(std::move(*subtable), limits.per_address, errors);
  subtable.reset();
  errors.assign(table.subsection("deadlines_ms"), subtable);
  if (subtable) {
    auto timeouts = subtable->integers_by_name(1, max_ms);
    if (!timeouts) {
      errors.add(std::move(timeouts.error()));
    } else {
      for (auto& [method, ms] : *timeouts) {
        if (!gate::is_method(method)) {
          errors.add(subtable->error_at(method, "is not a method with a deadline. Write for example \"resources/read\""));
        }
        limits.call_timeouts.insert_or_assign(std::move(method), std::chrono::milliseconds(ms));
      }
    }
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return limits;
}

result<source_limits> read_source_limits(section& table) {
  source_limits limits;
  error_collector errors;
  errors.assign(table.integer("concurrency", 1, max_calls), limits.max_concurrency);
  errors.assign(table.integer("waiting", 1, max_waiting), limits.max_queued_calls);
  errors.assign(table.integer("per_caller", 1, max_calls), limits.max_calls_per_caller);
  std::int64_t timeout_ms = 0;
  errors.assign(table.integer("deadline_ms", 1, max_ms), timeout_ms);
  limits.call_timeout = std::chrono::milliseconds(timeout_ms);
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return limits;
}

std::optional<sandbox_mode> parse_sandbox_mode(std::string_view name) noexcept {
  if (name == "auto") return sandbox_mode::best_effort;
  if (name == "required") return sandbox_mode::required;
  if (name == "off") return sandbox_mode::off;
  return {};
}

result<sandbox_settings> read_sandbox(section table) {
  sandbox_settings sandbox;
  error_collector errors;
  std::optional<std::string> mode;
  errors.assign(table.string("mode"), mode);
  if (mode) {
    if (const auto parsed = parse_sandbox_mode(*mode)) {
      sandbox.mode = *parsed;
    } else {
      errors.add(table.error_at("mode", "expected \"auto\", \"required\" or \"off\""));
    }
  }
  auto folders = table.strings("folders");
  if (!folders) {
    errors.add(std::move(folders.error()));
  } else {
    for (const auto& folder : *folders) {
      std::error_code error;
      const auto absolute = std::filesystem::absolute(table.resolve_path(folder), error);
      if (folder.empty() || folder.find('\0') != std::string::npos || error)
        errors.add(table.error_at("folders", "expected paths of folders"));
      sandbox.folders.push_back(absolute.lexically_normal().string());
    }
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return sandbox;
}

namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

template <class Reader, class Target>
void read_table(section& root, std::string_view name, Reader read, Target& target, error_collector& errors) {
  std::optional<section> table;
  errors.assign(root.subsection(name), table);
  if (!table) return;
  if (auto value = read(std::move(*table))) {
    target = std::move(*value);
  } else {
    errors.add(std::move(value.error()));
  }
}

result<std::chrono::milliseconds> read_stdio(section table) {
  auto timeout = settings{}.stdio_drain_timeout;
  error_collector errors;
  errors.assign_time(table, "drain_ms", timeout);
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return timeout;
}

void read_sources(section& root, std::vector<source>& sources, error_collector& errors) {
  auto tables = root.sections("source");
  if (!tables) return errors.add(std::move(tables.error()));
  for (auto& table : *tables) {
    std::string type;
    errors.assign(table.string("type"), type);
    if (type.empty()) errors.add(table.error_at("type", "missing; say which kind of source this is, e.g. type = \"files\""));
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

void read_link(section& table, std::vector<resource>& links, error_collector& errors) {
  resource link;
  std::optional<std::string> uri;
  errors.assign(table.string("uri"), uri);
  errors.assign(table.string("name"), link.name);
  errors.assign(table.string("title"), link.title);
  errors.assign(table.string("description"), link.description);
  errors.assign(table.string("mimeType"), link.mime_type);
  auto priority = table.number("priority", 0.0, 1.0);
  if (!priority) {
    errors.add(std::move(priority.error()));
  } else {
    link.annotations.priority = *priority;
  }
  errors.check(table.finish());
  if (auto error = find_link_error(uri)) return errors.add(table.error_at("uri", *error));
  link.uri = *canonical_uri(*uri);
  if (link.name.empty()) link.name = link.uri;
  links.push_back(std::move(link));
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
  error_collector errors;
  errors.assign(root.string("name"), configuration.name);
  errors.assign(root.string("title"), configuration.title);
  errors.assign(root.string("instructions"), configuration.instructions);
  errors.assign(root.boolean("tools"), configuration.has_resource_tools);
  errors.assign(root.integer("page_size", 1, 10'000), configuration.page_size);
  errors.assign(root.bytes("read_limit"), configuration.max_read_bytes);
  errors.assign(root.bytes("read_cache"), configuration.read_cache_bytes);
  errors.assign(root.bytes("page_cache"), configuration.page_cache_bytes);
  errors.assign(root.boolean("announce_lists"), configuration.supports_list_changes);
  errors.assign(root.boolean("announce_contents"), configuration.supports_subscriptions);
  errors.assign_time(root, "call_deadline_ms", configuration.call_timeout);
  errors.assign_time(root, "stall_limit_ms", configuration.stall_timeout);
  read_table(root, "http", read_http, configuration.http, errors);
  read_table(root, "stdio", read_stdio, configuration.stdio_drain_timeout, errors);
  std::optional<section> auth;
  errors.assign(root.subsection("auth"), auth);
  if (auth) {
    auto parsed = read_auth(std::move(*auth), configuration.scopes, configuration.scope_tables);
    if (parsed) {
      configuration.auth = std::move(*parsed);
    } else {
      errors.add(std::move(parsed.error()));
    }
  }
  read_table(root, "sandbox", read_sandbox, configuration.sandbox, errors);
  read_table(root, "audit", read_audit, configuration.audit, errors);
  read_table(root, "tracing", read_tracing, configuration.tracing, errors);
  read_table(root, "search", read_search, configuration.search, errors);
  const auto read_rules = [&configuration](section table) {
    return read_access(std::move(table), configuration.access_tables);
  };
  read_table(root, "access", read_rules, configuration.access, errors);
  read_table(root, "limits", read_limits, configuration.limits, errors);
  read_sources(root, configuration.sources, errors);
  auto links = root.sections("link");
  if (!links) {
    errors.add(std::move(links.error()));
  } else {
    for (auto& table : *links) read_link(table, configuration.links, errors);
  }
  errors.check(root.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
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
