/// Reads the MCP servers that other programs have configured, from their files.
#include "app/cli/known_servers.hpp"

#include <algorithm>
#include <cstddef>

#include "app/cli/output.hpp"
#include "base/ascii/ascii.hpp"

namespace hondana::cli {
namespace {

/// The index after the closing quote of the string that begins at `position`.
std::size_t end_of_string(std::string_view text, std::size_t position) {
  for (++position; position < text.size(); ++position) {
    if (text[position] == '\\') {
      ++position;
    } else if (text[position] == '"') {
      return position + 1;
    }
  }
  return text.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t position) {
  const auto end = text[position + 1] == '/' ? text.find('\n', position) : text.find("*/", position + 2);
  if (end == std::string_view::npos) return text.size();
  return text[position + 1] == '/' ? end : end + 2;
}

}  // namespace

std::string strip_json_comments(std::string_view text) {
  std::string out(text);
  constexpr auto none = std::string::npos;
  std::size_t comma = none;  // the last comma that only white space and comments have followed
  for (std::size_t position = 0; position < text.size();) {
    const char c = text[position];
    if (c == '"') {
      comma = none;
      position = end_of_string(text, position);
    } else if (c == '/' && position + 1 < text.size() && (text[position + 1] == '/' || text[position + 1] == '*')) {
      const auto end = end_of_comment(text, position);
      for (; position < end; ++position) {
        if (out[position] != '\n') out[position] = ' ';
      }
    } else {
      if (c == ',') {
        comma = position;
      } else if (c == '}' || c == ']') {
        if (comma != none) out[comma] = ' ';
        comma = none;
      } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
        comma = none;
      }
      ++position;
    }
  }
  return out;
}

namespace {

std::vector<std::pair<std::string, std::string>> read_pairs(const value& object, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto* member = object.find(name);
  if (member == nullptr || member->as_object() == nullptr) return out;
  for (const auto& [key, element] : *member->as_object())
    out.emplace_back(key, element.as_string() == nullptr ? element.to_text() : *element.as_string());
  return out;
}

/// Translates variables of hosts into `${env:NAME}`. Cursor and Claude write them with and without the prefix `env:`. Adds a
/// note for each variable that cannot be translated.
std::string translate_variables(std::string text, std::vector<std::string>& notes) {
  std::string out;
  for (std::string_view remaining = text; !remaining.empty();) {
    const auto start = remaining.find("${");
    out += remaining.substr(0, start);
    if (start == std::string_view::npos) break;
    remaining.remove_prefix(start + 2);
    const auto end = remaining.find('}');
    if (end == std::string_view::npos) return out + "${" + std::string(remaining);
    const auto name = remaining.substr(0, end);
    remaining.remove_prefix(end + 1);
    const bool is_plain = name.find(':') == std::string_view::npos &&
                          name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
    if (name.starts_with("env:") || is_plain) {
      out += "${env:" + std::string(is_plain ? name : name.substr(4)) + '}';
      continue;
    }
    out += "${" + std::string(name) + '}';
    if (name.starts_with("input:")) {
      notes.push_back("${" + std::string(name) +
                      "} is an input of the host: write its value, or ${env:NAME} for an environment variable");
    } else {
      notes.push_back("${" + std::string(name) + "} is a variable of the host: write its value");
    }
  }
  return out;
}

known_server parse_server(const std::string& name, const value& object) {
  known_server out{.name = name};
  const auto translate = [&out](std::string text) { return translate_variables(std::move(text), out.notes); };
  out.url = translate(object.string_at("url").value_or(""));
  if (out.url.empty()) out.url = translate(object.string_at("serverUrl").value_or(""));
  for (auto& [key, text] : read_pairs(object, "headers")) out.headers.emplace_back(key, translate(std::move(text)));
  for (auto& [key, text] : read_pairs(object, "env")) out.environment.emplace_back(key, translate(std::move(text)));
  out.working_directory = translate(object.string_at("cwd").value_or(""));
  if (auto program = object.string_at("command").value_or(""); !program.empty())
    out.command.push_back(translate(std::move(program)));
  if (const auto* arguments = object.find("args");
      arguments != nullptr && arguments->as_array() != nullptr && !out.command.empty()) {
    for (const auto& argument : *arguments->as_array())
      out.command.push_back(translate(argument.as_string() == nullptr ? argument.to_text() : *argument.as_string()));
  }
  if (const auto* file = object.find("envFile"); file != nullptr)
    out.notes.emplace_back("envFile is not supported: write its variables into environment");
  if (object.find("disabled") != nullptr && *object.find("disabled") == value(true)) {
    out.notes.emplace_back("it is disabled there");
    out.is_usable = false;
  }
  if (!out.url.empty() && !out.url.starts_with("https://") && !out.url.starts_with("http://") && !out.url.starts_with("${")) {
    out.notes.emplace_back("its url does not begin with http: or https:");
    out.is_usable = false;
  }
  if (out.command.empty() == out.url.empty()) {
    out.notes.emplace_back(out.url.empty() ? "it has no command and no url" : "it has both a command and a url");
    out.is_usable = false;
  }
  return out;
}

/// Adds the servers of one object. Returns false if the object has neither `mcpServers` nor `servers`.
bool add_servers(const value& object, std::vector<known_server>& servers) {
  bool has_any = false;
  for (const auto* member : {"mcpServers", "servers"}) {
    const auto* entries = object.find(member);
    if (entries == nullptr || entries->as_object() == nullptr) continue;
    has_any = true;
    for (const auto& [name, entry] : *entries->as_object()) servers.push_back(parse_server(name, entry));
  }
  return has_any;
}

/// A configuration name made from any name: only a-z, 0-9 and -, at most 60 characters.
std::string make_slug(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const char low = ascii::to_lower(c);
    const bool fits = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
    if (fits) {
      out += low;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  out.resize(std::min<std::size_t>(out.size(), 60));
  while (out.ends_with('-')) out.pop_back();
  return out.empty() ? "server" : out;
}

/// A TOML string with quotes.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char digits[] = "0123456789ABCDEF";
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_inline_table(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out = "{ ";
  for (const auto& [name, text] : pairs) out += (out.size() == 2 ? "" : ", ") + toml_string(name) + " = " + toml_string(text);
  return out + " }";
}

}  // namespace

std::vector<host_config_file> host_config_files(const std::string& home, const std::string& folder) {
  std::vector<host_config_file> out{{"this folder", folder + "/.mcp.json"},
                                    {"VS Code, this folder", folder + "/.vscode/mcp.json"},
                                    {"Cursor, this folder", folder + "/.cursor/mcp.json"}};
  if (home.empty()) return out;
  for (const auto& [host, path] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Claude Desktop", "/.config/Claude/claude_desktop_config.json"},
           {"Claude Desktop", "/Library/Application Support/Claude/claude_desktop_config.json"},
           {"Claude Code", "/.claude.json"},
           {"VS Code", "/.config/Code/User/mcp.json"},
           {"VS Code", "/Library/Application Support/Code/User/mcp.json"},
           {"Cursor", "/.cursor/mcp.json"}}) {
    out.push_back({host, home + path});
  }
  return out;
}

