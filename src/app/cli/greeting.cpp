/// The greeting of a server that starts: what it serves, where, and how to connect.
#include "app/cli/greeting.hpp"

#include <unistd.h>

#include <climits>

#include "app/cli/output.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/choose_codec.hpp"

namespace hondana::cli {
namespace {

std::string stdio_command_line(const greeting_info& info) {
  std::string line = shell_quote(info.program);
  for (const auto& argument : info.arguments) line += ' ' + shell_quote(argument);
  return line;
}

/// `"hondana":{"command":…,"args":[…]}` inside `outer`.
std::string host_json(std::string_view outer, const greeting_info& info) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().key(outer).begin_object().key("hondana").begin_object().member("command", info.program);
  writer.key("args").begin_array();
  for (const auto& argument : info.arguments) writer.string(argument);
  writer.end_array().end_object().end_object().end_object();
  return text;
}

/// `"hondana":{"url":…}` inside `outer`. `token`: empty for none.
std::string url_json(std::string_view outer, std::string_view url, bool has_type, std::string_view token) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().key(outer).begin_object().key("hondana").begin_object();
  writer.member_if("type", has_type ? "http" : "").member("url", url);
  if (!token.empty()) writer.key("headers").begin_object().member("Authorization", token).end_object();
  writer.end_object().end_object().end_object();
  return text;
}

/// The configuration that hosts need to connect to a server behind a URL.
std::string host_instructions(const greeting_info& info) {
  if (info.requires_certificate) {
    return "\nHosts need a client certificate to connect. The configuration files of most hosts cannot name one.\n";
  }
  // If there is an authorization server, hosts log in by themselves.
  const bool needs_token = info.accepts_tokens && !info.has_login;
  const std::string_view token = needs_token ? "Bearer TOKEN" : "";
  return "\nConnect a host to this server" + std::string(needs_token ? ", with a token in place of TOKEN" : "") + ":\n" +
         "  Claude Code     claude mcp add --transport http hondana " + info.url +
         (needs_token ? " --header 'Authorization: " + std::string(token) + '\'' : "") + '\n' +
         "  VS Code         .vscode/mcp.json            " + url_json("servers", info.url, true, token) + '\n' +
         "  Cursor          ~/.cursor/mcp.json          " + url_json("mcpServers", info.url, false, token) + '\n';
}

/// A curl command that lists the resources. `target`: further curl arguments, such as the URL.
std::string curl_command(const greeting_info& info, const std::string& target) {
  const std::string revision(wire::modern_revisions().front());
  return "curl -s " + target + (info.accepts_tokens ? " -H \"Authorization: Bearer $TOKEN\"" : "") +
         " -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'"
         " -H 'MCP-Protocol-Version: " +
         revision +
         "' -H 'Mcp-Method: resources/list'"
         " -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"" +
         revision + "\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}'";
}

}  // namespace

std::string greeting(const greeting_info& info) {
  const bool is_stdio = info.url.empty() && info.socket_path.empty() && !info.is_inherited;
  std::string text = "hondana " HONDANA_VERSION " serves";
  if (is_stdio) {
    text += " over standard input and output:\n";
  } else if (info.is_inherited) {
    text += " on the sockets that it was started with:\n";
  } else {
    text += " at " + (info.url.empty() ? "the Unix socket " + info.socket_path : info.url) + ":\n";
  }
  for (const auto& provider : info.providers) {
    for (const auto& claim : provider->claims()) text += "  " + provider->name() + "  " + claim + '\n';
  }
  for (const auto& method : info.authentication_methods) text += "  callers by " + method + '\n';
  // Under a supervisor no person reads the instructions.
  if (info.is_inherited) return text;
  if (!info.url.empty()) {
    const std::string tls_arguments =
        info.requires_certificate ? "--cacert \"$AUTHORITIES\" --cert \"$CERTIFICATE\" --key \"$KEY\" " : "";
    text += "\nList the resources:\n  " + curl_command(info, tls_arguments + info.url) + '\n';
  }
  if (!info.socket_path.empty()) {
    text += "\nList the resources:\n  " +
            curl_command(info, "--unix-socket " + shell_quote(info.socket_path) + " http://localhost/mcp") + '\n';
  }
  if (!info.url.empty()) text += host_instructions(info);
  text += is_stdio ? "\nConnect a host:\n" : "\nOr let a host start its own, over stdio:\n";
  text += "  Claude Code     claude mcp add hondana -- " + stdio_command_line(info) + '\n';
  text += "  Claude Desktop  claude_desktop_config.json  " + host_json("mcpServers", info) + '\n';
  text += "  VS Code         .vscode/mcp.json            " + host_json("servers", info) + '\n';
  text += "  Cursor          ~/.cursor/mcp.json          " + host_json("mcpServers", info) + '\n';
  text += "  Zed             settings.json               " + host_json("context_servers", info) + '\n';
  text += is_stdio ? "\nWaiting for messages, one a line. End with Ctrl-D.\n" : "\nStop with Ctrl-C.\n";
  return text;
}

std::string executable_path() {
  char path[PATH_MAX];
  const auto length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "hondana";
}

}  // namespace hondana::cli
