/// Permissions that a server needs while it serves, and checks of the folders it writes to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "app/cli/assembly.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::cli {

/// The folder of the audit log; empty: none is configured.
[[nodiscard]] std::string audit_folder(const config::settings& settings);

/// Checks whether the folders of the audit log, the index and the metrics stores may be writable. Indexes and stores may share
/// a folder. Returns warnings. Errors, with a sandbox only: invalid_argument for the first unsuitable folder. That is one
/// shared with other programs, with files of the server or of a source, or inside a source.
[[nodiscard]] result<std::vector<std::string>> check_written_folders(const server_parts& parts);

/// Whether a folder has so much unrelated content that the sandbox must not open all of it for one file. True for top-level
/// folders and the root, for any user's home folder, and for folders that all programs of a user or of the machine share.
/// `home`: this user's home folder; may be empty.
[[nodiscard]] bool is_shared_folder(std::string_view folder, std::string_view home);

/// Resolves the symbolic links of a path, as far as it exists.
[[nodiscard]] std::string resolve_links(const std::string& path);

/// An environment variable; empty if it is not set. Call before threads exist that could change it.
[[nodiscard]] std::string environment_variable(const char* name);

/// How clients reach the server, and which files the command line names.
struct serving_context {
  const http_options* http = nullptr;  ///< Null: over standard input and output.
  std::string config_file;             ///< Configuration file, read again on reload; empty: none.
  std::string token_file;              ///< Tokens file of the command line; empty: the configured one.
};

/// The permissions that a server needs: those of its sources, and those of the program itself. The program reads its
/// configuration, tokens and certificates again, listens, resolves names, reads time zones and loads libraries.
[[nodiscard]] sandbox::permissions make_permissions(const server_parts& parts, const serving_context& context);

/// Adds the ports of "host:port" entries in `sockets` to `ports`. "*:*" clears the value of `ports`, which allows all
/// ports.
void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& ports);

}  // namespace hondana::cli
