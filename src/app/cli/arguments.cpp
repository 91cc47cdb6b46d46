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
print_command usage_message(const std::string& message, const std::string& command) {
  return {exit_usage, "hondana: " + message + "\nTry 'hondana " + (command.empty() ? "" : command + ' ') + "--help'.\n"};
}

/// The message for flags that are valid one by one but not together; no value: they are consistent.
std::optional<std::string> contradiction(const serve_command& command) {
  if (command.tls_certificate_file.empty() != command.tls_key_file.empty())
    return "--tls-certificate and --tls-key are needed together; give both";
  if (command.socket_path.empty()) return {};
  if (!command.tls_key_file.empty())
    return "--tls-certificate is for TCP, but --socket listens on a Unix socket; leave one out";
  if (!command.port && !command.address) return {};
  const std::string other = command.port ? "--port" : "--address";
  return "--socket listens on a Unix socket and " + other + " on TCP, but a server listens on one of them; leave one out";
}

source_options parse_source_options(const command_line& line) {
  return {.paths = line.words(),
          .config_file = line.text(config_flag),
          .allow = line.all_values(allow_flag),
          .includes_hidden = line.has(hidden_flag),
          .no_git = line.has(no_git_flag),
          .no_tools = line.has(no_tools_flag),
          .sandbox = line.text(sandbox_flag)};
}

serve_command parse_serve(const command_line& line) {
  serve_command serve{.sources = parse_source_options(line),
                      .port = {},
                      .address = {},
                      .socket_path = line.text(socket_flag),
                      .admin_address = line.text(admin_flag),
                      .allowed_hosts = line.all_values(host_flag),
                      .allowed_origins = line.all_values(origin_flag),
                      .token_file = line.text(tokens_flag),
                      .without_authentication = line.has(without_authentication_flag),
                      .tls_certificate_file = line.text(tls_certificate_flag),
                      .tls_key_file = line.text(tls_key_flag)};
  if (const auto port = line.number(port_flag)) serve.port = static_cast<std::uint16_t>(*port);
  if (line.has(address_flag)) serve.address = line.text(address_flag);
  return serve;
}

check_command parse_check(const command_line& line) {
  check_command check{.sources = parse_source_options(line),
                      .as_json = line.has(json_lines_flag),
                      .identity = {},
                      .uris = {},
                      .tools = line.all_values(explained_tool_flag),
                      .prompts = line.all_values(explained_prompt_flag),
                      .groups = line.all_values(caller_group_flag),
                      .scopes = line.all_values(caller_scope_flag),
                      .token_file = line.text(tokens_flag)};
  if (line.has(as_flag)) {
    check.identity = line.text(as_flag);
    check.uris = std::exchange(check.sources.paths, {});
  }
  return check;
}

std::optional<std::string> contradiction(const check_command& command) {
  if (command.identity) {
    if (command.uris.empty() && command.tools.empty() && command.prompts.empty())
      return "--as needs a URI, URI template, --tool or --prompt to explain; give one";
  } else if (!command.tools.empty() || !command.prompts.empty()) {
    return "--tool and --prompt need --as IDENTITY; add it";
  } else if (!command.groups.empty() || !command.scopes.empty()) {
    return "--group and --scope need --as IDENTITY; add it";
  }
  return {};
}

print_command parse_help(const command_line& line) {
  if (line.has(man_flag)) return {exit_ok, manual_page()};
  if (line.has(markdown_reference_flag)) return {exit_ok, markdown_reference()};
  std::string name;
  for (const auto& word : line.words()) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) return {exit_ok, program_help()};
  if (const auto* entry = find_command(name)) return {exit_ok, command_help(*entry)};
  if (auto help = group_help(name); !help.empty()) return {exit_ok, std::move(help)};
  std::vector<std::string_view> known;
  for (const auto* entry : commands()) known.push_back(entry->name);
  return usage_message("unknown command \"" + name + '"' + did_you_mean(name, known), {});
}

print_command parse_completions(const command_line& line) {
  const auto shell = line.word(0);
  if (shell == "zsh") return {exit_ok, zsh_completions()};
  return {exit_ok, shell == "fish" ? fish_completions() : bash_completions()};
}

parsed_command parse_command(command_line line) {
  const auto* entry = &line.entry();
  if (entry == &serve_entry) {
    auto serve = parse_serve(line);
    if (const auto error = contradiction(serve)) return usage_message(*error, "serve");
    return serve;
  }
  if (entry == &stdio_entry) return stdio_command{parse_source_options(line)};
  if (entry == &check_entry) {
    auto check = parse_check(line);
    if (const auto error = contradiction(check)) return usage_message(*error, "check");
    return check;
  }
  if (entry == &schemes_entry) return schemes_command{line.has(schemes_json_flag), line.has(markdown_flag)};
  if (entry == &help_entry) return parse_help(line);
  if (entry == &version_entry) return print_command{exit_ok, version_line};
  if (entry == &completions_entry) return parse_completions(line);
  return client_command{std::move(line)};
}

}  // namespace

parsed_command parse_arguments(int count, const char* const* arguments) {
  auto outcome = parse_command_line(count, arguments);
  if (auto* line = std::get_if<command_line>(&outcome)) return parse_command(std::move(*line));
  if (const auto* error = std::get_if<usage_error>(&outcome)) return usage_message(error->message, error->command);
  if (std::holds_alternative<version_request>(outcome)) return print_command{exit_ok, version_line};
  const auto& [entry, group] = std::get<help_request>(outcome);
  if (entry != nullptr) return print_command{exit_ok, command_help(*entry)};
  return print_command{exit_ok, group.empty() ? program_help() : group_help(group)};
}

}  // namespace hondana::cli
