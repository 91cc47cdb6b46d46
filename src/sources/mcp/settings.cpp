/// Reads the [[source]] table of a mounted MCP server.
#include "sources/mcp/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ignore/glob.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::mcp {
namespace {

constexpr std::string_view variable_start = "${env:";
constexpr std::size_t max_name_bytes = 64;
/// The protocol revisions that the client supports. A source cannot ask the codecs.
constexpr std::array<std::string_view, 5> known_revisions{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

bool is_slug(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes && name.front() != '-' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Whether a text is a field name. Spec: RFC 9110 section 5.6.2.
bool is_token(std::string_view name) {
  constexpr std::string_view punctuation = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [punctuation](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           punctuation.find(c) != std::string_view::npos;
  });
}

using pairs = std::vector<std::pair<std::string, std::string>>;

/// Replaces variables in the value of `key`, and records errors.
void expand_in_place(config::table_reader& reader, std::string_view key, const environment_lookup& lookup, std::string& text) {
  auto expanded = expand_variables(text, lookup);
  if (!expanded) return reader.add_error_at(key, expanded.error().public_text);
  text = std::move(*expanded);
}

pairs read_pairs(config::table_reader& reader, std::string_view key, const environment_lookup& lookup) {
  auto entries = reader.strings_by_name(key);
  for (auto& [name, text] : entries) expand_in_place(reader, key, lookup, text);
  return entries;
}

std::optional<child_target> read_child(config::table_reader& reader, const environment_lookup& lookup) {
  child_target child;
  reader.strings("command", child.command);
  child.environment = read_pairs(reader, "environment", lookup);
  const auto folder = reader.string("working_directory");
  if (child.command.empty()) {
    if (folder) reader.add_error_at("working_directory", "is only for a server with a command");
    if (!child.environment.empty()) reader.add_error_at("environment", "is only for a server with a command");
    return {};
  }
  for (auto& argument : child.command) {
    expand_in_place(reader, "command", lookup, argument);
    if (argument.find('\0') != std::string::npos) reader.add_error_at("command", "contains a NUL");
  }
  auto& program = child.command.front();
  if (program.empty()) reader.add_error_at("command", "expected a program first, such as [\"npx\", \"-y\", \"some-server\"]");
  if (program.find('/') != std::string::npos) program = reader.resolve_path(program);
  for (const auto& [name, text] : child.environment) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos;
    if (!is_name || text.find('\0') != std::string::npos)
      reader.add_error_at("environment", "\"" + name + "\" is not a variable name, or its value contains a NUL");
  }
  if (folder) child.working_directory = reader.resolve_path(*folder);
  return child;
}

/// Reads the PEM files for TLS to a URL.
void read_certificates(config::table_reader& reader, http_target& target, bool is_url) {
  for (const auto& [key, output] :
       {std::pair("ca_file", &target.ca_file), std::pair("certificate_file", &target.certificate_file),
        std::pair("key_file", &target.key_file)}) {
    if (!is_url && reader.has(key)) reader.add_error_at(key, "is only for a server with a url");
    reader.file(key, *output, "PEM file");
  }
  if (target.key_file && !target.certificate_file) reader.add_error_at("certificate_file", "missing; key_file requires it");
}

std::optional<http_target> read_http(config::table_reader& reader, const environment_lookup& lookup) {
  auto url = reader.string("url");
  const auto socket = reader.string("socket");
  http_target target;
  target.headers = read_pairs(reader, "headers", lookup);
  read_certificates(reader, target, url.has_value());
  if (!url) {
    if (socket) reader.add_error_at("socket", "is only for a server with a url, such as \"http://localhost/mcp\"");
    if (!target.headers.empty()) reader.add_error_at("headers", "is only for a server with a url");
    return {};
  }
  expand_in_place(reader, "url", lookup, *url);
  const auto parts = split_uri(*url);
  const bool is_web = (parts.scheme == "http" || parts.scheme == "https") && parts.authority && !parts.authority->empty();
  if (!is_web || has_control(*url)) reader.add_error_at("url", "expected an address such as \"https://host/mcp\"");
  if (parts.authority && parts.authority->find('@') != std::string_view::npos)
    reader.add_error_at("url", "contains a user name or password; put credentials into headers");
  for (const auto& [name, text] : target.headers) {
    if (!is_token(name) || has_control(text))
      reader.add_error_at("headers", "\"" + name + "\" is not a header name, or its value has a control character");
  }
  target.url = std::move(*url);
  if (socket) target.socket_path = reader.resolve_path(*socket);
  return target;
}

/// What is wrong with a name; empty if it is valid.
std::string name_error(std::string_view name) {
  if (name.empty()) return "missing; write a name of a-z, 0-9 and -";
  if (is_slug(name)) return {};
  return "expected at most " + std::to_string(max_name_bytes) + " characters of a-z, 0-9 and -, and no - at the start";
}

std::string prefix_error(const std::string& prefix) {
  const auto canonical = canonical_uri(prefix);
  if (!canonical) return "expected a URI such as \"mcp://team/\": " + canonical.error().public_text;
  if (canonical->find_first_of("?#") != std::string::npos)
    return "expected a URI without ? and #, ending in /, such as \"mcp://team/\"";
  if (*canonical == prefix && prefix.ends_with('/')) return {};
  return "write it as \"" + *canonical + (canonical->ends_with('/') ? "\"" : "/\"");
}

std::string pattern_error(const std::string& pattern) {
  const auto compiled = ignore::glob::for_path(pattern);
  return compiled.error().empty() ? "" : '"' + pattern + "\" matches nothing: it has " + std::string(compiled.error());
}

void read_name_and_prefix(config::table_reader& reader, mcp_settings& settings) {
  const auto name = reader.string("name");
  const auto prefix = reader.string("prefix");
  if (!name) return reader.add_error_at("name", name_error(""));
  if (!is_slug(*name)) return reader.add_error_at("name", name_error(name->empty() ? "/" : *name));
  settings.name = *name;
  settings.prefix = prefix.value_or("mcp://" + settings.name + '/');
  if (const auto error = prefix_error(*settings.prefix); !error.empty()) reader.add_error_at("prefix", error);
}

void read_patterns(config::table_reader& reader, std::string_view key, std::vector<std::string>& output) {
  reader.strings(key, output);
  for (const auto& pattern : output) {
    if (const auto error = pattern_error(pattern); !error.empty()) reader.add_error_at(key, error);
  }
}

void read_revision(config::table_reader& reader, const config::section& section, std::optional<std::string>& target) {
  reader.text("revision", target);
  if (target && std::find(known_revisions.begin(), known_revisions.end(), *target) == known_revisions.end())
    reader.add_error(section.unknown_value("revision", *target, known_revisions));
}

void read_limits(config::table_reader& reader, mcp_settings& settings) {
  reader.milliseconds("timeout_ms", settings.call_timeout);
  reader.milliseconds("list_timeout_ms", settings.list_timeout);
  reader.milliseconds("list_ttl_ms", settings.list_ttl);
  reader.integer("max_entries", 1, 1'000'000, settings.max_entries);
  reader.integer("max_templates", 0, 10'000, settings.max_templates);
  reader.bytes("max_read_bytes", settings.max_read_bytes);
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // called before other threads could change the environment
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

result<std::string> expand_variables(std::string_view text, const environment_lookup& lookup) {
  std::string expanded;
  while (true) {
    const auto start = text.find(variable_start);
    expanded += text.substr(0, start);
    if (start == std::string_view::npos) return expanded;
    text.remove_prefix(start + variable_start.size());
    const auto end = text.find('}');
    if (end == std::string_view::npos) return fail(errc::invalid_argument, "has ${env: without a closing }");
    const std::string name(text.substr(0, end));
    auto value = name.empty() ? std::nullopt : lookup(name);
    if (!value) return fail(errc::invalid_argument, "the environment variable \"" + name + "\" is not set");
    expanded += *value;
    text.remove_prefix(end + 1);
  }
}

result<void> validate_options(mount_options& options) {
  const auto reject = [](const char* member, const std::string& error) {
    return fail(errc::invalid_argument, "mount_options::" + std::string(member) + ": " + error);
  };
  if (const auto name_fault = name_error(options.name); !name_fault.empty()) return reject("name", name_fault);
  if (!options.prefix) options.prefix = "mcp://" + options.name + '/';
  if (const auto prefix_fault = prefix_error(*options.prefix); !prefix_fault.empty()) return reject("prefix", prefix_fault);
  for (const auto& include : options.include) {
    if (const auto error = pattern_error(include); !error.empty()) return reject("include", error);
  }
  for (const auto& exclude : options.exclude) {
    if (const auto error = pattern_error(exclude); !error.empty()) return reject("exclude", error);
  }
  return {};
}

result<mcp_settings> read_settings(config::section& section, const environment_lookup& lookup) {
  mcp_settings settings;
  config::table_reader reader(section);
  read_name_and_prefix(reader, settings);
  auto child = read_child(reader, lookup);
  auto http = read_http(reader, lookup);
  if (child && http) reader.add_error_at("url", "a server has a command or a url, not both");
  if (!child && !http)
    reader.add_error_at("command",
                        "missing; set how to start the server (command = [\"npx\", …]) or where it is (url = \"…\")");
  if (child) settings.target = std::move(*child);
  if (http) settings.target = std::move(*http);
  read_revision(reader, section, settings.revision);
  reader.boolean("eager", settings.eager);
  reader.boolean("skills", settings.serves_skills);
  reader.boolean("redact", settings.redact);
  read_limits(reader, settings);
  read_patterns(reader, "include", settings.include);
  read_patterns(reader, "exclude", settings.exclude);
  HONDANA_TRY(reader.finish());
  return settings;
}

}  // namespace hondana::mcp
