/// Telling URLs, names and paths apart.
#include "app/cli/target/choice.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/nearest.hpp"
#include "app/cli/target/names.hpp"
#include "app/cli/target/token_in_file.hpp"
#include "sources/mcp/settings.hpp"
#include "transport/http_client/small_call.hpp"

namespace hondana::cli {
namespace {

constexpr std::string_view socket_prefix = "unix:";
constexpr const char* what_targets_are =
    "A target is a URL (https://HOST/PATH), unix:PATH, a name from the configuration, or a folder or file.";

/// "http" of "http://…"; empty when the text is no URL.
std::string_view url_scheme(std::string_view text) {
  const auto end = text.find("://");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

/// `localhost:7325`, `127.0.0.1:80/mcp`.
bool looks_like_host(std::string_view text) {
  const auto before_path = text.substr(0, text.find('/'));
  const auto colon = before_path.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = before_path.substr(colon + 1);
  return !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

result<chosen_server> at_url(const std::string& url) {
  const auto parts = split_uri(url);
  if (!parts.authority || parts.authority->empty()) {
    return fail(errc::invalid_argument, "The URL \"" + url + "\" has no host. Write it like http://127.0.0.1:7325/mcp.");
  }
  http_target target;
  target.url = url;
  return chosen_server{std::move(target), {}, url};
}

result<chosen_server> at_socket(const std::string& path) {
  if (path.empty()) return fail(errc::invalid_argument, "unix: needs the path of a socket, as in unix:/run/mcp.sock.");
  http_target target;
  target.url = "http://localhost/mcp";
  target.socket = path;
  return chosen_server{std::move(target), {}, "the Unix socket " + path};
}

result<chosen_server> at_path(const std::string& path) {
  std::error_code problem;
  auto whole = std::filesystem::canonical(path, problem);
  if (problem) return fail(errc::invalid_argument, "\"" + path + "\": " + problem.message() + ".");
  return chosen_server{memory_target{}, whole.string(), whole.string()};
}

/// What a name or a path says; names win.
result<chosen_server> by_name_or_path(const std::string& text, const std::string& config, bool must_have_config) {
  std::error_code problem;
  const bool has_config = !config.empty() && std::filesystem::exists(config, problem);
  const bool may_be_name = text.find('/') == std::string::npos && text != "." && text != "..";
  std::vector<std::string> names;
  if (may_be_name && (has_config || must_have_config)) {
    HONDANA_TRY(auto named, server_named(config, text));
    if (named) return chosen_server{std::move(*named), {}, text};
    HONDANA_TRY(auto known, server_names(config));
    names = std::move(known);
  }
  if (std::filesystem::exists(text, problem)) return at_path(text);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string why = "Unknown target \"" + text + '"' + did_you_mean(text, views);
  why += why.ends_with('?') ? " " : ". ";
  if (looks_like_host(text)) return fail(errc::invalid_argument, why + "For a server over HTTP, write http://" + text + '.');
  why += what_targets_are;
  if (may_be_name && !has_config && !config.empty()) why += " The configuration file " + config + " does not exist.";
  return fail(errc::invalid_argument, why);
}

result<chosen_server> by_target(const command_line& line) {
  const auto text = line.text(on_flag);
  if (!line.has(on_flag)) return at_path(".");
  if (text.empty()) return fail(errc::invalid_argument, std::string("--on is empty. ") + what_targets_are);
  const auto scheme = url_scheme(text);
  if (scheme == "http" || scheme == "https") return at_url(text);
  if (text.starts_with(socket_prefix)) return at_socket(text.substr(socket_prefix.size()));
  if (!scheme.empty()) {
    return fail(errc::invalid_argument,
                "Only http: and https: URLs are supported, not \"" + std::string(scheme) + ":\". " + what_targets_are);
  }
  return by_name_or_path(text, line.has(names_flag) ? line.text(names_flag) : usual_config(), line.has(names_flag));
}

result<void> add_headers(const command_line& line, chosen_server& to) {
  const auto& headers = line.all(header_flag);
  if (headers.empty()) return {};
  auto* http = std::get_if<http_target>(&to.target);
  if (http == nullptr)
    return fail(errc::invalid_argument, "--header is for servers behind a URL, which " + to.shown + " is not.");
  for (const auto& one : headers) {
    const auto colon = one.find(':');
    const bool has_break = one.find_first_of("\r\n") != std::string::npos;
    if (colon == std::string::npos || colon == 0 || has_break) {
      // Whatever it is, it may be secret.
      return fail(errc::invalid_argument,
                  "A --header is not one line of the form 'NAME: VALUE', as in 'Authorization: Bearer TOKEN'.");
    }
    const auto begin = one.find_first_not_of(" \t", colon + 1);
    auto text = mcp::with_variables(begin == std::string::npos ? std::string() : one.substr(begin), mcp::environment_variable);
    if (!text)
      return fail(errc::invalid_argument, "The --header " + one.substr(0, colon) + ' ' + text.error().public_text + '.');
    if (text->find_first_of("\r\n") != std::string::npos)
      return fail(errc::invalid_argument, "The --header " + one.substr(0, colon) + " contains a variable with a line break.");
    http->headers.emplace_back(one.substr(0, colon), std::move(*text));
  }
  return {};
}

result<void> add_token(const command_line& line, chosen_server& to) {
  if (!line.has(bearer_file_flag)) return {};
  auto* http = std::get_if<http_target>(&to.target);
  if (http == nullptr)
    return fail(errc::invalid_argument, "--token-file is for servers behind a URL, which " + to.shown + " is not.");
  const auto path = line.text(bearer_file_flag);
  if (path == "-" && line.has(arguments_flag) && line.text(arguments_flag) == "-")
    return fail(errc::invalid_argument, "--token-file and --arguments cannot both be read from standard input.");
  if (http->socket.empty() && http->url.starts_with("http://") && !transport::http_client::is_on_this_machine(http->url))
    return fail(errc::invalid_argument,
                "Over plain http, others on the network to " + to.shown + " could read the token of --token-file. Use https:.");
  auto tokens = token_in_file(path);
  if (!tokens) return fail(errc::invalid_argument, "--token-file: " + tokens.error().public_text + '.');
  http->tokens = std::move(*tokens);
  return {};
}

/// The command line wins over what a configured target has.
result<void> set_identity(const command_line& line, chosen_server& to) {
  const bool has_own = line.has(cert_flag);
  if (!line.has(cacert_flag) && !has_own && !line.has(key_flag)) return {};
  auto* http = std::get_if<http_target>(&to.target);
  if (http == nullptr)
    return fail(errc::invalid_argument,
                "--cacert, --cert and --key are for servers behind a URL, which " + to.shown + " is not.");
  if (line.has(key_flag) && !has_own) return fail(errc::invalid_argument, "--key needs --cert with the certificate.");
  if (line.has(cacert_flag)) http->authorities = line.text(cacert_flag);
  if (has_own) {
    http->certificate = line.text(cert_flag);
    http->key = line.text(key_flag);
  }
  return {};
}

result<chosen_server> by_command(const command_line& line) {
  child_target child;
  child.command = line.server();
  return chosen_server{std::move(child), {}, "the program " + line.server().front()};
}

}  // namespace

result<chosen_server> choose_server(const command_line& line) {
  auto chosen = line.server().empty() ? by_target(line) : by_command(line);
  if (!chosen) return chosen;
  HONDANA_TRY(add_headers(line, *chosen));
  HONDANA_TRY(add_token(line, *chosen));
  HONDANA_TRY(set_identity(line, *chosen));
  return chosen;
}

}  // namespace hondana::cli
