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

/// The folder of the audit log. Empty: no audit log is configured.
[[nodiscard]] std::string audit_folder(const config::settings& settings);

/// Checks whether the folders of the audit log, the index and the metrics stores may be writable. Such a folder must not
/// contain files of the server or of a source, or be inside a source. Indexes and stores may share a folder. With a sandbox, it
/// must not be shared with other programs either.
///
/// Without a sandbox, returns warnings about unsuitable folders. With one, the first of them is an error: invalid_argument.
[[nodiscard]] result<std::vector<std::string>> check_written_folders(const server_parts& parts);

/// Whether a folder has so much unrelated content that the sandbox must not open all of it for one file. True for top-level
/// folders, the root and home folders, and for folders that programs of a user or of the machine share. `folder`: absolute,
/// links resolved. `home`: this user's home folder; may be empty.
[[nodiscard]] bool is_shared_folder(std::string_view folder, std::string_view home);

/// Resolves the symbolic links of a path, as far as it exists. Returns `path` unchanged if that fails.
[[nodiscard]] std::string resolve_links(const std::string& path);

/// The value of an environment variable; empty if it is not set. Call it before threads exist that could change it.
[[nodiscard]] std::string environment_variable(const char* name);

/// How clients reach the server, and files that the command line names.
struct serving_context {
  const http_options* http = nullptr;  ///< Null: over standard input and output.
  std::string config_file;             ///< Configuration file, read again on reload; empty: none.
  std::string token_file;              ///< Tokens file of the command line; empty: that of the configuration.
};

/// The permissions that a server needs: those of its sources, and its own. The server itself reads its configuration, tokens
/// and certificates again, listens, resolves names, reads time zones and loads libraries.
[[nodiscard]] sandbox::permissions make_permissions(const server_parts& parts, const serving_context& context);

/// Adds the ports of the "host:port" elements of `sockets` to `ports`, and that of DNS. "*:*" allows all ports: `ports` then
/// has no value.
void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& ports);

}  // namespace hondana::cli
