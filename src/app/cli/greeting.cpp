/// The greeting of a server that starts: what it serves, where, and how to connect.
#include "app/cli/greeting.hpp"

#include <unistd.h>

#include <climits>

#include "app/cli/output.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/choose.hpp"

namespace hondana::cli {
namespace {

std::string spelled_command(const greeting_facts& facts) {
  std::string line = shell_word(facts.program);
  for (const auto& one : facts.arguments) line += ' ' + shell_word(one);
  return line;
}

/// `"hondana":{"command":…,"args":[…]}` inside `outer`.
std::string host_json(std::string_view outer, const greeting_facts& facts) {
  std::string text;
  json::writer to(text);
  to.begin_object().key(outer).begin_object().key("hondana").begin_object().member("command", facts.program);
  to.key("args").begin_array();
  for (const auto& one : facts.arguments) to.string(one);
  to.end_array().end_object().end_object().end_object();
  return text;
}

/// `"hondana":{"url":…}` inside `outer`. `token`: empty for none.
std::string url_json(std::string_view outer, std::string_view url, bool has_type, std::string_view token) {
  std::string text;
  json::writer to(text);
  to.begin_object().key(outer).begin_object().key("hondana").begin_object();
  to.member_if("type", has_type ? "http" : "").member("url", url);
  if (!token.empty()) to.key("headers").begin_object().member("Authorization", token).end_object();
  to.end_object().end_object().end_object();
  return text;
}

/// The configuration that hosts need to connect to a server behind a URL.
std::string hosts_by_url(const greeting_facts& facts) {
  if (facts.shows_certificate) {
    return "\nHosts need a client certificate to connect. The configuration files of most hosts cannot name one.\n";
  }
  // If there is an authorization server, hosts log in by themselves.
  const bool needs_token = facts.takes_tokens && !facts.has_log_in;
  const std::string_view token = needs_token ? "Bearer TOKEN" : "";
  return "\nConnect a host to this server" + std::string(needs_token ? ", with a token in place of TOKEN" : "") + ":\n" +
         "  Claude Code     claude mcp add --transport http hondana " + facts.url +
         (needs_token ? " --header 'Authorization: " + std::string(token) + '\'' : "") + '\n' +
         "  VS Code         .vscode/mcp.json            " + url_json("servers", facts.url, true, token) + '\n' +
         "  Cursor          ~/.cursor/mcp.json          " + url_json("mcpServers", facts.url, false, token) + '\n';
}

/// A curl command that lists the resources. `to`: further curl arguments, such as the URL.
std::string curl_line(const greeting_facts& facts, const std::string& to) {
  const std::string revision(wire::modern_revisions().front());
  return "curl -s " + to + (facts.takes_tokens ? " -H \"Authorization: Bearer $TOKEN\"" : "") +
         " -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'"
         " -H 'MCP-Protocol-Version: " +
         revision +
         "' -H 'Mcp-Method: resources/list'"
         " -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"" +
         revision + "\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}'";
}

}  // namespace

std::string greeting(const greeting_facts& facts) {
  const bool is_stdio = facts.url.empty() && facts.socket.empty() && !facts.is_inherited;
  std::string text = "hondana " HONDANA_VERSION " serves";
  if (is_stdio) {
    text += " over standard input and output:\n";
  } else if (facts.is_inherited) {
    text += " on the sockets that it was started with:\n";
  } else {
    text += " at " + (facts.url.empty() ? "the Unix socket " + facts.socket : facts.url) + ":\n";
  }
  for (const auto& provider : facts.providers) {
    for (const auto& claim : provider->claims()) text += "  " + provider->name() + "  " + claim + '\n';
  }
  for (const auto& one : facts.callers) text += "  callers by " + one + '\n';
  // Under a supervisor no person reads the instructions.
  if (facts.is_inherited) return text;
  if (!facts.url.empty()) {
    const std::string shown =
        facts.shows_certificate ? "--cacert \"$AUTHORITIES\" --cert \"$CERTIFICATE\" --key \"$KEY\" " : "";
    text += "\nList the resources:\n  " + curl_line(facts, shown + facts.url) + '\n';
  }
  if (!facts.socket.empty()) {
    text += "\nList the resources:\n  " +
            curl_line(facts, "--unix-socket " + shell_word(facts.socket) + " http://localhost/mcp") + '\n';
  }
  if (!facts.url.empty()) text += hosts_by_url(facts);
  text += is_stdio ? "\nConnect a host:\n" : "\nOr let a host start its own, over stdio:\n";
  text += "  Claude Code     claude mcp add hondana -- " + spelled_command(facts) + '\n';
  text += "  Claude Desktop  claude_desktop_config.json  " + host_json("mcpServers", facts) + '\n';
  text += "  VS Code         .vscode/mcp.json            " + host_json("servers", facts) + '\n';
  text += "  Cursor          ~/.cursor/mcp.json          " + host_json("mcpServers", facts) + '\n';
  text += "  Zed             settings.json               " + host_json("context_servers", facts) + '\n';
  text += is_stdio ? "\nWaiting for messages, one a line. End with Ctrl-D.\n" : "\nStop with Ctrl-C.\n";
  return text;
}

std::string running_program() {
  char path[PATH_MAX];
  const auto length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "hondana";
}

}  // namespace hondana::cli
