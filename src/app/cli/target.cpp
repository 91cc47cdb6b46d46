/// Chooses the server that a command uses: a URL, a path, a command, or a name from the configuration.
#include "app/cli/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/token_source.hpp>
#include <hondana/uri.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/command_line.hpp"
#include "app/cli/output.hpp"
#include "base/bytes/random_token.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/settings.hpp"
#include "sources/mcp/settings.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::cli {
namespace {

/// The `mcp` tables of a configuration, each with its name. Tables without a name are left out.
result<std::vector<std::pair<std::string, config::section>>> server_tables(const std::string& path) {
  auto loaded = config::load(path);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  std::vector<std::pair<std::string, config::section>> tables;
  for (auto& source : loaded->sources) {
    if (source.type != "mcp") continue;
    HONDANA_TRY(auto name, source.options.string("name"));
    if (name) tables.emplace_back(std::move(*name), std::move(source.options));
  }
  return tables;
}

}  // namespace

std::string default_config_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto folder = variable("XDG_CONFIG_HOME"); folder.starts_with('/')) return folder + "/hondana/config.toml";
  const auto home = variable("HOME");
  return home.empty() ? "" : home + "/.config/hondana/config.toml";
}

result<std::vector<std::string>> server_names(const std::string& config_file) {
  auto tables = server_tables(config_file);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  std::vector<std::string> names;
  for (auto& [name, table] : *tables) names.push_back(std::move(name));
  return names;
}

result<std::optional<client_target>> find_server(const std::string& config_file, std::string_view name) {
  auto tables = server_tables(config_file);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  for (auto& [known, table] : *tables) {
    if (known != name) continue;
    HONDANA_TRY(auto settings, mcp::read_settings(table));
    return std::optional(std::move(settings.target));
  }
  return std::optional<client_target>();
}

/// Sends the token of a file. When the server rejects it, reads the file again, because another process may have replaced the
/// token. "-" is standard input, which is read to its end now. Errors: as `disk::read_private`; invalid_argument if there is no
/// token.
[[nodiscard]] result<std::shared_ptr<token_source>> make_file_token_source(const std::string& path);

namespace {

constexpr std::size_t max_token_bytes = 16u << 10;
constexpr std::string_view stdin_path = "-";

/// Error messages never repeat the content, because it may be secret.
result<std::string> read_token(const std::string& path) {
  const bool is_input = path == stdin_path;
  auto text = is_input ? read_standard_input(max_token_bytes,
                                             {errc::response_too_large, "standard input contains more than one token", {}})
                       : [&path]() -> result<std::string> {
    HONDANA_TRY(auto read, disk::read_private(path, max_token_bytes));
    return std::move(read.bytes);
  }();
  if (!text) return text;
  constexpr std::string_view whitespace = " \t\r\n";
  const auto begin = text->find_first_not_of(whitespace);
  std::string token =
      begin == std::string::npos ? std::string() : text->substr(begin, text->find_last_not_of(whitespace) + 1 - begin);
  if (bytes::is_token68(token)) return token;
  return fail(errc::invalid_argument, (is_input ? "standard input" : path) + (token.empty() ? " is empty" : " is not a token") +
                                          "; it must contain one token and nothing else");
}

class file_token_source final : public token_source {
 public:
  file_token_source(std::string path, std::string initial_token) : path_(std::move(path)), token_(std::move(initial_token)) {}

  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    return token_;
  }

  result<void> obtain(const rejected_token& rejection, const std::stop_token&) override {
    const bool is_input = path_ == stdin_path;
    if (!is_input) {
      HONDANA_TRY(auto fresh, read_token(path_));
      const std::lock_guard lock(mutex_);
      token_ = std::move(fresh);
      if (token_ != rejection.token) return {};
    }
    return fail(errc::unauthorized,
                "the server rejects the token " + (is_input ? "of standard input" : "in " + path_ + "; replace it"));
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::string token_;
};

}  // namespace

result<std::shared_ptr<token_source>> make_file_token_source(const std::string& path) {
  HONDANA_TRY(auto first, read_token(path));
  return std::make_shared<file_token_source>(path, std::move(first));
}

