/// The servers that other programs know, read from their files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

namespace hondana::cli {

/// Comments (`//`, `/* */`) and commas before a closing bracket become spaces, so that places stay what they were. What is no
/// JSON otherwise stays so.
[[nodiscard]] std::string plain_json(std::string_view text);

/// One server of somebody's `mcp.json`.
struct known_server {
  std::string name{};  ///< As it stands there.
  std::vector<std::string> command{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string folder{};
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::vector<std::string> remarks{};  ///< What somebody has to look at.
  bool is_usable = true;               ///< False: `remarks` say why not.
};

/// A place where a host keeps its servers.
struct known_place {
  std::string host;  ///< "Claude Desktop"
  std::string path;
};

/// Where hosts keep them, below this home folder and in this folder; they need not exist.
[[nodiscard]] std::vector<known_place> usual_places(const std::string& home, const std::string& folder);

/// Reads the file of any of the hosts: `mcpServers` or `servers`, at the top, below `mcp`, or below each of `projects`.
/// Errors: invalid_argument, when it is no JSON or has none of these.
[[nodiscard]] result<std::vector<known_server>> servers_in(std::string_view text);

/// The tables of a configuration.
struct made_tables {
  std::string text{};
  std::size_t count = 0;                ///< Of tables.
  std::vector<std::string> left_out{};  ///< "NAME is skipped: WHY".
};

/// One table a server, with comments for what has to be looked at. `taken`: names that are there. Servers whose names are
/// taken, and what cannot be used, are comments only.
[[nodiscard]] made_tables tables_of(const std::vector<known_server>& servers, std::vector<std::string> taken);

/// The same as one JSON value: `{"servers":[…]}`.
[[nodiscard]] std::string json_of(const std::vector<known_server>& servers);

}  // namespace hondana::cli
