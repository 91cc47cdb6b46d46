/// Reads the MCP servers that other programs have configured, from their files.
#include "app/cli/known_servers.hpp"

#include <algorithm>
#include <cstddef>

#include "app/cli/output.hpp"
#include "base/ascii/ascii.hpp"

namespace hondana::cli {
namespace {

/// The index after the closing quote of the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const auto end = text[at + 1] == '/' ? text.find('\n', at) : text.find("*/", at + 2);
  if (end == std::string_view::npos) return text.size();
  return text[at + 1] == '/' ? end : end + 2;
}

}  // namespace

std::string plain_json(std::string_view text) {
  std::string out(text);
  constexpr auto none = std::string::npos;
  std::size_t comma = none;  // the last comma that only white space and comments have followed
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      comma = none;
      at = end_of_string(text, at);
    } else if (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*')) {
      const auto end = end_of_comment(text, at);
      for (; at < end; ++at) {
        if (out[at] != '\n') out[at] = ' ';
      }
    } else {
      if (c == ',') {
        comma = at;
      } else if (c == '}' || c == ']') {
        if (comma != none) out[comma] = ' ';
        comma = none;
      } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
        comma = none;
      }
      ++at;
    }
  }
  return out;
}

namespace {

std::vector<std::pair<std::string, std::string>> pairs_of(const value& from, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto* member = from.find(name);
  if (member == nullptr || member->as_object() == nullptr) return out;
  for (const auto& [key, one] : *member->as_object())
    out.emplace_back(key, one.as_string() == nullptr ? one.to_text() : *one.as_string());
  return out;
}

/// Translates variables of hosts into `${env:NAME}`. Cursor and Claude write them with and without the prefix `env:`. Adds a
/// remark for each variable that cannot be translated.
std::string with_our_variables(std::string text, std::vector<std::string>& remarks) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto start = rest.find("${");
    out += rest.substr(0, start);
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start + 2);
    const auto end = rest.find('}');
    if (end == std::string_view::npos) return out + "${" + std::string(rest);
    const auto name = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const bool is_plain = name.find(':') == std::string_view::npos &&
                          name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
    if (name.starts_with("env:") || is_plain) {
      out += "${env:" + std::string(is_plain ? name : name.substr(4)) + '}';
      continue;
    }
    out += "${" + std::string(name) + '}';
    if (name.starts_with("input:")) {
      remarks.push_back("${" + std::string(name) +
                        "} is an input of the host: write its value, or ${env:NAME} for an environment variable");
    } else {
      remarks.push_back("${" + std::string(name) + "} is a variable of the host: write its value");
    }
  }
  return out;
}

known_server server_of(const std::string& name, const value& from) {
  known_server out{.name = name};
  const auto ours = [&out](std::string text) { return with_our_variables(std::move(text), out.remarks); };
  out.url = ours(from.string_at("url").value_or(""));
  if (out.url.empty()) out.url = ours(from.string_at("serverUrl").value_or(""));
  for (auto& [key, text] : pairs_of(from, "headers")) out.headers.emplace_back(key, ours(std::move(text)));
  for (auto& [key, text] : pairs_of(from, "env")) out.environment.emplace_back(key, ours(std::move(text)));
  out.folder = ours(from.string_at("cwd").value_or(""));
  if (auto program = from.string_at("command").value_or(""); !program.empty()) out.command.push_back(ours(std::move(program)));
  if (const auto* more = from.find("args"); more != nullptr && more->as_array() != nullptr && !out.command.empty()) {
    for (const auto& one : *more->as_array())
      out.command.push_back(ours(one.as_string() == nullptr ? one.to_text() : *one.as_string()));
  }
  if (const auto* file = from.find("envFile"); file != nullptr)
    out.remarks.emplace_back("envFile is not supported: write its variables into environment");
  if (from.find("disabled") != nullptr && *from.find("disabled") == value(true)) {
    out.remarks.emplace_back("it is disabled there");
    out.is_usable = false;
  }
  if (!out.url.empty() && !out.url.starts_with("https://") && !out.url.starts_with("http://") && !out.url.starts_with("${")) {
    out.remarks.emplace_back("its url does not begin with http: or https:");
    out.is_usable = false;
  }
  if (out.command.empty() == out.url.empty()) {
    out.remarks.emplace_back(out.url.empty() ? "it has no command and no url" : "it has both a command and a url");
    out.is_usable = false;
  }
  return out;
}

