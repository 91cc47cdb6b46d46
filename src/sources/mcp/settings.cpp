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
constexpr std::size_t longest_name = 64;

bool is_slug(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && name.front() != '-' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Whether a text is a field name. Spec: RFC 9110 section 5.6.2.
bool is_token(std::string_view name) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [others](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

using pairs = std::vector<std::pair<std::string, std::string>>;

/// Replaces variables in the value of `key`, and records errors.
void fill_in(std::string& text, const config::section& from, std::string_view key, const environment_lookup& lookup,
             config::collector& errors) {
  auto filled = with_variables(text, lookup);
  if (!filled) return errors.note(from.wrong(key, filled.error().public_text));
  text = std::move(*filled);
}

pairs read_pairs(config::section& from, std::string_view key, const environment_lookup& lookup, config::collector& errors) {
  auto all = from.strings_by_name(key);
  if (!all) {
    errors.note(std::move(all.error()));
    return {};
  }
  for (auto& [name, text] : *all) fill_in(text, from, key, lookup, errors);
  return std::move(*all);
}

std::optional<child_target> read_child(config::section& from, const environment_lookup& lookup, config::collector& errors) {
  auto command = from.strings("command");
  auto environment = read_pairs(from, "environment", lookup, errors);
  std::optional<std::string> folder;
  errors.take(from.string("folder"), folder);
  if (!command) {
    errors.note(std::move(command.error()));
    return {};
  }
  if (command->empty()) {
    if (folder) errors.note(from.wrong("folder", "is only for a server with a command"));
    if (!environment.empty()) errors.note(from.wrong("environment", "is only for a server with a command"));
    return {};
  }
  for (auto& one : *command) {
    fill_in(one, from, "command", lookup, errors);
    if (one.find('\0') != std::string::npos) errors.note(from.wrong("command", "contains a NUL"));
  }
  child_target child;
  child.command = std::move(*command);
  auto& program = child.command.front();
  if (program.empty())
    errors.note(from.wrong("command", "expected a program first, such as [\"npx\", \"-y\", \"some-server\"]"));
  if (program.find('/') != std::string::npos) program = from.path_from(program);
  for (const auto& [name, text] : environment) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos;
    if (!is_name || text.find('\0') != std::string::npos)
      errors.note(from.wrong("environment", "\"" + name + "\" is not a variable name, or its value contains a NUL"));
  }
  child.environment = std::move(environment);
  if (folder) child.folder = from.path_from(*folder);
  return child;
}

/// Reads the PEM files for TLS to a URL.
void read_identity(config::section& from, http_target& into, bool is_url, config::collector& errors) {
  for (const auto& [key, to] : {std::pair("authorities", &into.authorities), std::pair("certificate", &into.certificate),
                                std::pair("key", &into.key)}) {
    std::optional<std::string> path;
    errors.take(from.string(key), path);
    if (!path) continue;
    if (!is_url) errors.note(from.wrong(key, "is only for a server with a url"));
    if (path->empty() || path->find('\0') != std::string::npos) errors.note(from.wrong(key, "expected the path of a PEM file"));
    *to = from.path_from(*path);
  }
  if (!into.key.empty() && into.certificate.empty()) errors.note(from.wrong("certificate", "missing; key requires it"));
}

std::optional<http_target> read_http(config::section& from, const environment_lookup& lookup, config::collector& errors) {
  std::optional<std::string> url;
  std::optional<std::string> socket;
  errors.take(from.string("url"), url);
  errors.take(from.string("socket"), socket);
  auto headers = read_pairs(from, "headers", lookup, errors);
  http_target target;
  read_identity(from, target, url.has_value(), errors);
  if (!url) {
    if (socket) errors.note(from.wrong("socket", "is only for a server with a url, such as \"http://localhost/mcp\""));
    if (!headers.empty()) errors.note(from.wrong("headers", "is only for a server with a url"));
    return {};
  }
  fill_in(*url, from, "url", lookup, errors);
  const auto parts = split_uri(*url);
  const bool is_web = (parts.scheme == "http" || parts.scheme == "https") && parts.authority && !parts.authority->empty();
  if (!is_web || has_control(*url)) errors.note(from.wrong("url", "expected an address such as \"https://host/mcp\""));
  if (parts.authority && parts.authority->find('@') != std::string_view::npos)
    errors.note(from.wrong("url", "contains a user name or password; put credentials into headers"));
  for (const auto& [name, text] : headers) {
    if (!is_token(name) || has_control(text))
      errors.note(from.wrong("headers", "\"" + name + "\" is not a header name, or its value has a control character"));
  }
  target.url = std::move(*url);
  if (socket) target.socket = from.path_from(*socket);
  target.headers = std::move(headers);
  return target;
}

/// What is wrong with a name; empty if it is valid.
std::string fault_of_name(std::string_view name) {
  if (name.empty()) return "missing; write a name of a-z, 0-9 and -";
  if (is_slug(name)) return {};
  return "expected at most " + std::to_string(longest_name) + " characters of a-z, 0-9 and -, and no - at the start";
}

std::string fault_of_prefix(const std::string& prefix) {
  const auto canonical = canonical_uri(prefix);
  if (!canonical) return "expected a URI such as \"mcp://team/\": " + canonical.error().public_text;
  if (canonical->find_first_of("?#") != std::string::npos)
    return "expected a URI without ? and #, ending in /, such as \"mcp://team/\"";
  if (*canonical == prefix && prefix.ends_with('/')) return {};
  return "write it as \"" + *canonical + (canonical->ends_with('/') ? "\"" : "/\"");
}

std::string fault_of_pattern(const std::string& pattern) {
  const auto compiled = ignore::glob::for_path(pattern);
  return compiled.fault().empty() ? "" : '"' + pattern + "\" matches nothing: it has " + std::string(compiled.fault());
}

void read_place(config::section& from, mcp_settings& into, config::collector& errors) {
  std::optional<std::string> name;
  errors.take(from.string("name"), name);
  if (!name) return errors.note(from.wrong("name", fault_of_name("")));
  if (!is_slug(*name)) return errors.note(from.wrong("name", fault_of_name(name->empty() ? "/" : *name)));
  into.name = std::move(*name);
  into.prefix = "mcp://" + into.name + '/';
  std::optional<std::string> prefix;
  errors.take(from.string("prefix"), prefix);
  if (!prefix) return;
  if (const auto fault = fault_of_prefix(*prefix); !fault.empty()) return errors.note(from.wrong("prefix", fault));
  into.prefix = std::move(*prefix);
}

void read_patterns(config::section& from, std::string_view key, std::vector<std::string>& into, config::collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  for (const auto& one : *all) {
    if (const auto fault = fault_of_pattern(one); !fault.empty()) errors.note(from.wrong(key, fault));
  }
  into = std::move(*all);
}

void read_limits(config::section& from, mcp_settings& into, config::collector& errors) {
  errors.take_time(from, "timeout_ms", into.timeout);
  errors.take_time(from, "list_wait_ms", into.list_wait);
  errors.take_time(from, "refresh_ms", into.refresh);
  errors.take(from.integer("max_entries", 1, 1'000'000), into.max_entries);
  errors.take(from.integer("max_templates", 0, 10'000), into.max_templates);
  errors.take(from.bytes("max_read"), into.max_read);
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* found = std::getenv(name.c_str());  // called before other threads could change the environment
  return found == nullptr ? std::nullopt : std::optional<std::string>(found);
}

result<std::string> with_variables(std::string_view text, const environment_lookup& lookup) {
  std::string filled;
  while (true) {
    const auto start = text.find(variable_start);
    filled += text.substr(0, start);
    if (start == std::string_view::npos) return filled;
    text.remove_prefix(start + variable_start.size());
    const auto end = text.find('}');
    if (end == std::string_view::npos) return fail(errc::invalid_argument, "has ${env: without a closing }");
    const std::string name(text.substr(0, end));
    auto value = name.empty() ? std::nullopt : lookup(name);
    if (!value) return fail(errc::invalid_argument, "the environment variable \"" + name + "\" is not set");
    filled += *value;
    text.remove_prefix(end + 1);
  }
}

result<void> check(mount_options& options) {
  const auto refuse = [](const char* member, const std::string& fault) {
    return fail(errc::invalid_argument, "mount_options::" + std::string(member) + ": " + fault);
  };
  if (const auto fault = fault_of_name(options.name); !fault.empty()) return refuse("name", fault);
  if (options.prefix.empty()) options.prefix = "mcp://" + options.name + '/';
  if (const auto fault = fault_of_prefix(options.prefix); !fault.empty()) return refuse("prefix", fault);
  for (const auto& one : options.include) {
    if (const auto fault = fault_of_pattern(one); !fault.empty()) return refuse("include", fault);
  }
  for (const auto& one : options.exclude) {
    if (const auto fault = fault_of_pattern(one); !fault.empty()) return refuse("exclude", fault);
  }
  return {};
}

result<mcp_settings> read_settings(config::section& from, const environment_lookup& lookup) {
  mcp_settings made;
  config::collector errors;
  read_place(from, made, errors);
  auto child = read_child(from, lookup, errors);
  auto http = read_http(from, lookup, errors);
  if (child && http) errors.note(from.wrong("url", "a server has a command or a url, not both"));
  if (!child && !http)
    errors.note(
        from.wrong("command", "missing; set how to start the server (command = [\"npx\", …]) or where it is (url = \"…\")"));
  if (child) made.target = std::move(*child);
  if (http) made.target = std::move(*http);
  errors.take(from.string("revision"), made.revision);
  errors.take(from.boolean("eager"), made.eager);
  errors.take(from.boolean("skills"), made.skills);
  errors.take(from.boolean("redact"), made.redact);
  read_limits(from, made, errors);
  read_patterns(from, "include", made.include, errors);
  read_patterns(from, "exclude", made.exclude, errors);
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::mcp