std::string suggest_command(const command_line& line, std::string_view command) {
  std::string out = "hondana " + std::string(command);
  if (line.has(client_config_flag)) out += " --config " + shell_quote(line.text(client_config_flag));
  if (line.has(on_flag)) out += " --on " + shell_quote(line.text(on_flag));
  for (const auto* flag : {&cacert_flag, &cert_flag, &key_flag}) {
    if (line.has(*flag)) out += " --" + std::string(flag->name) + ' ' + shell_quote(line.text(*flag));
  }
  if (!line.server_command().empty()) out += " --";
  for (const auto& word : line.server_command()) out += ' ' + shell_quote(word);
  // Words may contain quotes themselves.
  const char quote = out.find('\'') == std::string::npos ? '\'' : '`';
  return quote + out + quote;
}

namespace {

constexpr std::string_view socket_prefix = "unix:";
constexpr const char* target_forms =
    "A target is a URL (https://HOST/PATH), unix:PATH, a name from the configuration, or a folder or file.";

/// "http" of "http://…"; empty if the text is not a URL.
std::string_view url_scheme(std::string_view text) {
  const auto end = text.find("://");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

/// True for `localhost:7325` and `127.0.0.1:80/mcp`.
bool looks_like_host(std::string_view text) {
  const auto before_path = text.substr(0, text.find('/'));
  const auto colon = before_path.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = before_path.substr(colon + 1);
  return !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

result<chosen_server> server_at_url(const std::string& url) {
  const auto parts = split_uri(url);
  if (!parts.authority || parts.authority->empty()) {
    return fail(errc::invalid_argument, "The URL \"" + url + "\" has no host. Write it like http://127.0.0.1:7325/mcp.");
  }
  http_target target;
  target.url = url;
  return chosen_server{std::move(target), {}, url};
}

result<chosen_server> server_at_socket(const std::string& path) {
  if (path.empty()) return fail(errc::invalid_argument, "unix: needs the path of a socket, as in unix:/run/mcp.sock.");
  http_target target;
  target.url = "http://localhost/mcp";
  target.socket_path = path;
  return chosen_server{std::move(target), {}, "the Unix socket " + path};
}

result<chosen_server> server_at_path(const std::string& path) {
  std::error_code problem;
  auto canonical = std::filesystem::canonical(path, problem);
  if (problem) return fail(errc::invalid_argument, "\"" + path + "\": " + problem.message() + ".");
  return chosen_server{memory_target{}, canonical.string(), canonical.string()};
}

/// Interprets the text as a name or a path. A configured name takes precedence.
result<chosen_server> server_by_name_or_path(const std::string& text, const std::string& config_file, bool must_have_config) {
  std::error_code problem;
  const bool has_config = !config_file.empty() && std::filesystem::exists(config_file, problem);
  const bool may_be_name = text.find('/') == std::string::npos && text != "." && text != "..";
  std::vector<std::string> names;
  if (may_be_name && (has_config || must_have_config)) {
    HONDANA_TRY(auto named, find_server(config_file, text));
    if (named) return chosen_server{std::move(*named), {}, text};
    HONDANA_TRY(auto known, server_names(config_file));
    names = std::move(known);
  }
  if (std::filesystem::exists(text, problem)) return server_at_path(text);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string message = "Unknown target \"" + text + '"' + did_you_mean(text, views);
  message += message.ends_with('?') ? " " : ". ";
  if (looks_like_host(text))
    return fail(errc::invalid_argument, message + "For a server over HTTP, write http://" + text + '.');
  message += target_forms;
  if (may_be_name && !has_config && !config_file.empty())
    message += " The configuration file " + config_file + " does not exist.";
  return fail(errc::invalid_argument, message);
}

result<chosen_server> server_by_target(const command_line& line) {
  const auto text = line.text(on_flag);
  if (!line.has(on_flag)) return server_at_path(".");
  if (text.empty()) return fail(errc::invalid_argument, std::string("--on is empty. ") + target_forms);
  const auto scheme = url_scheme(text);
  if (scheme == "http" || scheme == "https") return server_at_url(text);
  if (text.starts_with(socket_prefix)) return server_at_socket(text.substr(socket_prefix.size()));
  if (!scheme.empty()) {
    return fail(errc::invalid_argument,
                "Only http: and https: URLs are supported, not \"" + std::string(scheme) + ":\". " + target_forms);
  }
  return server_by_name_or_path(text, line.has(client_config_flag) ? line.text(client_config_flag) : default_config_file(),
                                line.has(client_config_flag));
}

result<void> add_headers(const command_line& line, chosen_server& server) {
  const auto& headers = line.all_values(header_flag);
  if (headers.empty()) return {};
  auto* http = std::get_if<http_target>(&server.target);
  if (http == nullptr)
    return fail(errc::invalid_argument, "--header is for servers behind a URL, which " + server.display_name + " is not.");
  for (const auto& header : headers) {
    const auto colon = header.find(':');
    const bool has_break = header.find_first_of("\r\n") != std::string::npos;
    if (colon == std::string::npos || colon == 0 || has_break) {
      // Do not repeat the text: it may be secret.
      return fail(errc::invalid_argument,
                  "A --header is not one line of the form 'NAME: VALUE', as in 'Authorization: Bearer TOKEN'.");
    }
    const auto begin = header.find_first_not_of(" \t", colon + 1);
    auto text =
        mcp::expand_variables(begin == std::string::npos ? std::string() : header.substr(begin), mcp::environment_variable);
    if (!text)
      return fail(errc::invalid_argument, "The --header " + header.substr(0, colon) + ' ' + text.error().public_text + '.');
    if (text->find_first_of("\r\n") != std::string::npos)
      return fail(errc::invalid_argument,
                  "The --header " + header.substr(0, colon) + " contains a variable with a line break.");
    http->headers.emplace_back(header.substr(0, colon), std::move(*text));
  }
  return {};
}

result<void> add_token(const command_line& line, chosen_server& server) {
  if (!line.has(bearer_file_flag)) return {};
  auto* http = std::get_if<http_target>(&server.target);
  if (http == nullptr)
    return fail(errc::invalid_argument, "--token-file is for servers behind a URL, which " + server.display_name + " is not.");
  const auto path = line.text(bearer_file_flag);
  if (path == "-" && line.has(arguments_flag) && line.text(arguments_flag) == "-")
    return fail(errc::invalid_argument, "--token-file and --arguments cannot both be read from standard input.");
  if (!http->socket_path && http->url.starts_with("http://") && !transport::http_client::is_local_url(http->url))
    return fail(errc::invalid_argument, "Over plain http, others on the network to " + server.display_name +
                                            " could read the token of --token-file. Use https:.");
  auto tokens = make_file_token_source(path);
  if (!tokens) return fail(errc::invalid_argument, "--token-file: " + tokens.error().public_text + '.');
  http->tokens = std::move(*tokens);
  return {};
}

/// Sets the certificates of the connection. The command line overrides a configured target.
result<void> set_certificates(const command_line& line, chosen_server& server) {
  const bool has_own = line.has(cert_flag);
  if (!line.has(cacert_flag) && !has_own && !line.has(key_flag)) return {};
  auto* http = std::get_if<http_target>(&server.target);
  if (http == nullptr)
    return fail(errc::invalid_argument,
                "--cacert, --cert and --key are for servers behind a URL, which " + server.display_name + " is not.");
  if (line.has(key_flag) && !has_own) return fail(errc::invalid_argument, "--key needs --cert with the certificate.");
  if (line.has(cacert_flag)) http->ca_file = line.text(cacert_flag);
  if (has_own) {
    http->certificate_file = line.text(cert_flag);
    http->key_file = line.has(key_flag) ? std::optional(line.text(key_flag)) : std::nullopt;
  }
  return {};
}

result<chosen_server> server_by_command(const command_line& line) {
  child_target child;
  child.command = line.server_command();
  return chosen_server{std::move(child), {}, "the program " + line.server_command().front()};
}

}  // namespace

result<chosen_server> choose_server(const command_line& line) {
  auto chosen = line.server_command().empty() ? server_by_target(line) : server_by_command(line);
  if (!chosen) return chosen;
  HONDANA_TRY(add_headers(line, *chosen));
  HONDANA_TRY(add_token(line, *chosen));
  HONDANA_TRY(set_certificates(line, *chosen));
  return chosen;
}

}  // namespace hondana::cli
