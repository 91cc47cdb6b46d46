/// Reads the MCP servers that other programs have configured, from their files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::cli {

/// Turns JSON with comments into JSON. Comments (`//`, `/* */`) and commas before a closing bracket become spaces, so positions
/// do not change. Other invalid JSON stays as it is.
[[nodiscard]] std::string strip_json_comments(std::string_view text);

/// One server in the configuration of a host, with `command` or `url`.
struct known_server {
  std::string name{};                  ///< The name in that configuration.
  std::vector<std::string> command{};  ///< Program and arguments. Empty: none.
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string working_directory{};  ///< Of the program. Empty: not set.
  std::string url{};                ///< Empty: none.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::vector<std::string> notes{};  ///< What the user has to check or change.
  bool is_usable = true;             ///< False: the last of `notes` says why not.
};

/// A file in which a host stores its servers.
struct host_config_file {
  std::string host;  ///< Such as "Claude Desktop".
  std::string path;
};

/// The files in which hosts store their servers, below the home folder and in the current folder. They need not exist.
[[nodiscard]] std::vector<host_config_file> host_config_files(const std::string& home, const std::string& folder);

/// Reads the configuration file of a host, JSON with comments. Servers are in `mcpServers` or `servers`, at the top, below
/// `mcp`, or below each of `projects`. Errors: invalid_argument if the text is not JSON or has none of these.
[[nodiscard]] result<std::vector<known_server>> parse_servers(std::string_view text);

/// Tables of a hondana configuration.
struct config_tables {
  std::string text{};                  ///< The tables in TOML.
  std::size_t count = 0;               ///< Number of tables in `text`.
  std::vector<std::string> skipped{};  ///< Lines of the form "NAME is skipped: WHY".
};

/// Creates one `[[source]]` table for each server, with comments about values that the user has to check. `used_names`: names
/// of existing tables. Servers with such a name, and unusable servers, become comments only.
[[nodiscard]] config_tables make_tables(const std::vector<known_server>& servers, std::vector<std::string> used_names);

/// The servers as one JSON value: `{"servers":[…]}`.
[[nodiscard]] std::string to_json(const std::vector<known_server>& servers);

}  // namespace hondana::cli