/// Adds the servers of one object. Returns false if the object has neither `mcpServers` nor `servers`.
bool add_from(const value& from, std::vector<known_server>& to) {
  bool has_any = false;
  for (const auto* member : {"mcpServers", "servers"}) {
    const auto* all = from.find(member);
    if (all == nullptr || all->as_object() == nullptr) continue;
    has_any = true;
    for (const auto& [name, one] : *all->as_object()) to.push_back(server_of(name, one));
  }
  return has_any;
}

/// A configuration name made from any name: only a-z, 0-9 and -, at most 60 characters.
std::string slug_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const char low = ascii::lower(c);
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
std::string toml_text(std::string_view text) {
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

std::string table_of_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out = "{ ";
  for (const auto& [name, text] : pairs) out += (out.size() == 2 ? "" : ", ") + toml_text(name) + " = " + toml_text(text);
  return out + " }";
}

}  // namespace

std::vector<known_place> usual_places(const std::string& home, const std::string& folder) {
  std::vector<known_place> out{{"this folder", folder + "/.mcp.json"},
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

result<std::vector<known_server>> servers_in(std::string_view text) {
  const auto parsed = value::parse(plain_json(text));
  if (!parsed) return fail(errc::invalid_argument, parsed.error().public_text);
  std::vector<known_server> out;
  bool has_any = add_from(*parsed, out);
  if (const auto* inner = parsed->find("mcp"); inner != nullptr) has_any = add_from(*inner, out) || has_any;
  if (const auto* projects = parsed->find("projects"); projects != nullptr && projects->as_object() != nullptr) {
    for (const auto& [path, one] : *projects->as_object()) has_any = add_from(one, out) || has_any;
  }
  if (!has_any) return fail(errc::invalid_argument, "it has no \"mcpServers\" and no \"servers\"");
  return out;
}

made_tables tables_of(const std::vector<known_server>& servers, std::vector<std::string> taken) {
  made_tables made;
  auto& out = made.text;
  for (const auto& one : servers) {
    const auto name = slug_of(one.name);
    const bool is_taken = std::find(taken.begin(), taken.end(), name) != taken.end();
    if (is_taken || !one.is_usable) {
      made.left_out.push_back(visible(one.name) + " is skipped: " +
                              (is_taken ? "a server named \"" + name + "\" exists already" : visible(one.remarks.back())));
      out += "# " + made.left_out.back() + "\n\n";
      continue;
    }
    taken.push_back(name);
    ++made.count;
    out += "[[source]]\ntype = \"mcp\"\nname = " + toml_text(name) + '\n';
    if (name != one.name) out += "# Its name there is " + visible(one.name) + ".\n";
    for (const auto& remark : one.remarks) out += "# " + visible(remark) + '\n';
    if (!one.command.empty()) {
      std::string command;
      for (const auto& word : one.command) command += (command.empty() ? "" : ", ") + toml_text(word);
      out += "command = [" + command + "]\n";
      if (!one.folder.empty()) out += "folder = " + toml_text(one.folder) + '\n';
      if (!one.environment.empty()) out += "environment = " + table_of_pairs(one.environment) + '\n';
    } else {
      out += "url = " + toml_text(one.url) + '\n';
      if (!one.headers.empty()) out += "headers = " + table_of_pairs(one.headers) + '\n';
    }
    out += '\n';
  }
  return made;
}

std::string json_of(const std::vector<known_server>& servers) {
  const auto object_of = [](const std::vector<std::pair<std::string, std::string>>& pairs) {
    value::object out;
    for (const auto& [name, text] : pairs) out.emplace_back(name, text);
    return out;
  };
  value::array all;
  for (const auto& one : servers) {
    value::object entry{{"name", slug_of(one.name)}, {"knownAs", one.name}, {"usable", one.is_usable}};
    if (!one.command.empty()) entry.emplace_back("command", value::array(one.command.begin(), one.command.end()));
    if (!one.url.empty()) entry.emplace_back("url", one.url);
    if (!one.folder.empty()) entry.emplace_back("folder", one.folder);
    if (!one.environment.empty()) entry.emplace_back("environment", object_of(one.environment));
    if (!one.headers.empty()) entry.emplace_back("headers", object_of(one.headers));
    if (!one.remarks.empty()) entry.emplace_back("remarks", value::array(one.remarks.begin(), one.remarks.end()));
    all.emplace_back(std::move(entry));
  }
  return value(value::object{{"servers", std::move(all)}}).to_text();
}

}  // namespace hondana::cli