result<std::vector<known_server>> parse_servers(std::string_view text) {
  const auto parsed = value::parse(strip_json_comments(text));
  if (!parsed) return fail(errc::invalid_argument, parsed.error().public_text);
  std::vector<known_server> out;
  bool has_any = add_servers(*parsed, out);
  if (const auto* inner = parsed->find("mcp"); inner != nullptr) has_any = add_servers(*inner, out) || has_any;
  if (const auto* projects = parsed->find("projects"); projects != nullptr && projects->as_object() != nullptr) {
    for (const auto& [path, project] : *projects->as_object()) has_any = add_servers(project, out) || has_any;
  }
  if (!has_any) return fail(errc::invalid_argument, "it has no \"mcpServers\" and no \"servers\"");
  return out;
}

config_tables make_tables(const std::vector<known_server>& servers, std::vector<std::string> used_names) {
  config_tables tables;
  auto& out = tables.text;
  for (const auto& server : servers) {
    const auto name = make_slug(server.name);
    const bool is_duplicate = std::find(used_names.begin(), used_names.end(), name) != used_names.end();
    if (is_duplicate || !server.is_usable) {
      tables.skipped.push_back(
          sanitize(server.name) +
          " is skipped: " + (is_duplicate ? "a server named \"" + name + "\" exists already" : sanitize(server.notes.back())));
      out += "# " + tables.skipped.back() + "\n\n";
      continue;
    }
    used_names.push_back(name);
    ++tables.count;
    out += "[[source]]\ntype = \"mcp\"\nname = " + toml_string(name) + '\n';
    if (name != server.name) out += "# Its name there is " + sanitize(server.name) + ".\n";
    for (const auto& note : server.notes) out += "# " + sanitize(note) + '\n';
    if (!server.command.empty()) {
      std::string command;
      for (const auto& word : server.command) command += (command.empty() ? "" : ", ") + toml_string(word);
      out += "command = [" + command + "]\n";
      if (!server.working_directory.empty()) out += "working_directory = " + toml_string(server.working_directory) + '\n';
      if (!server.environment.empty()) out += "environment = " + toml_inline_table(server.environment) + '\n';
    } else {
      out += "url = " + toml_string(server.url) + '\n';
      if (!server.headers.empty()) out += "headers = " + toml_inline_table(server.headers) + '\n';
    }
    out += '\n';
  }
  return tables;
}

std::string to_json(const std::vector<known_server>& servers) {
  const auto object_of = [](const std::vector<std::pair<std::string, std::string>>& pairs) {
    value::object out;
    for (const auto& [name, text] : pairs) out.emplace_back(name, text);
    return out;
  };
  value::array elements;
  for (const auto& server : servers) {
    value::object entry{{"name", make_slug(server.name)}, {"originalName", server.name}, {"importable", server.is_usable}};
    if (!server.command.empty()) entry.emplace_back("command", value::array(server.command.begin(), server.command.end()));
    if (!server.url.empty()) entry.emplace_back("url", server.url);
    if (!server.working_directory.empty()) entry.emplace_back("workingDirectory", server.working_directory);
    if (!server.environment.empty()) entry.emplace_back("environment", object_of(server.environment));
    if (!server.headers.empty()) entry.emplace_back("headers", object_of(server.headers));
    if (!server.notes.empty()) entry.emplace_back("warnings", value::array(server.notes.begin(), server.notes.end()));
    elements.emplace_back(std::move(entry));
  }
  return value(value::object{{"servers", std::move(elements)}}).to_text();
}

}  // namespace hondana::cli
