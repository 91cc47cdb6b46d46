/// Reads the [[source]] table of a mounted MCP server.
#include "sources/mcp/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ignore/glob.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::mcp {
namespace {

constexpr std::string_view variable_start = "${env:";
constexpr std::size_t max_name_bytes = 64;

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
void expand_in_place(std::string& text, const config::section& section, std::string_view key, const environment_lookup& lookup,
                     config::error_collector& errors) {
  auto expanded = expand_variables(text, lookup);
  if (!expanded) return errors.add(section.error_at(key, expanded.error().public_text));
  text = std::move(*expanded);
}

pairs read_pairs(config::section& section, std::string_view key, const environment_lookup& lookup,
                 config::error_collector& errors) {
  auto entries = section.strings_by_name(key);
  if (!entries) {
    errors.add(std::move(entries.error()));
    return {};
  }
  for (auto& [name, text] : *entries) expand_in_place(text, section, key, lookup, errors);
  return std::move(*entries);
}

std::optional<child_target> read_child(config::section& section, const environment_lookup& lookup,
                                       config::error_collector& errors) {
  auto command = section.strings("command");
  auto environment = read_pairs(section, "environment", lookup, errors);
  std::optional<std::string> folder;
  errors.assign(section.string("folder"), folder);
  if (!command) {
    errors.add(std::move(command.error()));
    return {};
  }
  if (command->empty()) {
    if (folder) errors.add(section.error_at("folder", "is only for a server with a command"));
    if (!environment.empty()) errors.add(section.error_at("environment", "is only for a server with a command"));
    return {};
  }
  for (auto& argument : *command) {
    expand_in_place(argument, section, "command", lookup, errors);
    if (argument.find('\0') != std::string::npos) errors.add(section.error_at("command", "contains a NUL"));
  }
  child_target child;
  child.command = std::move(*command);
  auto& program = child.command.front();
  if (program.empty())
    errors.add(section.error_at("command", "expected a program first, such as [\"npx\", \"-y\", \"some-server\"]"));
  if (program.find('/') != std::string::npos) program = section.resolve_path(program);
  for (const auto& [name, text] : environment) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos;
    if (!is_name || text.find('\0') != std::string::npos)
      errors.add(section.error_at("environment", "\"" + name + "\" is not a variable name, or its value contains a NUL"));
  }
  child.environment = std::move(environment);
  if (folder) child.working_directory = section.resolve_path(*folder);
  return child;
}

/// Reads the PEM files for TLS to a URL.
void read_certificates(config::section& section, http_target& target, bool is_url, config::error_collector& errors) {
  for (const auto& [key, output] : {std::pair("authorities", &target.ca_file),
                                    std::pair("certificate", &target.certificate_file), std::pair("key", &target.key_file)}) {
    std::optional<std::string> path;
    errors.assign(section.string(key), path);
    if (!path) continue;
    if (!is_url) errors.add(section.error_at(key, "is only for a server with a url"));
    if (path->empty() || path->find('\0') != std::string::npos)
      errors.add(section.error_at(key, "expected the path of a PEM file"));
    *output = section.resolve_path(*path);
  }
  if (!target.key_file.empty() && target.certificate_file.empty())
    errors.add(section.error_at("certificate", "missing; key requires it"));
}

std::optional<http_target> read_http(config::section& section, const environment_lookup& lookup,
                                     config::error_collector& errors) {
  std::optional<std::string> url;
  std::optional<std::string> socket;
  errors.assign(section.string("url"), url);
  errors.assign(section.string("socket"), socket);
  auto headers = read_pairs(section, "headers", lookup, errors);
  http_target target;
  read_certificates(section, target, url.has_value(), errors);
  if (!url) {
    if (socket) errors.add(section.error_at("socket", "is only for a server with a url, such as \"http://localhost/mcp\""));
    if (!headers.empty()) errors.add(section.error_at("headers", "is only for a server with a url"));
    return {};
  }
  expand_in_place(*url, section, "url", lookup, errors);
  const auto parts = split_uri(*url);
  const bool is_web = (parts.scheme == "http" || parts.scheme == "https") && parts.authority && !parts.authority->empty();
  if (!is_web || has_control(*url)) errors.add(section.error_at("url", "expected an address such as \"https://host/mcp\""));
  if (parts.authority && parts.authority->find('@') != std::string_view::npos)
    errors.add(section.error_at("url", "contains a user name or password; put credentials into headers"));
  for (const auto& [name, text] : headers) {
    if (!is_token(name) || has_control(text))
      errors.add(section.error_at("headers", "\"" + name + "\" is not a header name, or its value has a control character"));
  }
  target.url = std::move(*url);
  if (socket) target.socket_path = section.resolve_path(*socket);
  target.headers = std::move(headers);
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

void read_name_and_prefix(config::section& section, mcp_settings& settings, config::error_collector& errors) {
  std::optional<std::string> name;
  errors.assign(section.string("name"), name);
  if (!name) return errors.add(section.error_at("name", name_error("")));
  if (!is_slug(*name)) return errors.add(section.error_at("name", name_error(name->empty() ? "/" : *name)));
  settings.name = std::move(*name);
  settings.prefix = "mcp://" + settings.name + '/';
  std::optional<std::string> prefix;
  errors.assign(section.string("prefix"), prefix);
  if (!prefix) return;
  if (const auto error = prefix_error(*prefix); !error.empty()) return errors.add(section.error_at("prefix", error));
  settings.prefix = std::move(*prefix);
}

void read_patterns(config::section& section, std::string_view key, std::vector<std::string>& output,
                   config::error_collector& errors) {
  auto patterns = section.strings(key);
  if (!patterns) return errors.add(std::move(patterns.error()));
  for (const auto& pattern : *patterns) {
    if (const auto error = pattern_error(pattern); !error.empty()) errors.add(section.error_at(key, error));
  }
  output = std::move(*patterns);
}

void read_limits(config::section& section, mcp_settings& settings, config::error_collector& errors) {
  errors.assign_time(section, "timeout_ms", settings.call_timeout);
  errors.assign_time(section, "list_wait_ms", settings.list_timeout);
  errors.assign_time(section, "refresh_ms", settings.list_ttl);
  errors.assign(section.integer("max_entries", 1, 1'000'000), settings.max_entries);
  errors.assign(section.integer("max_templates", 0, 10'000), settings.max_templates);
  errors.assign(section.bytes("max_read"), settings.max_read_bytes);
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
  if (options.prefix.empty()) options.prefix = "mcp://" + options.name + '/';
  if (const auto prefix_fault = prefix_error(options.prefix); !prefix_fault.empty()) return reject("prefix", prefix_fault);
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
  config::error_collector errors;
  read_name_and_prefix(section, settings, errors);
  auto child = read_child(section, lookup, errors);
  auto http = read_http(section, lookup, errors);
  if (child && http) errors.add(section.error_at("url", "a server has a command or a url, not both"));
  if (!child && !http)
    errors.add(section.error_at("command",
                                "missing; set how to start the server (command = [\"npx\", …]) or where it is (url = \"…\")"));
  if (child) settings.target = std::move(*child);
  if (http) settings.target = std::move(*http);
  errors.assign(section.string("revision"), settings.revision);
  errors.assign(section.boolean("eager"), settings.eager);
  errors.assign(section.boolean("skills"), settings.serves_skills);
  errors.assign(section.boolean("redact"), settings.redact);
  read_limits(section, settings, errors);
  read_patterns(section, "include", settings.include, errors);
  read_patterns(section, "exclude", settings.exclude, errors);
  errors.check(section.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return settings;
}

}  // namespace hondana::mcp
