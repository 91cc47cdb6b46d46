/// The command line as one value, and the functions that run its command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// What to serve; shared by all commands that serve or look.
struct what_to_serve {
  std::vector<std::string> paths;  ///< Empty: the configuration's sources, or the current folder.
  std::string config;              ///< Empty: no file.
  std::vector<std::string> allow;  ///< gitignore patterns, for the paths given here.
  bool hidden = false;
  bool no_git = false;                   ///< Paths that are git repositories are served as files only.
  bool no_tools = false;                 ///< Serve resources only, whatever the configuration says.
  std::string sandbox{};                 ///< A mode's name; empty: as configured.
  std::vector<std::string> kept_back{};  ///< Files of the server's own that flags name; never served.
};

struct stdio_command {
  what_to_serve what;
};
struct serve_command {
  what_to_serve what;
  std::optional<std::uint16_t> port;
  std::optional<std::string> address;
  std::string socket;                ///< Empty: as configured.
  std::string admin;                 ///< Empty: as configured.
  std::vector<std::string> hosts;    ///< Besides those configured.
  std::vector<std::string> origins;  ///< Besides those configured.
  std::string tokens;                ///< A file; empty: as configured.
  bool without_authentication = false;
  std::string tls_certificate;  ///< Empty: as configured.
  std::string tls_key;          ///< Empty: as configured.
};
struct check_command {
  what_to_serve what;
  bool as_json = false;
  std::optional<std::string> as;   ///< Whose access is explained instead,
  std::vector<std::string> uris;   ///< to these, and templates;
  std::vector<std::string> tools;  ///< to these;
  std::vector<std::string> prompts;
  std::vector<std::string> groups;  ///< what that caller's token would say,
  std::vector<std::string> scopes;  ///< and be good for.
  std::string tokens{};             ///< As of `serve`.
};
struct schemes_command {
  bool as_json = false;
  bool as_markdown = false;
};
/// One of the commands that ask a server, or set up: the rest of the program reads the line itself.
struct client_command {
  command_line line;
};
/// Nothing more to do: the text goes to standard output or, with a non-zero code, to standard error.
struct finished {
  int exit_code = 0;
  std::string text;
};

using command = std::variant<stdio_command, serve_command, check_command, schemes_command, client_command, finished>;

/// Parses the command line; help, version and usage errors come back as `finished`.
[[nodiscard]] command parse_arguments(int count, const char* const* arguments);

[[nodiscard]] int run(const stdio_command& what);
[[nodiscard]] int run(const serve_command& what);
[[nodiscard]] int run(const check_command& what);
[[nodiscard]] int run(const schemes_command& what);
/// Asks a server, or sets up.
[[nodiscard]] int run(const client_command& what);
[[nodiscard]] int run(const finished& what);

}  // namespace hondana::cli
