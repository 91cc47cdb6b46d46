/// Parses the command line into one `command` value.
#include "app/cli/arguments.hpp"

#include <optional>
#include <utility>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/command_line.hpp"
#include "app/cli/flags/completions.hpp"
#include "app/cli/flags/help.hpp"
#include "app/cli/flags/serving_flags.hpp"

namespace hondana::cli {
namespace {

constexpr const char* version_line = "hondana " HONDANA_VERSION "\n";

/// `command`: the command whose help the message refers to; empty if no command is known yet.
finished usage_error(const std::string& what, const std::string& command) {
  return {exit_usage, "hondana: " + what + "\nTry 'hondana " + (command.empty() ? "" : command + ' ') + "--help'.\n"};
}

/// The message for flags that are valid one by one but not together; no value: they are consistent.
std::optional<std::string> contradiction(const serve_command& asked) {
  if (asked.tls_certificate.empty() != asked.tls_key.empty())
    return "--tls-certificate and --tls-key are needed together; give both";
  if (asked.socket.empty()) return {};
  if (!asked.tls_key.empty()) return "--tls-certificate is for TCP, but --socket listens on a Unix socket; leave one out";
  if (!asked.port && !asked.address) return {};
  const std::string other = asked.port ? "--port" : "--address";
  return "--socket listens on a Unix socket and " + other + " on TCP, but a server listens on one of them; leave one out";
}

what_to_serve what_of(const command_line& line) {
  return {.paths = line.words(),
          .config = line.text(config_flag),
          .allow = line.all(allow_flag),
          .hidden = line.has(hidden_flag),
          .no_git = line.has(no_git_flag),
          .no_tools = line.has(no_tools_flag),
          .sandbox = line.text(sandbox_flag)};
}

serve_command serve_of(const command_line& line) {
  serve_command serve{.what = what_of(line),
                      .port = {},
                      .address = {},
                      .socket = line.text(socket_flag),
                      .admin = line.text(admin_flag),
                      .hosts = line.all(host_flag),
                      .origins = line.all(origin_flag),
                      .tokens = line.text(tokens_flag),
                      .without_authentication = line.has(without_authentication_flag),
                      .tls_certificate = line.text(tls_certificate_flag),
                      .tls_key = line.text(tls_key_flag)};
  if (const auto port = line.number(port_flag)) serve.port = static_cast<std::uint16_t>(*port);
  if (line.has(address_flag)) serve.address = line.text(address_flag);
  return serve;
}

check_command check_of(const command_line& line) {
  check_command check{.what = what_of(line),
                      .as_json = line.has(json_lines_flag),
                      .as = {},
                      .uris = {},
                      .tools = line.all(explained_tool_flag),
                      .prompts = line.all(explained_prompt_flag),
                      .groups = line.all(caller_group_flag),
                      .scopes = line.all(caller_scope_flag),
                      .tokens = line.text(tokens_flag)};
  if (line.has(as_flag)) {
    check.as = line.text(as_flag);
    check.uris = std::exchange(check.what.paths, {});
  }
  return check;
}

std::optional<std::string> contradiction(const check_command& asked) {
  if (asked.as) {
    if (asked.uris.empty() && asked.tools.empty() && asked.prompts.empty())
      return "--as needs a URI, URI template, --tool or --prompt to explain; give one";
  } else if (!asked.tools.empty() || !asked.prompts.empty()) {
    return "--tool and --prompt need --as IDENTITY; add it";
  } else if (!asked.groups.empty() || !asked.scopes.empty()) {
    return "--group and --scope need --as IDENTITY; add it";
  }
  return {};
}

finished help_of(const command_line& line) {
  if (line.has(man_flag)) return {exit_ok, manual_page()};
  std::string name;
  for (const auto& word : line.words()) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) return {exit_ok, program_help()};
  if (const auto* entry = find_command(name)) return {exit_ok, command_help(*entry)};
  if (auto all = group_help(name); !all.empty()) return {exit_ok, std::move(all)};
  std::vector<std::string_view> known;
  for (const auto* one : commands()) known.push_back(one->name);
  return usage_error("unknown command \"" + name + '"' + did_you_mean(name, known), {});
}

finished completions_of(const command_line& line) {
  const auto shell = line.word(0);
  if (shell == "zsh") return {exit_ok, zsh_completions()};
  return {exit_ok, shell == "fish" ? fish_completions() : bash_completions()};
}

command command_of(command_line line) {
  const auto* entry = &line.entry();
  if (entry == &serve_entry) {
    auto serve = serve_of(line);
    if (const auto wrong = contradiction(serve)) return usage_error(*wrong, "serve");
    return serve;
  }
  if (entry == &stdio_entry) return stdio_command{what_of(line)};
  if (entry == &check_entry) {
    auto check = check_of(line);
    if (const auto wrong = contradiction(check)) return usage_error(*wrong, "check");
    return check;
  }
  if (entry == &schemes_entry) return schemes_command{line.has(schemes_json_flag), line.has(markdown_flag)};
  if (entry == &help_entry) return help_of(line);
  if (entry == &version_entry) return finished{exit_ok, version_line};
  if (entry == &completions_entry) return completions_of(line);
  return client_command{std::move(line)};
}

}  // namespace

command parse_arguments(int count, const char* const* arguments) {
  auto outcome = read_line(count, arguments);
  if (auto* line = std::get_if<command_line>(&outcome)) return command_of(std::move(*line));
  if (const auto* wrong = std::get_if<misuse>(&outcome)) return usage_error(wrong->what, wrong->command);
  if (std::holds_alternative<version_wanted>(outcome)) return finished{exit_ok, version_line};
  const auto& [of, group] = std::get<help_wanted>(outcome);
  if (of != nullptr) return finished{exit_ok, command_help(*of)};
  return finished{exit_ok, group.empty() ? program_help() : group_help(group)};
}

}  // namespace hondana::cli
