/// Commands with their options as values, and the functions that run them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// What to serve. Part of all commands that serve or check sources.
struct source_options {
  std::vector<std::string> paths;  ///< Empty: the configuration's sources, or the current folder.
  std::string config_file;         ///< Configuration file; empty: none.
  std::vector<std::string> allow;  ///< Patterns in gitignore syntax; they apply to `paths`.
  bool includes_hidden = false;
  bool no_git = false;                   ///< Serve paths that are git repositories as files only.
  bool no_tools = false;                 ///< Serve resources only, even if the configuration offers tools.
  std::string sandbox{};                 ///< Name of a sandbox mode; empty: the configured mode.
  std::vector<std::string> own_files{};  ///< The server's own files that flags name; never served.
};

/// `hondana stdio`.
struct stdio_command {
  source_options sources;
};
/// `hondana serve`. Absent and empty values are taken from the configuration.
struct serve_command {
  source_options sources;
  std::optional<std::uint16_t> port;
  std::optional<std::string> address;
  std::string socket_path;                   ///< Path of a Unix socket.
  std::string admin_address;                 ///< Address of the admin endpoint.
  std::vector<std::string> allowed_hosts;    ///< Added to the configured hosts.
  std::vector<std::string> allowed_origins;  ///< Added to the configured origins.
  std::string token_file;                    ///< Tokens file.
  bool without_authentication = false;
  std::string tls_certificate_file;
  std::string tls_key_file;
};
/// `hondana check`.
struct check_command {
  source_options sources;
  bool as_json = false;
  std::optional<std::string> identity;  ///< Explain the access of this caller instead of checking the sources.
  std::vector<std::string> uris;        ///< URIs and templates to explain access to.
  std::vector<std::string> tools;       ///< Tools to explain access to.
  std::vector<std::string> prompts;     ///< Prompts to explain access to.
  std::vector<std::string> groups;      ///< Groups that the token of `identity` carries.
  std::vector<std::string> scopes;      ///< Scopes that the token of `identity` carries.
  std::string token_file{};             ///< As in `serve_command`.
};
/// `hondana schemes`.
struct schemes_command {
  bool as_json = false;
  bool as_markdown = false;
};
/// A client or setup command, such as `ls` or `login`, which interprets `line` itself.
struct client_command {
  command_line line;
};
/// Only prints `text`: to standard output or, with a non-zero code, to standard error.
struct print_command {
  int exit_code = 0;
  std::string text;
};

using parsed_command =
    std::variant<stdio_command, serve_command, check_command, schemes_command, client_command, print_command>;

/// Parses the command line. Help, version and usage errors are returned as `print_command`. `count` and `arguments` are those
/// of `main`.
[[nodiscard]] parsed_command parse_arguments(int count, const char* const* arguments);

/// Each `run` executes one command and returns an exit code.
[[nodiscard]] int run(const stdio_command& command);
[[nodiscard]] int run(const serve_command& command);
[[nodiscard]] int run(const check_command& command);
[[nodiscard]] int run(const schemes_command& command);
[[nodiscard]] int run(const client_command& command);
[[nodiscard]] int run(const print_command& command);

}  // namespace hondana::cli
